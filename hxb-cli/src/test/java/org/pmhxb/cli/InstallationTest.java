package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.cli.bench.ProjectFolder;

/**
 * What differs where the launcher says that it is an installation's; {@code DistIT} has a whole
 * one.
 */
class InstallationTest {
  private static final String PROPERTY = "hxb.installed";

  @BeforeEach
  void install() {
    System.setProperty(PROPERTY, "true");
  }

  @AfterEach
  void checkOut() {
    System.clearProperty(PROPERTY);
  }

  @Test
  void resultsAreWrittenWhereTheCommandIsRun() {
    Path here = Path.of("hxb-results").toAbsolutePath();
    assertThat(ProjectFolder.results(null, true)).isEqualTo(here);
    assertThat(ProjectFolder.results(null, false)).isEqualTo(here);
    assertThat(ProjectFolder.results(Path.of("/tmp/x/../y"), true)).isEqualTo(Path.of("/tmp/y"));
    checkOut();
    assertThat(ProjectFolder.results(null, true)).endsWithRaw(Path.of("docs/results"));
    assertThat(ProjectFolder.results(null, false)).endsWithRaw(Path.of("target/results"));
  }

  @Test
  void examplesLieInAFolderOfTheirOwn() {
    assertThat(ProjectFolder.examples()).endsWithRaw(Path.of("examples/hxb-mpj-examples.jar"));
    checkOut();
    assertThat(ProjectFolder.examples())
        .endsWithRaw(Path.of("pm-mpj/examples/target/hxb-mpj-examples.jar"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"packet-cost", "peers"})
  void whatIsMeasuredBesideForeignCodeNeedsACheckout(String bench) {
    CommandRun run = CommandRun.of("bench", bench, "--json");
    assertThat(run.code()).isEqualTo(Main.USAGE);
    assertThat(run.json().path("error").asText()).contains("checkout");
  }
}
