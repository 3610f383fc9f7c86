package org.pmhxb.cli;

import static java.util.stream.Collectors.joining;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.pmhxb.cli.bench.ProjectFolder;
import org.pmhxb.router.Spelling;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
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

  /** An option as picocli names it, in quotes. */
  private static final Pattern QUOTED = Pattern.compile("'(-[^']*)'");

  private static final Map<Class<?>, String> WANTED =
      Map.of(
          Path.class, "a path",
          int.class, "a whole number of less than 2^31",
          Integer.class, "a whole number of less than 2^31",
          long.class, "a whole number of less than 2^63",
          Long.class, "a whole number of less than 2^63",
          double.class, "a number",
          Double.class, "a number");

  /** Commands of a checkout's launcher, which come here misspelt only. */
  static final List<String> LAUNCHERS =
      List.of("build", "test", "jmh", "stress", "format", "clean", "dist");

  private UsageMessage() {}

  static String of(ParameterException e) {
    if (!(e instanceof UnmatchedArgumentException unmatched)) {
      if (e instanceof MissingParameterException lacks
          && !lacks.getMissing().isEmpty()
          && lacks.getMissing().stream().allMatch(ArgSpec::required)) {
        return lacks.getMissing().stream().map(UsageMessage::asTyped).collect(joining(", "))
            + (lacks.getMissing().size() == 1 ? " is missing" : " are missing");
      }
      return e.getArgSpec() == null || e.getValue() == null
          ? QUOTED.matcher(e.getMessage()).replaceAll("$1")
          : ofValue(e);
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
        command.getParent() == null && !ProjectFolder.isInstallation()
            ? Stream.concat(commands.stream(), LAUNCHERS.stream()).toList()
            : commands;
    String nearest = nearest(word, all);
    return "no command \""
        + word
        + "\""
        + nearest
        + (nearest.isEmpty() ? "; there are: " : " There are: ")
        + String.join(", ", all);
  }

  private static String asTyped(ArgSpec arg) {
    return arg instanceof OptionSpec option
        ? option.longestName() + " " + option.paramLabel()
        : arg.paramLabel();
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
        type.isEnum() ? "one of " + words(type) : WANTED.getOrDefault(type, "another value");
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
        .collect(joining(", "));
  }

  private static List<String> options(CommandLine command) {
    return List.copyOf(command.getCommandSpec().optionsMap().keySet());
  }

  private static String nearest(String word, List<String> there) {
    return Spelling.nearest(word, there).map(one -> "; did you mean " + one + "?").orElse("");
  }
}
