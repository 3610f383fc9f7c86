package org.pmhxb.cli.bench;

import java.util.List;
import org.pmhxb.cli.bench.PacketCostReport.Line;

/** Lines of packet-cost's reports as tests want them. */
final class PacketCostLines {
  private PacketCostLines() {}

  /** One of bursts of 32 over one rail. */
  static Line line(
      String path,
      int peers,
      double medianNs,
      List<Double> range,
      String fault,
      double stepNs,
      List<Double> batchesCounted,
      boolean slow) {
    return new Line(
        path,
        32,
        1,
        peers,
        64,
        medianNs,
        20.0,
        2.0,
        0.0,
        40.0,
        20.0,
        1.25,
        true,
        List.of(),
        17.0,
        range,
        range,
        range,
        1_000,
        "0-0",
        fault,
        5,
        stepNs,
        batchesCounted,
        slow);
  }
}
