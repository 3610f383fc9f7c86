package org.pmhxb.cli;

import java.io.PrintWriter;
import java.util.List;
import org.pmhxb.cli.cluster.ClusterRemover;
import picocli.CommandLine.Command;

/** Takes a cluster down. */
@Command(
    name = "down",
    description =
        "Take a cluster down: its processes, namespaces, links and files, also after a crash of any"
            + " of them. Does nothing when there is none.",
    footer = {"", "Example: hxb down"})
final class DownCommand extends ClusterCommand {
  record Down(boolean ok, String cluster, int processes, int namespaces, List<String> leftovers)
      implements Report {
    @Override
    public void print(PrintWriter out) {
      if (processes + namespaces == 0) {
        out.printf("nothing of a cluster %s is running%n", cluster);
      } else {
        out.printf(
            "cluster %s is down: %s ended, %s removed%n",
            cluster,
            processes == 1 ? "1 process" : processes + " processes",
            Words.count(namespaces, "namespace"));
      }
      leftovers.forEach(line -> out.println("note: " + line));
    }
  }

  @Override
  protected Report run() throws Exception {
    ClusterRemover.Removed removed = ClusterRemover.remove(paths());
    return new Down(
        true, paths().cluster(), removed.processes(), removed.namespaces(), removed.leftovers());
  }
}
