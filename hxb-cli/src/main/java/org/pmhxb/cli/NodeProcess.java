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

/**
 * Nodes that are a process: what {@code hxb node} runs, and the process itself as a cluster starts
 * it. That one reads its words itself, since a command line's parser takes 0.08 s of a processor at
 * its start (docs/DECISIONS.md), and is in a process group of its own: a terminal's Ctrl-C is not
 * for it. Messages and exit codes are those of {@code hxb node}.
 */
public final class NodeProcess {
  private static final String CONFIG = "--config";

  private NodeProcess() {}

  /** All have ended in order. */
  record Ended(boolean ok, List<Integer> nodes) implements Report {
    @Override
    public void print(PrintWriter out) {
      nodes.forEach(node -> out.printf("node %d ended%n", node));
    }
  }

  /**
   * @param words {@code --config FILE}, once for each node
   */
  public static void main(String[] words) {
    Main.writeNumbersAlike();
    PrintWriter err = new PrintWriter(System.err, true);
    int code = Main.OK;
    try {
      List<Path> files = files(words);
      ProcessGroup.own();
      run(files).print(new PrintWriter(System.out, true));
    } catch (Exception | Error e) {
      code = FailureMessage.tell(e, "hxb node", err);
    }
    NodeRunner.leave(code);
  }

  static List<Path> files(String... words) {
    List<Path> files = new ArrayList<>();
    for (int i = 0; i < words.length; i += 2) {
      if (!words[i].equals(CONFIG) || i + 1 == words.length) {
        throw new IllegalArgumentException(
            "a node's process takes "
                + CONFIG
                + " FILE, once for each node, and was given "
                + String.join(" ", words));
      }
      files.add(Path.of(words[i + 1]));
    }
    return files;
  }

  /**
   * Runs the nodes of these configurations, on the first one's poll thread, until the process is
   * asked to end.
   */
  static Ended run(List<Path> files) throws IOException, InterruptedException {
    List<HxbConfig> configs = new ArrayList<>();
    for (Path file : files) {
      configs.add(HxbConfig.read(file));
    }
    logMore();
    NodeRunner.serve(launch(configs));
    return new Ended(true, configs.stream().map(HxbConfig::node).toList());
  }

  /** A process of its own tells when it is ready and what happens to its sessions. */
  private static void logMore() {
    if (System.getenv("HXB_LOG") == null
        && LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)
            instanceof ch.qos.logback.classic.Logger root) {
      root.setLevel(Level.INFO);
    }
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
