package org.pmhxb.cli;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * What is wrong with a command line, in the words of a user: the value, what there is, the mend.
 */
final class UsageMessage {
  /** What picocli writes in front of a converter's own words. */
  private static final Pattern BEFORE_REASON =
      Pattern.compile("^Invalid value for (option|positional parameter) .*?: ");

  private static final Map<Class<?>, String> NUMBERS =
      Map.of(
          int.class, "a whole number of less than 2^31",
          Integer.class, "a whole number of less than 2^31",
          long.class, "a whole number of less than 2^63",
          Long.class, "a whole number of less than 2^63",
          double.class, "a number",
          Double.class, "a number");

  /** Commands of the launcher, which come here misspelt only. */
  static final List<String> LAUNCHERS =
      List.of("build", "test", "jmh", "stress", "format", "clean");

  /** Letters that a word's beginning needs to be taken for the whole. */
  private static final int BEGINNING = 3;

  private UsageMessage() {}

  static String of(ParameterException e) {
    if (!(e instanceof UnmatchedArgumentException unmatched)) {
      return e.getArgSpec() == null || e.getValue() == null ? e.getMessage() : ofValue(e);
    }
    CommandLine command = e.getCommandLine();
    String word = unmatched.getUnmatched().getFirst();
    if (word.startsWith("-")) {
      return "no option " + word + nearest(word, options(command));
    }
    if (command.getSubcommands().isEmpty()) {
      return "\"" + word + "\" is one word too many" + nearest(word, options(command));
    }
    List<String> commands =
        command.getSubcommands().values().stream()
            .filter(sub -> !sub.getCommandSpec().usageMessage().hidden())
            .map(CommandLine::getCommandName)
            .distinct()
            .toList();
    List<String> all =
        command.getParent() == null
            ? Stream.concat(commands.stream(), LAUNCHERS.stream()).toList()
            : commands;
    return "no command \""
        + word
        + "\""
        + nearest(word, all)
        + "; there are: "
        + String.join(", ", all);
  }

  /** Of a word that cannot be what its option takes. */
  private static String ofValue(ParameterException e) {
    ArgSpec arg = e.getArgSpec();
    String name = arg instanceof OptionSpec option ? option.longestName() : arg.paramLabel();
    Class<?> type = arg.typeInfo().isMultiValue() ? arg.auxiliaryTypes()[0] : arg.type();
    if (arg.converters().length > 0) {
      return name + ": " + BEFORE_REASON.matcher(e.getMessage()).replaceFirst("");
    }
    String wanted =
        type.isEnum() ? "one of " + words(type) : NUMBERS.getOrDefault(type, "another value");
    String said = String.join(" ", arg.description());
    return name
        + " is \""
        + e.getValue()
        + "\"; must be "
        + wanted
        + (type.isEnum() || said.isEmpty() ? "" : ". " + name + ": " + said);
  }

  /** As they are typed. */
  private static String words(Class<?> type) {
    return Stream.of(type.getEnumConstants())
        .map(constant -> constant.toString().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(", "));
  }

  private static List<String> options(CommandLine command) {
    return List.copyOf(command.getCommandSpec().optionsMap().keySet());
  }

  /**
   * The one that was probably meant, if any is like the word: a third of its letters may differ.
   */
  private static String nearest(String word, List<String> there) {
    String bare = bare(word);
    return there.stream()
        .filter(one -> distance(bare, bare(one)) <= (bare.length() + 1) / 3)
        .min(
            Comparator.comparingInt((String one) -> distance(bare, bare(one)))
                .thenComparing(o -> o))
        .map(one -> "; did you mean " + one + "?")
        .orElse("");
  }

  private static String bare(String word) {
    return word.replaceFirst("^-+", "").replaceFirst("=.*$", "").toLowerCase(Locale.ROOT);
  }

  /**
   * Letters to change, add, leave out or swap with the next; 1 for the beginning of the other word.
   */
  private static int distance(String a, String b) {
    if (a.length() >= BEGINNING && !a.equals(b) && b.startsWith(a)) {
      return 1;
    }
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        int changed = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        d[i][j] = Math.min(d[i - 1][j - 1] + changed, 1 + Math.min(d[i - 1][j], d[i][j - 1]));
        boolean swapped =
            i > 1
                && j > 1
                && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        if (swapped) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
