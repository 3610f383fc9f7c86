package org.pmhxb.jmh;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.PatternSyntaxException;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.NoBenchmarksException;
import org.openjdk.jmh.runner.ProfilersFailedException;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.pmhxb.cost.Budget;
import org.pmhxb.cost.Scenario;
import org.pmhxb.ffi.NativeLibrary;

/**
 * Runs the benchmarks with JMH's command line, then prints figures, machine and command. Ends with
 * status 1 when a packet costs an allocation, which the packet path may not, so that it can stand
 * in a check.
 */
public final class Main {
  private static final double ALLOCATION_MAX_BYTES = 0.01;
  private static final String ALLOCATION = "gc.alloc.rate.norm";
  private static final int OK = 0;
  private static final int FAILED = 1;
  private static final int USAGE = 2;

  private Main() {}

  /** {@code hxb jmh -h} lists the arguments. */
  public static void main(String[] args) throws IOException {
    System.exit(run(args, System.out, System.err));
  }

  /** The exit code: 1 where a benchmark failed or allocates, 2 where the words are wrong. */
  static int run(String[] args, PrintStream out, PrintStream err) throws IOException {
    try {
      return run(args, out);
    } catch (CommandLineOptionException
        | NoBenchmarksException
        | PatternSyntaxException
        | ProfilersFailedException e) {
      return failed(e, USAGE, err);
    } catch (RunnerException | RuntimeException e) {
      return failed(e, FAILED, err);
    }
  }

  private static int failed(Exception e, int code, PrintStream err) {
    // What is wrong with a profiler only the cause tells.
    Throwable told = e instanceof ProfilersFailedException ? e.getCause() : e;
    err.println("hxb jmh: " + (told.getMessage() == null ? told : told.getMessage()));
    if (System.getenv("HXB_TRACE") != null) {
      e.printStackTrace(err);
    }
    return code;
  }

  private static int run(String[] args, PrintStream out)
      throws RunnerException, CommandLineOptionException, IOException {
    CommandLineOptions given = new CommandLineOptions(args);
    if (given.shouldHelp()
        || given.shouldList()
        || given.shouldListWithParams()
        || given.shouldListProfilers()
        || given.shouldListResultFormats()) {
      org.openjdk.jmh.Main.main(args);
      return OK;
    }
    Options options =
        new OptionsBuilder()
            .parent(given)
            .addProfiler(GCProfiler.class)
            .addProfiler(PhaseProfiler.class)
            .shouldFailOnError(true)
            .build();
    Collection<RunResult> results = new Runner(options).run();
    return report(results, args, out) ? OK : FAILED;
  }

  private static boolean report(Collection<RunResult> results, String[] args, PrintStream out)
      throws IOException {
    out.printf("%nmachine: %s%n", machine());
    out.printf("command: hxb jmh %s%n", String.join(" ", args));
    out.printf(
        "path: the code under test; +acks: with reading the acknowledgements of what it sent;"
            + " generator: what makes and takes its frames; both the median of"
            + " batches,%nthen the median, least and most of iterations, of total where that is all."
            + " fast: the iterations with batches at the machine's faster speed,%nof all; where there"
            + " are any, these batches alone count. total: JMH's mean of both at any speed, and of"
            + " the looks at it. allocated: the worst iteration.%nns and B per packet; what reading the clock"
            + " takes, measured with each batch, is taken off path and generator. x C: path beside"
            + " that of the same steps in C, which%nran before or after it, not in turn as by hxb"
            + " bench packet-cost. must, aim: of path, or of total where that is all.%n%n");
    out.printf(
        "%-34s %-34s %7s  %-15s %-5s %7s %9s %5s %5s %5s %-4s %7s %9s%n",
        "benchmark",
        "parameters",
        "path",
        "least..most",
        "fast",
        "+acks",
        "generator",
        "x C",
        "must",
        "aim",
        "met",
        "total",
        "allocated");
    boolean clean = true;
    Iterations iterations = new Iterations(results);
    for (RunResult result : results) {
      clean &= line(result, results, iterations, out);
    }
    if (!clean) {
      out.printf(
          "%nFAILED: at least one benchmark allocates %.2f B per packet or more%n",
          ALLOCATION_MAX_BYTES);
    }
    return clean;
  }

  private static boolean line(
      RunResult result, Collection<RunResult> results, Iterations iterations, PrintStream out) {
    double[] path = iterations.counted(result, PhaseProfiler.PATH);
    double[] withAcks = iterations.counted(result, PhaseProfiler.WITH_ACKS);
    double[] generator = iterations.counted(result, PhaseProfiler.GENERATOR);
    double[] allocated = Iterations.all(result, ALLOCATION);
    // The worst iteration counts: one that allocates is one too many.
    double bytes = allocated.length == 0 ? Double.NaN : allocated[allocated.length - 1];
    boolean clean = bytes < ALLOCATION_MAX_BYTES;
    Optional<Budget> budget = budget(result.getParams());
    double ns = path.length == 0 ? totalNs(result) : middle(path);
    out.printf(
        Locale.ROOT,
        "%-34s %-34s %7s  %-15s %-5s %7s %9s %5s %5s %5s %-4s %7.1f %8.4f%s%n",
        name(result.getParams()),
        parameters(result.getParams()),
        median(path),
        path.length == 0 ? spread(totals(result)) : spread(path),
        path.length == 0 ? "-" : iterations.fastOfAll(result),
        median(withAcks),
        median(generator),
        besideC(result, results, iterations),
        budget.map(b -> number(b.mustNs())).orElse("-"),
        budget.map(b -> number(b.aimNs())).orElse("-"),
        budget.map(b -> ns <= b.mustNs() ? "yes" : "NO").orElse("-"),
        totalNs(result),
        bytes,
        clean ? "" : " !");
    return clean;
  }

  /** What a benchmark of the Java code must cost at most; empty where it has no bound. */
  private static Optional<Budget> budget(BenchmarkParams params) {
    String name = name(params);
    if (name.startsWith(TagCost.class.getSimpleName() + ".")) {
      return Optional.of(new Budget(TagCost.MUST_NS, TagCost.AIM_NS));
    }
    return Arrays.stream(org.pmhxb.cost.Path.values())
        .filter(path -> name.equals(ofJava(path)))
        .findFirst()
        .flatMap(path -> Budget.of(scenario(path, params)));
  }

  /** "ReceivePath.receive". */
  private static String ofJava(org.pmhxb.cost.Path path) {
    String word = path.toString();
    return word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1) + "Path." + word;
  }

  private static Scenario scenario(org.pmhxb.cost.Path path, BenchmarkParams params) {
    String peers = params.getParam("peers"); // a relay has none
    return new Scenario(
        path,
        Integer.parseInt(params.getParam("burst")),
        Integer.parseInt(params.getParam("rails")),
        peers == null ? 1 : Integer.parseInt(peers),
        Integer.parseInt(params.getParam("payload")));
  }

  /** The median path, as a multiple of that in C; "-" where the other was not run. */
  private static String besideC(
      RunResult java, Collection<RunResult> results, Iterations iterations) {
    String name = name(java.getParams()) + "InC";
    double[] path = iterations.counted(java, PhaseProfiler.PATH);
    return results.stream()
        .filter(c -> name(c.getParams()).equals(name))
        .filter(c -> parameters(c.getParams()).equals(parameters(java.getParams())))
        .map(c -> iterations.counted(c, PhaseProfiler.PATH))
        .filter(c -> c.length > 0 && path.length > 0)
        .map(c -> String.format(Locale.ROOT, "%.2f", middle(path) / middle(c)))
        .findFirst()
        .orElse("-");
  }

  private static String number(double value) {
    return value == Math.rint(value) ? String.valueOf((long) value) : String.valueOf(value);
  }

  private static String spread(double[] sorted) {
    return String.format(Locale.ROOT, "%.1f..%.1f", sorted[0], sorted[sorted.length - 1]);
  }

  /** Of every iteration of every fork, sorted. */
  private static double[] totals(RunResult result) {
    return Iterations.of(result)
        .mapToDouble(iteration -> ns(result, iteration.getPrimaryResult().getScore()))
        .sorted()
        .toArray();
  }

  /** The score, whatever unit and mode it was asked for in: the other columns are ns. */
  private static double totalNs(RunResult result) {
    return ns(result, result.getPrimaryResult().getScore());
  }

  private static double ns(RunResult result, double score) {
    long unitNs = result.getParams().getTimeUnit().toNanos(1);
    return result.getParams().getMode() == Mode.Throughput ? unitNs / score : unitNs * score;
  }

  private static String name(BenchmarkParams params) {
    String full = params.getBenchmark();
    return full.substring(Main.class.getPackageName().length() + 1);
  }

  private static String parameters(BenchmarkParams params) {
    StringBuilder text = new StringBuilder();
    for (String key : params.getParamsKeys()) {
      text.append(text.isEmpty() ? "" : " ").append(key).append('=').append(params.getParam(key));
    }
    return text.toString();
  }

  private static String median(double[] sorted) {
    return sorted.length == 0 ? "-" : String.format(Locale.ROOT, "%.1f", middle(sorted));
  }

  private static double middle(double[] sorted) {
    int n = sorted.length;
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  }

  private static String machine() throws IOException {
    String cpu =
        Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
            .filter(line -> line.startsWith("model name"))
            .map(line -> line.substring(line.indexOf(':') + 1).strip())
            .findFirst()
            .orElse("unknown processor");
    String load = Files.readString(Path.of("/proc/loadavg")).split(" ")[0];
    return String.format(
        "%s, %d CPUs, load %s, %s %s, JDK %s, %s",
        cpu,
        Runtime.getRuntime().availableProcessors(),
        load,
        System.getProperty("os.name"),
        System.getProperty("os.version"),
        Runtime.version(),
        NativeLibrary.dpdkVersion());
  }
}
