package org.pmhxb.cli.node;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.pmhxb.cli.control.ControlJson;
import org.pmhxb.cli.control.ControlServer;
import org.pmhxb.cli.workload.MessageLink;
import org.pmhxb.cli.workload.Workload;
import org.pmhxb.cli.workload.WorkloadReport;
import org.pmhxb.cli.workload.WorkloadSpec;
import org.pmhxb.collectives.barrier.Barriers;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.probe.FabricLogp;
import org.pmhxb.collectives.probe.FabricProbe;

/**
 * Answers a node's control socket.
 *
 * <ul>
 *   <li>{@code {"op":"status"}}: a {@link NodeStatus};
 *   <li>{@code {"op":"ready","waitMs":n}}: {@code "ready"}, as soon as the node is or after that
 *       time, at most {@value #MOST_WAIT_MS} ms. For who brings it up: a status takes a JVM that
 *       has just begun 50 ms of a processor;
 *   <li>{@code {"op":"prepare","workload":{...}}}: opens the endpoint of a {@link WorkloadSpec};
 *   <li>{@code {"op":"run","startNs":n}}: begins the prepared workload at that time of the
 *       machine's monotonic clock and answers with {@code "report"}, a {@link WorkloadReport}, at
 *       its end; the endpoint stays open, since others may not be done yet;
 *   <li>{@code {"op":"barrier-open","number":n,"spec":s}}: opens a barrier of all nodes; {@code
 *       {"op":"barrier-state"}}: whether its sessions are up; {@code
 *       {"op":"barrier-run","count":n,"limitMs":n}}: repeats it and answers with {@code "times"},
 *       {@link BarrierTimes};
 *   <li>{@code {"op":"collective-join"}}: joins a group of all nodes; {@code
 *       {"op":"collective-run","order":{...},"limitMs":n}}: repeats a {@link CollectiveOrder} and
 *       answers with {@code "times"}, {@link CollectiveTimes};
 *   <li>{@code {"op":"probe","count":n,"limitMs":n}}: measures LogP and answers with {@code
 *       "found"}, a {@link FabricLogp};
 *   <li>{@code {"op":"stop"}}: breaks a running workload off, on whatever connection it came.
 * </ul>
 *
 * <p>A {@code limitMs} is 1 to {@value #LIMIT_MS_MAX} ms, 1000 if it is not given. What repeats or
 * measures ends with the connection, too.
 *
 * <p>A workload belongs to the connection that prepared it: when that ends, or the other side's
 * half of it, a run is broken off; when it has ended, the endpoint is closed.
 */
public final class NodeService {
  /**
   * How long a workload waits for the one before it, whose connection was closed but whose endpoint
   * may still be open: who closes a connection is not told when that is done.
   */
  private static final long ENDING_MS = 1_000;

  private static final long MOST_WAIT_MS = 1_000;
  private static final long LIMIT_MS_MAX = 86_400_000;
  private static final long LOOK_MS = 5;

  private final NodeHandle node;
  private final Object lock = new Object();

  /** The conversation with a workload; guarded by lock. */
  private Talk holder;

  public NodeService(NodeHandle node) {
    this.node = node;
  }

  /** For {@link ControlServer#start}. */
  public ControlServer.Conversation conversation() {
    return new Talk();
  }

  private final class Talk implements ControlServer.Conversation {
    private WorkloadSpec spec;
    private MessageLink link;
    private BarrierHandle barrier;
    private CollectivesHandle collectives;
    private volatile boolean cancelled;

    @Override
    public ObjectNode reply(ObjectNode request, BooleanSupplier gone) throws Exception {
      String op = request.path("op").asText("");
      return switch (op) {
        case "status" -> ControlJson.from(node.status());
        case "ready" -> ready(request);
        case "prepare" -> prepare(ControlJson.to(request.get("workload"), WorkloadSpec.class));
        case "run" -> run(request, gone);
        case "stop" -> stop();
        case "barrier-open" -> openBarrier(request);
        case "barrier-state" -> barrierState();
        case "barrier-run" -> runBarrier(request, gone);
        case "collective-join" -> joinCollectives();
        case "collective-run" -> runCollective(request, gone);
        case "probe" -> probe(request, gone);
        default ->
            ControlJson.refusal(
                "op \""
                    + op
                    + "\" is none of status, ready, prepare, run, stop, probe, barrier-... and collective-...");
      };
    }

    private ObjectNode ready(ObjectNode request) throws InterruptedException {
      long waitMs = Math.min(number(request, "waitMs", 0, 0, Long.MAX_VALUE), MOST_WAIT_MS);
      long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
      while (!node.ready() && untilNs - System.nanoTime() > 0) {
        Thread.sleep(LOOK_MS);
      }
      return done().put("ready", node.ready());
    }

    private ObjectNode prepare(WorkloadSpec wanted) throws InterruptedException {
      synchronized (lock) {
        awaitNobody();
        if (holder != null) {
          return ControlJson.refusal("a workload is prepared or running on this node already");
        }
        if (!node.ready()) {
          return ControlJson.refusal("node " + node.self() + " is not ready");
        }
        holder = this;
      }
      try {
        link = node.open(wanted.endpoint(), wanted.ownFrames());
        spec = wanted;
        cancelled = false;
        return done();
      } finally {
        if (link == null) {
          release();
        }
      }
    }

    private void awaitNobody() throws InterruptedException {
      long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ENDING_MS);
      for (long leftNs = untilNs - System.nanoTime();
          holder != null && leftNs > 0;
          leftNs = untilNs - System.nanoTime()) {
        TimeUnit.NANOSECONDS.timedWait(lock, leftNs);
      }
    }

    private ObjectNode run(ObjectNode request, BooleanSupplier gone) throws InterruptedException {
      if (link == null) {
        return ControlJson.refusal("nothing is prepared on this connection");
      }
      long startNs = request.path("startNs").asLong(System.nanoTime());
      Workload workload = Workload.of(spec, link, startNs, System::nanoTime);
      WorkloadReport report = node.drive(workload, () -> cancelled || gone.getAsBoolean());
      ObjectNode answer = done();
      answer.set("report", ControlJson.from(report));
      return answer;
    }

    private ObjectNode openBarrier(ObjectNode request) {
      if (barrier != null) {
        barrier.close();
      }
      BarrierSpec spec = BarrierSpec.parse(request.path("spec").asText(""));
      int number = (int) number(request, "number", 0, 0, Barriers.NUMBERS - 1);
      barrier = node.openBarrier(number, spec);
      return done();
    }

    private ObjectNode barrierState() {
      return done().put("connected", barrier != null && barrier.connected());
    }

    private ObjectNode runBarrier(ObjectNode request, BooleanSupplier gone) throws Exception {
      if (barrier == null) {
        return ControlJson.refusal("no barrier is open on this connection");
      }
      BarrierTimes times =
          barrier.run(count(request, BarrierHandle.COUNT_MAX), limitMs(request), gone);
      ObjectNode answer = done();
      answer.set("times", ControlJson.from(times));
      return answer;
    }

    private ObjectNode joinCollectives() {
      if (collectives == null) {
        collectives = node.joinCollectives();
      }
      return done();
    }

    private ObjectNode runCollective(ObjectNode request, BooleanSupplier gone) throws Exception {
      if (collectives == null) {
        return ControlJson.refusal("no group was joined on this connection");
      }
      CollectiveTimes times =
          collectives.run(
              ControlJson.to(request.get("order"), CollectiveOrder.class), limitMs(request), gone);
      ObjectNode answer = done();
      answer.set("times", ControlJson.from(times));
      return answer;
    }

    private ObjectNode probe(ObjectNode request, BooleanSupplier gone) throws Exception {
      FabricLogp found = node.probe(count(request, FabricProbe.COUNT_MAX), limitMs(request), gone);
      ObjectNode answer = done();
      answer.set("found", ControlJson.from(found));
      return answer;
    }

    private static int count(ObjectNode request, int most) {
      return (int) number(request, "count", 1, 1, most);
    }

    private static long limitMs(ObjectNode request) {
      return number(request, "limitMs", 1_000, 1, LIMIT_MS_MAX);
    }

    /** A whole number; {@code otherwise} where none is given. */
    private static long number(
        ObjectNode request, String name, long otherwise, long least, long most) {
      JsonNode value = request.get(name);
      if (value == null) {
        return otherwise;
      }
      // Not asInt(): of a number beyond an int it takes a part, and of a word the default.
      if (!value.isIntegralNumber()
          || !value.canConvertToLong()
          || value.longValue() < least
          || value.longValue() > most) {
        throw new IllegalArgumentException(
            name + " is " + value + "; must be " + least + " to " + most);
      }
      return value.longValue();
    }

    private ObjectNode stop() {
      synchronized (lock) {
        if (holder != null) {
          holder.cancelled = true;
        }
      }
      return done();
    }

    private ObjectNode done() {
      return ControlJson.object().put("ok", true).put("node", node.self());
    }

    private void release() {
      synchronized (lock) {
        if (holder == this) {
          holder = null;
          lock.notifyAll();
        }
      }
    }

    @Override
    public void close() {
      // From the last to the first. Each throws when the poll thread does not answer: the others
      // are closed all the same, and the node is free for the next workload.
      try (CollectivesHandle _ = collectives;
          BarrierHandle _ = barrier;
          MessageLink _ = link) {
        cancelled = true;
      } finally {
        release();
      }
    }
  }
}
