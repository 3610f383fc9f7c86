package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Events;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.DpdkPorts;
import org.pmhxb.pm.port.Port;

/** A poll thread and programs' threads take turns, whatever goes wrong in a turn. */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PollThreadTest {
  private static final long LONG_NS = 30_000_000_000L;

  /** A duty cycle that does in its rounds what a test wants. */
  private static final class Work implements PollWork {
    volatile Thread home;
    volatile int rounds;
    volatile Runnable inRound = () -> {};
    volatile Runnable atHandOver = () -> {};

    @Override
    public int doWork(long nowNs) {
      if (home == null) {
        home = Thread.currentThread();
      }
      rounds++;
      inRound.run();
      return 0;
    }

    @Override
    public long nextDeadlineNs(long nowNs) {
      return nowNs + 1_000_000;
    }

    @Override
    public void handOver() {
      atHandOver.run();
    }
  }

  private final Work work = new Work();

  @BeforeAll
  static void startEal() {
    Eal.init(EalOptions.defaults());
  }

  private PollThread start(PollWork... all) {
    return new PollThread("test-poll", List.of(all), new int[0], PollIdle.BACKOFF, -1, () -> {})
        .start();
  }

  /** Drives on this thread, as soon as the poll thread lets it. */
  private static void drive(PollThread thread, BooleanSupplier done) {
    while (!thread.driveUntil(done, LONG_NS)) {
      Thread.yield();
    }
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      LockSupport.parkNanos(100_000);
    }
  }

  private void awaitHome() {
    await(() -> work.home != null);
  }

  @Test
  void whoDroveIsThePollThreadNoLonger() {
    try (TestNet net = oneNode(false)) {
      PmNode node = net.nodes.getFirst();
      try (PollThread thread = drive(node)) {
        awaitHome();
        Thread[] ranOn = new Thread[2];
        drive(thread, () -> node.control(() -> ranOn[0] = Thread.currentThread()));
        node.control(() -> ranOn[1] = Thread.currentThread());
        assertThat(ranOn).containsExactly(Thread.currentThread(), work.home);
      }
    }
  }

  /** A node and a poll thread that drives it, which does not close it at its end. */
  private PollThread drive(PmNode node) {
    node.handOver();
    PollThread thread =
        new PollThread(
            "test-poll", List.of(work, node), new int[0], PollIdle.BACKOFF, -1, node::handOver);
    node.doorbell(thread);
    return thread.start();
  }

  private static TestNet oneNode(boolean inline) {
    return new TestNet(1, 1, 1, 600, NodeConfig.defaults(0x1234, 1, 64), inline);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoWaitsForThePollThreadWaitsThoughItIsInterrupted(boolean inline) {
    try (TestNet net = oneNode(inline)) {
      PmNode node = net.nodes.getFirst();
      try (PollThread thread = drive(node)) {
        Thread.currentThread().interrupt();
        PmEndpoint endpoint = node.open(5);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        endpoint.close();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        node.open(5).close();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(thread.failure()).isNull();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsAskedOfANodeRunsOnItsPollThread(boolean inline) {
    try (TestNet net = oneNode(inline)) {
      PmNode node = net.nodes.getFirst();
      try (PollThread thread = drive(node)) {
        awaitHome();
        Thread[] ranOn = new Thread[1];
        assertThat(node.control(() -> ranOn[0] = Thread.currentThread())).isTrue();
        assertThat(ranOn[0]).isEqualTo(work.home);
        assertThat(thread.failure()).isNull();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoAsksAPollThreadThatHasEndedIsToldSo(boolean inline) {
    try (TestNet net = oneNode(inline)) {
      PmNode node = net.nodes.getFirst();
      PollThread thread = drive(node);
      PmEndpoint endpoint = node.open(5);
      thread.close();
      assertThatThrownBy(() -> node.open(9))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("poll thread of node 0 has ended");
      assertThatThrownBy(endpoint::close).hasMessageContaining("has ended");
      assertThatThrownBy(() -> node.control(() -> {})).hasMessageContaining("has ended");
    }
  }

  @Test
  void aListenerThatIsSetWhileThePollThreadRunsHearsOfWhatFollows() {
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 64).withPeerTimeoutNs(10_000_000L);
    try (TestNet net = new TestNet(2, 1, 1, 600, config, false)) {
      net.deadRail[0] = true;
      PmNode node = net.nodes.getFirst();
      try (PollThread thread = drive(node)) {
        awaitHome();
        AtomicInteger downs = new AtomicInteger();
        node.peerListener(
            new PeerListener() {
              @Override
              public void onPeerUp(int peer, int session) {}

              @Override
              public void onPeerDown(int peer, int session, DownReason reason, int lastSeq) {
                downs.incrementAndGet();
              }
            });
        node.control(() -> node.connect(1));
        await(() -> downs.get() > 0);
        assertThat(thread.failure()).isNull();
      }
    }
  }

  @Test
  void whatARoundThrowsOnAProgramsThreadIsTheCauseAndTheLast() {
    PollThread thread = start(work);
    awaitHome();
    int[] before = new int[1];
    drive(
        thread,
        () -> {
          before[0] = work.rounds;
          work.inRound =
              () -> {
                throw new IllegalStateException("round " + (work.rounds - before[0]));
              };
          return false;
        });
    await(() -> !thread.isAlive());
    assertThat(work.rounds).isEqualTo(before[0] + 1);
    assertThat(thread.failure()).hasMessage("round 1").hasNoSuppressedExceptions();
    assertThatThrownBy(thread::close).hasRootCauseMessage("round 1");
  }

  @Test
  void whatTheConditionThrowsIsItsOwners() {
    try (PollThread thread = start(work)) {
      awaitHome();
      assertThatThrownBy(
              () ->
                  drive(
                      thread,
                      () -> {
                        throw new IllegalStateException("no answer");
                      }))
          .hasMessage("no answer");
      int before = work.rounds;
      await(() -> work.rounds > before);
      assertThat(thread.failure()).isNull();
    }
  }

  @Test
  void theLeaseComesBackThoughHandingOverFails() {
    Work other = new Work();
    int[] handedOver = new int[1];
    PollThread thread = start(work, other);
    awaitHome();
    drive(
        thread,
        () -> {
          work.atHandOver =
              () -> {
                throw new IllegalStateException("not mine");
              };
          other.atHandOver = () -> handedOver[0]++;
          return true;
        });
    await(() -> !thread.isAlive());
    assertThat(handedOver[0]).isOne();
    assertThat(thread.failure()).hasMessage("not mine");
    assertThatThrownBy(thread::close).hasRootCauseMessage("not mine");
  }

  @Test
  void aStoppingPollThreadSleepsUntilTheDriversRoundEnds() throws Exception {
    PollThread thread = start(work);
    awaitHome();
    CountDownLatch within = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    Thread program =
        new Thread(
            () ->
                drive(
                    thread,
                    () -> {
                      work.inRound = () -> stay(within, goOn);
                      return false;
                    }));
    program.start();
    within.await();
    Thread closer = new Thread(thread::close);
    closer.start();
    await(() -> closer.getState() == Thread.State.WAITING);
    // It was woken to stop and cannot: from some time on it sleeps whenever it is looked at.
    int asleep = 0;
    while (asleep < 50) {
      LockSupport.parkNanos(1_000_000);
      asleep = work.home.getState() == Thread.State.WAITING ? asleep + 1 : 0;
    }
    goOn.countDown();
    closer.join();
    program.join();
    assertThat(work.home.isAlive()).isFalse();
    assertThat(thread.failure()).isNull();
  }

  private static void stay(CountDownLatch within, CountDownLatch goOn) {
    within.countDown();
    boolean interrupted = false;
    while (goOn.getCount() > 0) {
      try {
        goOn.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void waitingForItselfIsRefused() throws Exception {
    try (PollThread thread = start(work)) {
      awaitHome();
      FutureTask<Thread> onPollThread = waitForItself(thread);
      work.inRound = onPollThread;
      assertThat(onPollThread.get()).isEqualTo(work.home);
      FutureTask<Thread> onDriver = waitForItself(thread);
      drive(
          thread,
          () -> {
            // Not before this thread drives: the poll thread's own rounds go on until then.
            work.inRound = onDriver;
            return onDriver.isDone();
          });
      assertThat(onDriver.get()).isEqualTo(Thread.currentThread());
      assertThat(thread.failure()).isNull();
      drive(thread, () -> true);
    }
  }

  /** To be run within a round; tells the thread whose it was. */
  private static FutureTask<Thread> waitForItself(PollThread thread) {
    return new FutureTask<>(
        () -> {
          assertThatThrownBy(() -> thread.driveUntil(() -> true, LONG_NS))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("driveUntil of poll thread test-poll within one");
          assertThatThrownBy(thread::close)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("close of poll thread test-poll within one");
          return Thread.currentThread();
        });
  }

  @Test
  void whoMayHaveMissedSomethingLooksAgain() {
    int bell = Events.create();
    AtomicInteger refusals = new AtomicInteger(1_000);
    PollWork refuses =
        new PollWork() {
          @Override
          public int doWork(long nowNs) {
            return work.doWork(nowNs);
          }

          @Override
          public long nextDeadlineNs(long nowNs) {
            return nowNs + LONG_NS;
          }

          @Override
          public boolean rests(long untilNs) {
            return refusals.decrementAndGet() < 0;
          }
        };
    try (PollThread thread =
        new PollThread(
            "test-poll", List.of(refuses), new int[] {bell}, PollIdle.PARK, -1, () -> {})) {
      thread.start();
      await(() -> refusals.get() < 0);
    }
    assertThat(work.rounds).isGreaterThanOrEqualTo(2_000);
    Events.close(bell);
  }

  /** Receives, and sleeps for ever. */
  private static final class Receiver implements PollWork {
    private final Port port;
    private final BufferPool pool;
    private final Burst burst = new Burst(32);
    volatile int received;
    volatile int rests;

    /** {@link #rests} when the last frame came. */
    volatile int restsBefore;

    Receiver(Port port, BufferPool pool) {
      this.port = port;
      this.pool = pool;
    }

    @Override
    public int doWork(long nowNs) {
      int n = port.rxBurst(burst, 32);
      for (int i = 0; i < n; i++) {
        pool.transfer(Burst.id(burst.get(i)), Owner.PORT, Owner.NODE);
        pool.release(Burst.id(burst.get(i)), Owner.NODE);
      }
      if (n > 0) {
        restsBefore = rests;
        received += n;
      }
      return n;
    }

    @Override
    public long nextDeadlineNs(long nowNs) {
      return nowNs + LONG_NS;
    }

    @Override
    public boolean fallAsleep() {
      return !port.fallAsleep() || Hxb.barrier() >= 0;
    }

    @Override
    public void wakeUp(boolean rung) {
      port.wakeUp(rung);
    }

    @Override
    public void stayAwake() {
      port.stayAwake();
    }

    @Override
    public boolean rests(long untilNs) {
      rests++;
      return !port.missedFrames();
    }
  }

  @Test
  void whoSleepsOnASharedMemoryLineIsRungFor() throws Exception {
    String line = "hxb-poll-test-" + ProcessHandle.current().pid();
    try (DpdkPool sending = DpdkPool.create("ring-for", 2_176, 200, Hugepages.AUTO);
        DpdkPool receiving = DpdkPool.create("rung-for", 2_176, 200, Hugepages.AUTO);
        Port to = DpdkPorts.shm("rung-for", line, true, receiving, 0x02_00_00_00_00_01L);
        Port from = DpdkPorts.shm("ring-for", line, false, sending, 0x02_00_00_00_00_02L)) {
      Receiver receiver = new Receiver(to, receiving);
      receiving.handOver();
      try (PollThread thread =
          new PollThread(
              "test-poll",
              List.of(receiver),
              new int[] {to.wakeFd()},
              PollIdle.PARK,
              -1,
              receiving::handOver)) {
        thread.start();
        await(() -> to.linkUp() && from.linkUp());
        Burst burst = new Burst(1);
        int first = receiver.rests;
        for (int frame = 0; frame < 200; frame++) {
          if (frame % 2 == 0) {
            // Else it may be anywhere on its way to sleep.
            await(() -> receiver.rests > receiver.restsBefore);
          }
          int id = sending.allocate(Owner.NODE);
          sending.transfer(id, Owner.NODE, Owner.PORT);
          burst.set(0, Burst.descriptor(id, 64));
          assertThat(from.txBurst(burst, 0, 1)).isEqualTo(1);
          int sent = frame + 1;
          await(() -> receiver.received == sent);
        }
        // Not polled for, either.
        assertThat(receiver.rests - first).isLessThan(500);
      }
    }
  }
}
