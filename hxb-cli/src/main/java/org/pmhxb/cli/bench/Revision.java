package org.pmhxb.cli.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Which sources a figure is of. */
final class Revision {
  private static final String UNKNOWN = "unknown";
  private static final String DIGITS = "10";
  private static final String CHANGED = "+changes";

  private Revision() {}

  /** Of the project whose command this is; empty where neither git nor a release says. */
  static Optional<String> here() {
    return ProjectFolder.isInstallation()
        ? ofRelease(ProjectFolder.path())
        : ofCheckout(ProjectFolder.path());
  }

  /** The commit, with {@code +changes} where files differ from it; those of docs do not count. */
  static Optional<String> ofCheckout(Path home) {
    String commit =
        MachineInfo.firstLine(
            "git", "-C", home.toString(), "rev-parse", "--short=" + DIGITS, "HEAD");
    if (commit.equals(UNKNOWN)) {
      return Optional.empty();
    }
    String compared =
        MachineInfo.firstLine(
            "sh",
            "-c",
            "if git -C \"$0\" diff --quiet HEAD -- . \":!docs\"; then echo same; else echo changed; fi",
            home.toString());
    return Optional.of(compared.equals("same") ? commit : commit + CHANGED);
  }

  /** As {@code hxb dist} wrote it into the installation. */
  static Optional<String> ofRelease(Path home) {
    try {
      return Files.readAllLines(home.resolve("release")).stream()
          .filter(line -> line.startsWith("COMMIT="))
          .map(line -> line.substring(line.indexOf('=') + 1).replace("\"", ""))
          .filter(commit -> !commit.equals(UNKNOWN))
          .map(commit -> commit.replaceFirst("^([0-9a-f]{10})[0-9a-f]*", "$1"))
          .map(commit -> commit.replace("-dirty", CHANGED))
          .findFirst();
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
