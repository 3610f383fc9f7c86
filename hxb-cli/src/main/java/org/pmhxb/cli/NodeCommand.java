package org.pmhxb.cli;

import ch.qos.logback.classic.Level;
import java.io.PrintWriter;
import java.nio.file.Path;
import org.pmhxb.cli.node.NodeRunner;
import org.pmhxb.cli.node.PolledNode;
import org.pmhxb.router.HxbConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs one node in the foreground. */
@Command(
    name = "node",
    description = {
      "Run one node in the foreground, as on a real machine, until SIGTERM or Ctrl-C.",
      "Logs go to standard error; the socket named by control-socket answers status and runs"
          + " workloads."
    },
    footer = {"", "Example: hxb node --config /etc/hxb/node.toml"})
final class NodeCommand extends HxbCommand {
  @Option(
      names = "--config",
      paramLabel = "FILE",
      required = true,
      description = "The node's configuration, TOML.")
  private Path file;

  record Ended(boolean ok, int node) implements Report {
    @Override
    public void print(PrintWriter out) {
      out.printf("node %d ended%n", node);
    }
  }

  /** A process of its own tells when it is ready and what happens to its sessions. */
  private static void logMore() {
    if (System.getenv("HXB_LOG") == null
        && LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)
            instanceof ch.qos.logback.classic.Logger root) {
      root.setLevel(Level.INFO);
    }
  }

  @Override
  protected Report run() throws Exception {
    HxbConfig config = HxbConfig.read(file);
    logMore();
    String socket = config.controlSocket();
    PolledNode node = PolledNode.launch(config);
    NodeRunner.serve(node, socket.isEmpty() ? null : Path.of(socket));
    return new Ended(true, config.node());
  }
}
