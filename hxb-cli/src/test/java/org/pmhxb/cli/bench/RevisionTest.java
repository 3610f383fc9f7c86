package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RevisionTest {
  @TempDir private Path home;

  @BeforeEach
  void makeFiles() throws Exception {
    Files.createDirectory(home.resolve("docs"));
    Files.writeString(home.resolve("code"), "one");
    Files.writeString(home.resolve("docs/page"), "one");
  }

  private void git(String... words) throws Exception {
    ProcessBuilder git = new ProcessBuilder("git", "-c", "user.name=a", "-c", "user.email=a@b");
    git.command().addAll(List.of("-c", "commit.gpgsign=false"));
    git.command().addAll(List.of(words));
    git.environment().keySet().removeIf(name -> name.startsWith("GIT_"));
    Process process = git.directory(home.toFile()).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).as(said).isZero();
  }

  @Test
  void isThatOfTheCheckoutAndSaysWhetherItWasChanged() throws Exception {
    git("init", "--quiet");
    git("add", ".");
    git("commit", "--quiet", "--message", "first");
    String commit = Revision.ofCheckout(home).orElseThrow();
    assertThat(commit).matches("[0-9a-f]{10}");

    Files.writeString(home.resolve("docs/page"), "figures that the suite itself has written");
    assertThat(Revision.ofCheckout(home)).hasValue(commit);
    Files.writeString(home.resolve("code"), "two");
    assertThat(Revision.ofCheckout(home)).hasValue(commit + "+changes");
  }

  @Test
  void isThatOfTheRelease() throws Exception {
    Files.writeString(
        home.resolve("release"), "VERSION=\"1\"\nCOMMIT=\"0123456789abcdef0123-dirty\"\n");
    assertThat(Revision.ofRelease(home)).hasValue("0123456789+changes");
  }

  @Test
  void isLeftOutWhereNobodyKnows() throws Exception {
    assertThat(Revision.ofCheckout(home)).as("no checkout").isEmpty();
    assertThat(Revision.ofRelease(home)).as("no release").isEmpty();
    Files.writeString(home.resolve("release"), "COMMIT=\"unknown\"\n");
    assertThat(Revision.ofRelease(home)).isEmpty();
  }
}
