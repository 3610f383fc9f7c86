package org.pmhxb.cli.bench.paper;

import java.util.List;
import java.util.Map;
import org.pmhxb.cli.bench.Undisturbed;

/**
 * Everything that was measured.
 *
 * @param found by point; a point that failed, or whose turn did not come, is absent
 * @param probes how the rates were chosen; empty when one was given
 * @param failures for people
 * @param brokenOff whether time ran out
 * @param disturbed runs by the host
 */
record PaperFindings(
    PaperPlan plan,
    Map<PaperPoint, Measured> found,
    List<PaperRun.Probe> probes,
    List<String> failures,
    boolean brokenOff,
    Undisturbed.Counts disturbed) {}
