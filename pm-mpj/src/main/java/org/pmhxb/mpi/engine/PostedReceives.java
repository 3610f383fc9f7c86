package org.pmhxb.mpi.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Receives that wait for a message. Each lies in the queue of its own pattern, wildcards included;
 * a message looks at the heads of the four patterns that accept it and takes the oldest, so the
 * cost does not depend on how many wait. Owner: the poll thread.
 */
final class PostedReceives {
  private static final int SPARE_QUEUES = 64;

  private final Map<MatchKey, ArrayDeque<ReceiveOperation>> queues = new HashMap<>();
  private final ArrayDeque<ArrayDeque<ReceiveOperation>> spare = new ArrayDeque<>();
  private final MatchKey probe = new MatchKey();
  private long posted;
  private int anySource;
  private int anyTag;
  private int size;

  void add(int epoch, ReceiveOperation op) {
    op.number = posted++;
    probe.set(epoch, op.context, op.source, op.tag);
    ArrayDeque<ReceiveOperation> queue = queues.get(probe);
    if (queue == null) {
      queue = spare.isEmpty() ? new ArrayDeque<>(2) : spare.pop();
      queues.put(probe.copy(), queue);
    }
    queue.add(op);
    count(op, 1);
  }

  private void count(ReceiveOperation op, int by) {
    size += by;
    anySource += op.source == Engine.ANY_SOURCE ? by : 0;
    anyTag += op.tag == Engine.ANY_TAG ? by : 0;
  }

  /** Takes the oldest receive that accepts a message; null for none. */
  ReceiveOperation match(int epoch, int context, int source, int tag) {
    if (size == 0) {
      return null;
    }
    ReceiveOperation best = oldest(null, epoch, context, source, tag);
    if (anyTag > 0) {
      best = oldest(best, epoch, context, source, Engine.ANY_TAG);
    }
    if (anySource > 0) {
      best = oldest(best, epoch, context, Engine.ANY_SOURCE, tag);
      if (anyTag > 0) {
        best = oldest(best, epoch, context, Engine.ANY_SOURCE, Engine.ANY_TAG);
      }
    }
    if (best != null) {
      take(epoch, best);
    }
    return best;
  }

  private ReceiveOperation oldest(
      ReceiveOperation best, int epoch, int context, int source, int tag) {
    ArrayDeque<ReceiveOperation> queue = queues.get(probe.set(epoch, context, source, tag));
    ReceiveOperation head = queue == null ? null : queue.peek();
    return head != null && (best == null || head.number < best.number) ? head : best;
  }

  private void take(int epoch, ReceiveOperation op) {
    probe.set(epoch, op.context, op.source, op.tag);
    ArrayDeque<ReceiveOperation> queue = queues.get(probe);
    queue.poll();
    count(op, -1);
    if (queue.isEmpty()) {
      // Tags come and go: an empty queue would stay for ever.
      queues.remove(probe);
      if (spare.size() < SPARE_QUEUES) {
        spare.push(queue);
      }
    }
  }

  /** Takes out all that a condition holds for. Looks at every one: for rare events. */
  List<ReceiveOperation> removeIf(Predicate<ReceiveOperation> condition) {
    List<ReceiveOperation> removed = new ArrayList<>();
    Iterator<ArrayDeque<ReceiveOperation>> each = queues.values().iterator();
    while (each.hasNext()) {
      ArrayDeque<ReceiveOperation> queue = each.next();
      queue.removeIf(
          op -> {
            boolean gone = condition.test(op);
            if (gone) {
              removed.add(op);
              count(op, -1);
            }
            return gone;
          });
      if (queue.isEmpty()) {
        each.remove();
      }
    }
    return removed;
  }

  int size() {
    return size;
  }
}
