package org.pmhxb.collectives;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.pmhxb.pm.Idle;
import org.pmhxb.pm.PeerDownException;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;

/**
 * A collective operation that is under way, or was. Goes on whenever its {@link Collectives} is
 * polled. Until it is done its memory belongs to it. A communicator has one call at a time and uses
 * the object again for the next. Owner: the endpoint's thread.
 */
public final class CollectiveCall {
  /** What became of a message. */
  enum Taken {
    /** It was used. */
    USED,
    /** What it is to be combined with is not there yet. */
    EARLY,
    /** The partner makes another call. */
    MISMATCH,
    /** No message of this plan. */
    UNEXPECTED
  }

  private final Communicator communicator;
  private final PmEndpoint endpoint;
  private final MemorySegment[] areas = new MemorySegment[Area.values().length];

  private Plan plan;
  private Choice choice;
  private Problem problem;
  private Kernels.Kernel kernel;
  private int signature;
  private boolean active;
  private RuntimeException failure;

  /** Bytes of each step that are done. */
  private long[] done = new long[16];

  private int stepsLeft;

  /** By partner of the plan: how many of its sends and receives are over. */
  private int[] sent = new int[4];

  private int[] received = new int[4];

  /** Partners of the plan with sends that are not over. */
  private int[] sending = new int[4];

  private int sendingCount;
  private Partner[] partners = new Partner[4];

  CollectiveCall(Communicator communicator, PmEndpoint endpoint) {
    this.communicator = communicator;
    this.endpoint = endpoint;
  }

  // --- the program ------------------------------------------------------------------------------

  /** All that this rank had to send is on its way, and all that it was to get is there. */
  public boolean isDone() {
    return !active;
  }

  /**
   * Returns normally when the operation succeeded.
   *
   * @throws PeerDownException a member that this rank or another needed is down
   * @throws CollectiveException members made different calls
   * @throws IllegalStateException it is not done
   */
  public void check() {
    if (active) {
      throw new IllegalStateException(problem + " is under way: poll until isDone()");
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Why it failed, or null. */
  public RuntimeException failure() {
    return failure;
  }

  /**
   * Polls until it is done.
   *
   * @param idle called with the work of each round; for a node in inline mode it has to call the
   *     node's {@code doWork}
   * @throws PeerDownException see {@link #check}
   */
  public void await(Idle idle) {
    while (active) {
      idle.idle(communicator.poll());
    }
    check();
  }

  /** What does it, and why that. */
  public Choice choice() {
    return choice;
  }

  // --- beginning and end ------------------------------------------------------------------------

  void begin(
      Communicator.Planned planned,
      MemorySegment input,
      MemorySegment output,
      MemorySegment scratch,
      Kernels.Kernel combining,
      int callSignature) {
    plan = planned.plan();
    choice = planned.choice();
    problem = planned.problem();
    kernel = combining;
    signature = callSignature;
    areas[Area.INPUT.ordinal()] = problem.inPlace() ? output : input;
    areas[Area.OUTPUT.ordinal()] = output;
    areas[Area.SCRATCH.ordinal()] = scratch;
    failure = null;
    active = true;
    stepsLeft = plan.steps();
    done = cleared(done, stepsLeft);
    int count = plan.ranks.length;
    sent = cleared(sent, count);
    received = cleared(received, count);
    if (sending.length < count) {
      sending = new int[count];
      partners = new Partner[count];
    }
    sendingCount = 0;
    for (int i = 0; i < count; i++) {
      partners[i] = communicator.partner(plan.ranks[i]);
      partners[i].index = i;
      if (plan.sends[i].length > 0) {
        sending[sendingCount++] = i;
      }
    }
    if (stepsLeft == 0) {
      end();
    }
  }

  private static long[] cleared(long[] array, int length) {
    if (array.length < length) {
      return new long[length];
    }
    Arrays.fill(array, 0, length, 0);
    return array;
  }

  private static int[] cleared(int[] array, int length) {
    if (array.length < length) {
      return new int[length];
    }
    Arrays.fill(array, 0, length, 0);
    return array;
  }

  private void end() {
    active = false;
    for (int i = 0; i < plan.ranks.length; i++) {
      partners[i].index = -1;
      partners[i] = null;
    }
    Arrays.fill(areas, null);
    communicator.ended();
  }

  /** It cannot go on, or cannot begin. */
  void fail(RuntimeException why) {
    failure = why;
    if (active) {
      end();
    }
  }

  boolean isActive() {
    return active;
  }

  /** Partners of its plan. */
  int partnerCount() {
    return plan.ranks.length;
  }

  Partner partnerAt(int index) {
    return partners[index];
  }

  /** Something is still to be sent to a partner, or to come from it. */
  boolean isUnfinishedWith(Partner partner) {
    int i = partner.index;
    return sent[i] < plan.sends[i].length || received[i] < plan.receives[i].length;
  }

  /** The same, and nothing of it waits here already: the partner has to do something. */
  boolean waitsFor(Partner partner) {
    int i = partner.index;
    return sent[i] < plan.sends[i].length
        || received[i] < plan.receives[i].length && !communicator.holdsOfPresentCall(partner);
  }

  /** Something is still to come from a partner. */
  boolean expects(Partner partner) {
    return received[partner.index] < plan.receives[partner.index].length;
  }

  String describe() {
    return problem + " by " + choice.algorithm().name();
  }

  // --- progress ---------------------------------------------------------------------------------

  private void advance(int step, long bytes) {
    done[step] += bytes;
    if (done[step] == plan.bytes[step] && --stepsLeft == 0) {
      end();
    }
  }

  /** A message of this call lies in memory; its header is read. */
  Taken take(int partner, MemorySegment m, long at, int lengthBytes) {
    if (Wire.signature(m, at) != signature) {
      return Taken.MISMATCH;
    }
    int[] steps = plan.receives[partner];
    int ordinal = received[partner];
    if (ordinal == steps.length || Wire.ordinal(m, at) != ordinal) {
      return Taken.UNEXPECTED;
    }
    int step = steps[ordinal];
    long from = done[step];
    int bytes = lengthBytes - Wire.DATA_BYTES;
    if (Wire.offset(m, at) != from || bytes > plan.bytes[step] - from) {
      return Taken.UNEXPECTED;
    }
    if (plan.kinds[step] == Plan.COMBINE && bytes % problem.elementBytes() != 0) {
      return Taken.UNEXPECTED; // the loop would go on behind the message, and the memory
    }
    if (plan.limit(step, done) < from + bytes) {
      return Taken.EARLY;
    }
    MemorySegment to = areas[plan.areas[step]];
    long toAt = plan.offsets[step] + from;
    if (plan.kinds[step] == Plan.COMBINE) {
      MemorySegment other = areas[plan.fromAreas[step]];
      long otherAt = plan.fromOffsets[step] + from;
      kernel.combine(other, otherAt, m, at + Wire.DATA_BYTES, to, toAt, bytes);
    } else {
      MemorySegment.copy(m, at + Wire.DATA_BYTES, to, toAt, bytes);
    }
    if (from + bytes == plan.bytes[step]) {
      received[partner]++;
    }
    advance(step, bytes);
    return Taken.USED;
  }

  /** Copies within this rank, as far as their sources are there. Steps that went on. */
  int copy() {
    int work = 0;
    int[] copies = plan.copies;
    for (int i = 0; i < copies.length && active; i++) {
      int step = copies[i];
      long from = done[step];
      long bytes = from == plan.bytes[step] ? 0 : plan.limit(step, done) - from;
      if (bytes > 0) {
        MemorySegment.copy(
            areas[plan.fromAreas[step]],
            plan.fromOffsets[step] + from,
            areas[plan.areas[step]],
            plan.offsets[step] + from,
            bytes);
        advance(step, bytes);
        work++;
      }
    }
    return work;
  }

  /** A message to each partner that one can go to. Messages sent. */
  int send() {
    int work = 0;
    for (int i = 0; i < sendingCount && active; i++) {
      int partner = sending[i];
      if (sendTo(partner)) {
        work++;
        if (active && sent[partner] == plan.sends[partner].length) {
          // The order stays: what an algorithm names first is urgent.
          System.arraycopy(sending, i + 1, sending, i, sendingCount - i - 1);
          sendingCount--;
          i--;
        }
      }
    }
    return work;
  }

  private boolean sendTo(int index) {
    Partner partner = partners[index];
    int ordinal = sent[index];
    int step = plan.sends[index][ordinal];
    long from = done[step];
    Window window = communicator.windowOf(partner);
    int bytes = (int) Math.min(window.chunkBytes(), plan.bytes[step] - from);
    long unused = partner.sent - partner.sentConsumed;
    boolean fits = unused == 0 || unused + bytes + Wire.COST_BYTES <= window.bytes();
    if (!fits || plan.limit(step, done) < from + bytes) {
      return false;
    }
    SendBuffer b = endpoint.claim(partner.node, Wire.DATA_BYTES + bytes);
    if (b == null) {
      return false;
    }
    MemorySegment source = areas[plan.areas[step]];
    long at = b.offset() + Wire.DATA_BYTES;
    try {
      MemorySegment.copy(source, plan.offsets[step] + from, b.memory(), at, bytes);
    } catch (RuntimeException e) {
      b.abort(); // the program freed its memory: each poll says so, and none keeps a claim
      throw e;
    }
    communicator.header(b, Wire.DATA, partner);
    Wire.data(b.memory(), b.offset(), signature, ordinal, from);
    partner.lastTicket = endpoint.send(b);
    partner.sent += bytes + Wire.COST_BYTES;
    if (from + bytes == plan.bytes[step]) {
      sent[index]++;
    }
    advance(step, bytes);
    return true;
  }
}
