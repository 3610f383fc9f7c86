package org.pmhxb.collectives.algorithm;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.collectives.Algorithm;
import org.pmhxb.collectives.AlgorithmRegistry;

/** What comes with the library (docs/COLLECTIVES.md, algorithms). */
public final class StandardAlgorithms {
  private StandardAlgorithms() {}

  /** All of them; add your own with {@link AlgorithmRegistry#with}. */
  public static AlgorithmRegistry registry() {
    List<Algorithm> all = new ArrayList<>(FlatAlgorithms.all());
    all.addAll(FlatBlocks.all());
    all.addAll(CrossbarAlgorithms.all());
    all.addAll(ClusterAlgorithms.all());
    return AlgorithmRegistry.of(all);
  }
}
