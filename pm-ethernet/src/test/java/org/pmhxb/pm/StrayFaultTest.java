package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.Port;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

/** Routing that fails over one frame of a burst costs the others nothing. */
class StrayFaultTest {
  private static final int KEY = 0x1234;
  private static final int PAYLOAD_BYTES = 16;

  private final BufferPool pool = OffHeapPool.create(16_384, 600);
  private final List<Integer> arriving = new ArrayList<>();
  private final List<Integer> sent = new ArrayList<>();

  @Test
  void framesInTransitGoOnAndTheFaultIsThrownAtTheEnd() {
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
                  default -> name.startsWith("to") || name.equals("name") ? "one" : null;
                });
    long[][] macs = {{1, 2, 3}};
    Routing line = new LineRouting(0, macs);
    Routing failing =
        proxy(
            Routing.class,
            (name, args) -> {
              switch (name) {
                case "transit" -> {
                  for (int i = 0; i < ((TransitBurst) args[0]).size(); i++) {
                    ((TransitBurst) args[0]).egress(i, 0);
                  }
                  return null;
                }
                case "onLinkFrame" -> throw new IllegalStateException("no such line");
                case "linkWork", "self" -> {
                  return 0;
                }
                case "nodes" -> {
                  return line.nodes();
                }
                default -> throw new AssertionError(name);
              }
            });
    PmNode node = new PmNode(NodeConfig.defaults(KEY, 1, 128), pool, failing, List.of(port), true);
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

  private int receive(Burst burst) {
    int n = 0;
    for (int id : arriving) {
      burst.set(n++, Burst.descriptor(id, FrameHeader.BYTES + PAYLOAD_BYTES));
    }
    arriving.clear();
    return n;
  }

  private int send(Burst burst, int from, int count) {
    for (int i = from; i < from + count; i++) {
      sent.add(Burst.id(burst.get(i)));
    }
    return count;
  }

  /** As another node sent it; the buffer is the port's. */
  private int frame(int dst, int kind) {
    int id = pool.allocate(Owner.NODE);
    long at = pool.frameAt(id);
    MemorySegment m = pool.memory();
    FrameHeader.front(m, at, 1, 2, 2, 0, 0);
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
