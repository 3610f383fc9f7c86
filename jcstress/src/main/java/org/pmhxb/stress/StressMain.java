package org.pmhxb.stress;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openjdk.jcstress.Main;

/**
 * Runs jcstress, and fails unless every test has run and passed: jcstress itself counts a test
 * whose virtual machine did not start as a soft error, plans none that has more actors than the
 * machine has cores, and ends with success.
 */
public final class StressMain {
  private static final Pattern RESULTS =
      Pattern.compile(
          "\\(Results: (\\d+) planned; (\\d+) passed, (\\d+) failed, (\\d+) soft errs, (\\d+) hard");

  /** Behind the number of actors, where no test of as many is planned. */
  private static final String LEFT_OUT = "these tests would not run";

  private StressMain() {}

  /** Arguments are jcstress's own. */
  public static void main(String[] args) throws Exception {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream out = System.out;
    System.setOut(new PrintStream(new Tee(out, said), true, StandardCharsets.UTF_8));
    Main.main(args);
    System.setOut(out);
    if (!allPassed(said.toString(StandardCharsets.UTF_8))) {
      System.err.println("jcstress: not every test ran and passed; see its results above");
      System.exit(1);
    }
  }

  /** What the last line of results says, and that no test was left out before. */
  static boolean allPassed(String said) {
    if (said.contains(LEFT_OUT)) {
      return false;
    }
    Matcher m = RESULTS.matcher(said);
    boolean passed = false;
    while (m.find()) {
      passed = !m.group(1).equals("0") && m.group(1).equals(m.group(2));
    }
    return passed;
  }

  private static final class Tee extends OutputStream {
    private final OutputStream one;
    private final OutputStream other;

    Tee(OutputStream one, OutputStream other) {
      this.one = one;
      this.other = other;
    }

    @Override
    public void write(int b) throws java.io.IOException {
      one.write(b);
      other.write(b);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws java.io.IOException {
      one.write(bytes, from, count);
      other.write(bytes, from, count);
    }
  }
}
