package org.pmhxb.cli.demo;

import org.pmhxb.cli.HxbCommand;
import org.pmhxb.cli.Options;
import org.pmhxb.cli.Report;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.workload.PayloadPattern;
import org.pmhxb.pm.port.PortFaults;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code hxb demo}: the main job in one process. */
@Command(
    name = "demo",
    description = {
      "Runs a hyper-crossbar in one process over DPDK rings: all nodes send to all others, and every"
          + " byte is verified."
    },
    footer = {
      "",
      "Example: hxb demo --shape 2x2x2 --rails 2 --seconds 5 --loss 0.01",
      "",
      "Exit code 0: every message arrived once, in order, intact, and no buffer leaked."
    })
public final class DemoCommand extends HxbCommand {
  /** What one frame of the ring fabric carries. */
  static final int SIZE_MAX = 8_950;

  @Option(names = "--shape", paramLabel = "AxBxC", description = "Extents of 1 to 3 dimensions.")
  private String shape = "2x2x2";

  @Option(names = "--rails", paramLabel = "R", description = "Rails per dimension, 1 to 9.")
  private int rails = 2;

  @Option(names = "--seconds", paramLabel = "S", description = "How long to send, 0.1 to 3600.")
  private double seconds = 5;

  @Option(names = "--size", paramLabel = "B", description = "Bytes of a message, 4 to 8950.")
  private int size = 8192;

  @Option(
      names = "--loss",
      paramLabel = "P",
      description = "Short for --faults loss=P,seed=N. 0 to 0.5.")
  private double loss = 0;

  @Option(
      names = "--faults",
      paramLabel = "LIST",
      converter = Options.FaultsConverter.class,
      description =
          "What every port does to the frames it receives, as in"
              + " loss=0.01,duplicate=0.01,reorder=0.1,corrupt=0.001,seed=7.")
  private PortFaults faults = PortFaults.NONE;

  @Option(names = "--seed", paramLabel = "N", description = "Seed of --loss.")
  private long seed = 1;

  @Override
  protected Report run() throws InterruptedException {
    Shape parsed = shape();
    range("--seconds", seconds, 0.1, 3600);
    range("--loss", loss, 0, 0.5);
    if (loss > 0 && faults != PortFaults.NONE) {
      throw wrongUsage("--loss " + loss + " is short for --faults: give one of the two");
    }
    RingCluster.Options options = options(parsed);
    range("--size", size, PayloadPattern.MIN_BYTES, SIZE_MAX);
    requireFits(parsed);
    progress()
        .update(
            "demo: building " + parsed + " with " + Words.count(rails, "rail") + " per dimension");
    try (RingCluster cluster = RingCluster.create(options)) {
      return new DemoRun(cluster, size, progress()::update).run(seconds);
    }
  }

  private Shape shape() {
    try {
      Shape parsed = Shape.parse(shape);
      if (parsed.nodes() < 2) {
        throw wrongUsage("--shape " + shape + " has one node; a demo needs 2 or more");
      }
      return parsed;
    } catch (IllegalArgumentException e) {
      throw wrongUsage("--shape: " + e.getMessage());
    }
  }

  private void requireFits(Shape parsed) {
    try {
      RingCluster.requireFits(parsed, rails);
    } catch (IllegalArgumentException e) {
      throw wrongUsage("--shape: " + e.getMessage());
    }
  }

  private RingCluster.Options options(Shape parsed) {
    try {
      PortFaults wanted = loss > 0 ? new PortFaults(loss, 0, 0, 0, seed) : faults;
      return RingCluster.Options.of(parsed, rails).withSeed(seed).withFaults(wanted);
    } catch (IllegalArgumentException e) {
      throw wrongUsage("--rails: " + e.getMessage());
    }
  }
}
