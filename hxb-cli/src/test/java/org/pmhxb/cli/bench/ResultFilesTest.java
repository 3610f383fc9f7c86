package org.pmhxb.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultFilesTest {
  @TempDir private Path place;

  @Test
  void whatIsKeptSaysNothingOfWhereItLies() throws IOException {
    Path home = place.resolve("it");
    ResultFiles files = new ResultFiles(home, home.resolve("docs/results"));
    files.add(List.of(files.path("plots/a.svg")));
    files.add("a.json");

    files.writeJson(
        "a.json",
        Map.of(
            "files",
            files,
            "failures",
            List.of(
                "[sh, " + home + "/scripts/run.sh, -L" + home + "/target] failed",
                "see " + files.path("a.md") + " in " + home,
                "not ours: " + home + "s/file and /usr/bin")));

    JsonNode json = new ObjectMapper().readTree(files.path("a.json").toFile());
    assertThat(json.path("files"))
        .extracting(JsonNode::asText)
        .containsExactly("plots/a.svg", "a.json");
    assertThat(json.path("failures"))
        .extracting(JsonNode::asText)
        .containsExactly(
            "[sh, scripts/run.sh, -Ltarget] failed",
            "see a.md in .",
            "not ours: " + home + "s/file and /usr/bin");
    StringWriter out = new StringWriter();
    files.print(new PrintWriter(out));
    assertThat(out.toString()).contains("wrote " + home.resolve("docs/results/plots/a.svg"));
  }

  @Test
  void aProjectInTheRootIsNoReasonToSpoilPaths() throws IOException {
    ResultFiles files = new ResultFiles(Path.of("/"), place);
    files.write("a.md", "/usr/bin");

    assertThat(place.resolve("a.md")).hasContent("/usr/bin");
  }

  /** Results that were committed: of all suites, also those written by earlier revisions. */
  @Test
  void theResultsOfThisProjectNameNoPlaceOfAMachine() throws IOException {
    Path results = Path.of("../docs/results").toAbsolutePath().normalize();
    List<Path> texts;
    try (Stream<Path> all = Files.walk(results)) {
      texts = all.filter(file -> file.toString().matches(".*\\.(json|md|svg)")).toList();
    }

    assertThat(texts).hasSizeGreaterThan(5);
    for (Path text : texts) {
      assertThat(Files.readString(text))
          .as(text.getFileName().toString())
          .doesNotContain(results.getParent().getParent().toString())
          .doesNotContainPattern("[\" (=\\[](/home|/root|/tmp)/");
    }
  }
}
