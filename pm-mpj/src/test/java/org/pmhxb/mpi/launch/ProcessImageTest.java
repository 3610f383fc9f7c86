package org.pmhxb.mpi.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProcessImageTest {
  /** Becomes a shell that tells its process, and ends as nothing else here does. */
  static final class Becomes {
    public static void main(String[] args) {
      System.out.println(ProcessHandle.current().pid());
      Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
      ProcessImage.replace(List.of("/bin/sh", "-c", "echo $$ \"$0\" $1; exit 7", "a b", "c"));
    }
  }

  @Test
  void theOtherProgramIsTheSameProcess() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Becomes.class.getName())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isEqualTo(7);
    assertThat(said).isEqualTo("%d\n%d a b c\n".formatted(process.pid(), process.pid()));
  }

  @Test
  void whatIsNotThereIsNamedAndThisProcessGoesOn() {
    assertThatThrownBy(() -> ProcessImage.replace(List.of("/nonexistent/java", "-version")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("execv(/nonexistent/java) answered -1 with errno 2");
  }
}
