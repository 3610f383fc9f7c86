package org.pmhxb.cli.veth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Veth pairs with both ends in this process's network namespace, which has to be its own: one that
 * {@link #ownNamespace} gave it. They end with it, however the process ends.
 */
public final class OwnLinks {
  private final LinkRate rate;

  /**
   * Makes the pairs and brings them up.
   *
   * @param pairs names of both ends of each
   * @param rate of each link in both directions
   * @throws IllegalStateException an interface of this network namespace is up: it is not one that
   *     {@link #ownNamespace} gave, and the pairs would stay there
   * @throws ToolException {@code ip} or {@code tc} refuses
   */
  public OwnLinks(List<Pair> pairs, LinkRate rate) {
    this.rate = rate;
    String up = Tool.run("", List.of("ip", "-oneline", "link", "show", "up")).strip();
    if (!up.isEmpty()) {
      throw new IllegalStateException(
          "this network namespace is in use, no rails are made in it: "
              + up.lines().findFirst().orElseThrow());
    }
    StringBuilder links = new StringBuilder();
    StringBuilder shaping = new StringBuilder();
    for (Pair pair : pairs) {
      links.append(
          "link add name %s mtu %d type veth peer name %s mtu %2$d%n"
              .formatted(pair.a(), FabricPlan.MTU_BYTES, pair.b()));
      for (String end : List.of(pair.a(), pair.b())) {
        FabricPlan.appendUp(links, end);
        FabricPlan.appendShaping(shaping, end, rate);
      }
    }
    batch("ip", links.toString());
    batch("tc", shaping.toString());
  }

  /** The interfaces of one link. */
  public record Pair(String a, String b) {}

  /**
   * What a command is to be preceded by to run in a network namespace of its own; empty when this
   * process may not make any.
   */
  public static List<String> ownNamespace() {
    for (List<String> how :
        List.of(
            List.of("unshare", "--net"),
            List.of("unshare", "--user", "--map-root-user", "--net"))) {
      List<String> trial = new ArrayList<>(how);
      trial.addAll(List.of("ip", "link", "add", "name", "a", "type", "veth", "peer", "name", "b"));
      try {
        Tool.run("", trial);
        return how;
      } catch (ToolException _) {
        // The next way, or none: links are for those who may make them.
      }
    }
    return List.of();
  }

  /** The name of the network namespace that this process is in. */
  public static String namespace() throws IOException {
    return Files.readSymbolicLink(Path.of("/proc/self/ns/net")).toString();
  }

  /**
   * Cuts a link both ways, or mends it.
   *
   * @throws ToolException when {@code ip} or {@code tc} refuses
   */
  public void cut(Pair pair, VethFabric.Cut how, boolean dead) {
    String lines = how.line(pair.a(), dead, rate);
    // One end down takes the carrier of both.
    batch(how.program, how == VethFabric.Cut.DOWN ? lines : lines + how.line(pair.b(), dead, rate));
  }

  private static void batch(String program, String lines) {
    Tool.run(lines, List.of(program, "-batch", "-"));
  }
}
