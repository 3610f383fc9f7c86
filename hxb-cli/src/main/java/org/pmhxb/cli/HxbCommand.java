package org.pmhxb.cli;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * What every command shares: {@code --help}, {@code --version}, {@code --json} and the exit code.
 *
 * <p>A command writes its result by returning a {@link Report} from {@link #run()}; standard output
 * carries nothing else. Progress goes to {@link #progress()}, on standard error. An exception ends
 * the command with its message on standard error, {@link Main#FAILED}, and under {@code --json} the
 * object {@code {"ok":false,"error":message}}; none when it was interrupted.
 */
@Command(
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true,
    showDefaultValues = true)
public abstract class HxbCommand implements Callable<Integer> {
  static final String JSON = "--json";

  @Option(
      names = JSON,
      description = "Print one JSON object on standard output, all else on standard error.",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER)
  private boolean json;

  @Spec private CommandSpec spec;

  private Progress progress;

  /** Does the work. Owner: the main thread. */
  protected abstract Report run() throws Exception;

  @Override
  public final Integer call() throws Exception {
    Report report;
    try {
      report = run();
    } finally {
      progress().end();
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.write(report));
    } else {
      report.print(out);
      report.missed().forEach(line -> out.println("MISSED: " + line));
    }
    out.flush();
    boolean missed = requiresBudgets() && !report.missed().isEmpty();
    return report.ok() && !missed ? Main.OK : Main.FAILED;
  }

  /** Whether {@link Report#missed() missed figures} fail the command: see {@link BudgetsOption}. */
  final boolean requiresBudgets() {
    return given(BudgetsOption.NAME);
  }

  /**
   * Refuses to require budgets where there is none, before minutes are spent on what cannot miss
   * any.
   *
   * @param any whether something of what is measured has a budget
   * @param things that are measured, and {@code which} of them have one
   */
  final void requireSomeBudget(boolean any, String things, String which) {
    if (requiresBudgets() && !any) {
      throw wrongUsage(
          BudgetsOption.NAME + ": none of these " + things + " has a budget; " + which);
    }
  }

  /** Standard output is for the result alone. */
  protected final boolean json() {
    return json;
  }

  /** Lines for a person who waits; standard error. */
  protected final Progress progress() {
    if (progress == null) {
      progress = new Progress(spec.commandLine().getErr());
    }
    return progress;
  }

  /** For what ends the process in the midst of {@link #run}: the object, and the lines. */
  protected final void printFailure(String message, String lines) {
    PrintWriter err = spec.commandLine().getErr();
    err.print(lines);
    err.flush();
    if (json) {
      PrintWriter out = spec.commandLine().getOut();
      out.println(Json.error(message));
      out.flush();
    }
  }

  /** Refuses a number that is not within the range, limits included. */
  protected final void range(String option, double value, double least, double most) {
    if (!(value >= least && value <= most)) {
      throw wrongUsage(
          String.format(
              "%s is %s; must be in %s..%s",
              option, Words.number(value), Words.number(least), Words.number(most)));
    }
  }

  /**
   * Refuses what cannot be a folder for results, before minutes are spent on them.
   *
   * @param folder null: none was given
   */
  protected final void folder(String option, Path folder) {
    String objection = folder == null ? null : objection(folder, Files::isWritable);
    if (objection != null) {
      throw wrongUsage(option + " is " + folder + ", " + objection);
    }
  }

  /**
   * What is wrong with a folder that is to be made where it is not there, and what to do; null:
   * nothing.
   *
   * @param writable whether files can be made in a folder
   */
  static String objection(Path folder, Predicate<Path> writable) {
    Path there = folder.toAbsolutePath();
    while (!Files.exists(there, LinkOption.NOFOLLOW_LINKS)) { // a link to nothing is in the way
      there = there.getParent();
    }
    boolean made = there.equals(folder.toAbsolutePath());
    if (!Files.isDirectory(there)) {
      return (made ? "which" : "and " + there) + " is no directory; choose another";
    }
    return writable.test(there)
        ? null
        : (made ? "which" : "and the folder " + there) + " is not writable; choose another";
  }

  /**
   * Refuses a file that cannot be written, before time is spent on what it is to hold.
   *
   * @param file null: none was given
   */
  protected final void file(String option, Path file) {
    String objection = file == null ? null : fileObjection(file, Files::isWritable);
    if (objection != null) {
      throw wrongUsage(option + " is " + file + ", " + objection);
    }
  }

  /**
   * What is wrong with a file that is to be written, and what to do; null: nothing.
   *
   * @param writable whether a file can be changed, or files be made in a folder
   */
  static String fileObjection(Path file, Predicate<Path> writable) {
    if (Files.isDirectory(file)) {
      return "which is a folder; name a file in it";
    }
    Path folder = file.toAbsolutePath().getParent();
    if (!Files.isDirectory(folder)) {
      return "and there is no folder " + folder + "; make it or choose one";
    }
    if (!Files.exists(file)) {
      return writable.test(folder)
          ? null
          : "and the folder " + folder + " is not writable; choose another";
    }
    return writable.test(file) ? null : "which is not writable; choose another";
  }

  /** Whether an option stands on the command line. */
  protected final boolean given(String option) {
    return spec.commandLine().getParseResult().hasMatchedOption(option);
  }

  /** A wrong combination of options: the exception to throw, which ends with {@link Main#USAGE}. */
  protected final RuntimeException wrongUsage(String message) {
    return new picocli.CommandLine.ParameterException(spec.commandLine(), message);
  }
}
