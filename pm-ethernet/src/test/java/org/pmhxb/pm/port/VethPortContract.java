package org.pmhxb.pm.port;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Owner;

/** Over a veth pair in this process's network namespace, by either driver; needs root. */
abstract class VethPortContract extends PortContract {
  private static final int RATE_MBPS = 200;

  /** What a link may send at once. */
  private static final int BURST_BYTES = 20 * 1024;

  /** Of the time of a shaped stream: what its bursts may keep the processor busy for. */
  private static final double BUSY_MOST = 0.25;

  private static final int ROUNDS_MAX = 10;
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  /** A critical call: the JVM stops no thread on its way in or out. */
  private static final MethodHandle GETRUSAGE =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("getrusage"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG),
              Linker.Option.critical(false));

  private static final int RUSAGE_THREAD = 1;

  /** struct rusage, whose last word but one is ru_nvcsw. */
  private static final MemorySegment USAGE = Arena.global().allocate(144, 8);

  private static final long VOLUNTARY_SWITCHES = 128;

  VethPair link;

  String ifA;
  String ifB;

  /** Opens an interface. */
  abstract Port open(String interfaceName, DpdkPool pool);

  @BeforeAll
  static void needsRoot() {
    Assumptions.assumeTrue(VethPair.canBeMade(), "veth pairs can be made by root only");
  }

  @BeforeAll
  static void deleteLinksOfDeadRuns() throws IOException, InterruptedException {
    VethPair.deleteThoseOfDeadRuns();
  }

  @Override
  boolean wakes() {
    return true;
  }

  /** The kernel drops what the receiving socket's 256 slots cannot hold. */
  @Override
  int framesWithoutReader() {
    return 128;
  }

  @Override
  void connect() throws Exception {
    link = new VethPair();
    ifA = link.first();
    ifB = link.second();
    a = open(ifA, poolA);
    b = open(ifB, poolB);
  }

  @Override
  @AfterEach
  void close() {
    try {
      super.close();
    } finally {
      link.close();
    }
  }

  static void run(String command) throws IOException, InterruptedException {
    VethPair.run(command);
  }

  private void shape() throws IOException, InterruptedException {
    run(
        "tc qdisc add dev %s root tbf rate %dmbit burst %d limit 20mb"
            .formatted(ifA, RATE_MBPS, BURST_BYTES));
  }

  @Test
  void theLastOf300FramesArrivesWithoutFurtherTraffic() throws Exception {
    shape();
    int frames = 300;
    int sent = 0;
    int next = 0;
    long deadline = System.nanoTime() + 10_000_000_000L;
    while (next < frames) {
      assertThat(System.nanoTime()).as("frame %d of %d", next, frames).isLessThan(deadline);
      if (sent < frames) {
        burst.set(0, frame(sent, 9014));
        if (send(burst, 0, 1) == 1) {
          sent++;
        } else {
          poolA.release(Burst.id(burst.get(0)), WINDOW);
        }
      }
      long descriptor = receiveOrZero();
      if (descriptor != 0) {
        assertThat(serial(descriptor)).isEqualTo(next++);
        release(descriptor);
      }
    }
    awaitNoBacklog();
  }

  /** The kernel lets a frame go a moment after its receiver has it. */
  void awaitNoBacklog() {
    long deadline = System.nanoTime() + 5_000_000_000L;
    while (a.txBacklogBytes() != 0) {
      assertThat(System.nanoTime()).as("backlog is gone").isLessThan(deadline);
    }
  }

  @Test
  void noBurstBlocksOnAShapedLinkAndShapingBites() throws Exception {
    shape();
    // The JVM may stop a thread where a call returns, and others may take its processor: not in
    // every round. A driver that waits does so in every round, asleep or busy.
    int round = 0;
    Bursts bursts;
    do {
      bursts = sendThroughShapedLink();
    } while ((bursts.waits > 0 || bursts.busy >= BUSY_MOST) && ++round < ROUNDS_MAX);
    assertThat(bursts.waits).as("waits within transmit bursts").isZero();
    assertThat(bursts.busy).as("share of the time busy in bursts").isLessThan(BUSY_MOST);
  }

  /**
   * What transmit bursts cost, whatever else the machine does meanwhile.
   *
   * @param waits how often the thread gave its core away by itself: it waited for something
   * @param busy share of the stream's time for which they kept the processor busy
   */
  private record Bursts(long waits, double busy) {}

  /**
   * How often this thread gave its core away by itself; that others took it counts elsewhere. Not
   * from /proc: reading that may wait itself, for locks that others of the machine hold and, on a
   * way of many calls, for the JVM.
   */
  private static long waits() {
    try {
      assertThat((int) GETRUSAGE.invokeExact(RUSAGE_THREAD, USAGE.address())).isZero();
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
    return USAGE.get(ValueLayout.JAVA_LONG, VOLUNTARY_SWITCHES);
  }

  @Test
  void waitsAreCounted() {
    long before = waits();
    // A wait whose time is over before it begins is none, as on a busy machine.
    for (int i = 0; i < 1_000 && waits() == before; i++) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(waits()).isGreaterThan(before);
  }

  private Bursts sendThroughShapedLink() throws IOException {
    long burstsNs = 0;
    long waits = 0;
    int sent = 0;
    int got = 0;
    long startNs = System.nanoTime();
    long mostBacklog = 0;
    while (got < 800) {
      // Never more on the way than the receiving socket's 256 slots hold, however long we are
      // stopped.
      boolean sending = sent < 800 && sent - got <= 192;
      for (int i = 0; i < 32 && sending; i++) {
        burst.set(i, frame(sent + i, 9014));
      }
      if (sending) {
        long beforeNs = CLOCK.getCurrentThreadCpuTime();
        long waitsBefore = waits();
        int taken = a.txBurst(burst, 0, 32);
        waits += waits() - waitsBefore;
        burstsNs += CLOCK.getCurrentThreadCpuTime() - beforeNs;
        // The ring holds more than is on the way, so the link never runs dry for want of room.
        assertThat(taken).isPositive();
        for (int i = 0; i < 32; i++) {
          int id = Burst.id(burst.get(i));
          if (i < taken) {
            poolA.transfer(id, WINDOW, Owner.PORT);
          } else {
            poolA.release(id, WINDOW);
          }
        }
        sent += taken;
      }
      mostBacklog = Math.max(mostBacklog, a.txBacklogBytes());
      long descriptor = receiveOrZero();
      if (descriptor != 0) {
        got++;
        release(descriptor);
      }
      assertThat(System.nanoTime() - startNs).isLessThan(10_000_000_000L);
    }
    while (got < sent) {
      release(receive());
      got++;
    }
    long tookNs = System.nanoTime() - startNs;
    double mbps = got * 9014 * 8 * 1e3 / tookNs;
    assertThat(mbps).as("Mbit/s through a link of %d", RATE_MBPS).isLessThan(210.0);
    assertThat(mostBacklog).isBetween(100_000L, 256L * 9014);
    return new Bursts(waits, (double) burstsNs / tookNs);
  }

  @Test
  void whatTheReceiveRingCannotHoldIsCounted() {
    int slots = 256;
    int more = 16;
    for (int i = 0; i < slots + more; i++) {
      burst.set(0, frame(i, 64));
      sendAll(burst, 1);
    }
    // Nothing is received before all were there: the kernel may bring them after the call that sent
    // them.
    long deadline = System.nanoTime() + 5_000_000_000L;
    while (b.counters().rxDropped() < more) {
      assertThat(System.nanoTime()).as("frames dropped").isLessThan(deadline);
    }
    for (int i = 0; i < slots; i++) {
      release(receive());
    }
    assertThat(receiveOrZero()).isZero();
    assertThat(b.counters().rxDropped()).isEqualTo(more);
  }

  @Test
  void roomAndBacklogRecoverByThemselves() throws Exception {
    shape();
    // Whoever is stopped for longer than the link takes finds no backlog, and asks again.
    long linkNs = (64L * 9014 - BURST_BYTES) * 8_000 / RATE_MBPS;
    long askedNs;
    int tries = 0;
    do {
      assertThat(++tries).as("tries in which the link was quicker").isLessThan(50);
      for (int i = 0; i < 64; i++) {
        burst.set(i, frame(i, 9014));
      }
      long startNs = System.nanoTime();
      sendAll(burst, 64);
      long backlog = a.txBacklogBytes();
      askedNs = System.nanoTime() - startNs;
      assertThat(backlog).isBetween(askedNs < linkNs ? 1L : 0, 64L * 9014);
      for (int i = 0; i < 64; i++) {
        release(receive());
      }
    } while (askedNs >= linkNs);
    awaitNoBacklog();
    assertThat(a.txRoom()).isEqualTo(256);
  }

  @Test
  void theLinkIsDownWhenTheOtherEndIs() throws Exception {
    assertThat(a.linkUp()).isTrue();
    run("ip link set " + ifB + " down");
    assertThat(b.linkUp()).isFalse();
    // The kernel takes note of a lost carrier up to a second later.
    long deadline = System.nanoTime() + 5_000_000_000L;
    while (a.linkUp()) {
      assertThat(System.nanoTime()).as("carrier is lost").isLessThan(deadline);
      Thread.sleep(1);
    }
  }
}
