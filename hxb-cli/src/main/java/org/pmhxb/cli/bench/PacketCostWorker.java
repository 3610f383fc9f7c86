package org.pmhxb.cli.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.pmhxb.cli.FailureMessage;
import org.pmhxb.cli.cluster.NodeJvm;
import org.pmhxb.cost.Measurement;
import org.pmhxb.cost.Measurement.Effort;
import org.pmhxb.cost.Scenario;
import org.pmhxb.cost.ScenarioRun;
import org.pmhxb.ffi.ProcessGroup;

/**
 * A JVM of its own, with a node's flags, that measures scenarios as it is told to and keeps their
 * rounds, so that more can be added later. Orders and answers are lines of JSON on its standard
 * input and output; it ends when its input does. Owner: one thread.
 */
final class PacketCostWorker implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int END_S = 5;

  private final Process process;
  private final Thread killer;

  /** By the shutdown of this JVM. */
  private volatile boolean killed;

  private final BufferedReader answers;
  private final PrintStream orders;

  /**
   * To measure a scenario; one that has been measured already where its set-ups met the machine at
   * its slower speed ({@link Measurement#runAgain}).
   *
   * @param number of the scenario in this worker, from 0: the next one, or one that was measured
   * @param leastStepNs the machine's fastest step, as far as others know, ns
   * @param forMs how long from now something more of a measured one may be begun, and the faster
   *     speed waited for; 0: it is only judged anew
   */
  record Order(int number, Scenario scenario, double leastStepNs, long forMs) {}

  /**
   * What came of it.
   *
   * @param lines of the scenario
   * @param leastStepNs the machine's fastest step so far, ns
   * @param error why there are no lines, and will be no further answer; or null
   */
  record Answer(List<PacketCostReport.Line> lines, double leastStepNs, String error) {}

  /** Starts it; its standard error is ours. */
  PacketCostWorker(Effort effort) throws IOException {
    this(NodeJvm.command(PacketCostWorker.class.getName()), effort);
  }

  PacketCostWorker(List<String> command, Effort effort) throws IOException {
    List<String> words = new ArrayList<>(command);
    // Standard output is for answers: warnings of the JVM go elsewhere.
    words.addAll(1, List.of("-Xlog:disable", "-Xlog:all=warning:stderr"));
    words.add(JSON.writeValueAsString(effort));
    process = new ProcessBuilder(words).redirectError(Redirect.INHERIT).start();
    // It looks at its input between orders alone.
    killer = new Thread(this::kill);
    Runtime.getRuntime().addShutdownHook(killer);
    answers = process.inputReader(StandardCharsets.UTF_8);
    orders = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
  }

  /**
   * Does as it is told.
   *
   * @throws IllegalStateException it cannot, and has ended
   */
  Answer obey(Order order) throws IOException, InterruptedException {
    orders.println(JSON.writeValueAsString(order));
    String line = answers.readLine();
    if (line == null && killed) {
      throw new InterruptedException("the JVM that measures was ended with this one");
    }
    if (line == null) {
      throw new IllegalStateException(
          "the JVM that measures ended with %d and gave no answer".formatted(process.waitFor()));
    }
    Answer answer = JSON.readValue(line, Answer.class);
    if (answer.error() != null) {
      throw new IllegalStateException(answer.error());
    }
    return answer;
  }

  private void kill() {
    killed = true;
    process.destroyForcibly();
  }

  /** Ends its input, and so itself; {@link #close} waits for that. */
  void end() {
    orders.close();
  }

  @Override
  public void close() {
    end();
    try {
      if (!process.waitFor(END_S, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
      Runtime.getRuntime().removeShutdownHook(killer);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    } catch (IllegalStateException e) {
      // The shutdown has begun, and kills it.
    }
  }

  /** The JVM's own side; its argument is the effort. */
  public static void main(String[] args) throws IOException {
    ProcessGroup.own(); // a terminal's Ctrl-C is for the command, which ends this
    PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    try (Measurement measurement = new Measurement(JSON.readValue(args[0], Effort.class));
        BufferedReader orders =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      serve(measurement, orders, answers);
    } catch (RuntimeException | Error e) {
      if (System.getenv("HXB_TRACE") != null) {
        e.printStackTrace();
      }
      say(answers, new Answer(List.of(), Double.MAX_VALUE, message(e)));
      System.exit(1);
    }
  }

  private static void serve(Measurement measurement, BufferedReader orders, PrintStream answers)
      throws IOException {
    List<ScenarioRun> runs = new ArrayList<>();
    for (String line = orders.readLine(); line != null; line = orders.readLine()) {
      Order order = JSON.readValue(line, Order.class);
      if (order.number() == runs.size()) {
        runs.add(measurement.run(order.scenario()));
      }
      ScenarioRun run = runs.get(order.number());
      long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(order.forMs());
      measurement.runAgain(run, order.leastStepNs(), untilNs);
      List<PacketCostReport.Line> lines =
          measurement.figures(run).stream().map(PacketCostReport.Line::of).toList();
      say(answers, new Answer(lines, measurement.leastStepNs(), null));
    }
  }

  private static void say(PrintStream answers, Answer answer) throws IOException {
    answers.println(JSON.writeValueAsString(answer));
  }

  /** Where a library is missing, the message is the cause's. */
  private static String message(Throwable e) {
    boolean isWrapped = e instanceof ExceptionInInitializerError && e.getCause() != null;
    return FailureMessage.of(isWrapped ? e.getCause() : e);
  }
}
