package org.pmhxb.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a JVM says that may not make native calls: tried in one. */
class ForbiddenAccessTest {
  /** The program that the test starts. */
  static final class Main {
    public static void main(String[] args) {
      try {
        NativeLibrary.load();
        System.out.println("loaded");
      } catch (NativeLoadException e) {
        System.out.println(e.getMessage());
      }
    }
  }

  private static String run(String... flags) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(flags));
    command.add("-Dhxb.native.path=" + NativeLibrary.path());
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Main.class.getName());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said;
  }

  @Test
  void theFlagIsNamedWhenItIsMissing() throws Exception {
    assertThat(run("--illegal-native-access=deny"))
        .contains("start it with --enable-native-access=ALL-UNNAMED");
  }

  @Test
  void withTheFlagItLoads() throws Exception {
    assertThat(run("--illegal-native-access=deny", "--enable-native-access=ALL-UNNAMED"))
        .contains("loaded");
  }
}
