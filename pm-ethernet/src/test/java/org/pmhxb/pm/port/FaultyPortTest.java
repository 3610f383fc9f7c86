package org.pmhxb.pm.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.OffHeapPool;
import org.pmhxb.bufpool.Owner;

/** That the faults of a faulty port really happen, as often as they were asked for. */
class FaultyPortTest {
  private static final int FRAMES = 20_000;
  private static final int BYTES = 64;

  /** Numbered frames, as many as are asked for. */
  private static final class Numbers implements Port {
    private final BufferPool pool;
    private int next;

    Numbers(BufferPool pool) {
      this.pool = pool;
    }

    @Override
    public int rxBurst(Burst burst, int max) {
      int n = 0;
      while (n < max && next < FRAMES) {
        int id = pool.allocate(Owner.PORT);
        pool.memory().set(ValueLayout.JAVA_INT_UNALIGNED, pool.frameAt(id), next++);
        for (int i = 4; i < BYTES; i++) {
          pool.memory().set(ValueLayout.JAVA_BYTE, pool.frameAt(id) + i, (byte) 0);
        }
        burst.set(n++, Burst.descriptor(id, BYTES));
      }
      return n;
    }

    @Override
    public String name() {
      return "numbers";
    }

    @Override
    public int txBurst(Burst burst, int from, int count) {
      return count;
    }

    @Override
    public int txRoom() {
      return 32;
    }

    @Override
    public long txBacklogBytes() {
      return 0;
    }

    @Override
    public long macAddress() {
      return 1;
    }

    @Override
    public int maxFrameBytes() {
      return 1_500;
    }

    @Override
    public boolean linkUp() {
      return true;
    }

    @Override
    public int wakeFd() {
      return 3;
    }

    @Override
    public PortCounters counters() {
      return PortCounters.ZERO;
    }

    @Override
    public void close() {}
  }

  private record Got(List<Integer> numbers, int damaged) {}

  private static Got receive(String faults) {
    BufferPool pool = OffHeapPool.create(2_048, 256);
    Port port = FaultyPort.over(new Numbers(pool), pool, PortFaults.parse(faults), 0);
    List<Integer> numbers = new ArrayList<>();
    int damaged = 0;
    Burst burst = new Burst(32);
    for (int round = 0; round < 4_000; round++) {
      int n = port.rxBurst(burst, 32);
      for (int i = 0; i < n; i++) {
        int id = Burst.id(burst.get(i));
        long at = pool.frameAt(id);
        int number = pool.memory().get(ValueLayout.JAVA_INT_UNALIGNED, at);
        int bits = number >>> 15;
        for (int b = 4; b < BYTES; b++) {
          bits |= pool.memory().get(ValueLayout.JAVA_BYTE, at + b);
        }
        damaged += bits != 0 ? 1 : 0;
        numbers.add(number);
        pool.release(id, Owner.PORT);
      }
    }
    port.close();
    pool.flush();
    assertThat(pool.available()).as("buffers home").isEqualTo(pool.capacity());
    pool.close();
    return new Got(numbers, damaged);
  }

  @Test
  void lossLoses() {
    assertThat(receive("loss=0.05").numbers).hasSizeBetween(18_800, 19_200).isSorted();
  }

  @Test
  void duplicationRepeatsAndLosesNothing() {
    Got got = receive("duplicate=0.05");
    assertThat(new HashSet<>(got.numbers)).hasSize(FRAMES);
    assertThat(got.numbers).hasSizeBetween(20_800, 21_200);
  }

  @Test
  void reorderingLosesNothing() {
    Got got = receive("reorder=0.1");
    assertThat(new HashSet<>(got.numbers)).hasSize(FRAMES);
    assertThat(got.numbers).hasSize(FRAMES);
    int overtaken = 0;
    for (int i = 1; i < FRAMES; i++) {
      overtaken += got.numbers.get(i) < got.numbers.get(i - 1) ? 1 : 0;
    }
    assertThat(overtaken).isBetween(900, 1_300);
  }

  @Test
  void corruptionFlipsBits() {
    // A flip within the number's low 15 bits is not seen here: 15 of 512.
    assertThat(receive("corrupt=0.05").damaged).isBetween(850, 1_150);
  }

  @Test
  void aSeedRepeats() {
    String all = "loss=0.02,duplicate=0.02,reorder=0.1,corrupt=0.01,seed=9";
    assertThat(receive(all)).isEqualTo(receive(all));
    assertThat(receive(all).numbers).isNotEqualTo(receive(all.replace('9', '8')).numbers);
  }

  @Test
  void withoutFaultsThePortIsThePort() {
    BufferPool pool = OffHeapPool.create(2_048, 4);
    Numbers port = new Numbers(pool);
    assertThat(FaultyPort.over(port, pool, PortFaults.parse(""), 0)).isSameAs(port);
    pool.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "loss=0.6",
        "loss=-0.1",
        "loss=x",
        "loss",
        "lose=0.1",
        "loss=NaN",
        "seed=1.5",
        "seed=9223372036854775808",
        "loss=0.1,loss=0.1",
        "seed=1,loss=0.1,seed=1",
        ","
      })
  void refusesWhatIsNoList(String text) {
    assertThatThrownBy(() -> PortFaults.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {7, (1L << 53) + 1, Long.MAX_VALUE, Long.MIN_VALUE})
  void whatIsWrittenReadsBack(long seed) {
    PortFaults faults = new PortFaults(0.01, 0.02, 0.1, 0.001, seed);
    assertThat(PortFaults.parse(faults.toString())).isEqualTo(faults);
  }
}
