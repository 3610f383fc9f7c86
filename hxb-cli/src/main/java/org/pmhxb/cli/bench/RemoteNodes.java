package org.pmhxb.cli.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** All nodes of a cluster of processes, asked at the same time. Owner: one thread. */
public final class RemoteNodes implements AutoCloseable {
  private final Map<Integer, RemoteNode> nodes = new TreeMap<>();
  private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

  /**
   * @param sockets of the nodes, by number
   */
  public RemoteNodes(Map<Integer, Path> sockets) throws IOException {
    for (Map.Entry<Integer, Path> node : sockets.entrySet()) {
      nodes.put(node.getKey(), RemoteNode.connect(node.getKey(), node.getValue()));
    }
  }

  /** One node's part. */
  @FunctionalInterface
  public interface Call<T> {
    T on(RemoteNode node) throws IOException;
  }

  public RemoteNode get(int node) {
    return nodes.get(node);
  }

  /** Everyone's answers, by number; or the first failure. */
  public <T> List<T> all(Call<T> call) throws IOException, InterruptedException {
    List<Future<T>> answers = new ArrayList<>();
    nodes.values().forEach(node -> answers.add(callers.submit(() -> call.on(node))));
    List<T> values = new ArrayList<>();
    for (Future<T> answer : answers) {
      try {
        values.add(answer.get());
      } catch (ExecutionException e) {
        throw new IOException(e.getCause().getMessage(), e.getCause());
      }
    }
    return values;
  }

  @Override
  public void close() throws IOException {
    callers.shutdownNow();
    for (RemoteNode node : nodes.values()) {
      node.close();
    }
  }
}
