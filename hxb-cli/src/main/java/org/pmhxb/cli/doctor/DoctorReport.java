package org.pmhxb.cli.doctor;

import java.io.PrintWriter;
import java.util.List;
import org.pmhxb.cli.Report;
import picocli.CommandLine.Help.Ansi;

/** What the doctor found; {@code ok} when nothing is a failure. */
public record DoctorReport(boolean ok, List<Finding> checks) implements Report {
  static DoctorReport of(List<Finding> findings) {
    return new DoctorReport(
        findings.stream().noneMatch(f -> f.status() == Status.FAILURE), findings);
  }

  @Override
  public void print(PrintWriter out) {
    int nameWidth = checks.stream().mapToInt(f -> f.name().length()).max().orElse(0);
    for (Finding finding : checks) {
      String status =
          Ansi.AUTO.string(
              "@|%s %-7s|@".formatted(finding.status().colour(), finding.status().toString()));
      out.printf("%s  %-" + nameWidth + "s  %s%n", status, finding.name(), finding.value());
      if (finding.remedy() != null) {
        out.printf("%-7s  %-" + nameWidth + "s  -> %s%n", "", "", finding.remedy());
      }
    }
    out.println(ok ? "No failures." : "Failures: mend them before anything else.");
  }
}
