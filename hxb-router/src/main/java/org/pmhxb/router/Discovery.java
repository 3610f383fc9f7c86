package org.pmhxb.router;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.pmhxb.pm.Routing;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.router.PairingFault.End;
import org.pmhxb.router.PairingFault.Kind;

/**
 * Finds the neighbours on each line by broadcast DISCOVER frames, and checks that the cables join
 * what the shape says (PROTOCOL.md section 8). No list of addresses is written anywhere.
 *
 * <p>Each rail announces at intervals that double from the first to the longest, and at once when
 * it hears a neighbour that is new or that asks. A rail asks while its intervals still grow and a
 * neighbour is missing, so a lost answer costs one short interval and a dead node costs no traffic.
 *
 * <p>Behind short frames go some of full length: a neighbour's address is a next hop only while
 * frames of full length arrive from it, so that a switch with too small an MTU is named, and
 * avoided, before it swallows messages. On long lines these are spread by chance: all at once they
 * would be more than a switch's queue holds, each time those of the same nodes. Whom nothing at all
 * is heard of stays a next hop: that its paths are dead, they find out themselves, and sooner.
 *
 * <p>Owner: the node's poll thread. Methods that say so may be called from any thread. What agrees
 * with the table allocates nothing; faults and new neighbours are control events and may.
 *
 * <p>DISCOVER frames must reach {@link #onLinkFrame} before the key, the major version and the
 * source's node number are judged: those are among the things that are reported here.
 */
public final class Discovery {
  /** First interval between announcements. */
  public static final long FIRST_INTERVAL_NS = 10_000_000L;

  /** Interval once the line is quiet. */
  public static final long LONGEST_INTERVAL_NS = 1_000_000_000L;

  /** Least distance of two announcements of one rail: what many ask at once is answered once. */
  private static final long ANSWER_GAP_NS = 1_000_000L;

  /** Least distance of two full frames of one rail: what strangers can make it send is bounded. */
  private static final long FULL_GAP_NS = 5_000_000L;

  /** The same where nobody asked: all nodes of a long line hear each of them. */
  private static final long UNASKED_FULL_GAP_NS = 50_000_000L;

  /**
   * Full frames of nodes that start together, or heard the same question, are spread by chance over
   * so long for each node of the line beyond those whose frames find room in any switch's queue:
   * more than the longest takes on a gigabit link.
   */
  private static final long SPREAD_PER_NODE_NS = 100_000L;

  private static final int TOGETHER_NODES = 8;

  /** Who spoke before, of each slot: as many clones of one node's file may take turns. */
  private static final int FORMER = 8;

  /** Less than what is waited for a neighbour's first full frame. */
  private static final long SPREAD_MAX_NS = 100_000_000L;

  /** Another try after no control buffer was to be had. */
  private static final long RETRY_NS = 1_000_000L;

  /**
   * How many longest intervals of silence end a fault, or a claim to coordinates; of silence in
   * full frames, a neighbour's being known.
   */
  private static final int SILENT_INTERVALS = 5;

  /** Short frames without a full one after which there is something between two neighbours. */
  private static final int SHORT_FRAMES = 4;

  /** So long the first full frame of a neighbour may be behind its first short one. */
  private static final long FIRST_FULL_NS = 200_000_000L;

  /** Of a neighbour that was never heard. */
  private static final long NEVER = Long.MIN_VALUE;

  /**
   * How long a program that could begin over some of its rails waits for the others: by far longer
   * than nodes that start together need.
   */
  public static final long GRACE_NS = 2_000_000_000L;

  private final Shape shape;
  private final Coordinates coordinates;
  private final int self;
  private final int ownPosition;
  private final RailLayout layout;
  private final NeighbourTable table;
  private final FaultTable faults;
  private final int key;
  private final long incarnation;
  private final long firstIntervalNs;
  private final long longestIntervalNs;
  private final long silenceNs;
  private final SplittableRandom random;
  private final String[] devices;
  private final byte[][] deviceBytes;

  // By rail.
  private final long[] intervalNs;
  private final long[] sentNs;
  private final long[] dueNs;
  private final boolean[] answering;
  private final long[] answerNs;
  private final boolean[] fullOwed;
  private final long[] fullDueNs;
  private final long[] fullSentNs;
  private final long[] spreadNs;
  private final int[] missingOnRail;

  // By slot of the table: who spoke last, and the last FORMER before it.
  private final long[] speakers;
  private final long[] incarnations;
  private final long[] formerMacs;
  private final long[] formerIncarnations;
  private final long[] sinceNs;
  private final AtomicLongArray heardNs;
  private final String[] labels;

  // By slot of the table: its speaker's frames of full length.
  private final boolean[] fullHeard;
  private final boolean[] shortOnly;
  private final int[] shortFrames;
  private final long[] shortSinceNs;

  private long earliestDueNs;
  private long tickNs;
  private boolean started;
  private long malformed;
  private int longestFrameBytes;
  private volatile int missing;
  private FrameCrc crc;
  private MemorySegment crcRegion;

  /**
   * With the standard intervals.
   *
   * @param coordinates this node's place in {@code shape}
   * @param layout the rails; {@code devices} in its order
   * @param key the cluster's key as it stands in every frame
   * @param incarnation differs at every start of the node
   * @param devices one name per rail, for people; the first 63 bytes go on the wire
   */
  public Discovery(
      Shape shape,
      Coordinates coordinates,
      RailLayout layout,
      int key,
      long incarnation,
      List<String> devices) {
    this(
        shape,
        coordinates,
        layout,
        key,
        incarnation,
        devices,
        FIRST_INTERVAL_NS,
        LONGEST_INTERVAL_NS);
  }

  /**
   * With other intervals, as for a simulation of thousands of nodes.
   *
   * @param firstIntervalNs at least 1 ms
   * @param longestIntervalNs at least the first
   */
  public Discovery(
      Shape shape,
      Coordinates coordinates,
      RailLayout layout,
      int key,
      long incarnation,
      List<String> devices,
      long firstIntervalNs,
      long longestIntervalNs) {
    if (devices.size() != layout.count()) {
      throw new IllegalArgumentException(
          devices.size() + " device names for " + layout.count() + " rails");
    }
    if (firstIntervalNs < ANSWER_GAP_NS || longestIntervalNs < firstIntervalNs) {
      throw new IllegalArgumentException(
          "intervals of "
              + firstIntervalNs
              + " to "
              + longestIntervalNs
              + " ns: the first must be at least "
              + ANSWER_GAP_NS
              + " ns and not above the longest");
    }
    this.shape = shape;
    this.coordinates = coordinates;
    this.self = shape.node(coordinates);
    this.ownPosition = shape.position(self);
    this.layout = layout;
    this.key = key;
    this.incarnation = incarnation;
    this.firstIntervalNs = firstIntervalNs;
    this.longestIntervalNs = longestIntervalNs;
    this.silenceNs = SILENT_INTERVALS * longestIntervalNs;
    this.table = new NeighbourTable(shape, layout);
    this.faults = new FaultTable(silenceNs);
    this.devices = devices.toArray(String[]::new);
    int rails = layout.count();
    this.deviceBytes = new byte[rails][];
    this.intervalNs = new long[rails];
    this.sentNs = new long[rails];
    this.dueNs = new long[rails];
    this.answering = new boolean[rails];
    this.answerNs = new long[rails];
    this.fullOwed = new boolean[rails];
    this.fullDueNs = new long[rails];
    this.fullSentNs = new long[rails];
    this.spreadNs = new long[rails];
    this.random = new SplittableRandom(incarnation + self);
    this.missingOnRail = new int[rails];
    int slots = table.slots();
    this.speakers = new long[slots];
    this.incarnations = new long[slots];
    this.formerMacs = new long[slots * FORMER];
    this.formerIncarnations = new long[slots * FORMER];
    this.sinceNs = new long[slots];
    this.heardNs = new AtomicLongArray(slots);
    this.labels = new String[slots];
    this.fullHeard = new boolean[slots];
    this.shortOnly = new boolean[slots];
    this.shortFrames = new int[slots];
    this.shortSinceNs = new long[slots];
    for (int slot = 0; slot < slots; slot++) {
      heardNs.setPlain(slot, NEVER);
    }
    int all = 0;
    for (int rail = 0; rail < rails; rail++) {
      deviceBytes[rail] = DiscoverFrame.deviceBytes(this.devices[rail]);
      int extent = shape.extent(layout.dimension(rail));
      long beyond = Math.max(0, extent - TOGETHER_NODES);
      spreadNs[rail] = Math.min(beyond * SPREAD_PER_NODE_NS, SPREAD_MAX_NS);
      missingOnRail[rail] = extent - 1;
      all += missingOnRail[rail];
    }
    this.missing = all;
  }

  /** Any thread. */
  public Shape shape() {
    return shape;
  }

  /** This node's number. Any thread. */
  public int self() {
    return self;
  }

  /** This node's place. Any thread. */
  public Coordinates coordinates() {
    return coordinates;
  }

  /** Any thread. */
  public RailLayout layout() {
    return layout;
  }

  NeighbourTable table() {
    return table;
  }

  /** Every neighbour is known on every rail. Any thread. */
  public boolean complete() {
    return missing == 0;
  }

  /**
   * Who is not there, on which rail, and how. Who was entered by {@link #assume} and never heard is
   * not missing. Any thread.
   *
   * @param nowNs on the clock of {@link #linkWork}
   */
  public List<MissingNeighbour> missing(long nowNs) {
    List<MissingNeighbour> list = new ArrayList<>();
    forEachNeighbour(
        (rail, node, slot) -> {
          boolean known = table.macAcquire(slot) != 0;
          long heard = heardNs.getAcquire(slot);
          boolean silent = heard != NEVER && nowNs - heard >= silenceNs;
          if (!known || silent) {
            MissingNeighbour.How how =
                heard == NEVER
                    ? MissingNeighbour.How.NEVER_HEARD
                    : silent ? MissingNeighbour.How.SILENT : MissingNeighbour.How.SHORT_FRAMES_ONLY;
            list.add(
                new MissingNeighbour(
                    rail,
                    layout.name(rail),
                    devices[rail],
                    node,
                    shape.coordinates(node),
                    how,
                    silent ? nowNs - heard : 0));
          }
        });
    return list;
  }

  /** The nodes that share a line with this one, in ascending order. Any thread. */
  public int[] neighbourNodes() {
    return IntStream.range(0, shape.nodes()).filter(node -> shape.hops(self, node) == 1).toArray();
  }

  /**
   * Whether a frame to a node can leave here: in some dimension in which the two differ, the node's
   * line is known to have who comes next. Any thread; allocates nothing.
   */
  public boolean hasFirstHop(int node) {
    return firstHops(node, false);
  }

  /** The same of every dimension in which they differ, and every rail. */
  public boolean hasEveryFirstHop(int node) {
    return firstHops(node, true);
  }

  private boolean firstHops(int node, boolean every) {
    int position = shape.position(node);
    int differing = shape.differing(position, ownPosition);
    for (int d = 0; d < Dimension.COUNT; d++) {
      for (int index = 0; (differing & 1 << d) != 0 && index < layout.perDimension(); index++) {
        int slot = table.slot(d, shape.coordinate(position, d), index);
        if (table.macAcquire(slot) != 0 != every) {
          return !every;
        }
      }
    }
    return every;
  }

  /**
   * Whether a neighbour was heard on some rail after a moment of the node's clock. Any thread;
   * allocates nothing.
   */
  public boolean heardSince(int neighbour, long sinceNs) {
    int position = shape.position(neighbour);
    int differing = shape.differing(position, ownPosition);
    for (int d = 0; d < Dimension.COUNT; d++) {
      for (int index = 0; (differing & 1 << d) != 0 && index < layout.perDimension(); index++) {
        long heard = heardNs.getAcquire(table.slot(d, shape.coordinate(position, d), index));
        if (heard != NEVER && heard - sinceNs > 0) {
          return true;
        }
      }
    }
    return false;
  }

  /** Who is known, where, and when it was heard. Any thread. */
  public List<Neighbour> neighbours() {
    List<Neighbour> list = new ArrayList<>();
    forEachNeighbour(
        (rail, node, slot) -> {
          long mac = table.macAcquire(slot);
          if (mac != 0) {
            list.add(
                new Neighbour(
                    rail,
                    layout.name(rail),
                    node,
                    shape.coordinates(node),
                    mac,
                    heardNs.getAcquire(slot)));
          }
        });
    return list;
  }

  /** The pairing faults that hold now. Any thread. */
  public List<PairingFault> faults() {
    return faults.listed();
  }

  /**
   * Gives each fault that began since the last call to the listener, which may log. Owner: one
   * control thread, never the poll thread. A fault that came and went between two calls is left
   * out.
   *
   * @return how many
   */
  public int reportNewFaults(Consumer<PairingFault> listener) {
    return faults.reportNew(listener);
  }

  /** DISCOVER frames whose fields contradict each other. Poll thread. */
  public long malformed() {
    return malformed;
  }

  /** Frames that showed a fault when the list of faults was full. Poll thread. */
  public long unlistedFaults() {
    return faults.unlisted();
  }

  /**
   * Enters an address that is known without asking, as where the fabric assigns them. An
   * announcement replaces it. Poll thread, or before it runs.
   *
   * @param coordinate the neighbour's coordinate in the dimension of {@code rail}, not the own one
   * @param mac a station's address in the low 48 bits
   */
  public void assume(int rail, int coordinate, long mac) {
    int dimension = layout.dimension(rail);
    if (coordinate < 0
        || coordinate >= shape.extent(dimension)
        || coordinate == coordinates.get(dimension)) {
      throw new IllegalArgumentException(
          "no neighbour with coordinate " + coordinate + " on rail " + layout.name(rail));
    }
    if (!MacAddress.isStation(mac)) {
      throw new IllegalArgumentException(MacAddress.format(mac) + " is no station's address");
    }
    int slot = table.slot(dimension, coordinate, layout.index(rail));
    boolean first = table.mac(slot) == 0;
    table.set(slot, mac);
    if (first) {
      found(rail, 1);
    }
  }

  /** Enters the address of an own rail; announcing does the same. Poll thread, or before it. */
  public void assumeOwn(int rail, long mac) {
    table.setOwn(rail, mac);
  }

  /**
   * Announces on each rail where that is due.
   *
   * @return frames committed
   */
  public int linkWork(long nowNs, Routing.LinkOutput out) {
    if (!started) {
      start(nowNs, out);
    } else if (nowNs - earliestDueNs < 0) {
      return 0;
    }
    if (nowNs - tickNs >= 0) {
      tickNs = nowNs + longestIntervalNs;
      faults.expire(nowNs);
      checkRailsOfNeighbours(nowNs);
    }
    long earliest = tickNs;
    int sent = 0;
    for (int rail = 0; rail < dueNs.length; rail++) {
      boolean timed = nowNs - dueNs[rail] >= 0;
      if (timed || answering[rail] && nowNs - answerNs[rail] >= 0) {
        sent += announce(rail, timed, nowNs, out);
      }
      if (fullOwed[rail] && nowNs - fullDueNs[rail] >= 0) {
        sent += showFull(rail, nowNs, out);
      }
      if (dueNs[rail] - earliest < 0) {
        earliest = dueNs[rail];
      }
      if (answering[rail] && answerNs[rail] - earliest < 0) {
        earliest = answerNs[rail];
      }
      if (fullOwed[rail] && fullDueNs[rail] - earliest < 0) {
        earliest = fullDueNs[rail];
      }
    }
    earliestDueNs = earliest;
    return sent;
  }

  /** When {@link #linkWork} has something to do, or looks at what expires. */
  long nextLinkWorkNs(long nowNs) {
    return started ? earliestDueNs : nowNs;
  }

  private void start(long nowNs, Routing.LinkOutput out) {
    started = true;
    tickNs = nowNs + longestIntervalNs;
    longestFrameBytes = out.longestFrameBytes();
    for (int rail = 0; rail < dueNs.length; rail++) {
      dueNs[rail] = nowNs;
      sentNs[rail] = nowNs - ANSWER_GAP_NS;
      // As if the last were so long ago that the first waits for none.
      fullSentNs[rail] = nowNs - Math.max(UNASKED_FULL_GAP_NS, spreadNs[rail]);
      intervalNs[rail] = firstIntervalNs;
      table.setOwn(rail, out.macAddress(rail));
    }
  }

  private int announce(int rail, boolean timed, long nowNs, Routing.LinkOutput out) {
    long at = out.begin(rail);
    if (at < 0) {
      if (timed) {
        dueNs[rail] = nowNs + RETRY_NS;
      }
      answerNs[rail] = nowNs + RETRY_NS;
      return 0;
    }
    // Only what the timer sends may ask. Answers that ask would be answered, without end.
    boolean asks = timed && missingOnRail[rail] > 0 && intervalNs[rail] < longestIntervalNs;
    send(rail, at, asks ? DiscoverFrame.FLAG_SOLICIT : 0, out);
    sentNs[rail] = nowNs;
    boolean asked = answering[rail];
    answering[rail] = false;
    if (timed) {
      dueNs[rail] = nowNs + intervalNs[rail];
      intervalNs[rail] = Math.min(2 * intervalNs[rail], longestIntervalNs);
    }
    if (!fullOwed[rail] && (asked || nowNs - fullSentNs[rail] >= UNASKED_FULL_GAP_NS)) {
      long allowedNs = fullSentNs[rail] + Math.max(FULL_GAP_NS, spreadNs[rail]);
      fullOwed[rail] = true;
      fullDueNs[rail] = (allowedNs - nowNs > 0 ? allowedNs : nowNs) + spread(rail);
    }
    return 1;
  }

  private long spread(int rail) {
    long mostNs = spreadNs[rail];
    return mostNs == 0 ? 0 : random.nextLong(mostNs);
  }

  /** The frame of full length that goes behind what was announced. */
  private int showFull(int rail, long nowNs, Routing.LinkOutput out) {
    long at = out.begin(rail);
    if (at < 0) {
      fullDueNs[rail] = nowNs + RETRY_NS;
      return 0;
    }
    send(rail, at, DiscoverFrame.FLAG_FULL, out);
    fullOwed[rail] = false;
    fullSentNs[rail] = nowNs;
    return 1;
  }

  private void send(int rail, long at, int flags, Routing.LinkOutput out) {
    long mac = out.macAddress(rail);
    table.setOwn(rail, mac);
    MemorySegment frames = out.frames();
    int lengthBytes =
        DiscoverFrame.write(
            frames,
            at,
            mac,
            key,
            incarnation,
            shape,
            layout,
            self,
            rail,
            flags,
            deviceBytes[rail],
            longestFrameBytes,
            out.trailerBytes());
    if (frames != crcRegion) {
      crcRegion = frames;
      crc = new FrameCrc(frames);
    }
    FrameHeader.crc(frames, at, crc.of(at, lengthBytes - FrameHeader.BYTES));
    out.commit(lengthBytes);
  }

  /** Announces at the next duty cycle, or as soon as the least distance allows. */
  private void answer(int rail, long nowNs) {
    if (!started || answering[rail]) {
      return; // the first announcement, or an answer, is about to go out anyway
    }
    long allowedNs = sentNs[rail] + ANSWER_GAP_NS;
    answering[rail] = true;
    answerNs[rail] = allowedNs - nowNs > 0 ? allowedNs : nowNs;
    if (answerNs[rail] - earliestDueNs < 0) {
      earliestDueNs = answerNs[rail];
    }
  }

  /**
   * Takes a DISCOVER frame. Its length covers its header and the payload that it states, and its
   * CRC is right; nothing else has been judged. Never throws.
   */
  public void onLinkFrame(int rail, MemorySegment frames, long at, int lengthBytes, long nowNs) {
    if (rail < 0 || rail >= layout.count() || lengthBytes < FrameHeader.BYTES) {
      malformed++;
      return;
    }
    long mac = FrameHeader.srcMac(frames, at);
    int major = FrameHeader.version(frames, at) >>> 4;
    if (major != FrameHeader.VERSION_MAJOR) {
      if (!faults.renew(Kind.DIFFERENT_MAJOR_VERSION, rail, mac, nowNs)) {
        faults.add(
            Kind.DIFFERENT_MAJOR_VERSION,
            rail,
            here(rail),
            new End("", -1, null, mac),
            "version " + FrameHeader.VERSION_MAJOR + " here, " + major + " there; update the older",
            nowNs);
      }
      return;
    }
    if (!DiscoverFrame.isValid(frames, at, lengthBytes)) {
      malformed++;
      return;
    }
    Kind kind = judge(rail, frames, at);
    if (kind != null) {
      report(kind, rail, frames, at, nowNs);
    } else if (DiscoverFrame.node(frames, at) != self) {
      learn(rail, frames, at, mac, nowNs);
    }
  }

  private void report(Kind kind, int rail, MemorySegment frames, long at, long nowNs) {
    if (!faults.renew(kind, rail, FrameHeader.srcMac(frames, at), nowNs)) {
      faults.add(kind, rail, here(rail), there(frames, at), detail(kind, rail, frames, at), nowNs);
    }
  }

  /** What is wrong with the sender's end, or null; null also for what this node sent itself. */
  private Kind judge(int rail, MemorySegment frames, long at) {
    if (FrameHeader.key(frames, at) != key) {
      return Kind.DIFFERENT_KEY;
    }
    for (int d = 0; d < Dimension.COUNT; d++) {
      if (DiscoverFrame.extent(frames, at, d) != shape.extent(d)) {
        return Kind.DIFFERENT_SHAPE;
      }
    }
    if (DiscoverFrame.railsPerDimension(frames, at) != layout.perDimension()) {
      return Kind.DIFFERENT_RAILS;
    }
    int dimension = DiscoverFrame.dimension(frames, at);
    int index = DiscoverFrame.railIndex(frames, at);
    int node = DiscoverFrame.node(frames, at);
    if (node == self) {
      int sender = layout.rail(dimension, index);
      boolean own =
          DiscoverFrame.incarnation(frames, at) == incarnation
              && FrameHeader.srcMac(frames, at) == table.own(sender);
      if (!own) {
        return Kind.DUPLICATE_COORDINATES;
      }
    }
    if (dimension != layout.dimension(rail)) {
      return Kind.WRONG_DIMENSION;
    }
    if (index != layout.index(rail)) {
      return Kind.WRONG_RAIL_INDEX;
    }
    int elsewhere = shape.differing(shape.position(node), ownPosition) & ~(1 << dimension);
    return elsewhere != 0 ? Kind.WRONG_LINE : null;
  }

  private void learn(int rail, MemorySegment frames, long at, long mac, long nowNs) {
    int dimension = layout.dimension(rail);
    int coordinate = DiscoverFrame.coordinate(frames, at, dimension);
    int slot = table.slot(dimension, coordinate, layout.index(rail));
    long spoken = DiscoverFrame.incarnation(frames, at);
    long silentNs = heardNs.getPlain(slot) == NEVER ? 0 : nowNs - heardNs.getPlain(slot);
    if (speakers[slot] == mac && incarnations[slot] == spoken) {
      if (DiscoverFrame.solicits(frames, at)) {
        answer(rail, nowNs);
      }
    } else if (isTwin(slot, mac, spoken, silentNs)) {
      reportTwins(rail, slot, slot, mac, spoken, DiscoverFrame.device(frames, at), nowNs);
      return;
    } else {
      succeed(rail, slot, mac, spoken, DiscoverFrame.device(frames, at), nowNs);
      answer(rail, nowNs);
    }
    heardNs.setRelease(slot, nowNs);
    if (!DiscoverFrame.saysFrame(frames, at) || DiscoverFrame.isFull(frames, at)) {
      heardFull(rail, slot, mac);
    } else {
      heardShort(rail, slot, frames, at, silentNs, nowNs);
    }
  }

  /** Who was replaced speaks again beside its successor: that is no restart, they are two. */
  private boolean isTwin(int slot, long mac, long spoken, long silentNs) {
    if (speakers[slot] == 0 || silentNs >= silenceNs) {
      return false;
    }
    for (int i = slot * FORMER; i < (slot + 1) * FORMER; i++) {
      if (formerMacs[i] == mac && formerIncarnations[i] == spoken) {
        return true;
      }
    }
    return false;
  }

  private void succeed(int rail, int slot, long mac, long spoken, String device, long nowNs) {
    if (shortOnly[slot]) {
      faults.end(Kind.SHORT_FRAMES_ONLY, rail, speakers[slot]);
    }
    int first = slot * FORMER;
    System.arraycopy(formerMacs, first, formerMacs, first + 1, FORMER - 1);
    System.arraycopy(formerIncarnations, first, formerIncarnations, first + 1, FORMER - 1);
    formerMacs[first] = speakers[slot];
    formerIncarnations[first] = incarnations[slot];
    speakers[slot] = mac;
    incarnations[slot] = spoken;
    sinceNs[slot] = nowNs;
    labels[slot] = device;
    fullHeard[slot] = false;
    shortOnly[slot] = false;
    shortFrames[slot] = 0;
  }

  /** Frames of any length arrive from the slot's speaker: it is a next hop. */
  private void heardFull(int rail, int slot, long mac) {
    fullHeard[slot] = true;
    shortFrames[slot] = 0;
    if (shortOnly[slot]) {
      shortOnly[slot] = false;
      faults.end(Kind.SHORT_FRAMES_ONLY, rail, mac);
    }
    long known = table.mac(slot);
    if (known != mac) {
      table.set(slot, mac);
      if (known == 0) {
        found(rail, 1);
      }
    }
  }

  /**
   * A full frame should be right behind. When none comes, whatever was known of this neighbour is
   * not any more: what it is sent would vanish on the way.
   */
  private void heardShort(
      int rail, int slot, MemorySegment frames, long at, long silentNs, long nowNs) {
    if (shortFrames[slot] == 0 || silentNs >= silenceNs) {
      shortFrames[slot] = 0;
      shortSinceNs[slot] = nowNs;
    }
    shortFrames[slot] = Math.min(shortFrames[slot] + 1, SHORT_FRAMES);
    long patienceNs = fullHeard[slot] ? silenceNs : FIRST_FULL_NS;
    boolean missed = shortFrames[slot] == SHORT_FRAMES && nowNs - shortSinceNs[slot] >= patienceNs;
    if (!missed && !shortOnly[slot]) {
      return;
    }
    shortOnly[slot] = true;
    if (table.mac(slot) != 0) {
      table.set(slot, 0);
      found(rail, -1);
    }
    report(Kind.SHORT_FRAMES_ONLY, rail, frames, at, nowNs);
  }

  @SuppressWarnings("NonAtomicOperationOnVolatileField") // One writer: the poll thread.
  private void found(int rail, int neighbours) {
    missingOnRail[rail] -= neighbours;
    missing = missing - neighbours;
  }

  /** One neighbour speaks with two incarnations on its rails: two nodes, each cabled in part. */
  private void checkRailsOfNeighbours(long nowNs) {
    for (int rail = 0; rail < layout.count(); rail++) {
      if (layout.index(rail) > 0) {
        int dimension = layout.dimension(rail);
        for (int c = 0; c < shape.extent(dimension); c++) {
          int first = firstSettled(dimension, c, nowNs);
          int slot = table.slot(dimension, c, layout.index(rail));
          if (first >= 0 && incarnations[first] != incarnations[slot] && isSettled(slot, nowNs)) {
            reportTwins(rail, first, slot, speakers[slot], incarnations[slot], labels[slot], nowNs);
          }
        }
      }
    }
  }

  /** Of the rails to one neighbour; -1: none is. */
  private int firstSettled(int dimension, int coordinate, long nowNs) {
    for (int index = 0; index < layout.perDimension(); index++) {
      int slot = table.slot(dimension, coordinate, index);
      if (isSettled(slot, nowNs)) {
        return slot;
      }
    }
    return -1;
  }

  /** Announced by its present owner for a while, and lately. */
  private boolean isSettled(int slot, long nowNs) {
    return incarnations[slot] != 0
        && nowNs - sinceNs[slot] >= 3 * longestIntervalNs
        && nowNs - heardNs.getPlain(slot) < 3 * longestIntervalNs;
  }

  private static String incarnations(long one, long other) {
    return String.format(", incarnations %016x and %016x", one, other);
  }

  private void reportTwins(
      int rail, int knownSlot, int slot, long mac, long spoken, String device, long nowNs) {
    if (faults.renew(Kind.DUPLICATE_COORDINATES, rail, mac, nowNs)) {
      return;
    }
    int dimension = layout.dimension(rail);
    int node = nodeOfSlot(dimension, slot, layout.index(rail));
    Coordinates at = shape.coordinates(node);
    faults.add(
        Kind.DUPLICATE_COORDINATES,
        rail,
        new End(label(knownSlot), node, at, speakers[knownSlot]),
        new End(device, node, at, mac),
        "both answer on the line of rail "
            + layout.name(rail)
            + " ("
            + devices[rail]
            + ") of node "
            + self
            + incarnations(incarnations[knownSlot], spoken)
            + "; give one of them other coordinates",
        nowNs);
  }

  private String label(int slot) {
    return labels[slot] == null ? "" : labels[slot];
  }

  private int nodeOfSlot(int dimension, int slot, int index) {
    int coordinate = (slot - table.slot(dimension, 0, index)) / layout.perDimension();
    return neighbourNode(dimension, coordinate);
  }

  private int neighbourNode(int dimension, int coordinate) {
    return shape.node(
        new Coordinates(
            dimension == 0 ? coordinate : coordinates.x(),
            dimension == 1 ? coordinate : coordinates.y(),
            dimension == 2 ? coordinate : coordinates.z()));
  }

  private End here(int rail) {
    return new End(devices[rail], self, coordinates, table.own(rail));
  }

  private static End there(MemorySegment frames, long at) {
    return new End(
        DiscoverFrame.device(frames, at),
        DiscoverFrame.node(frames, at),
        DiscoverFrame.coordinates(frames, at),
        FrameHeader.srcMac(frames, at));
  }

  private String detail(Kind kind, int rail, MemorySegment frames, long at) {
    String ownRail = layout.name(rail);
    String otherRail =
        RailLayout.name(DiscoverFrame.dimension(frames, at), DiscoverFrame.railIndex(frames, at));
    return switch (kind) {
      case WRONG_DIMENSION, WRONG_RAIL_INDEX ->
          "rail "
              + ownRail
              + " here, rail "
              + otherRail
              + " there; join rails of the same dimension and index only";
      case WRONG_LINE ->
          "rail "
              + ownRail
              + " on both, yet the nodes differ in other dimensions; each line needs a switch or"
              + " VLAN of its own";
      case DUPLICATE_COORDINATES ->
          "both have the coordinates "
              + coordinates
              + incarnations(incarnation, DiscoverFrame.incarnation(frames, at))
              + "; give one of them others";
      case DIFFERENT_SHAPE ->
          "shape " + shape + " here, " + DiscoverFrame.shape(frames, at) + " there";
      case DIFFERENT_RAILS ->
          layout.perDimension()
              + " rails per dimension here, "
              + DiscoverFrame.railsPerDimension(frames, at)
              + " there";
      case DIFFERENT_KEY ->
          String.format(
              "key 0x%08x here, 0x%08x there; two clusters share a line, or one of the"
                  + " configurations has another key",
              key, FrameHeader.key(frames, at));
      case SHORT_FRAMES_ONLY -> shortOnlyDetail(DiscoverFrame.frameBytes(frames, at));
      case DIFFERENT_MAJOR_VERSION ->
          throw new IllegalArgumentException("is told by the version alone");
    };
  }

  private String shortOnlyDetail(int theirsBytes) {
    int mtuBytes = theirsBytes - FrameHeader.ETHERNET_HEADER_BYTES;
    return theirsBytes > longestFrameBytes
        ? "frames of "
            + theirsBytes
            + " bytes there, of "
            + longestFrameBytes
            + " at most here; give both nodes the same mtu, and an MTU of "
            + mtuBytes
            + " to every switch and interface between them if it is that one"
        : "short ones do, those of "
            + theirsBytes
            + " bytes do not; raise the MTU of the switch or interface between them to "
            + mtuBytes
            + ", or lower mtu in the files of all nodes";
  }

  private interface NeighbourVisitor {
    void visit(int rail, int node, int slot);
  }

  private void forEachNeighbour(NeighbourVisitor visitor) {
    for (int rail = 0; rail < layout.count(); rail++) {
      int dimension = layout.dimension(rail);
      for (int c = 0; c < shape.extent(dimension); c++) {
        if (c != coordinates.get(dimension)) {
          visitor.visit(
              rail, neighbourNode(dimension, c), table.slot(dimension, c, layout.index(rail)));
        }
      }
    }
  }
}
