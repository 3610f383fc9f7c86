package org.pmhxb.cli.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.pmhxb.cli.UserErrorException;
import org.pmhxb.cli.process.ProcStat;

/**
 * What {@code hxb up} wrote down of a cluster, in {@code state.json}.
 *
 * @param fabric veth, shm or memif
 * @param shape extents, as in 2x2x2
 * @param rails links per node in each dimension
 * @param rate raw rate of each link, as in 200mbit; "" when not shaped
 * @param startedAt ISO 8601, UTC
 * @param nodes in node order; empty while the fabric is being built
 */
public record ClusterState(
    String cluster,
    String fabric,
    String shape,
    int rails,
    String rate,
    String startedAt,
    List<Node> nodes) {

  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  /**
   * One node's process.
   *
   * @param namespace network namespace; "" when it runs in the host's
   * @param pid process
   * @param startTicks {@link ProcStat#startTicks()}: tells the process from a later one with its
   *     pid
   */
  public record Node(
      int node,
      List<Integer> coordinates,
      String namespace,
      long pid,
      long startTicks,
      String config,
      String log,
      String socket) {}

  ClusterState withNodes(List<Node> started) {
    return new ClusterState(cluster, fabric, shape, rails, rate, startedAt, List.copyOf(started));
  }

  /** Replaces the file in one step, so that a reader never sees half of it. */
  void write(ClusterPaths paths) throws IOException {
    Path fresh = paths.state().resolveSibling("state.json.new");
    ClusterPaths.write(fresh, MAPPER.writeValueAsString(this) + "\n");
    Files.move(fresh, paths.state(), StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * The running or crashed cluster's state; empty when there is none.
   *
   * @throws UserErrorException the file is none that this version writes; the message says how to
   *     go on
   */
  public static Optional<ClusterState> read(ClusterPaths paths) throws IOException {
    ClusterState state;
    try {
      state = MAPPER.readValue(Files.readString(paths.state()), ClusterState.class);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (JsonProcessingException e) {
      throw damaged(paths, e.getOriginalMessage(), e);
    } catch (CharacterCodingException e) {
      throw damaged(paths, "it is no text", e);
    }
    if (state == null || !state.isWhole()) {
      throw damaged(paths, "something is missing in it", null);
    }
    return Optional.of(state);
  }

  private static UserErrorException damaged(ClusterPaths paths, String how, Exception cause) {
    return new UserErrorException(
        "%s is damaged (%s); this removes the cluster: %s"
            .formatted(paths.state(), how, paths.command("down")),
        cause);
  }

  /** Whether all is there that readers rely on: JSON may leave out anything. */
  private boolean isWhole() {
    if (!areThere(cluster, fabric, shape, rate, startedAt, nodes)) {
      return false;
    }
    for (int i = 0; i < nodes.size(); i++) {
      Node n = nodes.get(i);
      if (n == null
          || n.node != i
          || !areThere(n.coordinates, n.namespace, n.config, n.log, n.socket)) {
        return false;
      }
    }
    return true;
  }

  private static boolean areThere(Object... fields) {
    return Stream.of(fields).noneMatch(Objects::isNull);
  }
}
