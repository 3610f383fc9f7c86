package org.pmhxb.cli.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.pmhxb.cli.control.ControlClient;
import org.pmhxb.cli.control.ControlJson;
import org.pmhxb.cli.node.BarrierTimes;
import org.pmhxb.cli.node.CollectiveOrder;
import org.pmhxb.cli.node.CollectiveTimes;
import org.pmhxb.cli.node.NodeStatus;
import org.pmhxb.cli.workload.WorkloadReport;
import org.pmhxb.cli.workload.WorkloadSpec;
import org.pmhxb.collectives.probe.FabricLogp;

/** A node in a process of its own, reached over its control socket. */
public final class RemoteNode implements BenchNode {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final int node;
  private final ControlClient client;

  private RemoteNode(int node, ControlClient client) {
    this.node = node;
    this.client = client;
  }

  public static RemoteNode connect(int node, Path socket) throws IOException {
    return new RemoteNode(node, ControlClient.connect(socket));
  }

  @Override
  public int node() {
    return node;
  }

  @Override
  public Map<String, Long> counters() throws IOException {
    ObjectNode answer = client.call(ControlJson.request("status"), LIMIT);
    return ControlJson.to(answer, NodeStatus.class).counters();
  }

  @Override
  public void prepare(WorkloadSpec spec) throws IOException {
    ObjectNode request = ControlJson.request("prepare");
    request.set("workload", ControlJson.from(spec));
    client.call(request, LIMIT);
  }

  @Override
  public WorkloadReport run(WorkloadSpec spec, long startNs) throws IOException {
    long runMs = spec.warmUpMs() + spec.measureMs() + spec.drainMs();
    ObjectNode answer =
        client.call(ControlJson.request("run").put("startNs", startNs), LIMIT.plusMillis(runMs));
    return ControlJson.to(answer.get("report"), WorkloadReport.class);
  }

  /** Opens a barrier of all nodes; the one that this connection opened before is closed. */
  public boolean openBarrier(int number, String spec) throws IOException {
    client.call(ControlJson.request("barrier-open").put("number", number).put("spec", spec), LIMIT);
    return true;
  }

  /** Whether the node has all sessions that its barrier needs. */
  public boolean barrierConnected() throws IOException {
    return client.call(ControlJson.request("barrier-state"), LIMIT).path("connected").asBoolean();
  }

  /** Repeats the barrier; all nodes at the same time. */
  public BarrierTimes runBarrier(int count, long limitMs) throws IOException {
    ObjectNode request =
        ControlJson.request("barrier-run").put("count", count).put("limitMs", limitMs);
    ObjectNode answer = client.call(request, LIMIT.plusMillis(limitMs));
    return ControlJson.to(answer.get("times"), BarrierTimes.class);
  }

  /** Joins a group of all nodes; it is left with this connection. */
  public boolean joinCollectives() throws IOException {
    client.call(ControlJson.request("collective-join"), LIMIT);
    return true;
  }

  /** Repeats a collective; all nodes at the same time. */
  public CollectiveTimes runCollective(CollectiveOrder order, long limitMs) throws IOException {
    ObjectNode request = ControlJson.request("collective-run").put("limitMs", limitMs);
    request.set("order", ControlJson.from(order));
    ObjectNode answer = client.call(request, LIMIT.plusMillis(limitMs));
    return ControlJson.to(answer.get("times"), CollectiveTimes.class);
  }

  /** Measures LogP between this node and others. */
  public FabricLogp probe(int count, long limitMs) throws IOException {
    ObjectNode request = ControlJson.request("probe").put("count", count).put("limitMs", limitMs);
    ObjectNode answer = client.call(request, LIMIT.plusMillis(limitMs));
    return ControlJson.to(answer.get("found"), FabricLogp.class);
  }

  @Override
  public void close() throws IOException {
    client.close();
  }
}
