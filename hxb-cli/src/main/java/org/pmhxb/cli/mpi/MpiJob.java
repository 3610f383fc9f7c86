package org.pmhxb.cli.mpi;

import java.nio.file.Path;
import java.util.List;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.veth.FabricPlan;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.mpi.launch.Placement;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;
import org.pmhxb.router.fabric.RingCluster;

/**
 * What {@code hxb mpirun} is to run.
 *
 * @param printMap by rank 0 once it knows
 * @param device niodev is MPJ's own over the kernel's TCP, for comparisons
 * @param rails per dimension, 1 to 9
 * @param rate of each link, or null; veth only
 * @param driver of the interfaces, packet or af_packet, or null for the usual one; veth only
 * @param classPath of the program
 * @param jvmArgs for the ranks' JVMs
 * @param label every line of output with its rank
 * @param program main class and its arguments
 */
public record MpiJob(
    Launcher launcher,
    boolean printMap,
    Device device,
    Fabric fabric,
    Shape shape,
    int rails,
    LinkRate rate,
    HxbConfig.Driver driver,
    int ranks,
    Placement placement,
    List<Path> classPath,
    List<String> jvmArgs,
    boolean label,
    List<String> program) {

  /** Who starts the ranks. */
  public enum Launcher {
    /** This command. */
    HXB,
    /** Open MPI's mpirun: the ranks find each other through PMIx. */
    OPENMPI
  }

  /** What MPJ sends by. */
  public enum Device {
    /** The hyper-crossbar. */
    HXB,
    /**
     * MPJ's own, over TCP: of the loopback instead of ring, of the first link instead of all of
     * veth.
     */
    NIODEV
  }

  /** What joins the nodes. */
  public enum Fabric {
    /** All ranks in one process. */
    RING,
    /** A process per node, shared memory between them. */
    SHM,
    /** A process and a network namespace per node. */
    VETH;

    @Override
    public String toString() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  public MpiJob {
    if (ranks < 1 || ranks > shape.nodes()) {
      throw new IllegalArgumentException(
          "-n is " + ranks + "; the shape " + shape + " has room for 1.." + shape.nodes());
    }
    if (rails < 1 || rails > 9) {
      throw new IllegalArgumentException("--rails is " + rails + "; must be in 1..9");
    }
    if (launcher == Launcher.OPENMPI && (fabric != Fabric.VETH || device != Device.HXB)) {
      throw new IllegalArgumentException(
          "--launcher openmpi starts a process per rank: it needs --fabric veth --device hxb");
    }
    if (fabric == Fabric.SHM && device == Device.NIODEV) {
      throw new IllegalArgumentException(
          "--device niodev talks TCP, which --fabric shm has none for: --fabric ring or veth");
    }
    if (fabric == Fabric.VETH && device == Device.NIODEV) {
      requireOneLine(shape, placement.nodes(shape, ranks));
    }
    if (fabric == Fabric.RING && device == Device.HXB) {
      RingCluster.requireFits(shape, rails);
    }
    if (fabric == Fabric.VETH) {
      FabricPlan.requireFits(shape);
    }
    if (fabric == Fabric.SHM) {
      ClusterSpec.requireLinesOfTwo(ClusterSpec.Fabric.SHM, shape);
    }
    if (rate != null && fabric != Fabric.VETH) {
      throw new IllegalArgumentException(
          "--rate is " + rate + "; only links of the veth fabric can be shaped: --fabric veth");
    }
    if (driver != null && fabric != Fabric.VETH) {
      throw new IllegalArgumentException(
          "--driver is " + driver + "; only the veth fabric has interfaces: --fabric veth");
    }
    nodeOptions(driver); // refuses what is no driver of veth
  }

  /** Nothing of the kernel's forwards from one line to another. */
  private static void requireOneLine(Shape shape, int[] nodes) {
    int line = shape.extent(0);
    for (int node : nodes) {
      if (node / line != nodes[0] / line) {
        throw new IllegalArgumentException(
            ("-n is %d in the shape %s; --device niodev reaches one line along x alone, %s:"
                    + " --shape %d")
                .formatted(nodes.length, shape, Words.count(line, "node"), nodes.length));
      }
    }
  }

  /** Of its nodes. */
  NodeOptions nodeOptions() {
    return nodeOptions(driver);
  }

  private static NodeOptions nodeOptions(HxbConfig.Driver driver) {
    return driver == null ? NodeOptions.NONE : new NodeOptions("", HxbConfig.Tag.OFF, "", driver);
  }

  int[] nodeOfRank() {
    return placement.nodes(shape, ranks);
  }
}
