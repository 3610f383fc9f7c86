package org.pmhxb.cli;

import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs one node in the foreground. */
@Command(
    name = "node",
    description = {
      "Run one node in the foreground, as on a real machine, until SIGTERM or Ctrl-C, which is its"
          + " regular end: exit code 0.",
      "Logs go to standard error; the socket named by control-socket answers hxb status --config"
          + " and runs workloads."
    },
    footer = {"", "Example: hxb node --config /etc/hxb/node.toml"})
final class NodeCommand extends HxbCommand {
  @Option(
      names = "--config",
      paramLabel = "FILE",
      required = true,
      description =
          "The node's configuration, TOML. Given again: one more node of this process, on the first"
              + " one's poll thread.")
  private List<Path> files;

  @Override
  protected Report run() throws Exception {
    return NodeProcess.run(files);
  }
}
