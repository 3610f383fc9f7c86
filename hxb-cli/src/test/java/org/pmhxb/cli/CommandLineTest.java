package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileLockInterruptionException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What all commands share, on commands of its own and on the real list. */
class CommandLineTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private record Answer(boolean ok, int packets, String missing) implements Report {
    @Override
    public void print(PrintWriter to) {
      to.println(packets + " packets");
    }
  }

  @Command(name = "try")
  private static final class TryCommand extends HxbCommand {
    @Option(names = "--fail")
    private boolean fail;

    @Option(names = "--throw")
    private String message;

    @Option(names = "--break")
    private boolean breaks;

    @Option(names = "--refuse")
    private boolean refuses;

    @Option(names = "--odd")
    private boolean odd;

    @Option(names = "--interrupt")
    private boolean interrupted;

    @Option(names = "--interrupt-unseen")
    private boolean unseen;

    @Override
    protected Report run() throws InterruptedException {
      progress().say("working");
      if (interrupted) {
        throw new InterruptedException("sleep interrupted");
      }
      if (unseen) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("no answer");
      }
      if (odd) {
        throw wrongUsage("--odd goes with nothing");
      }
      if (breaks) {
        throw new UnsatisfiedLinkError("libpmhxb.so: no such file");
      }
      if (refuses) {
        throw new UserErrorException("it is up already");
      }
      if (message != null) {
        throw new IllegalStateException(message);
      }
      return new Answer(!fail, 7, null);
    }
  }

  private int run(String... args) {
    return Main.run(args, new PrintWriter(out, true), new PrintWriter(err, true), new TryCommand());
  }

  @Test
  void printsTheReportForAPersonAndExitsWithZero() {
    assertThat(run("try")).isEqualTo(Main.OK);
    assertThat(out.toString()).isEqualTo("7 packets\n");
    assertThat(err.toString()).isEqualTo("working\n");
  }

  @Test
  void printsOneJsonObjectAndNothingElseOnStandardOutput() {
    assertThat(run("try", "--json")).isEqualTo(Main.OK);
    assertThat(out.toString()).isEqualTo("{\"ok\":true,\"packets\":7}\n");
  }

  @Test
  void aReportThatIsNotOkExitsWithOne() {
    assertThat(run("try", "--fail", "--json")).isEqualTo(Main.FAILED);
    assertThat(out.toString()).startsWith("{\"ok\":false,");
  }

  @Test
  void anExceptionIsAMessageAndStillOneJsonObject() throws Exception {
    assertThat(run("try", "--json", "--throw", "no \"rail\" 3")).isEqualTo(Main.FAILED);
    JsonNode json = new ObjectMapper().readTree(out.toString());
    assertThat(json.get("ok").booleanValue()).isFalse();
    assertThat(json.get("error").textValue()).isEqualTo("no \"rail\" 3");
    assertThat(err.toString()).contains("hxb try: no \"rail\" 3").doesNotContain("\tat ");
  }

  /** By Ctrl-C: README has it so, and the process may end before an object is written whole. */
  @ParameterizedTest
  @ValueSource(strings = {"--interrupt", "--interrupt-unseen"})
  void anInterruptionIsNoJsonObject(String how) {
    assertThat(run("try", "--json", how)).isEqualTo(Main.FAILED);
    assertThat(Thread.interrupted()).isEqualTo(how.equals("--interrupt-unseen"));
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString()).contains("hxb try: ");
  }

  @Test
  void anErrorOfTheJvmIsOneJsonObjectToo() throws Exception {
    assertThat(run("try", "--json", "--break")).isEqualTo(Main.FAILED);
    assertThat(new ObjectMapper().readTree(out.toString()).get("error").textValue())
        .isEqualTo("libpmhxb.so: no such file");
  }

  @Test
  void onlyErrorsThatAreNotTheUsersTellOfTheTrace() {
    assertThat(run("try", "--refuse")).isEqualTo(Main.FAILED);
    assertThat(err.toString()).contains("it is up already").doesNotContain("HXB_TRACE");
    assertThat(run("try", "--throw", "broken")).isEqualTo(Main.FAILED);
    assertThat(err.toString()).contains("broken", "(HXB_TRACE=1 shows where)");
  }

  /** The one that a line names is made alone; where it names none yet, all are there. */
  @ParameterizedTest
  @CsvSource({
    "bench bandwidth --help, Usage: hxb bench bandwidth",
    "bench --json bandwidth --help, Usage: hxb bench bandwidth",
    "--help, bench",
    "bench --help, packet-cost"
  })
  void commandsAreFoundWhereverTheirNameStands(String line, String said) {
    assertThat(run(line.split(" "))).as(err.toString()).isEqualTo(Main.OK);
    assertThat(out.toString()).contains(said);
  }

  @Test
  void aLineHasNoOtherCommandsThanItMayMean() {
    CommandLine bench = Main.commands("bench", "peers").getSubcommands().get("bench");
    assertThat(bench.getSubcommands()).containsOnlyKeys("peers");
    assertThat(Main.commands("bench", "peer").getSubcommands()).containsOnlyKeys("bench");
    assertThat(Main.commands("--json", "up").getSubcommands()).hasSizeGreaterThan(10);
  }

  /** Help and errors give constants as they are typed. */
  @Test
  void defaultsAreInLowerCase() {
    for (CommandLine command : all(Main.commands())) {
      for (CommandLine.Model.OptionSpec option : command.getCommandSpec().options()) {
        if (option.type().isEnum() && option.defaultValue() != null) {
          assertThat(option.defaultValue())
              .as(command.getCommandName() + " " + option.longestName())
              .isLowerCase();
        }
      }
    }
  }

  private static List<CommandLine> all(CommandLine command) {
    return Stream.concat(
            Stream.of(command),
            command.getSubcommands().values().stream().flatMap(sub -> all(sub).stream()))
        .toList();
  }

  @Test
  void wrongUsageExitsWithTwoAndNamesTheHelp() {
    assertThat(run("try", "--nonsense")).isEqualTo(Main.USAGE);
    assertThat(err.toString()).contains("--nonsense", "See: hxb try --help");
    assertThat(run("try", "--odd", "--json")).isEqualTo(Main.USAGE);
    assertThat(out.toString()).contains("\"error\":\"--odd goes with nothing\"");
    assertThat(run()).isEqualTo(Main.USAGE);
  }

  @Test
  void unknownWordsAreNamedWithWhatThereIs() {
    assertThat(run("demoo")).isEqualTo(Main.USAGE);
    assertThat(err.toString())
        .startsWith("hxb: no command \"demoo\"; did you mean demo? There are: demo, ")
        .contains(", test, ", ", clean, dist\n", "See: hxb --help\n")
        .doesNotContain("Unmatched");
    err.getBuffer().setLength(0);
    assertThat(run("try", "--nonsense")).isEqualTo(Main.USAGE);
    assertThat(err.toString()).startsWith("hxb try: no option --nonsense");
    err.getBuffer().setLength(0);
    assertThat(run("try", "more")).isEqualTo(Main.USAGE);
    assertThat(err.toString()).startsWith("hxb try: \"more\" is one word too many");
    err.getBuffer().setLength(0);
    assertThat(run("try", "x", "--help")).isEqualTo(Main.USAGE);
    assertThat(err.toString()).startsWith("hxb try: \"x\" is one word too many\n");
  }

  @Test
  void onlyWhatIsLikeAWordIsSuggestedForIt() {
    Map.of(
            "tset", "; did you mean test? There",
            "bulid", "; did you mean build? There",
            "frobnicate", "\"; there are",
            "Statsu", "; did you mean status? There",
            "stat", "; did you mean status? There")
        .forEach(
            (word, part) -> {
              err.getBuffer().setLength(0);
              assertThat(run(word)).isEqualTo(Main.USAGE);
              assertThat(err.toString()).contains("no command \"" + word + "\"", part);
            });
    err.getBuffer().setLength(0);
    assertThat(run("try", "--jsno")).isEqualTo(Main.USAGE);
    assertThat(err.toString()).contains("no option --jsno; did you mean --json?");
    err.getBuffer().setLength(0);
    assertThat(run("bench", "bandwith")).isEqualTo(Main.USAGE);
    assertThat(err.toString()).contains("did you mean bandwidth?").doesNotContain("build");
  }

  /** Whatever the thread waited in: of a sleep's message or a channel's no user asked. */
  @Test
  void anInterruptIsToldAsOneWhateverItEnded() {
    Exception closed = new ClosedByInterruptException();
    for (Exception stopped :
        new Exception[] {
          new InterruptedException("sleep interrupted"),
          closed,
          new IOException("no answer on node0.sock: " + closed.getMessage(), closed),
          new FileLockInterruptionException(),
          new InterruptedIOException("interrupted while node0.sock was to answer status"),
        }) {
      assertThat(FailureMessage.isUsers(stopped)).as(stopped.toString()).isTrue();
      assertThat(FailureMessage.of(stopped)).isEqualTo("interrupted");
    }
    for (Exception failed :
        new Exception[] {new SocketTimeoutException("late"), new ClosedChannelException()}) {
      assertThat(FailureMessage.isUsers(failed)).as(failed.toString()).isFalse();
      assertThat(FailureMessage.of(failed)).isNotEqualTo("interrupted");
    }
  }

  /** Who is told that a cluster did not come up has to know that something of it is left. */
  @Test
  void aCleanUpThatFailedToIsTold() {
    IllegalStateException failed = new IllegalStateException("node 1 did not start");
    failed.addSuppressed(new IOException("ip: Device or resource busy"));
    StringWriter text = new StringWriter();

    FailureMessage.tell(failed, "hxb up", new PrintWriter(text, true));

    assertThat(text.toString().lines())
        .startsWith(
            "hxb up: node 1 did not start", "hxb up: and then: ip: Device or resource busy");
  }

  @Test
  void everyCommandHasHelpWithAnExampleAndJson() {
    // Where picocli says that a text is none of its format's.
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream before = System.err;
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      assertThat(helpsOf(Main.commands(), List.of())).isGreaterThan(20);
    } finally {
      System.setErr(before);
    }
    assertThat(said.toString(StandardCharsets.UTF_8)).isEmpty();
  }

  /** How many commands there are below, whose help was looked at. */
  private int helpsOf(CommandLine parent, List<String> words) {
    int count = 0;
    for (Map.Entry<String, CommandLine> sub : parent.getSubcommands().entrySet()) {
      List<String> command = Stream.concat(words.stream(), Stream.of(sub.getKey())).toList();
      out.getBuffer().setLength(0);
      assertThat(run(Stream.concat(command.stream(), Stream.of("--help")).toArray(String[]::new)))
          .isEqualTo(Main.OK);
      assertThat(out.toString()).contains("Example: hxb " + String.join(" ", command));
      assertThat(out.toString()).as("%s", command).contains("--json");
      count += 1 + helpsOf(sub.getValue(), command);
    }
    return count;
  }

  @Test
  void versionIsTheBuilds() {
    assertThat(run("--version")).isEqualTo(Main.OK);
    assertThat(out.toString()).containsPattern("^hxb \\d+\\.\\d+\\.\\d+").contains("JDK 25");
  }
}
