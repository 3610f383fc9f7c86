package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MarkedSectionTest {
  @TempDir Path directory;

  @Test
  void replacesWhatStandsBetweenTheMarkers() throws IOException {
    Path page = directory.resolve("page.md");
    Files.writeString(page, "a\n<!-- x -->\nold\n<!-- /x -->\nb\n");

    MarkedSection.replace(page, "x", "new\n");
    MarkedSection.replace(page, "x", "newer\n");

    assertThat(page).hasContent("a\n<!-- x -->\nnewer\n<!-- /x -->\nb\n");
  }

  @Test
  void aPageWithoutMarkersIsLeftAlone() throws IOException {
    Path page = directory.resolve("page.md");
    Files.writeString(page, "a\n<!-- /x -->\n<!-- x -->\n");

    assertThatThrownBy(() -> MarkedSection.replace(page, "x", "new\n"))
        .hasMessageContaining("page.md has no lines <!-- x --> and <!-- /x -->");
    assertThat(page).hasContent("a\n<!-- /x -->\n<!-- x -->\n");
  }
}
