package org.pmhxb.cli;

import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * What is wrong with a command line, in the words of a user: the value, what there is, the mend.
 */
final class UsageMessage {
  private UsageMessage() {}

  static String of(ParameterException e) {
    if (!(e instanceof UnmatchedArgumentException unmatched)) {
      return e.getMessage();
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

  private static String nearest(UnmatchedArgumentException e) {
    List<String> suggestions = e.getSuggestions();
    return suggestions.isEmpty() ? "" : "; did you mean " + suggestions.getFirst() + "?";
  }
}
