package org.pmhxb.cli;

import java.util.List;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The benchmarks; each is a command of its own. */
@Command(
    name = BenchCommand.NAME,
    description = {
      "Measure: one benchmark of a cluster, or a suite of them.",
      "Every message is verified: content, order, exactly once."
    },
    footer = {
      "",
      "Example: hxb bench bandwidth --fabric veth --links 4 --rate 200mbit --size 8192"
    })
final class BenchCommand extends HxbCommand {
  static final String NAME = "bench";

  static final List<Class<? extends HxbCommand>> BENCHMARKS =
      List.of(
          BandwidthBench.class,
          LatencyBench.class,
          ExchangeBench.class,
          BarrierBench.class,
          MpiBench.class,
          IncastBench.class,
          ContentionCommand.class,
          CollectivesCommand.class,
          GridCommand.class,
          FailoverCommand.class,
          LossCommand.class,
          StartCommand.class,
          PaperCommand.class,
          PeersCommand.class,
          PacketCostCommand.class,
          PeerMemoryCommand.class,
          CompareCommand.class);

  @Spec private CommandSpec self;

  @Override
  protected Report run() {
    throw wrongUsage(
        "name a benchmark: " + String.join(", ", new TreeSet<>(self.subcommands().keySet())));
  }
}
