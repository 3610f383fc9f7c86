package org.pmhxb.cli;

import java.io.IOException;
import org.pmhxb.cli.cluster.ClusterLauncher;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.cli.cluster.TakeDown;
import org.pmhxb.cli.soak.SoakRun;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Faults of all kinds over real ports, for as long as one likes. */
@Command(
    name = "soak",
    description = {
      "Mix traffic and faults over real ports: ring clusters with loss, duplication, reordering and"
          + " corruption, one after the other; and a veth cluster on faulty ports whose nodes are"
          + " stopped for 3 s in mid-traffic, killed and started again. Every message is verified;"
          + " at the end memory, buffers, descriptors and threads are compared.",
      "The veth part needs root."
    },
    footer = {"", "Example: hxb soak --minutes 30 --json"})
final class SoakCommand extends ClusterCommand {
  /** Where the traffic is. */
  enum Fabric {
    RING,
    VETH,
    BOTH
  }

  @Option(
      names = "--minutes",
      paramLabel = "M",
      defaultValue = "2",
      description = "How long, 0.1 to 10000; the round that has begun is finished.")
  private double minutes;

  @Option(
      names = "--fabric",
      paramLabel = "FABRIC",
      defaultValue = "both",
      description = "ring, veth or both.")
  private Fabric fabric;

  @Option(names = "--seed", paramLabel = "S", defaultValue = "1", description = "Of the faults.")
  private long seed;

  @Override
  protected Report run() throws IOException, InterruptedException {
    range("--minutes", minutes, 0.1, 10_000);
    String name = "s" + Long.toString(ProcessHandle.current().pid(), 36);
    ClusterPaths own = fabric == Fabric.RING ? paths(name) : ownPaths(name);
    ClusterLauncher launcher =
        new ClusterLauncher(own, UpCommand.nodeCommand(), progress()::update)
            .endingWithItsStarter();
    String faults = "loss=0.01,duplicate=0.01,reorder=0.05,corrupt=0.001,seed=" + seed;
    ClusterSpec spec =
        new ClusterSpec(
            ClusterSpec.Fabric.VETH,
            Shape.of(2, 2),
            2,
            null,
            new PollPolicy(HxbConfig.Idle.BACKOFF, false),
            new NodeOptions("", HxbConfig.Tag.OFF, faults, NodeOptions.VETH_DRIVER));
    try (TakeDown guard = new TakeDown(own)) {
      SoakRun run = new SoakRun(seed, minutes, progress()::update);
      return switch (fabric) {
        case RING -> run.overRing();
        case VETH -> run.overVeth(spec, own, launcher);
        case BOTH -> run.overBoth(spec, own, launcher);
      };
    }
  }
}
