package org.pmhxb.cli.bench;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.pmhxb.cli.process.ProcessTree;

/**
 * What a figure was measured on.
 *
 * @param cpu model
 * @param processors that the JVM may use
 * @param memoryGb of the machine
 * @param kernel release
 * @param system distribution
 * @param versions of the software that was measured, by name
 */
public record MachineInfo(
    String cpu,
    int processors,
    long memoryGb,
    String kernel,
    String system,
    Map<String, String> versions) {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  /** This machine. */
  public static MachineInfo here(String projectVersion) {
    Map<String, String> versions = new LinkedHashMap<>();
    versions.put("hxb", projectVersion);
    Revision.here().ifPresent(revision -> versions.put("revision", revision));
    versions.put("JDK", System.getProperty("java.vm.version"));
    versions.put("DPDK", firstLine("pkg-config", "--modversion", "libdpdk"));
    if (!ProjectFolder.isInstallation()) { // else nothing was compiled here
      versions.put("cc", firstLine("cc", "-dumpfullversion"));
    }
    return new MachineInfo(
        field(Path.of("/proc/cpuinfo"), "model name"),
        Runtime.getRuntime().availableProcessors(),
        Math.round(kilobytes(field(Path.of("/proc/meminfo"), "MemTotal")) / 1e6),
        System.getProperty("os.version"),
        field(Path.of("/etc/os-release"), "PRETTY_NAME").replace("\"", ""),
        versions);
  }

  /** One line for a page. */
  public String line() {
    StringBuilder text = new StringBuilder();
    text.append(cpu).append(", ").append(processors).append(" processors, ");
    text.append(memoryGb).append(" GB, Linux ").append(kernel).append(", ").append(system);
    versions.forEach((name, version) -> text.append(", ").append(name).append(' ').append(version));
    return text.toString();
  }

  private static double kilobytes(String text) {
    String digits = text.replaceAll("\\D", "");
    return digits.isEmpty() ? 0 : Double.parseDouble(digits);
  }

  /** The value behind the first "key :" or "key="; "unknown" when there is none. */
  private static String field(Path file, String key) {
    try {
      return Files.readAllLines(file).stream()
          .filter(line -> line.matches(key + "\\s*[:=].*"))
          .map(line -> line.replaceFirst("^[^:=]*[:=]\\s*", ""))
          .findFirst()
          .orElse("unknown");
    } catch (IOException e) {
      return "unknown";
    }
  }

  /** First line that a command prints, of little more; "unknown" when it cannot be run. */
  public static String firstLine(String... command) {
    return firstLine(LIMIT, command);
  }

  static String firstLine(Duration limit, String... command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectInput(new File("/dev/null"))
              .redirectErrorStream(true)
              .start();
      try (InputStream out = process.getInputStream()) {
        // Before anything is read: who reads waits for as long as the command takes.
        if (!ProcessTree.awaitOrEnd(process, limit) || process.exitValue() != 0) {
          return "unknown";
        }
        String text = new String(out.readAllBytes()).strip();
        return text.lines().findFirst().orElse("unknown");
      }
    } catch (IOException e) {
      return "unknown";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "unknown";
    }
  }
}
