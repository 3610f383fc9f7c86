package org.pmhxb.cli;

import java.nio.file.Path;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.cluster.PollPolicy;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.pm.port.PortFaults;
import org.pmhxb.router.FrameKeyFile;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What a cluster of this machine looks like: the options of the commands that bring one up. */
final class ClusterOptions {
  @Option(
      names = "--shape",
      paramLabel = "AxBxC",
      converter = Options.ShapeConverter.class,
      description =
          "Extents in 1 to 3 dimensions. Default: 2x2x2; of a benchmark between two nodes the"
              + " smallest that has them.")
  private Shape shape;

  @Option(
      names = "--rails",
      paramLabel = "R",
      description = "Links per node in each dimension, 1 to 9. Default: 2.")
  private Integer rails;

  @Option(
      names = "--rate",
      paramLabel = "RATE",
      converter = Options.RateConverter.class,
      description = "Raw rate of each link, as in 200mbit or 1gbit; veth only. Default: unshaped.")
  private LinkRate rate;

  @Option(
      names = "--idle",
      paramLabel = "HOW",
      description =
          "What a node's poll thread does when there is nothing to do: ${COMPLETION-CANDIDATES}."
              + " Default: backoff.")
  private HxbConfig.Idle idle;

  @Option(
      names = "--pin",
      description = "Bind each node's poll thread to a processor of its own, in turn.",
      showDefaultValue = Visibility.NEVER)
  private boolean pin;

  @Mixin private DriverOption driver;

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description =
          "Frames carry a tag under the key in FILE (32 hexadecimal digits, mode 600); others are"
              + " not read.")
  private Path keyFile;

  @Option(
      names = "--tag",
      paramLabel = "MODE",
      description = "With --key-file: tag, or replay: each tag counts once. Default: replay.")
  private HxbConfig.Tag tag;

  @Option(
      names = "--faults",
      paramLabel = "LIST",
      converter = Options.FaultsConverter.class,
      description =
          "What every port does to the frames it receives, as in"
              + " loss=0.01,duplicate=0.01,reorder=0.1,corrupt=0.001,seed=7.")
  private PortFaults faults;

  /** What the ports of a ring cluster are to do to what they receive. */
  PortFaults portFaults() {
    return faults == null ? PortFaults.NONE : faults;
  }

  private NodeOptions nodeOptions(HxbCommand command) {
    if (keyFile == null && tag != null && tag != HxbConfig.Tag.OFF) {
      throw command.wrongUsage("--tag " + tag + " needs --key-file");
    }
    HxbConfig.Tag mode = HxbConfig.Tag.OFF;
    String path = "";
    if (keyFile != null) {
      mode = tag == null ? HxbConfig.Tag.REPLAY : tag;
      path = keyFile.toAbsolutePath().normalize().toString();
      FrameKeyFile.read(Path.of(path), mode, 1); // before anything is built
    }
    return new NodeOptions(
        path,
        mode,
        faults == null ? "" : faults.toString(),
        driver() == null ? NodeOptions.VETH_DRIVER : driver());
  }

  /** As given; null when not. */
  Shape shape() {
    return shape;
  }

  /** As given; null when not. */
  Integer rails() {
    return rails;
  }

  /** As given; null when not. */
  LinkRate rate() {
    return rate;
  }

  /** Whether something was given that a cluster which is up cannot change. */
  boolean startGiven() {
    return pollGiven() || driver() != null || tagGiven() || faults != null;
  }

  /** Whether the poll threads' behaviour was given. */
  boolean pollGiven() {
    return idle != null || pin;
  }

  /** Whether frames are to carry a tag. */
  boolean tagGiven() {
    return keyFile != null || tag != null;
  }

  /** The interfaces' driver as given; null when not. */
  HxbConfig.Driver driver() {
    return driver.driver();
  }

  /** For fabrics other than veth. */
  void refuseDriver(HxbCommand command, Object fabric) {
    if (driver() != null) {
      throw command.wrongUsage(
          "--driver " + driver() + ": only the veth fabric has interfaces, not " + fabric);
    }
  }

  /** The shape, or another when none was given. */
  Shape shapeOr(Shape other) {
    return shape == null ? other : shape;
  }

  /** The rails, or another number when none were given. */
  int railsOr(HxbCommand command, int other) {
    return requireRails(command, rails == null ? other : rails);
  }

  static int requireRails(HxbCommand command, int count) {
    command.range("--rails", count, 1, RailLayout.MAX_PER_DIMENSION);
    return count;
  }

  /** A cluster's specification; what does not go together is wrong usage of the command. */
  ClusterSpec spec(HxbCommand command, ClusterSpec.Fabric fabric, Shape shapeUsed, int railsUsed) {
    if (fabric != ClusterSpec.Fabric.VETH) {
      refuseDriver(command, fabric);
    }
    try {
      PollPolicy poll = new PollPolicy(idle == null ? HxbConfig.Idle.BACKOFF : idle, pin);
      return new ClusterSpec(fabric, shapeUsed, railsUsed, rate, poll, nodeOptions(command));
    } catch (IllegalArgumentException e) {
      throw command.wrongUsage(e.getMessage());
    }
  }
}
