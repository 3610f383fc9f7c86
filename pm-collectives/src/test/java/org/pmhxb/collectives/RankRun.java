package org.pmhxb.collectives;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** One rank goes through a {@link Script} and judges what it gets; never blocks. */
final class RankRun {
  private final Script script;
  private final Collectives collectives;
  private final Communicator communicator;
  private final int rank;
  private final List<Integer> hashes = new ArrayList<>();
  private final List<String> algorithms = new ArrayList<>();
  private int next;
  private CollectiveCall running;
  private MemorySegment output;
  private RuntimeException failure;
  private boolean closing;

  RankRun(Script script, Collectives collectives, Group group, Topology topology) {
    this.script = script;
    this.collectives = collectives;
    this.communicator = collectives.join(group, topology);
    this.rank = group.rank();
  }

  /** Leaves the group as soon as it has no more calls, or one failed. */
  RankRun closing() {
    closing = true;
    return this;
  }

  /** Goes on; work done. */
  int step() {
    int work = collectives.poll();
    if (running == null && failure == null && next < script.calls().size()) {
      start(script.calls().get(next));
      work++;
    }
    if (running != null && running.isDone()) {
      end();
      work++;
    }
    if (closing && isAtEnd()) {
      communicator.close();
    }
    return work;
  }

  private void start(Script.Call call) {
    communicator.use(call.collective(), call.algorithm());
    MemorySegment in = script.input(call, rank);
    output = Script.memory(call, (long) script.blocksOut(call, rank) * call.blockBytes());
    if (call.inPlace() && output.byteSize() == in.byteSize()) {
      output = in;
    }
    int root = call.root();
    running =
        switch (call.collective()) {
          case BROADCAST -> {
            if (rank == root) {
              output = in;
            }
            yield communicator.broadcast(output, root);
          }
          case REDUCE -> communicator.reduce(in, output, call.type(), call.op(), root);
          case ALLREDUCE -> communicator.allreduce(in, output, call.type(), call.op());
          case GATHER -> communicator.gather(in, output, root);
          case SCATTER -> communicator.scatter(in, output, root);
          case ALLGATHER -> communicator.allgather(in, output);
          case ALLTOALL -> communicator.alltoall(in, output);
        };
  }

  private void end() {
    CollectiveCall done = running;
    running = null;
    failure = done.failure();
    if (failure != null) {
      return;
    }
    algorithms.add(done.choice().algorithm().name());
    String wrong = script.judge(script.calls().get(next), rank, output);
    if (wrong != null) {
      throw new AssertionError(wrong + " by " + done.choice().algorithm().name());
    }
    hashes.add(Arrays.hashCode(output.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE)));
    next++;
  }

  /** All calls made, or one failed; and nothing is left to send. */
  boolean isOver() {
    return isAtEnd() && collectives.isSettled();
  }

  private boolean isAtEnd() {
    return running == null && (failure != null || next == script.calls().size());
  }

  RuntimeException failure() {
    return failure;
  }

  int callsDone() {
    return next;
  }

  /** Of each call's output. */
  List<Integer> hashes() {
    return hashes;
  }

  List<String> algorithms() {
    return algorithms;
  }

  Collectives collectives() {
    return collectives;
  }

  String where() {
    return "rank %d at call %d of %d".formatted(rank, next, script.calls().size());
  }
}
