package org.pmhxb.cli.node;

import java.util.List;
import java.util.SortedMap;

/** What a node would say if it were so. */
record FakeSigns(
    List<String> missing,
    long tagDrops,
    long evicted,
    long restored,
    SortedMap<Integer, Integer> outOfUse)
    implements NodeWatch.Signs {}
