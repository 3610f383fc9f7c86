package org.pmhxb.cli.doctor;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The JVM that runs this command, whatever the machine's root is: JDK, flags, native library. */
final class JvmChecks implements Check {
  private static final int JDK = 25;
  private static final String FLAGS_REMEDY =
      "start through ./hxb, or: java @scripts/jvm.args -jar hxb-cli/target/hxb-cli.jar doctor";

  private final Path nativeDirectory;

  JvmChecks(Path nativeDirectory) {
    this.nativeDirectory = nativeDirectory;
  }

  @Override
  public List<Finding> examine(Machine machine) {
    return List.of(
        jdk(Runtime.version()), flags(missingFlags(JvmChecks.class.getModule())), library());
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

  private Finding library() {
    Path library = nativeDirectory.resolve("libpmhxb.so");
    return Files.isReadable(library)
        ? Finding.ok("native library", library.toString())
        : Finding.failure("native library", library + " is not there", "./hxb build");
  }
}
