package org.pmhxb.cli.bench.mpi;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.pmhxb.cli.Words;
import org.pmhxb.cli.bench.ProjectFolder;
import org.pmhxb.cli.cluster.ClusterPaths;
import org.pmhxb.cli.mpi.MpiJob;
import org.pmhxb.cli.mpi.MpiLauncher;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.mpi.launch.Placement;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;

/** Runs the measuring programs one after the other, each on a cluster of its own. */
public final class MpiBenchmark {
  private static final String PACKAGE = "org.pmhxb.mpi.examples.";
  private static final int EAGER_BYTES = 32 << 10;
  private static final int RENDEZVOUS_BYTES = 1 << 20;

  /**
   * Half as many before them: MPJ's and the node's methods are compiled after some 10,000 calls.
   */
  private static final int LATENCY_ROUNDS = 20_000;

  private final ClusterPaths paths;
  private final LinkRate rate;
  private final HxbConfig.Driver driver;
  private final MpiSizes sizes;
  private final List<String> jvmArgs;
  private final Consumer<String> progress;

  /**
   * @param driver of the links' interfaces, or null for the usual one
   * @param seconds of each stream
   * @param jvmArgs for the ranks, such as properties of the device
   */
  public MpiBenchmark(
      ClusterPaths paths,
      LinkRate rate,
      HxbConfig.Driver driver,
      double seconds,
      List<String> jvmArgs,
      Consumer<String> progress) {
    this.paths = paths;
    this.rate = rate;
    this.driver = driver;
    this.sizes = new MpiSizes(EAGER_BYTES, RENDEZVOUS_BYTES, seconds, LATENCY_ROUNDS);
    this.jvmArgs = jvmArgs;
    this.progress = progress;
  }

  /** The device of this project between two nodes. */
  public MpiRow hxb(int links) throws Exception {
    return row("hxb", MpiJob.Device.HXB, links, sizes.arguments(links, rate));
  }

  /** MPJ's own device over TCP, on one link; both ways with one long message under way each. */
  public MpiRow niodev() throws Exception {
    return row("niodev (TCP)", MpiJob.Device.NIODEV, 1, sizes.argumentsOneBothWays(1, rate));
  }

  /** Open MPI over TCP on all links. */
  public MpiRow openMpi(int links) throws Exception {
    progress.accept("Open MPI over TCP, " + Words.count(links, "link"));
    MpiFigures figures = new OpenMpiTcp(paths).run(links, rate, sizes);
    return MpiRow.of("Open MPI (TCP)", links, rate, sizes, figures);
  }

  private MpiRow row(String name, MpiJob.Device device, int links, List<String> arguments)
      throws Exception {
    progress.accept(name + ", " + Words.count(links, "link"));
    List<String> program = new ArrayList<>(List.of(PACKAGE + "Measure"));
    program.addAll(arguments);
    MpiFigures figures = run(device, Shape.parse("2"), links, 2, program);
    return MpiRow.of(name, links, rate, sizes, figures);
  }

  /**
   * Eight ranks on a line with six rails, and on 2x2x2 with two rails per dimension.
   *
   * @param warmUpSeconds before anything is measured
   */
  public List<KernelRow> kernels(List<String> classes, int times, double warmUpSeconds)
      throws Exception {
    List<String> program = new ArrayList<>();
    program.add(PACKAGE + "Kernels");
    program.add(Double.toString(warmUpSeconds));
    program.add(Integer.toString(times));
    program.addAll(classes);
    progress.accept("kernels, 1-D with 6 rails");
    MpiFigures line = run(MpiJob.Device.HXB, KernelRow.LINE, 6, KernelRow.RANKS, program);
    progress.accept("kernels, 3-D with 2 rails per dimension");
    MpiFigures cube = run(MpiJob.Device.HXB, KernelRow.CUBE, 2, KernelRow.RANKS, program);
    List<KernelRow> rows = new ArrayList<>();
    for (String size : classes) {
      rows.add(KernelRow.allToAll("is", size, rate, line, cube));
      rows.add(KernelRow.neighbours("cg", size, rate, line, cube));
    }
    return rows;
  }

  private MpiFigures run(
      MpiJob.Device device, Shape shape, int rails, int ranks, List<String> program)
      throws Exception {
    MpiJob job =
        new MpiJob(
            MpiJob.Launcher.HXB,
            false,
            device,
            MpiJob.Fabric.VETH,
            shape,
            rails,
            rate,
            driver,
            ranks,
            Placement.LINES,
            List.of(ProjectFolder.examples()),
            jvmArgs,
            false,
            program);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream printed = new PrintStream(out, true, StandardCharsets.UTF_8);
    String reason = new MpiLauncher(job, paths, printed, System.err, progress).run();
    if (!reason.isEmpty()) {
      throw new IllegalStateException(reason + "\n" + out.toString(StandardCharsets.UTF_8));
    }
    return MpiFigures.parse(out.toString(StandardCharsets.UTF_8).lines().toList());
  }

  /** Why Open MPI cannot be measured here; empty when it can. */
  public static String openMpiMissing() {
    return OpenMpiTcp.missing();
  }
}
