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
import org.pmhxb.cli.cluster.NodeJvm;
import org.pmhxb.cost.Course;
import org.pmhxb.cost.Measurement;
import org.pmhxb.cost.Measurement.Effort;
import org.pmhxb.cost.Scenario;

/**
 * A JVM of its own, with a node's flags, that measures scenarios as it is told to and keeps their
 * rounds, so that more can be added later. Orders and answers are lines of JSON on its standard
 * input and output; it ends when its input does. Owner: one thread.
 */
public final class PacketCostWorker implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int END_S = 5;

  private final Process process;
  private final BufferedReader answers;
  private final PrintStream orders;

  /**
   * What to do.
   *
   * @param scenario to measure; null: to measure again what met the machine at its slower speed in
   *     an earlier one
   * @param earlier which, by the order of their first measurements, from 0
   * @param leastStepNs the machine's fastest step, as far as others know, ns
   * @param forMs how long from now something more may be begun
   */
  record Order(Scenario scenario, int earlier, double leastStepNs, long forMs) {}

  /**
   * What came of it.
   *
   * @param lines of the scenario
   * @param leastStepNs the machine's fastest step so far, ns
   * @param error why there are no lines, and will be no further answer; or null
   */
  public record Answer(List<PacketCostReport.Line> lines, double leastStepNs, String error) {}

  /** Starts it; its standard error is ours. */
  public PacketCostWorker(Effort effort) throws IOException {
    List<String> command = NodeJvm.command(PacketCostWorker.class.getName());
    command.add(JSON.writeValueAsString(effort));
    process = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    answers = process.inputReader(StandardCharsets.UTF_8);
    orders = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
  }

  /**
   * Measures a scenario.
   *
   * @throws IllegalStateException it gave no answer
   */
  public Answer measure(Scenario scenario) throws IOException, InterruptedException {
    return answer(new Order(scenario, 0, Double.MAX_VALUE, 0));
  }

  /**
   * Measures what met the machine at its slower speed again ({@link Measurement#runAgain}), and
   * judges all by what is known of the speeds now.
   *
   * @param earlier the scenario, by the order in which they were measured here, from 0
   * @param leastStepNs the machine's fastest step, as far as others know, ns
   * @param forMs how long from now something more may be begun; 0: nothing
   * @throws IllegalStateException it gave no answer
   */
  public Answer measureAgain(int earlier, double leastStepNs, long forMs)
      throws IOException, InterruptedException {
    return answer(new Order(null, earlier, leastStepNs, forMs));
  }

  private Answer answer(Order order) throws IOException, InterruptedException {
    orders.println(JSON.writeValueAsString(order));
    String line = answers.readLine();
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

  @Override
  public void close() {
    orders.close();
    try {
      if (!process.waitFor(END_S, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /** The JVM's own side; its argument is the effort. */
  public static void main(String[] args) throws IOException {
    try (BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      serve(JSON.readValue(args[0], Effort.class), orders);
    } catch (RuntimeException | LinkageError e) {
      if (System.getenv("HXB_TRACE") != null) {
        e.printStackTrace();
      }
      say(new Answer(List.of(), Double.MAX_VALUE, e.toString()));
    }
  }

  private static void serve(Effort effort, BufferedReader orders) throws IOException {
    Measurement measurement = new Measurement(effort);
    List<Course> courses = new ArrayList<>();
    for (String line = orders.readLine(); line != null; line = orders.readLine()) {
      Order order = JSON.readValue(line, Order.class);
      Course course;
      if (order.scenario() != null) {
        course = measurement.run(order.scenario());
        courses.add(course);
      } else {
        course = courses.get(order.earlier());
        long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(order.forMs());
        measurement.runAgain(course, order.leastStepNs(), untilNs);
      }
      List<PacketCostReport.Line> lines =
          measurement.figures(course).stream().map(PacketCostReport.Line::of).toList();
      say(new Answer(lines, measurement.leastStepNs(), null));
    }
  }

  private static void say(Answer answer) throws IOException {
    System.out.println(JSON.writeValueAsString(answer));
  }
}
