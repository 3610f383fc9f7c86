package org.pmhxb.cli.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.pmhxb.cli.HxbCommand;
import org.pmhxb.cli.Main;
import org.pmhxb.cli.Report;
import org.pmhxb.pm.FrameKey;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code hxb fuzz}: hostile frames against a production node. */
@Command(
    name = "fuzz",
    description = {
      "Give a node hostile frames: genuine ones of all kinds, with sessions up and frames to relay,"
          + " changed field by field. An implementation of its own of PROTOCOL.md section 2.4 says"
          + " what must become of each; the node's counters, its whole state, its buffers and what"
          + " it sends are compared, and the traffic of other nodes goes on meanwhile.",
      "Needs no root, no hugepages, no DPDK. The same seed gives the same run."
    },
    footer = {"", "Example: hxb fuzz --frames 10m --seed 1 --json"})
public final class FuzzCommand extends HxbCommand {
  private static final long FRAMES_MAX = 1_000_000_000_000L;

  @Option(
      names = "--frames",
      paramLabel = "N",
      defaultValue = "1m",
      converter = CountConverter.class,
      description = "Hostile frames, 1 to 1000000m; k and m stand for thousands and millions.")
  private long frames;

  @Option(names = "--seed", paramLabel = "S", defaultValue = "1", description = "Seed of the run.")
  private long seed;

  @Option(
      names = "--tag",
      paramLabel = "MODE",
      defaultValue = "off",
      description =
          "off, tag or replay: with tags, which the fuzzer cannot make, no session at all may"
              + " suffer.")
  private FrameKey.Mode tag;

  @Option(
      names = "--examples",
      paramLabel = "FILE",
      description = "Write one frame of each kind and fate to FILE: what the tests replay.")
  private Path examples;

  /** Reads 10m. */
  static final class CountConverter implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      if (!text.matches("[0-9]{1,12}[km]?")) {
        throw new TypeConversionException(
            "\"" + text + "\" is not a number as in 5000, 20k or 10m");
      }
      char last = text.charAt(text.length() - 1);
      long unit = last == 'm' ? 1_000_000 : last == 'k' ? 1_000 : 1;
      String digits = unit == 1 ? text : text.substring(0, text.length() - 1);
      return Math.min(Long.parseLong(digits), FRAMES_MAX) * unit;
    }
  }

  @Override
  protected Report run() throws IOException {
    range("--frames", frames, 1, FRAMES_MAX);
    file("--examples", examples);
    Fuzzer fuzzer = new Fuzzer(seed, frames, tag, progress()::update, this::endStuck);
    Report report = fuzzer.run();
    if (examples != null) {
      Files.write(examples, fuzzer.examples());
    }
    return report;
  }

  /** From another thread than the one that loops, which nothing ends. */
  private void endStuck(String what, StackTraceElement[] where) {
    tellStuck(what, where);
    Runtime.getRuntime().halt(Main.FAILED);
  }

  void tellStuck(String what, StackTraceElement[] where) {
    StringBuilder text = new StringBuilder("hxb fuzz: " + what + "\n");
    for (StackTraceElement e : where) {
      text.append("  at ").append(e).append('\n');
    }
    printFailure(what, text.toString());
  }
}
