package org.pmhxb.cli;

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

  private UsageMessage() {}

  static String of(ParameterException e) {
    if (!(e instanceof UnmatchedArgumentException unmatched)) {
      return e.getArgSpec() == null || e.getValue() == null ? e.getMessage() : ofValue(e);
    }
    CommandLine command = e.getCommandLine();
    String word = unmatched.getUnmatched().getFirst();
    if (word.startsWith("-")) {
      return "no option " + word + nearest(unmatched);
    }
    if (command.getSubcommands().isEmpty()) {
      return "\"" + word + "\" is one word too many" + nearest(unmatched);
    }
    String commands =
        command.getSubcommands().values().stream()
            .filter(sub -> !sub.getCommandSpec().usageMessage().hidden())
            .map(CommandLine::getCommandName)
            .distinct()
            .collect(Collectors.joining(", "));
    return "no command \"" + word + "\"" + nearest(unmatched) + "; there are: " + commands;
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

  private static String nearest(UnmatchedArgumentException e) {
    List<String> suggestions = e.getSuggestions();
    return suggestions.isEmpty() ? "" : "; did you mean " + suggestions.getFirst() + "?";
  }
}
