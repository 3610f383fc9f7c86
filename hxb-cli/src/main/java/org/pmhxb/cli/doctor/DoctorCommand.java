package org.pmhxb.cli.doctor;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.HxbCommand;
import org.pmhxb.cli.Report;
import org.pmhxb.cli.bench.ProjectFolder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Examines this machine: what is there, what is missing, and the command that mends it. */
@Command(
    name = "doctor",
    description = {
      "Examine this machine: each finding is ok, a warning (works, but slower or not with every"
          + " fabric) or a failure, and the latter two name the command that mends them. Changes"
          + " nothing. Exit code 1 when there is a failure.",
      "With --config it asks whether that node can run here, as this user: its NICs, rights,"
          + " hugepages, processors, key and socket, instead of what hxb up needs."
    },
    footer = {"", "Example: hxb doctor --json", "         hxb doctor --config /etc/hxb/node.toml"})
public final class DoctorCommand extends HxbCommand {
  @Option(
      names = "--root",
      paramLabel = "DIR",
      description = "Look at a copy of a machine's /proc, /sys and /usr/lib under DIR.")
  private Path root = Path.of("/");

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "A node's configuration, TOML; see hxb node.")
  private Path config;

  @Override
  protected Report run() {
    if (!Files.isDirectory(root)) {
      throw wrongUsage(
          "--root is "
              + root
              + ", and there is no such folder; give the root of a machine's files");
    }
    Machine machine = new Machine(root.toAbsolutePath().normalize());
    Path library = Path.of(System.getProperty("hxb.native.path", "native/build"));
    boolean installation = ProjectFolder.isInstallation();
    List<Check> checks =
        new ArrayList<>(
            List.of(new JvmChecks(library, installation), new DpdkChecks(installation)));
    checks.addAll(config == null ? ofFabrics() : ofNode(NodeFile.read(config)));
    checks.add(new ReadingChecks());
    boolean byRoot = machine.isRoot();
    return DoctorReport.of(
        checks.stream()
            .flatMap(check -> check.examine(machine).stream())
            .map(finding -> byRoot ? finding.forRoot() : finding)
            .toList());
  }

  private static List<Check> ofFabrics() {
    long hugepagesWanted = Long.getLong("hxb.hugepages", MemoryChecks.DEFAULT_WANTED);
    return List.of(
        new MemoryChecks(hugepagesWanted),
        new PermissionChecks(),
        new NicChecks(),
        new CpuChecks(),
        new VethChecks());
  }

  private static List<Check> ofNode(NodeFile file) {
    return List.of(
        new MemoryChecks(file),
        new NicChecks(file),
        new RailChecks(file),
        new NodeChecks(file),
        new CpuChecks(file));
  }
}
