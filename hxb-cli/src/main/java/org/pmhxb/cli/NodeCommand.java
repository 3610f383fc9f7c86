package org.pmhxb.cli;

import ch.qos.logback.classic.Level;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.pmhxb.cli.control.ControlServer;
import org.pmhxb.cli.node.NodeRunner;
import org.pmhxb.cli.node.PolledNode;
import org.pmhxb.ffi.ProcessGroup;
import org.pmhxb.router.HxbConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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

  @Option(
      names = "--own-group",
      description =
          "In a process group of its own, as hxb up starts nodes: a terminal's Ctrl-C is not for"
              + " it.")
  private boolean ownGroup;

  record Ended(boolean ok, List<Integer> nodes) implements Report {
    @Override
    public void print(PrintWriter out) {
      nodes.forEach(node -> out.printf("node %d ended%n", node));
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
    if (ownGroup) {
      ProcessGroup.own();
    }
    List<HxbConfig> configs = new ArrayList<>();
    for (Path file : files) {
      configs.add(HxbConfig.read(file));
    }
    logMore();
    NodeRunner.serve(launch(configs));
    return new Ended(true, configs.stream().map(HxbConfig::node).toList());
  }

  /**
   * The control sockets first: where a process answers already, it is perhaps this very node, whose
   * sessions another one with its coordinates would end.
   */
  private static List<NodeRunner.Served> launch(List<HxbConfig> configs) throws IOException {
    List<ControlServer> controls = new ArrayList<>();
    try {
      for (HxbConfig config : configs) {
        String socket = config.controlSocket();
        controls.add(socket.isEmpty() ? null : ControlServer.open(Path.of(socket)));
      }
      List<PolledNode> nodes = PolledNode.launch(configs);
      List<NodeRunner.Served> served = new ArrayList<>();
      for (int i = 0; i < nodes.size(); i++) {
        served.add(new NodeRunner.Served(nodes.get(i), controls.get(i)));
      }
      return served;
    } catch (IOException | RuntimeException e) {
      for (ControlServer control : controls) {
        if (control != null) {
          control.close();
        }
      }
      throw e;
    }
  }
}
