package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.bufpool.PoolMisuseError;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.pm.wire.FrameTag;

/** A burst is sorted into what is for this node, what is in transit, and all else. */
class SortingTest {
  private static final int KEY = 0x1234;
  private static final int PAYLOAD_BYTES = 16;

  private final BufferPool pool = OffHeapPool.create(BufferPool.JUMBO_STRIDE_BYTES, 600);
  private final List<Integer> arriving = new ArrayList<>();
  private final List<Integer> sent = new ArrayList<>();
  private Runnable linkWork = () -> {};
  private NodeConfig config = NodeConfig.defaults(KEY, 1, 128);

  /** What follows the payload of frames that arrive. */
  private int trailerBytes;

  /** What the port throws when it is to send. */
  private Error throwing;

  /** Frames that the port takes at a time. */
  private int room = Rail.BURST;

  @Test
  void framesInTransitGoOnAndTheFaultIsThrownAtTheEnd() {
    PmNode node =
        node(
            () -> {
              throw new IllegalStateException("no such line");
            });
    int before = frame(2, FrameHeader.DATA);
    int announcement = frame(FrameHeader.EVERY_NODE, FrameHeader.DISCOVER);
    int again = frame(FrameHeader.EVERY_NODE, FrameHeader.DISCOVER);
    int behind = frame(2, FrameHeader.DATA);
    arriving.addAll(List.of(before, announcement, again, behind));
    assertThatThrownBy(() -> node.doWork(1_000))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("no such line")
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
    assertThat(sent).containsExactly(before, behind);
    pool.flush();
    assertThat(List.of(pool.owner(announcement), pool.owner(again))).containsOnly(Owner.FREE);
    assertThat(node.counters().get(Counter.RELAYED)).isEqualTo(2);
    node.close();
    pool.close();
  }

  /** Runs of any length, whose hop parts say the same or not, with all kinds between them. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void aFrameIsSortedAsByItselfWhateverIsBesideIt(long seed) {
    PmNode node = node(() -> {});
    SplittableRandom random = new SplittableRandom(seed);
    List<Integer> passing = new ArrayList<>();
    List<Integer> others = new ArrayList<>();
    Map<DropReason, Long> drops = new EnumMap<>(DropReason.class);
    for (int round = 1; round <= 200; round++) {
      int frames = random.nextInt(2, Rail.BURST + 1);
      int kind = 0;
      int path = 0;
      for (int i = 0; i < frames; i++) {
        kind = random.nextInt(4) == 0 ? random.nextInt(8) : kind;
        path = random.nextInt(6) == 0 ? random.nextInt(3) << 8 : path;
        int id = frame(kind < 3 ? 0 : 2, FrameHeader.DATA, path);
        long at = pool.frameAt(id);
        switch (kind) {
          case 0, 1, 2 -> {
            // For this node, and broken: nothing else about it is looked at.
            flip(at + FrameHeader.BYTES);
            drops.merge(DropReason.CRC, 1L, Long::sum);
          }
          case 3, 4, 5 -> passing.add(id);
          case 6 -> {
            if (random.nextBoolean()) {
              flip(at + FrameHeader.KEY);
              drops.merge(DropReason.KEY, 1L, Long::sum);
            } else {
              flip(at + FrameHeader.HOP_LIMIT);
              drops.merge(DropReason.HOP_CHECK, 1L, Long::sum);
            }
          }
          default -> {
            FrameHeader.flagsDst(pool.memory(), at, 0, random.nextBoolean() ? 0 : 2);
            FrameHeader.endpointsLengthBeyond(pool.memory(), at, 7, 7, PAYLOAD_BYTES + 1, 0);
            drops.merge(DropReason.TOO_SHORT, 1L, Long::sum);
          }
        }
        if (kind < 3 || kind > 5) {
          others.add(id);
        }
        arriving.add(id);
      }
      node.doWork(1_000L * round);
      assertThat(sent).isEqualTo(passing);
      sent.forEach(each -> pool.release(each, Owner.PORT));
      pool.flush();
      assertThat(others).allSatisfy(each -> assertThat(pool.owner(each)).isEqualTo(Owner.FREE));
      sent.clear();
      passing.clear();
      others.clear();
    }
    for (DropReason reason : DropReason.values()) {
      assertThat(node.counters().dropped(reason))
          .as(reason.name())
          .isEqualTo(drops.getOrDefault(reason, 0L));
    }
    node.close();
    pool.close();
  }

  /** All else of them is what the others of the run say. */
  @Test
  void framesInTransitOfAWrongTagStayBehind() {
    config = config.withFrameKey(new FrameKey(FrameKey.Mode.TAG, 11, 12, 1));
    trailerBytes = FrameTag.BYTES;
    FrameTag tag = new FrameTag(11, 12);
    PmNode node = node(() -> {});
    List<Integer> passing = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      int id = frame(2, FrameHeader.DATA);
      long at = pool.frameAt(id);
      FrameHeader.flagsDst(pool.memory(), at, FrameHeader.FLAG_TAG, 2);
      tag.seal(pool.memory(), at, PAYLOAD_BYTES, 0);
      if (i == 3 || i == 4) {
        flip(at + FrameHeader.BYTES + PAYLOAD_BYTES + Long.BYTES);
      } else {
        passing.add(id);
      }
      arriving.add(id);
    }
    node.doWork(1_000);
    assertThat(sent).isEqualTo(passing);
    assertThat(node.counters().dropped(DropReason.TAG)).isEqualTo(2);
    sent.forEach(each -> pool.release(each, Owner.PORT));
    node.close();
    pool.close();
  }

  /** As many as it likes, all or none; what waits leaves before what comes later, each once. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void framesInTransitLeaveInOrderWhateverThePortTakes(long seed) {
    PmNode node = node(() -> {});
    SplittableRandom random = new SplittableRandom(seed);
    List<Integer> passing = new ArrayList<>();
    int partly = 0;
    for (int round = 1; round <= 400; round++) {
      room = random.nextInt(3) == 0 ? random.nextInt(Rail.BURST) : Rail.BURST;
      for (int i = random.nextInt(Rail.BURST / 2); i > 0; i--) {
        boolean broken = random.nextInt(8) == 0;
        int id = frame(broken ? 0 : 2, FrameHeader.DATA, random.nextInt(6) == 0 ? 1 << 8 : 0);
        if (broken) {
          flip(pool.frameAt(id) + FrameHeader.BYTES);
        } else {
          passing.add(id);
        }
        arriving.add(id);
      }
      node.doWork(1_000L * round);
      leftInOrder(passing);
      partly += passing.isEmpty() ? 0 : 1;
    }
    assertThat(partly).isPositive();
    room = Rail.BURST;
    for (int round = 401; !passing.isEmpty() && round < 500; round++) {
      node.doWork(1_000L * round);
      assertThat(sent).isNotEmpty();
      leftInOrder(passing);
    }
    assertThat(passing).isEmpty();
    node.close();
    pool.flush();
    assertThat(pool.available()).isEqualTo(pool.capacity());
    pool.close();
  }

  /** What was sent came first; the port is done with it, and the rest has to follow. */
  private void leftInOrder(List<Integer> passing) {
    List<Integer> first = passing.subList(0, sent.size());
    assertThat(sent).isEqualTo(first);
    sent.forEach(each -> pool.release(each, Owner.PORT));
    first.clear();
    sent.clear();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void framesInTransitSurviveARoundThatIsBrokenOff(int frames) {
    survives(
        frames,
        () ->
            linkWork =
                () -> {
                  throw new IllegalStateException("broken off");
                },
        () -> linkWork = () -> {});
  }

  /** An error, which no port may throw, and a program that goes on all the same. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void framesInTransitSurviveASendThatIsBrokenOff(int frames) {
    survives(frames, () -> throwing = new AssertionError("broken off"), () -> throwing = null);
  }

  /** The port brings the next frames to where those of the broken-off round lie. */
  private void survives(int frames, Runnable broken, Runnable mended) {
    PmNode node = node(() -> {});
    List<Integer> passing = new ArrayList<>();
    pass(frames, passing);
    broken.run();
    // A millisecond behind the start there is link work.
    assertThatThrownBy(() -> node.doWork(1_000_000)).hasMessage("broken off");
    assertThat(sent).isEmpty();
    mended.run();
    pass(frames, passing);
    node.doWork(1_001_000);
    assertThat(sent).isEqualTo(passing);
    node.close();
    pool.close();
  }

  private void pass(int frames, List<Integer> passing) {
    for (int i = 0; i < frames; i++) {
      int id = frame(2, FrameHeader.DATA, i << 8);
      arriving.add(id);
      passing.add(id);
    }
  }

  /** A driver brings a buffer that a program has. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void aFrameInTransitWhoseBufferIsInUseIsFound(int frames) {
    PmNode node = node(() -> {});
    for (int i = 0; i < frames; i++) {
      arriving.add(frame(2, FrameHeader.DATA));
    }
    int last = arriving.getLast();
    pool.transfer(last, Owner.PORT, Owner.LOAN);
    assertThatThrownBy(() -> node.doWork(1_000))
        .isInstanceOf(PoolMisuseError.class)
        .hasMessageContaining("buffer " + last)
        .hasMessageContaining("LOAN");
    pool.close();
  }

  /**
   * @param onLinkFrame what routing does over a frame to whoever is on the line
   */
  private PmNode node(Runnable onLinkFrame) {
    Port port =
        proxy(
            Port.class,
            (name, args) ->
                switch (name) {
                  case "rxBurst" -> receive((Burst) args[0]);
                  case "txBurst" -> send((Burst) args[0], (int) args[1], (int) args[2]);
                  case "maxFrameBytes" -> 9_018;
                  case "txRoom" -> 32;
                  case "macAddress", "txBacklogBytes" -> 0L;
                  case "wakeFd" -> -1;
                  case "linkUp", "isInProcess" -> true;
                  case "hidesQueue" -> false;
                  default -> name.startsWith("to") || name.equals("name") ? "one" : null;
                });
    long[][] macs = {{1, 2, 3}};
    Routing line = new LineRouting(0, macs);
    Routing relaying =
        proxy(
            Routing.class,
            (name, args) -> {
              switch (name) {
                case "transit" -> {
                  return 0;
                }
                case "onLinkFrame" -> {
                  onLinkFrame.run();
                  return null;
                }
                case "linkWork" -> {
                  linkWork.run();
                  return 0;
                }
                case "self" -> {
                  return 0;
                }
                case "nodes" -> {
                  return line.nodes();
                }
                default -> throw new AssertionError(name);
              }
            });
    return new PmNode(config, pool, relaying, List.of(port), true);
  }

  private int receive(Burst burst) {
    int n = 0;
    for (int id : arriving) {
      burst.set(n++, Burst.descriptor(id, FrameHeader.BYTES + PAYLOAD_BYTES + trailerBytes));
    }
    arriving.clear();
    return n;
  }

  private int send(Burst burst, int from, int count) {
    if (throwing != null) {
      throw throwing;
    }
    int n = Math.min(count, room);
    for (int i = from; i < from + n; i++) {
      sent.add(Burst.id(burst.get(i)));
    }
    return n;
  }

  private void flip(long at) {
    byte was = pool.memory().get(ValueLayout.JAVA_BYTE, at);
    pool.memory().set(ValueLayout.JAVA_BYTE, at, (byte) ~was);
  }

  private int frame(int dst, int kind) {
    return frame(dst, kind, 0);
  }

  /** As another node sent it; the buffer is the port's. */
  private int frame(int dst, int kind, int path) {
    int id = pool.allocate(Owner.NODE);
    long at = pool.frameAt(id);
    MemorySegment m = pool.memory();
    FrameHeader.front(m, at, 1, 2, 2, 0, path);
    FrameHeader.kindSrc(m, at, kind, 1);
    FrameHeader.flagsDst(m, at, 0, dst);
    FrameHeader.keySession(m, at, KEY, 1);
    FrameHeader.seqAck(m, at, 1, 1);
    FrameHeader.credit(m, at, 0);
    FrameHeader.endpointsLengthBeyond(m, at, 7, 7, PAYLOAD_BYTES, 0);
    FrameHeader.crc(m, at, new FrameCrc(m).of(at, PAYLOAD_BYTES));
    pool.transfer(id, Owner.NODE, Owner.PORT);
    return id;
  }

  private interface Answer {
    Object of(String name, Object[] args);
  }

  private static <T> T proxy(Class<T> type, Answer answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, call, args) -> answer.of(call.getName(), args)));
  }
}
