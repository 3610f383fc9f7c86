package org.pmhxb.cli.doctor;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The JVM that runs this command, whatever the machine's root is: JDK, flags, native library, and
 * the archive of the rehearsal.
 */
final class JvmChecks implements Check {
  private static final int JDK = 25;
  private static final String FLAGS_REMEDY =
      "start through hxb, or: java @scripts/jvm.args -jar hxb-cli/target/hxb-cli.jar doctor";
  private static final String ARCHIVE = "rehearsal archive";
  private static final String ARCHIVE_FLAG = "-XX:AOTCache=";

  private final Path nativeDirectory;
  private final boolean installation;

  JvmChecks(Path nativeDirectory, boolean installation) {
    this.nativeDirectory = nativeDirectory;
    this.installation = installation;
  }

  @Override
  public List<Finding> examine(Machine machine) {
    return List.of(
        jdk(Runtime.version()),
        flags(missingFlags(JvmChecks.class.getModule())),
        library(System.getProperty("hxb.native.trouble")),
        archive(
            ManagementFactory.getRuntimeMXBean().getInputArguments(),
            new Machine(Path.of("/")).read("/proc/self/maps")));
  }

  static Finding jdk(Runtime.Version version) {
    String value = version + ", " + System.getProperty("java.vm.name");
    if (version.feature() == JDK) {
      return Finding.ok("jdk", value);
    }
    String remedy =
        "sudo apt-get install openjdk-25-jdk-headless (Debian 13), or set JAVA_HOME to a JDK 25";
    return version.feature() > JDK
        ? Finding.warning("jdk", value + " (made for JDK 25)", remedy)
        : Finding.failure("jdk", value + " (JDK 25 is needed)", remedy);
  }

  static Finding flags(List<String> missing) {
    return missing.isEmpty()
        ? Finding.ok("jvm flags", "native access and Chronicle Bytes' views of java.base granted")
        : Finding.failure("jvm flags", "missing: " + String.join(" ", missing), FLAGS_REMEDY);
  }

  /** Which of scripts/jvm.args this JVM was started without, told by what it may do. */
  private static List<String> missingFlags(Module self) {
    Module base = Object.class.getModule();
    List<String> missing = new ArrayList<>();
    if (!self.isNativeAccessEnabled()) {
      missing.add("--enable-native-access=ALL-UNNAMED");
    }
    for (String exported : List.of("jdk.internal.ref", "sun.nio.ch", "jdk.internal.util")) {
      if (!base.isExported(exported, self)) {
        missing.add("--add-exports=java.base/" + exported + "=ALL-UNNAMED");
      }
    }
    if (!base.isOpen("java.lang.reflect", self)) {
      missing.add("--add-opens=java.base/java.lang.reflect=ALL-UNNAMED");
    }
    return missing;
  }

  /**
   * @param trouble why the library cannot be loaded, as the launcher of an installation found; null
   *     when it found nothing, and in a checkout
   */
  Finding library(String trouble) {
    if (trouble != null) {
      return Finding.failure("native library", trouble, System.getProperty("hxb.native.mend"));
    }
    Path library = nativeDirectory.resolve("libpmhxb.so");
    return Files.isReadable(library)
        ? Finding.ok("native library", library.toString())
        : Finding.failure("native library", library + " is not there", "./hxb build");
  }

  /**
   * The JVM passes silently over an archive that does not fit, and has then nothing of it mapped.
   *
   * @param flags of the JVM
   * @param maps its mappings
   */
  Finding archive(List<String> flags, String maps) {
    String file =
        flags.stream()
            .filter(flag -> flag.startsWith(ARCHIVE_FLAG))
            .map(flag -> flag.substring(ARCHIVE_FLAG.length()))
            .reduce((first, last) -> last)
            .orElse("");
    if (file.isEmpty()) {
      return Finding.warning(ARCHIVE, "none was named: a node learns in traffic", FLAGS_REMEDY);
    }
    String mapped = " " + real(Path.of(file));
    if (maps.lines().anyMatch(line -> line.endsWith(mapped))) {
      return Finding.ok(ARCHIVE, file);
    }
    return Finding.warning(
        ARCHIVE,
        file
            + (Files.exists(Path.of(file))
                ? " is not of this JDK or not of these jars"
                : " is not there")
            + ": starting takes longer, and a node learns in traffic",
        installation
            ? "unpack the tarball by tar, which keeps the jars' times, and run the JDK that its"
                + " file release names; or: hxb rehearse --archive /var/tmp/hxb.aot && export"
                + " HXB_ARCHIVE=/var/tmp/hxb.aot"
            : "./hxb clean && ./hxb build");
  }

  private static Path real(Path file) {
    try {
      return file.toRealPath();
    } catch (IOException e) {
      return file.toAbsolutePath();
    }
  }
}
