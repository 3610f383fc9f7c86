package org.pmhxb.cli.bench.paper;

import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.bench.Benchmark;
import org.pmhxb.cli.bench.Efficiency;
import org.pmhxb.pm.wire.FrameHeader;

/** What makes a run's figure void. */
final class Faults {
  private Faults() {}

  /** Share of a frame that is payload when a message has it for itself. */
  static double payloadShare(int sizeBytes) {
    return (double) sizeBytes / (sizeBytes + FrameHeader.BYTES);
  }

  /** For people; empty when the run is good. */
  static List<String> of(PaperPoint point, Benchmark.Outcome run) {
    List<String> faults = new ArrayList<>();
    run.failures().forEach(line -> faults.add(point.key() + ": " + line));
    if (run.faulty() > 0) {
      faults.add(
          String.format(
              "%s: lost %d, duplicated %d, misordered %d, corrupt %d",
              point.key(), run.lost(), run.duplicated(), run.misordered(), run.corrupt()));
    }
    if (run.messages() == 0) {
      faults.add(point.key() + ": no message arrived");
    }
    if (point.setup().rate() != null && point.traffic() != PaperPoint.Traffic.PING) {
      Efficiency.of(run.bytesPerSecond(), point.plan().links(), point.setup().rate())
          .objection()
          .ifPresent(line -> faults.add(point.key() + ": " + line));
    }
    return faults;
  }
}
