package org.pmhxb.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.pmhxb.cli.demo.DemoCommand;
import org.pmhxb.cli.doctor.DoctorCommand;
import org.pmhxb.cli.fuzz.FuzzCommand;
import org.pmhxb.cli.node.NodeRunner;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command line, entered by the launcher {@code hxb}. Each command is a class of its own and is
 * listed here; what they have in common is {@link HxbCommand}.
 *
 * <p>Exit codes: {@link #OK}, {@link #FAILED}, {@link #USAGE}.
 */
@Command(
    name = "hxb",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    description = "PM/Ethernet-HXB: a kernel-bypass hyper-crossbar of Ethernet links.",
    footer = {
      "",
      "The launcher adds: hxb build, hxb test, hxb clean, hxb jmh, hxb dist (hxb --help lists them).",
      "Exit codes: 0 success, 1 the command failed, 2 wrong usage or configuration: nothing was"
          + " done, but that the launcher may have reserved hugepages.",
      "Example: hxb doctor"
    })
public final class Main {
  private static final List<Class<? extends HxbCommand>> COMMANDS =
      List.of(
          DemoCommand.class,
          UpCommand.class,
          StatusCommand.class,
          DownCommand.class,
          BenchCommand.class,
          MpirunCommand.class,
          MpirankCommand.class,
          SimCommand.class,
          LogpCommand.class,
          NodeCommand.class,
          FuzzCommand.class,
          SoakCommand.class,
          RehearseCommand.class,
          DoctorCommand.class);

  /** The command did what it was asked for and every check held. */
  public static final int OK = 0;

  /** The command ran and failed, or found a failure. */
  public static final int FAILED = 1;

  /**
   * The command line or a configuration file could not be understood, or asks for what this machine
   * has not, as for an mtu that a device does not carry; nothing was done.
   */
  public static final int USAGE = 2;

  private static final Locale USERS_DISPLAY = Locale.getDefault(Locale.Category.DISPLAY);
  private static final Locale USERS_FORMAT = Locale.getDefault(Locale.Category.FORMAT);

  private Main() {}

  public static void main(String[] args) {
    writeNumbersAlike();
    ResultStream results = ResultStream.standardOutput();
    PrintWriter out = results.printer(System.out.charset());
    PrintWriter err = new PrintWriter(System.err, true);
    int code = run(args, out, err);
    out.flush();
    NodeRunner.leave(code == OK && results.lost(System.out.checkError(), err) ? FAILED : code);
  }

  /**
   * In the user's own language numbers may have other digits, or a comma: ip, tc, DPDK and the
   * nodes' files take none of these. To be called by each main method of the command line.
   */
  public static void writeNumbersAlike() {
    Locale.setDefault(Locale.ROOT);
  }

  /** Behind {@link #writeNumbersAlike}, for a program of the user's own in this JVM. */
  static void writeNumbersAsTheUser() {
    Locale.setDefault(Locale.Category.DISPLAY, USERS_DISPLAY);
    Locale.setDefault(Locale.Category.FORMAT, USERS_FORMAT);
  }

  /**
   * Runs one command line and returns its exit code; never ends the process.
   *
   * @param further commands beside those that are listed above
   */
  static int run(String[] args, PrintWriter out, PrintWriter err, HxbCommand... further) {
    // What stands behind -- is a program's own.
    boolean json =
        Arrays.stream(args).takeWhile(word -> !word.equals("--")).anyMatch(HxbCommand.JSON::equals);
    CommandLine line = commands(args);
    for (HxbCommand command : further) {
      line.addSubcommand(command);
    }
    // After the commands: picocli hands these to the commands that are there already.
    line.setOut(out)
        .setErr(err)
        .registerConverter(Path.class, Options::path)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionStrategy(Main::execute)
        .setParameterExceptionHandler((e, given) -> wrongUsage(e, json))
        .setExecutionExceptionHandler((e, command, given) -> failed(e, command, json));
    if (args.length == 0) {
      line.usage(err);
      return USAGE;
    }
    try {
      return line.execute(args);
    } catch (Error e) {
      // Of the JVM or of a native library: picocli passes on exceptions alone.
      return failed(e, line, json);
    }
  }

  /**
   * The commands that a line of these words may mean, all without words. Reading the options of all
   * was a third of what a JVM did before its command began.
   */
  static CommandLine commands(String... words) {
    CommandLine line = new CommandLine(new Main());
    add(line, COMMANDS, words.length > 0 ? words[0] : "");
    CommandLine bench = line.getSubcommands().get(BenchCommand.NAME);
    if (bench != null) {
      add(bench, BenchCommand.BENCHMARKS, words.length > 1 ? words[1] : "");
    }
    return line;
  }

  /** Adds the one that is named so; else all, which help and errors list. */
  private static void add(CommandLine line, List<Class<? extends HxbCommand>> all, String named) {
    List<Class<? extends HxbCommand>> one =
        all.stream().filter(type -> name(type).equals(named)).toList();
    (one.isEmpty() ? all : one).forEach(line::addSubcommand);
  }

  private static String name(Class<?> command) {
    return command.getAnnotation(Command.class).name();
  }

  /** Picocli lets pass what it does not know where help is asked for, too. */
  private static int execute(ParseResult parsed) {
    for (CommandLine command : parsed.asCommandLineList()) {
      List<String> unknown = command.getParseResult().unmatched();
      if (!unknown.isEmpty()) {
        throw new UnmatchedArgumentException(command, unknown);
      }
    }
    return new CommandLine.RunLast().execute(parsed);
  }

  private static int wrongUsage(ParameterException e, boolean json) {
    CommandLine command = e.getCommandLine();
    PrintWriter err = command.getErr();
    String message = UsageMessage.of(e);
    err.println(name(command) + ": " + message);
    err.println("See: " + name(command) + " --help");
    if (json) {
      command.getOut().println(Json.error(message));
    }
    return USAGE;
  }

  private static int failed(Throwable e, CommandLine command, boolean json) {
    int code = FailureMessage.tell(e, name(command), command.getErr());
    // Of an interruption whoever asked for it knows, and the exit code is the signal's. What it
    // ended may have thrown anything, but leaves the thread interrupted.
    boolean interrupted =
        FailureMessage.isInterruption(e) || Thread.currentThread().isInterrupted();
    if (json && !interrupted) {
      command.getOut().println(Json.error(FailureMessage.of(e)));
    }
    return code;
  }

  private static String name(CommandLine command) {
    return command.getCommandSpec().qualifiedName();
  }
}
