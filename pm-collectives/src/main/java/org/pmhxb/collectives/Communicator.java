package org.pmhxb.collectives;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.PeerDownException;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;

/**
 * A group's collectives as one of its members calls them. All members make the same calls in the
 * same order; one call at a time. Memory may be on or off the heap; input and output of a reduction
 * may be the same, and must not overlap otherwise.
 *
 * <p>When a member goes down that somebody waits for, the present call and all later ones end with
 * {@link PeerDownException} at every member: those who find out tell the others. A new group, of
 * another number, goes on without it.
 *
 * <p>{@link #close} leaves the group, broken or not; each member does so when it has no more calls.
 * Owner: the endpoint's thread.
 */
public final class Communicator implements AutoCloseable {
  /** What was worked out for a problem. */
  record Planned(Problem problem, Choice choice, Plan plan) {}

  private record Key(
      Collective collective, long blockBytes, int elementBytes, int root, boolean inPlace) {}

  private static final String UNTAKEN = "sent what no call of this node took, or makes other calls";

  /** Passes over copies, waiting messages and sends in one poll. */
  private static final int PASSES_PER_POLL = 32;

  /** Plans kept beside two for each rank, so that roots may take turns. */
  private static final int PLANS_MOST = 256;

  private final Collectives collectives;
  private final PmEndpoint endpoint;
  private final Group group;

  /** How often its number was joined before. */
  private final int use;

  private final Topology topology;
  private final Window window;
  private final Window unheardWindow;
  private final int[] rankOfNode;
  private final Partner[] partners;
  private final CollectiveCall call;
  private final Map<Key, Planned> plans = new Plans();
  private final Map<Collective, String> forced = new EnumMap<>(Collective.class);

  /** The last plan again: repeated calls look nothing up. */
  private Planned last;

  private MemorySegment scratch = MemorySegment.NULL;

  /** Number of the present call, or of the next. */
  private int sequence;

  /** The last call behind which all that waits was looked at. */
  private int judged;

  /** Messages that wait, and partners that are down, and those that are to be told something. */
  private int heldCount;

  private int downCount;
  private int leftCount;
  private int controlDue;

  /** A partner of the present call may have to be {@linkplain #ask asked}. */
  private boolean asking;

  private RuntimeException broken;
  private int brokenNode;
  private int brokenReason;
  private boolean closed;

  /** Those that were used last; a call keeps its own. */
  private final class Plans extends LinkedHashMap<Key, Planned> {
    private static final long serialVersionUID = 1;

    Plans() {
      super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<Key, Planned> eldest) {
      return size() > PLANS_MOST + 2 * group.size();
    }
  }

  Communicator(
      Collectives collectives,
      PmEndpoint endpoint,
      Group group,
      int use,
      Topology topology,
      int nodes,
      int chunkBytes,
      CollectiveLimits limits) {
    this.collectives = collectives;
    this.endpoint = endpoint;
    this.group = group;
    this.use = use;
    this.topology = topology;
    this.window = Window.of(limits.windowBytes(), chunkBytes);
    this.unheardWindow = Window.ofUnheard(limits, group.size(), chunkBytes);
    this.partners = new Partner[group.size()];
    this.rankOfNode = new int[nodes];
    Arrays.fill(rankOfNode, -1);
    for (int r = 0; r < group.size(); r++) {
      rankOfNode[group.node(r)] = r;
    }
    this.call = new CollectiveCall(this, endpoint);
  }

  // --- the program ------------------------------------------------------------------------------

  public Group group() {
    return group;
  }

  public Topology topology() {
    return topology;
  }

  /** Gives every rank the root's message. The same length everywhere. */
  public CollectiveCall broadcast(MemorySegment message, int root) {
    return start(
        Collective.BROADCAST, message, message, message.byteSize(), null, null, checkRoot(root));
  }

  /**
   * Combines all ranks' vectors at the root.
   *
   * @param output at the root as long as the input, which it may be; not used elsewhere
   */
  public CollectiveCall reduce(
      MemorySegment input, MemorySegment output, ElementType type, ReduceOp op, int root) {
    checkRoot(root);
    MemorySegment result = group.rank() == root ? output : MemorySegment.NULL;
    if (group.rank() == root) {
      checkSize("output", output, input.byteSize());
    }
    return start(Collective.REDUCE, input, result, input.byteSize(), type, op, root);
  }

  /** Combines all ranks' vectors at every rank. */
  public CollectiveCall allreduce(
      MemorySegment input, MemorySegment output, ElementType type, ReduceOp op) {
    checkSize("output", output, input.byteSize());
    return start(Collective.ALLREDUCE, input, output, input.byteSize(), type, op, 0);
  }

  /**
   * Puts one block of each rank beside each other at the root.
   *
   * @param output at the root as long as all inputs; not used elsewhere
   */
  public CollectiveCall gather(MemorySegment input, MemorySegment output, int root) {
    checkRoot(root);
    MemorySegment result = group.rank() == root ? output : MemorySegment.NULL;
    if (group.rank() == root) {
      checkSize("output", output, input.byteSize() * group.size());
    }
    return start(Collective.GATHER, input, result, input.byteSize(), null, null, root);
  }

  /**
   * Gives each rank one block of the root's.
   *
   * @param input at the root as long as all outputs; not used elsewhere
   */
  public CollectiveCall scatter(MemorySegment input, MemorySegment output, int root) {
    checkRoot(root);
    MemorySegment source = group.rank() == root ? input : MemorySegment.NULL;
    if (group.rank() == root) {
      checkSize("input", input, output.byteSize() * group.size());
    }
    return start(Collective.SCATTER, source, output, output.byteSize(), null, null, root);
  }

  /** Puts one block of each rank beside each other at every rank. */
  public CollectiveCall allgather(MemorySegment input, MemorySegment output) {
    checkSize("output", output, input.byteSize() * group.size());
    return start(Collective.ALLGATHER, input, output, input.byteSize(), null, null, 0);
  }

  /** Block j of rank i's input becomes block i of rank j's output. */
  public CollectiveCall alltoall(MemorySegment input, MemorySegment output) {
    checkSize("output", output, input.byteSize());
    if (input.byteSize() % group.size() != 0) {
      throw new IllegalArgumentException(
          "input of %d bytes is not a block of equal length for each of %d ranks"
              .formatted(input.byteSize(), group.size()));
    }
    return start(
        Collective.ALLTOALL, input, output, input.byteSize() / group.size(), null, null, 0);
  }

  /**
   * Names the algorithm of a collective from the next call on, at every member alike.
   *
   * @param name null: the one of least predicted time, as at first
   */
  public void use(Collective collective, String name) {
    forced.put(collective, name);
    plans.clear();
    last = null;
  }

  /** What would be chosen, and why: {@link Choice#explain}. */
  public Choice choose(Collective collective, long blockBytes, int elementBytes, int root) {
    return choose(problem(collective, blockBytes, elementBytes, root, false));
  }

  // --- a call -----------------------------------------------------------------------------------

  private int checkRoot(int root) {
    if (root < 0 || root >= group.size()) {
      throw new IllegalArgumentException(
          "root " + root + " is no rank of " + group + ": 0.." + (group.size() - 1));
    }
    return root;
  }

  private static void checkSize(String name, MemorySegment memory, long bytes) {
    if (memory.byteSize() != bytes) {
      throw new IllegalArgumentException(
          "%s has %d bytes: %d are needed".formatted(name, memory.byteSize(), bytes));
    }
  }

  private CollectiveCall start(
      Collective collective,
      MemorySegment input,
      MemorySegment output,
      long blockBytes,
      ElementType type,
      ReduceOp op,
      int root) {
    if (closed) {
      throw new IllegalStateException(group + " is closed; join it again");
    }
    if (call.isActive()) {
      throw new IllegalStateException(
          group + ": " + call.describe() + " is under way: one call at a time");
    }
    Kernels.Kernel kernel = collective.isReducing() ? Kernels.of(type, op) : null;
    int elementBytes = collective.isReducing() ? type.bytes() : 1;
    if (blockBytes % elementBytes != 0) {
      throw new IllegalArgumentException(
          "%d bytes are no whole number of elements of %d".formatted(blockBytes, elementBytes));
    }
    boolean writes = collective != Collective.BROADCAST || group.rank() != root;
    if (writes && output.isReadOnly()) {
      throw new IllegalArgumentException(
          collective + ": output is read-only; it is written as data come");
    }
    if (broken != null) {
      call.fail(broken);
      return call;
    }
    boolean inPlace = isInPlace(collective, input, output);
    Planned planned = planned(collective, blockBytes, elementBytes, root, inPlace);
    if (planned.plan.ranks.length > 0) {
      // Refuses another thread, and a closed node, before anything has begun.
      endpoint.acknowledged(group.node(planned.plan.ranks[0]));
    }
    Algorithm algorithm = planned.choice.algorithm();
    int reduces = kernel == null ? 0 : 1 + type.ordinal() * 8 + op.ordinal();
    int signature = signature(collective, algorithm.name(), blockBytes, root, reduces);
    if (scratch.byteSize() < planned.plan.scratchBytes) {
      scratch = Arena.ofAuto().allocate(planned.plan.scratchBytes, 64);
    }
    call.begin(planned, input, output, scratch, kernel, signature);
    asking = true;
    for (int i = 0; call.isActive() && i < call.partnerCount(); i++) {
      touch(call.partnerAt(i));
    }
    if (heldCount > 0 && call.isActive()) {
      breakUpIfUseless();
    }
    progress();
    return call;
  }

  /**
   * What all members' messages of one call say alike (PROTOCOL.md section 12).
   *
   * @param reduces of type and operation; 0 where nothing is reduced
   */
  static int signature(
      Collective collective, String algorithm, long blockBytes, int root, int reduces) {
    long hash = Mixed.of(Mixed.of(collective.ordinal(), algorithm.hashCode()), blockBytes);
    hash = Mixed.of(Mixed.of(hash, root), reduces);
    return (int) (hash ^ hash >>> 32);
  }

  private static boolean isInPlace(
      Collective collective, MemorySegment input, MemorySegment output) {
    if (collective == Collective.BROADCAST) {
      return false;
    }
    boolean overlap = input.byteSize() > 0 && input.asOverlappingSlice(output).isPresent();
    boolean same =
        overlap
            && input.byteSize() == output.byteSize()
            && input.asOverlappingSlice(output).orElseThrow().byteSize() == input.byteSize();
    if (overlap && !(same && collective.isReducing())) {
      throw new IllegalArgumentException(
          collective + ": input and output overlap; only a reduction's may, and must be the same");
    }
    return overlap;
  }

  private Problem problem(
      Collective collective, long blockBytes, int elementBytes, int root, boolean inPlace) {
    return new Problem(collective, group, topology, blockBytes, elementBytes, root, inPlace);
  }

  private Choice choose(Problem problem) {
    return collectives
        .registry()
        .choose(problem, collectives.model(), forced.get(problem.collective()));
  }

  private Planned planned(
      Collective collective, long blockBytes, int elementBytes, int root, boolean inPlace) {
    if (last != null) {
      Problem p = last.problem;
      if (p.collective() == collective
          && p.blockBytes() == blockBytes
          && p.elementBytes() == elementBytes
          && p.root() == root
          && p.inPlace() == inPlace) {
        return last;
      }
    }
    Key key = new Key(collective, blockBytes, elementBytes, root, inPlace);
    last = plans.get(key);
    if (last == null) {
      Problem problem = problem(collective, blockBytes, elementBytes, root, inPlace);
      Choice choice = choose(problem);
      last = new Planned(problem, choice, PlanBuilder.plan(problem, choice.algorithm()));
      plans.put(key, last);
    }
    return last;
  }

  /** Opens the session before anything is to be sent, so that the partner is watched. */
  private void touch(Partner partner) {
    if (!partner.touched) {
      partner.touched = true;
      SendBuffer b = endpoint.claim(partner.node, 0);
      if (b != null) {
        b.abort();
      } else if (collectives.isStillUnreachable(partner.node)) {
        onPeerDown(partner.node); // it was told before this group was joined
      }
    }
  }

  Partner partner(int rank) {
    Partner partner = partners[rank];
    if (partner == null) {
      partner = new Partner(rank, group.node(rank));
      partners[rank] = partner;
    }
    return partner;
  }

  /** The present call is over. */
  void ended() {
    sequence++;
  }

  /** What came for a call that is over, and was of none of its partners, is of no call here. */
  private void breakUpIfPassedOver() {
    for (Partner p : partners) {
      if (p != null && isPassedOver(p)) {
        mismatch(p, UNTAKEN);
        return;
      }
    }
  }

  private boolean isPassedOver(Partner p) {
    return p.heldFirst != null && Wire.call(p.heldFirst.memory, p.heldFirst.at) - sequence < 0;
  }

  // --- progress ---------------------------------------------------------------------------------

  int poll() {
    return collectives.poll();
  }

  /** One bounded round: copies, messages that waited, sends. */
  int progress() {
    int work = controlDue > 0 ? sendControl() : 0;
    if (call.isActive()) {
      work += advance();
    }
    if (!call.isActive() && judged != sequence) {
      judged = sequence;
      if (heldCount > 0 && broken == null) {
        breakUpIfPassedOver();
      }
    }
    return work;
  }

  private int advance() {
    int work = 0;
    if (downCount + leftCount > 0) {
      failIfGone();
    }
    int moved = 1;
    for (int pass = 0; pass < PASSES_PER_POLL && moved > 0 && call.isActive(); pass++) {
      moved = call.copy();
      if (heldCount > 0 && call.isActive()) {
        moved += takeHeld();
      }
      if (call.isActive()) {
        moved += call.send();
      }
      work += moved;
    }
    if (asking && call.isActive()) {
      asking = ask();
    }
    return work;
  }

  /**
   * Asks each partner that this rank waits for, and neither heard of nor told anything in this use,
   * whether a session of the two has ended since it joined: with that went down what it had sent,
   * and it may have no more calls.
   *
   * @return some are still to be asked
   */
  private boolean ask() {
    boolean more = false;
    for (int i = 0; i < call.partnerCount(); i++) {
      Partner p = call.partnerAt(i);
      if (!p.heard && !p.told && !p.asked && !p.down && call.expects(p)) {
        p.asked = sendAsk(p);
        more |= !p.asked;
      }
    }
    return more;
  }

  private boolean sendAsk(Partner p) {
    SendBuffer b = endpoint.claim(p.node, Wire.COMMON_BYTES);
    if (b == null) {
      return false;
    }
    Wire.common(b.memory(), b.offset(), Wire.ASK, use, group.id(), sequence, 0);
    endpoint.send(b); // that nobody waits for
    return true;
  }

  private int takeHeld() {
    int work = 0;
    for (int i = 0; call.isActive() && i < call.partnerCount(); i++) {
      Partner p = call.partnerAt(i);
      if (isOutOfTurn(p)) {
        mismatch(p, UNTAKEN);
        return work;
      }
      while (holdsOfPresentCall(p) && use(p, take(p, p.heldFirst), p.heldFirst.lengthBytes)) {
        if (p.heldFirst == null) {
          return work; // the group broke, and nothing is kept any more
        }
        collectives.store().release(p.removeFirst());
        heldCount--;
        work++;
        if (!call.isActive()) {
          return work;
        }
      }
    }
    return work;
  }

  /** A message of the call that begins came before, from a member that is no partner in it. */
  private void breakUpIfUseless() {
    for (Partner p : partners) {
      if (p != null && p.index < 0 && holdsOfPresentCall(p)) {
        mismatch(p, useless());
        return; // nothing is kept any more
      }
    }
  }

  private String useless() {
    return "sent a message that " + call.describe() + " has no use for";
  }

  private CollectiveCall.Taken take(Partner p, Held held) {
    return call.take(p.index, held.memory, held.at, held.lengthBytes);
  }

  /** The first message that waits from a partner is of the present call. */
  boolean holdsOfPresentCall(Partner p) {
    return p.heldFirst != null && Wire.call(p.heldFirst.memory, p.heldFirst.at) == sequence;
  }

  /**
   * What waits from a partner never comes to its turn: it is of a call that is over, or of a later
   * one while something of the present is still to come, which cannot be behind it.
   */
  private boolean isOutOfTurn(Partner p) {
    int ahead = p.heldFirst == null ? 0 : Wire.call(p.heldFirst.memory, p.heldFirst.at) - sequence;
    return ahead < 0 || ahead > 0 && call.expects(p);
  }

  // --- messages ---------------------------------------------------------------------------------

  /** A message of this group; false when it makes no sense. */
  boolean onMessage(Message m) {
    int rank = rankOfNode[m.source()];
    if (rank < 0 || rank == group.rank()) {
      return false;
    }
    MemorySegment memory = m.memory();
    long at = m.offset();
    Partner p = partner(rank);
    int kind = Wire.kind(memory, at);
    if (kind == Wire.ABORT) {
      return onAbort(Wire.abortNode(memory, at), Wire.abortReason(memory, at));
    }
    if (kind == Wire.ASK) {
      onAsk(p);
      return true;
    }
    // What a member has used counts no more once it was down, or the group is broken.
    if (broken == null && !p.down && !p.hear(Wire.consumed(memory, at))) {
      return false;
    }
    if (kind == Wire.DATA) {
      onData(p, m, memory, at);
    }
    return true;
  }

  /** A node asked before this one had joined the group. */
  void adoptAsk(int node) {
    int rank = rankOfNode[node];
    if (rank >= 0 && rank != group.rank()) {
      onAsk(partner(rank));
    }
  }

  private void onAsk(Partner p) {
    p.waits |= !tellIfOver(p);
  }

  /** Whether the group is broken, which a partner that goes on with it is told then. */
  private boolean tellIfOver(Partner p) {
    if (broken == null && p.down) {
      // It was started again, or joined behind the end of the session.
      breakUp(downOf(p.node), p.node, Wire.REASON_PEER_DOWN);
    }
    if (broken != null) {
      tell(p);
    }
    return broken != null;
  }

  private void onData(Partner p, Message m, MemorySegment memory, long at) {
    if (tellIfOver(p)) {
      return;
    }
    int ahead = Wire.call(memory, at) - sequence;
    boolean now = ahead == 0 && call.isActive() && p.heldFirst == null;
    if (now && p.index >= 0 && use(p, takeOrKeep(p, m), m.lengthBytes())) {
      return;
    }
    boolean fits = p.held == 0 || p.held + Wire.cost(m.lengthBytes()) <= window.bytes();
    if (now && p.index < 0 || ahead < 0 || !fits) {
      mismatch(p, now ? useless() : "is astray");
      return;
    }
    p.append(collectives.store().keep(m));
    heldCount++;
  }

  /** A message that came before this node had joined the group; false when it makes no sense. */
  boolean adopt(Held held) {
    int rank = rankOfNode[held.sourceNode];
    boolean isData = Wire.kind(held.memory, held.at) == Wire.DATA;
    boolean sensible = rank >= 0 && rank != group.rank();
    if (sensible && Wire.kind(held.memory, held.at) == Wire.ABORT) {
      sensible =
          onAbort(Wire.abortNode(held.memory, held.at), Wire.abortReason(held.memory, held.at));
    } else if (sensible) {
      sensible = partner(rank).hear(Wire.consumed(held.memory, held.at));
    }
    if (sensible && isData && broken == null) {
      partner(rank).append(held);
      heldCount++;
      return true;
    }
    if (sensible && isData) {
      tell(partner(rank));
    }
    collectives.store().release(held);
    return sensible;
  }

  /**
   * Takes a message that has just come. Where the program has freed the call's memory it is kept as
   * one that is early, and each poll says so from {@link #takeHeld}: a handler that throws has had
   * its message, and the sender would be blamed for the gap.
   */
  private CollectiveCall.Taken takeOrKeep(Partner p, Message m) {
    try {
      return call.take(p.index, m.memory(), m.offset(), m.lengthBytes());
    } catch (RuntimeException metAgainAsHeld) {
      return CollectiveCall.Taken.EARLY;
    }
  }

  /** What becomes of a message of the present call; false when its turn has not come. */
  private boolean use(Partner p, CollectiveCall.Taken taken, int lengthBytes) {
    switch (taken) {
      case EARLY -> {
        return false;
      }
      case USED -> {
        p.consumed += Wire.cost(lengthBytes);
        Window there = p.told ? window : unheardWindow;
        if (!p.creditDue && p.consumed - p.consumedTold >= there.worthTellingBytes()) {
          p.creditDue = true;
          controlDue++;
        }
      }
      case MISMATCH -> mismatch(p, "makes another call, or one of another length");
      case UNEXPECTED -> mismatch(p, "sent what its algorithm does not send");
    }
    return true;
  }

  /** How much may be with a partner unused. */
  Window windowOf(Partner p) {
    return p.heard ? window : unheardWindow;
  }

  void header(SendBuffer b, int kind, Partner p) {
    Wire.common(b.memory(), b.offset(), kind, use, group.id(), sequence, p.consumed);
    p.consumedTold = p.consumed;
    p.told = true;
    if (p.creditDue) {
      p.creditDue = false;
      controlDue--;
    }
  }

  /** Credits that no message carried, and the end of the group. */
  private int sendControl() {
    int work = 0;
    for (Partner p : partners) {
      if (p != null && p.abortDue) {
        work += sendAbort(p) ? 1 : 0;
      } else if (p != null && p.creditDue) {
        SendBuffer b = endpoint.claim(p.node, Wire.COMMON_BYTES);
        if (b != null) {
          header(b, Wire.CREDIT, p);
          p.lastTicket = endpoint.send(b);
          work++;
        }
      }
    }
    return work;
  }

  private boolean sendAbort(Partner p) {
    SendBuffer b = endpoint.claim(p.node, Wire.ABORT_BYTES);
    if (b == null) {
      return false;
    }
    header(b, Wire.ABORT, p);
    Wire.abort(b.memory(), b.offset(), brokenNode, brokenReason);
    p.lastTicket = endpoint.send(b);
    p.abortDue = false;
    p.abortTold = true;
    controlDue--;
    return true;
  }

  // --- the end of a group -----------------------------------------------------------------------

  /** A session with a node ended. */
  void onPeerDown(int node) {
    int rank = rankOfNode[node];
    if (rank < 0 || rank == group.rank()) {
      return;
    }
    Partner p = partner(rank);
    downCount += p.down ? 0 : 1;
    p.down = true;
    controlDue -= (p.abortDue ? 1 : 0) + (p.creditDue ? 1 : 0);
    p.abortDue = false;
    p.abortTold = false;
    p.creditDue = false;
  }

  /** A member is in a later use of the number already. */
  void onLeft(int node) {
    int rank = rankOfNode[node];
    if (rank >= 0 && rank != group.rank() && !partner(rank).left) {
      partner(rank).left = true;
      leftCount++;
    }
  }

  private void failIfGone() {
    for (int i = 0; i < call.partnerCount(); i++) {
      Partner p = call.partnerAt(i);
      if ((p.down || p.left) && call.waitsFor(p)) {
        if (p.down) {
          breakUp(downOf(p.node), p.node, Wire.REASON_PEER_DOWN);
        } else {
          breakUp(leftBy(p.node), p.node, Wire.REASON_LEFT);
        }
        return;
      }
    }
  }

  private PeerDownException downOf(int node) {
    return new PeerDownException(
        node, "%s: node %d is down; form a new group without it".formatted(group, node));
  }

  private void mismatch(Partner p, String what) {
    breakUp(
        new CollectiveException(
            "%s: node %d %s while this node is in %s (call %d)"
                .formatted(
                    group, p.node, what, call.isActive() ? call.describe() : "no call", sequence)),
        p.node,
        Wire.REASON_MISMATCH);
  }

  private CollectiveException leftBy(int node) {
    return new CollectiveException(
        "%s: node %d has left it; all members make the same calls before they close the group"
            .formatted(group, node));
  }

  /** A member says that the group is broken; false when it names a node that is no member. */
  private boolean onAbort(int node, int reason) {
    if (node < 0 || node >= rankOfNode.length || rankOfNode[node] < 0) {
      return false;
    }
    if (broken == null) {
      RuntimeException why =
          switch (reason) {
            case Wire.REASON_PEER_DOWN -> downOf(node);
            case Wire.REASON_LEFT -> leftBy(node);
            default ->
                new CollectiveException(
                    "%s: another member found that node %d makes other calls"
                        .formatted(group, node));
          };
      breakUp(why, node, reason);
    }
    return true;
  }

  /**
   * Ends the group, and tells the members whose ranks are a power of two away: however the dead one
   * lay in the algorithm's tree, everybody hears of it in about log2 n steps. Members that had no
   * more calls and left pass nothing on, so those that wait for this one, in this call or a later
   * one, are told as well.
   */
  private void breakUp(RuntimeException why, int node, int reason) {
    broken = why;
    brokenNode = node;
    brokenReason = reason;
    for (int i = 0; call.isActive() && i < call.partnerCount(); i++) {
      Partner p = call.partnerAt(i);
      if (!p.down && call.isUnfinishedWith(p)) {
        tell(p);
      }
    }
    if (call.isActive()) {
      call.fail(why); // one that has ended keeps its end
    }
    releaseHeld();
    if (collectives.isNodeClosed()) {
      return; // nobody can be told
    }
    int n = group.size();
    for (int step = 1; step < n; step *= 2) {
      tellUnlessDown((group.rank() + step) % n);
      tellUnlessDown((group.rank() + n - step) % n);
    }
    // Who waits for this one in a later call, and never has anything to send to it, hears it from
    // nobody else. With whom nothing was exchanged yet, that asks, or has asked.
    for (Partner p : partners) {
      if (p != null && !p.down && (p.heard || p.told || p.waits)) {
        tell(p);
      }
    }
  }

  private void tellUnlessDown(int rank) {
    if (rank == group.rank()) {
      return;
    }
    Partner p = partner(rank);
    touch(p); // of one that cannot be reached nobody says so again
    if (!p.down) {
      tell(p);
    }
  }

  private void tell(Partner p) {
    if (!p.abortDue && !p.abortTold) {
      p.abortDue = true;
      controlDue++;
    }
  }

  /**
   * Breaks the group: all other members' present and later calls end with {@link
   * PeerDownException}. For a member that cannot go on, or was started again and finds itself in a
   * group of before. Poll until {@link #isSettled}.
   */
  public void abandon() {
    if (broken == null && !closed) {
      breakUp(
          new CollectiveException(group + " was abandoned by this node"),
          group.node(group.rank()),
          Wire.REASON_PEER_DOWN);
    }
  }

  private void releaseHeld() {
    for (Partner p : partners) {
      while (p != null && p.heldFirst != null) {
        collectives.store().release(p.removeFirst());
        heldCount--;
      }
    }
  }

  /**
   * Nothing is under way, and everything that was sent is stored where it was to go, or its
   * destination is down: the node may be closed.
   */
  public boolean isSettled() {
    if (call.isActive()) {
      return false;
    }
    for (Partner p : partners) {
      // What was used matters to later calls only: nobody waits until a word of it has arrived.
      if (p != null && !p.down && (p.abortDue || p.lastTicket > endpoint.acknowledged(p.node))) {
        return false;
      }
    }
    return true;
  }

  /**
   * Leaves the group, once; never blocks. For a member that has no more calls, or that takes a new
   * group: this one is forgotten, and what waits for it is given back. A call that is under way is
   * given up, and the group breaks: the others' calls end with {@link CollectiveException}, as do
   * those that they make and this node does not. The same members may join the number again. Poll
   * on until {@link Collectives#isSettled} before the node is closed.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (call.isActive()) {
      breakUp(
          new CollectiveException(group + ": " + call.describe() + " was given up"),
          group.node(group.rank()),
          Wire.REASON_LEFT);
    }
    closed = true;
    if (broken == null) {
      brokenNode = group.node(group.rank());
      brokenReason = Wire.REASON_LEFT;
      tellThoseThatWait();
    }
    releaseHeld();
    BitSet told = new BitSet();
    for (Partner p : partners) {
      if (p != null) {
        leave(p);
        told.set(p.node, broken == null && p.told);
      }
    }
    controlDue = 0;
    collectives.left(this, brokenNode, brokenReason, told);
  }

  /**
   * No call of this node takes their messages, or sends what they have asked for: as with those
   * that come behind its end.
   */
  private void tellThoseThatWait() {
    for (Partner p : partners) {
      if (p != null && !p.down && (p.heldFirst != null || p.waits && !p.told)) {
        tell(p);
      }
    }
  }

  /** What is still to be told is told behind this. */
  private void leave(Partner p) {
    Notices notices = collectives.notices();
    if (!p.down) {
      notices.sent(p.node, p.lastTicket);
    }
    if (p.abortDue || p.creditDue) {
      notices.add(
          new Notices.Notice(
              p.node,
              p.abortDue ? Wire.ABORT : Wire.CREDIT,
              group.id(),
              use,
              sequence,
              p.consumed,
              brokenNode,
              brokenReason));
    }
  }

  /** Plans that are kept. */
  int planCount() {
    return plans.size();
  }
}
