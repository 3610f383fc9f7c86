package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** All texts of the product are written in one way: what stands in its source is looked through. */
class TextsTest {
  /** Comments, characters and text blocks are passed over; group 1 is what a literal holds. */
  private static final Pattern LITERAL =
      Pattern.compile(
          "//[^\\n]*|/\\*.*?\\*/|'(?:[^'\\\\]|\\\\.)+'|\"\"\".*?\"\"\"|\"((?:[^\"\\\\]|\\\\.)*)\"",
          Pattern.DOTALL);

  /** A single quote that opens: not the apostrophe of "the nodes' ports" or "a rail's rate". */
  private static final Pattern OPENS = Pattern.compile("(?:^|[\\s(=])'(?!s\\b)");

  private static final Pattern PLURAL =
      Pattern.compile("%d (?:rail|link|relay|seed|node)s|\\(s\\)");

  private static List<String> literals(Predicate<String> of) throws IOException {
    Path home = Path.of(System.getProperty("hxb.home"));
    List<String> found = new ArrayList<>();
    try (Stream<Path> modules = Files.list(home)) {
      for (Path module : modules.map(m -> m.resolve("src/main/java")).toList()) {
        if (Files.isDirectory(module)) {
          found.addAll(literalsIn(module, of));
        }
      }
    }
    return found;
  }

  private static List<String> literalsIn(Path folder, Predicate<String> of) throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
        Matcher m = LITERAL.matcher(Files.readString(file));
        while (m.find()) {
          if (m.group(1) != null && of.test(m.group(1))) {
            found.add(file.getFileName() + ": " + m.group(1));
          }
        }
      }
    }
    return found;
  }

  @Test
  void theSourceIsLookedThrough() throws IOException {
    assertThat(literals(text -> text.equals("no command \\\"")))
        .containsExactly("UsageMessage.java: no command \\\"");
  }

  /** Words of the user stand in double quotes. Single ones are the shell's, in commands. */
  @Test
  void quotesAreDoubleOnes() throws IOException {
    assertThat(literals(text -> OPENS.matcher(text).find()))
        .allMatch(text -> text.matches("(Words|VethChecks|UsageMessage)\\.java: .*"))
        .hasSizeGreaterThan(1);
  }

  /** Numbers of things are written by {@link Words#count}, unless they are several for sure. */
  @Test
  void oneIsNoPlural() throws IOException {
    assertThat(literals(text -> PLURAL.matcher(text).find()))
        .allMatch(
            text ->
                text.contains("%d of %d ")
                    || text.contains("1 of %d links")
                    || text.contains("%d nodes, ")
                    || text.startsWith("Scenario.java: ")
                    || text.startsWith("PacketCostComparison.java: "));
    assertThat(Words.count(1, "rail") + ", " + Words.count(0, "link")).isEqualTo("1 rail, 0 links");
  }

  /** Picocli writes the default behind the description. */
  @Test
  void noHelpStatesADefaultTwice() {
    List<String> twice = new ArrayList<>();
    defaults(Main.commands(), twice);
    assertThat(twice).isEmpty();
  }

  private static void defaults(CommandLine command, List<String> twice) {
    for (OptionSpec option : command.getCommandSpec().options()) {
      if (option.defaultValue() != null
          && String.join(" ", option.description()).contains("Default:")) {
        twice.add(command.getCommandName() + " " + option.longestName());
      }
    }
    command.getSubcommands().values().forEach(sub -> defaults(sub, twice));
  }
}
