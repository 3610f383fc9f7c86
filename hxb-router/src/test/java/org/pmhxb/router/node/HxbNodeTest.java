package org.pmhxb.router.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.Hxb;
import org.pmhxb.ffi.NativeException;
import org.pmhxb.ffi.Threads;
import org.pmhxb.pm.Counter;
import org.pmhxb.pm.DownReason;
import org.pmhxb.pm.Loan;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PeerListener;
import org.pmhxb.pm.PeerState;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.SendBuffer;
import org.pmhxb.router.ConfigException;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Dimension;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;

/** Two assembled nodes with poll threads of their own, over shared memory and over veth pairs. */
@Timeout(60)
class HxbNodeTest {
  private static final int ENDPOINT = 3;
  private static final int RAILS = 2;

  private static HxbConfig config(int node, List<HxbConfig.Rail> rails) {
    HxbConfig.Builder builder =
        HxbConfig.builder()
            .key("node-test")
            .shape(Shape.parse("2"))
            .coordinates(new Coordinates(node, 0, 0));
    rails.forEach(builder::rail);
    return builder.build();
  }

  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long until = System.nanoTime() + 20_000_000_000L;
    boolean holds = condition.getAsBoolean();
    while (!holds && System.nanoTime() < until) {
      Thread.sleep(1);
      holds = condition.getAsBoolean();
    }
    assertThat(holds).as(what).isTrue();
  }

  /** Sends numbered messages one way and checks that each arrives once, in order. */
  private static void stream(HxbNode a, HxbNode b, int messages, int bytes) {
    PmEndpoint from = a.node().open(ENDPOINT);
    PmEndpoint to = b.node().open(ENDPOINT);
    long[] sent = {0};
    List<Long> wrong = new ArrayList<>();
    long[] received = {0};
    long until = System.nanoTime() + 40_000_000_000L;
    while (received[0] < messages && System.nanoTime() < until) {
      SendBuffer buffer = sent[0] < messages ? from.claim(1, bytes) : null;
      if (buffer != null) {
        buffer.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, buffer.offset(), sent[0]++);
        from.send(buffer);
      }
      int n =
          to.poll(
              m -> {
                long v = m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset());
                if (v != received[0]++ || m.lengthBytes() != bytes) {
                  wrong.add(v);
                }
              },
              64);
      if (buffer == null && n == 0) {
        Thread.yield();
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(received[0]).isEqualTo(messages);
    from.close();
    to.close();
  }

  private static void exercise(List<HxbConfig.Rail> left, List<HxbConfig.Rail> right)
      throws InterruptedException {
    try (HxbNode b = HxbNode.launch(config(1, right))) {
      try (HxbNode a = HxbNode.launch(config(0, left))) {
        await("discovery at node 0", a::isComplete);
        await("discovery at node 1", b::isComplete);
        stream(a, b, 5_000, 64);
        stream(a, b, 1_000, 8192);
        assertThat(a.node().peerState(1)).isEqualTo(PeerState.UP);
        assertThat(a.failure()).isNull();
        assertThat(b.failure()).isNull();
        assertThat(a.discovery().faults()).isEmpty();
        // Small messages share frames: all bytes arrive, in just the frames that were sent.
        assertThat(b.node().counters().get(Counter.BYTES_DELIVERED))
            .isGreaterThanOrEqualTo(5_000 * 64 + 1_000 * 8192);
        assertThat(b.node().counters().get(Counter.DATA_DELIVERED))
            .isEqualTo(a.node().counters().get(Counter.DATA_SENT));
      }
      await("end of the session at node 1", () -> b.node().peerState(0) == PeerState.DOWN);
      assertThat(b.node().peerStatus().get(0).reason()).isEqualTo(DownReason.CLOSED);
    }
  }

  private static List<HxbConfig.Rail> shm(String line, String role) {
    return List.of(
        new HxbConfig.Rail(
            Dimension.X,
            0,
            HxbConfig.Driver.SHM,
            line + role,
            Map.of("socket", line, "role", role)));
  }

  /** Closes {@code a} from its own listener, and has that say what came of it. */
  private static List<String> closeWithinListener(HxbNode a) {
    List<String> refused = new CopyOnWriteArrayList<>();
    a.node()
        .peerListener(
            new PeerListener() {
              @Override
              public void onPeerUp(int node, int session) {
                try {
                  a.close();
                } catch (IllegalStateException e) {
                  refused.add(e.getMessage());
                }
              }

              @Override
              public void onPeerDown(int node, int session, DownReason reason, int last) {}
            });
    return refused;
  }

  /** They answer each other, and one whose program throws keeps no other open. */
  @Test
  void inlineNodesOfOneThreadAreClosedTogether() {
    String line = "together-" + ProcessHandle.current().pid();
    HxbNode a = HxbNode.launch(config(0, shm(line, "client")), HxbNode.Progress.INLINE);
    HxbNode b = HxbNode.launch(config(1, shm(line, "server")), HxbNode.Progress.INLINE);
    a.node().peerListener(throwsAtDown());
    a.node().connect(1);
    long until = System.nanoTime() + 20_000_000_000L;
    while (a.node().peerState(1) != PeerState.UP || b.node().peerState(0) != PeerState.UP) {
      assertThat(System.nanoTime() - until).isNegative();
      a.node().doWork(System.nanoTime());
      b.node().doWork(System.nanoTime());
    }

    assertThatThrownBy(() -> HxbNode.closeTogether(List.of(a, b)))
        .hasMessageContaining("the program's");

    for (PmNode node : List.of(a.node(), b.node())) {
      assertThat(node.isQuitAnswered()).isTrue();
      assertThatThrownBy(() -> node.doWork(System.nanoTime())).hasMessageContaining("closed");
    }
    HxbNode.closeTogether(List.of(a, b));
  }

  private static PeerListener throwsAtDown() {
    return new PeerListener() {
      @Override
      public void onPeerUp(int node, int session) {}

      @Override
      public void onPeerDown(int node, int session, DownReason reason, int last) {
        throw new IllegalStateException("the program's");
      }
    };
  }

  @Test
  void anInlineNodeIsClosedOnceAndNotFromWithin() {
    String line = "close-" + ProcessHandle.current().pid();
    HxbNode b = HxbNode.launch(config(1, shm(line, "server")), HxbNode.Progress.INLINE);
    HxbNode a = HxbNode.launch(config(0, shm(line, "client")), HxbNode.Progress.INLINE);
    List<String> refused = closeWithinListener(a);
    PmEndpoint from = a.node().open(ENDPOINT);
    PmEndpoint to = b.node().open(ENDPOINT);
    List<String> fromHandler = new ArrayList<>();
    long until = System.nanoTime() + 20_000_000_000L;
    while (fromHandler.isEmpty() && System.nanoTime() < until) {
      SendBuffer buffer = from.claim(1, 8);
      if (buffer != null) {
        from.send(buffer);
      }
      a.node().doWork(System.nanoTime());
      b.node().doWork(System.nanoTime());
      to.poll(
          m -> {
            try {
              b.close();
            } catch (IllegalStateException e) {
              fromHandler.add(e.getMessage());
            }
          },
          1);
    }
    assertThat(refused).singleElement().asString().contains("close within the listener of node 0");
    assertThat(fromHandler)
        .singleElement()
        .asString()
        .contains("close within a handler of endpoint " + ENDPOINT);
    assertThat(a.node().peerState(1)).as("a refused close does nothing").isEqualTo(PeerState.UP);
    for (HxbNode node : List.of(a, b, a, b)) {
      node.close();
    }
    assertThatThrownBy(() -> a.node().doWork(System.nanoTime()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("node 0 is closed");
  }

  @Test
  void aPollThreadRefusesToCloseItsOwnNodeAndGoesOn() throws InterruptedException {
    String line = "dclose-" + ProcessHandle.current().pid();
    try (HxbNode b = HxbNode.launch(config(1, shm(line, "server")));
        HxbNode a = HxbNode.launch(config(0, shm(line, "client")))) {
      List<String> refused = closeWithinListener(a);
      stream(a, b, 100, 64);
      assertThat(refused).singleElement().asString().contains("within one of its rounds");
      stream(a, b, 100, 64);
      a.close();
      assertThat(a.failure()).isNull();
      await("end of the session", () -> b.node().peerState(0) == PeerState.DOWN);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SHM", "MEMIF"})
  void talksOverSharedMemory(HxbConfig.Driver driver) throws InterruptedException {
    List<List<HxbConfig.Rail>> rails = new ArrayList<>();
    for (String role : List.of("client", "server")) {
      List<HxbConfig.Rail> mine = new ArrayList<>();
      for (int i = 0; i < RAILS; i++) {
        mine.add(
            new HxbConfig.Rail(
                Dimension.X,
                i,
                driver,
                role + i,
                Map.of(
                    "socket",
                    "hxb-node-test-" + ProcessHandle.current().pid() + "-" + i,
                    "role",
                    role)));
      }
      rails.add(mine);
    }
    exercise(rails.get(0), rails.get(1));
  }

  /** The nodes' own side of it: {@link PmNode#fallAsleep}, for who waits in a way of its own. */
  @Test
  void aSleepingNodeIsRungFor() {
    try (HxbNode a = HxbNode.launch(config(0, lines("client")), HxbNode.Progress.INLINE);
        HxbNode b = HxbNode.launch(config(1, lines("server")), HxbNode.Progress.INLINE);
        PmEndpoint from = a.node().open(ENDPOINT);
        PmEndpoint to = b.node().open(ENDPOINT);
        Arena arena = Arena.ofConfined()) {
      int[] descriptors = b.node().wakeFds();
      assertThat(descriptors).hasSize(RAILS);
      MemorySegment fds = arena.allocateFrom(ValueLayout.JAVA_INT, descriptors);
      List<Long> received = new ArrayList<>();
      MessageHandler handler =
          m -> received.add(m.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, m.offset()));
      driveUntil(a, b, () -> send(from, -1));
      driveUntil(a, b, () -> to.poll(handler, 8) > 0);
      for (long number = 0; number < 20; number++) {
        driveUntil(a, b, () -> fellAsleep(b, fds));
        long next = number;
        driveUntil(a, a, () -> send(from, next));
        a.node().doWork(System.nanoTime());
        assertThat(Hxb.waitReadable(fds.address(), RAILS, -1, 5_000_000)).isPositive();
        b.node().wakeUp(true);
        received.clear();
        driveUntil(b, b, () -> to.poll(handler, 8) > 0);
        assertThat(received).containsExactly(number);
      }
      b.node().stayAwake();
    }
  }

  /** The pool is made where the poll thread will run; who launches the node stays free. */
  @Test
  void aNodeWithACpuOfItsOwnLeavesTheLaunchingThreadsAffinity() {
    BitSet before = Threads.affinity();
    int cpu = before.length() - 1;
    HxbConfig config = config(0, lines("server")).toBuilder().pollCpu(cpu).build();
    try (HxbNode node = HxbNode.launch(config)) {
      assertThat(Threads.affinity()).isEqualTo(before);
      assertThat(node.pool().capacity()).isPositive();
      assertThat(node.failure()).isNull();
    }
  }

  @Test
  void aCpuThatThisProcessMayNotUseEndsTheLaunch() {
    int cpu = Threads.affinity().length();
    HxbConfig config = config(0, lines("server")).toBuilder().pollCpu(cpu).build();
    assertThatThrownBy(() -> HxbNode.launch(config))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("poll.cpu = " + cpu + ": hxb_thread_pin(" + cpu + ")")
        .hasMessageContaining("this process may use CPUs")
        .hasMessageEndingWith("; take one of these, or -1 for any");
  }

  private static List<HxbConfig.Rail> lines(String role) {
    List<HxbConfig.Rail> rails = new ArrayList<>();
    for (int i = 0; i < RAILS; i++) {
      String socket = "hxb-asleep-" + ProcessHandle.current().pid() + "-" + i;
      rails.add(
          new HxbConfig.Rail(
              Dimension.X,
              i,
              HxbConfig.Driver.SHM,
              role + "-asleep" + i,
              Map.of("socket", socket, "role", role)));
    }
    return rails;
  }

  private static boolean send(PmEndpoint from, long number) {
    SendBuffer buffer = from.claim(1, Long.BYTES);
    if (buffer != null) {
      buffer.putLong(0, number);
      from.send(buffer);
    }
    return buffer != null;
  }

  /** Nothing was there at its last look, and nothing came since. */
  private static boolean fellAsleep(HxbNode node, MemorySegment fds) {
    node.node().wakeUp(true);
    assertThat(node.node().fallAsleep()).isTrue();
    return node.node().doWork(System.nanoTime()) == 0
        && Hxb.waitReadable(fds.address(), RAILS, -1, 0) == 0;
  }

  private static void driveUntil(HxbNode a, HxbNode b, BooleanSupplier done) {
    long until = System.nanoTime() + 20_000_000_000L;
    while (!done.getAsBoolean()) {
      assertThat(System.nanoTime()).isLessThan(until);
      a.node().doWork(System.nanoTime());
      b.node().doWork(System.nanoTime());
    }
  }

  @Test
  void aFarNodeIsKnownToBeFar() {
    HxbConfig.Rail rail =
        new HxbConfig.Rail(
            Dimension.X,
            0,
            HxbConfig.Driver.SHM,
            "far0",
            Map.of("socket", "hxb-far-" + ProcessHandle.current().pid(), "role", "server"));
    HxbConfig near = config(0, List.of(rail));
    HxbConfig far =
        near.toBuilder().far(new HxbConfig.Far(new Coordinates(1, 0, 0), 1_500)).build();
    try (HxbNode node = HxbNode.launch(far, HxbNode.Progress.INLINE)) {
      assertThat(node.node().longWayNs(1)).isEqualTo(1_500_000);
    }
  }

  /** One node of two, whose other end is not there. */
  private static HxbConfig.Builder alone(String device) {
    return config(
        0,
        List.of(
            new HxbConfig.Rail(
                Dimension.X,
                0,
                HxbConfig.Driver.SHM,
                device,
                Map.of(
                    "role", "server", "socket", "hxb-" + device + ProcessHandle.current().pid()))))
        .toBuilder();
  }

  /** What the program keeps keeps that pool mapped, and is in nobody's way. */
  @Test
  void aNodeStartsAgainWhileALoanOfItsLastLifeIsOut() {
    HxbConfig config = alone("again").hugepages(HxbConfig.Hugepages.NEVER).build();
    List<Loan> kept = new ArrayList<>();
    for (int life = 0; life < 2; life++) {
      try (HxbNode node = HxbNode.launch(config, HxbNode.Progress.INLINE);
          PmEndpoint endpoint = node.node().open(ENDPOINT)) {
        SendBuffer buffer = endpoint.claim(0, Long.BYTES);
        buffer = buffer == null ? endpoint.claim(0, Long.BYTES) : buffer;
        buffer.putLong(0, life);
        endpoint.send(buffer);
        endpoint.poll(m -> kept.add(m.retain()), 1);
      }
    }
    assertThat(kept)
        .extracting(loan -> loan.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, loan.offset()))
        .containsExactly(0L, 1L);
    kept.forEach(Loan::close);
  }

  @ParameterizedTest
  @EnumSource(HxbConfig.Hugepages.class)
  void thePoolLiesInThePagesThatTheFileAsksFor(HxbConfig.Hugepages asked) {
    long enough = 256;
    assumeThat(asked == HxbConfig.Hugepages.NEVER || Hugepages.freePages() >= enough)
        .as("needs %d free pages of 2 MB", enough)
        .isTrue();
    HxbConfig config = alone("pages").hugepages(asked).build();
    try (HxbNode node = HxbNode.launch(config, HxbNode.Progress.INLINE)) {
      boolean huge = asked != HxbConfig.Hugepages.NEVER;
      assertThat(node.pool().hugepages()).isEqualTo(huge);
      assertThat(node.pool().pageBytes()).isEqualTo(huge ? Hugepages.PAGE_BYTES : 4_096);
    }
  }

  /** DPDK is told once in a process which cards it may look at. */
  @Test
  void thePciCardsOfAllNodesOfAProcessAreAllowed() {
    HxbConfig without = alone("first").build();
    HxbConfig one = card(0, "0000:01:00.0", Map.of());
    HxbConfig two = card(1, "0000:02:00.0", Map.of("devargs", "a=1"));

    assertThat(HxbNode.eal(List.of(without, one, two), Hugepages.NONE).extra())
        .containsExactly("-a", "0000:01:00.0", "-a", "0000:02:00.0,a=1");
    assertThat(HxbNode.eal(List.of(without), Hugepages.NONE).extra()).isEmpty();
  }

  private static HxbConfig card(int node, String address, Map<String, String> options) {
    return HxbConfig.builder()
        .key("k")
        .shape(Shape.of(2))
        .coordinates(Shape.of(2).coordinates(node))
        .rail(new HxbConfig.Rail(Dimension.X, 0, HxbConfig.Driver.PCI, address, options))
        .build();
  }

  @Test
  void whatThePoolCannotHoldIsRefusedByTheFilesOwnNames() {
    for (Map.Entry<HxbConfig.Builder, String> wrong :
        Map.of(
                alone("few").poolBuffers(64),
                "pool.buffers = 64: the sum of its uses is ",
                alone("huge").poolBuffers(1_000_000).hugepages(HxbConfig.Hugepages.REQUIRE),
                "pool.hugepages = require: of the pool of 9888 MB, it needs 4944 pages of 2 MB, ")
            .entrySet()) {
      HxbConfig config = wrong.getKey().build();
      assertThatThrownBy(() -> HxbNode.launch(config, HxbNode.Progress.INLINE))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining(wrong.getValue());
    }
  }

  @Test
  void aDeviceThatIsNotThereIsNamedWithItsRail() {
    assumeThat(Files.isWritable(Path.of("/proc/sys/net/ipv4/ip_forward")))
        .as("needs root to look at devices")
        .isTrue();
    HxbConfig config =
        config(0, List.of(new HxbConfig.Rail(Dimension.X, 0, HxbConfig.Driver.PACKET, "hxnone0")));
    assertThatThrownBy(() -> HxbNode.launch(config, HxbNode.Progress.INLINE))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("device hxnone0 of rail x0 is not in this network namespace");
  }

  @Test
  void anMtuThatTheDeviceDoesNotCarryNamesBothAndTheMend()
      throws IOException, InterruptedException {
    assumeThat(Files.isWritable(Path.of("/proc/sys/net/ipv4/ip_forward")))
        .as("needs root to make veth pairs")
        .isTrue();
    String device = "hxm" + ProcessHandle.current().pid() % 10_000;
    ip("link add " + device + "a type veth peer name " + device + "b");
    try {
      ip("link set " + device + "a up");
      HxbConfig config =
          config(
              0,
              List.of(new HxbConfig.Rail(Dimension.X, 0, HxbConfig.Driver.PACKET, device + "a")));
      assertThatThrownBy(() -> HxbNode.launch(config, HxbNode.Progress.INLINE))
          .isInstanceOf(ConfigException.class)
          .hasMessage(
              "(generated): mtu = 9000: device %1$sa of rail x0 carries at most 1500; run: ip link set dev %1$sa mtu 9000, or set mtu = 1500 at all nodes"
                  .formatted(device));
      HxbConfig small = config.toBuilder().mtuBytes(1_500).build();
      try (HxbNode node = HxbNode.launch(small, HxbNode.Progress.INLINE)) {
        assertThat(node.node().ports()).hasSize(1);
      }
    } finally {
      ip("link del " + device + "a");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"PACKET", "AF_PACKET"})
  void talksOverVeth(HxbConfig.Driver driver) throws IOException, InterruptedException {
    assumeThat(Files.isWritable(Path.of("/proc/sys/net/ipv4/ip_forward")))
        .as("needs root to make veth pairs")
        .isTrue();
    List<HxbConfig.Rail> left = new ArrayList<>();
    List<HxbConfig.Rail> right = new ArrayList<>();
    String prefix = "hxt" + ProcessHandle.current().pid() % 10_000;
    try {
      for (int i = 0; i < RAILS; i++) {
        String a = prefix + "a" + i;
        String b = prefix + "b" + i;
        ip("link add " + a + " mtu 9000 type veth peer name " + b + " mtu 9000");
        left.add(new HxbConfig.Rail(Dimension.X, i, driver, a));
        right.add(new HxbConfig.Rail(Dimension.X, i, driver, b));
        ip("link set " + a + " up");
        ip("link set " + b + " up");
      }
      exercise(left, right);
    } finally {
      for (HxbConfig.Rail rail : left) {
        ip("link del " + rail.device());
      }
    }
  }

  private static void ip(String arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(arguments.split(" ")));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as("%s: %s", String.join(" ", command), output).isZero();
  }
}
