package org.pmhxb.cli;

import java.io.PrintWriter;
import picocli.CommandLine.Command;

/** Examines this machine: what is there, what is missing, and the command that mends it. */
@Command(
    name = "doctor",
    description =
        "Examine this machine; every warning and failure names the command that mends it.",
    footer = {"", "Example: hxb doctor --json"})
final class DoctorCommand extends HxbCommand {
  @Override
  protected Report run() {
    return new Found(Runtime.version().feature() == 25);
  }

  private record Found(boolean ok) implements Report {
    @Override
    public void print(PrintWriter out) {
      out.println("JDK " + Runtime.version());
    }
  }
}
