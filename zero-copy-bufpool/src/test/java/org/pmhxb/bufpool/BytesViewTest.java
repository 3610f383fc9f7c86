package org.pmhxb.bufpool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.BufferOverflowException;
import java.nio.BufferUnderflowException;
import net.openhft.chronicle.bytes.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BytesViewTest {
  private final BufferPool pool = OffHeapPool.create(2048, 16);
  private final BytesView view = new BytesView(pool.memory());

  @AfterEach
  void close() {
    pool.close();
  }

  @Test
  void writesGoToThePoolItself() {
    Bytes<?> bytes = view.forWrite(pool.frameAt(3), 100);
    bytes.writeInt(0x01020304).writeUtf8("crossbar");
    assertThat(pool.memory().get(ValueLayout.JAVA_INT, pool.frameAt(3))).isEqualTo(0x01020304);
    Bytes<?> read = view.forRead(pool.frameAt(3), (int) bytes.writePosition());
    assertThat(read.readInt()).isEqualTo(0x01020304);
    assertThat(read.readUtf8()).isEqualTo("crossbar");
    assertThat(read.readRemaining()).isZero();
  }

  @Test
  void aWriteMadeAfterBindingIsSeen() {
    Bytes<?> read = view.forRead(pool.frameAt(1), 8);
    pool.memory().set(ValueLayout.JAVA_LONG, pool.frameAt(1), 42L);
    assertThat(read.readLong()).isEqualTo(42L);
  }

  @Test
  void boundsAreThoseOfTheMessage() {
    Bytes<?> bytes = view.forWrite(pool.frameAt(2), 6);
    bytes.writeInt(1);
    assertThatThrownBy(() -> bytes.writeInt(2)).isInstanceOf(BufferOverflowException.class);
    Bytes<?> read = view.forRead(pool.frameAt(2), 3);
    assertThatThrownBy(() -> read.readLong(0)).isInstanceOf(BufferUnderflowException.class);
    assertThatThrownBy(() -> read.writeByte((byte) 1)).isInstanceOf(BufferOverflowException.class);
  }

  @Test
  void anUnboundViewIsEmpty() {
    Bytes<?> bytes = view.forRead(pool.frameAt(2), 10);
    view.unbind();
    assertThat(bytes.readRemaining()).isZero();
    assertThatThrownBy(() -> bytes.readByte(0)).isInstanceOf(BufferUnderflowException.class);
    assertThatThrownBy(() -> bytes.writeByte((byte) 1)).isInstanceOf(BufferOverflowException.class);
  }

  @Test
  void bindingOutsideTheRegionIsRefused() {
    long end = pool.memory().byteSize();
    view.forRead(end, 0);
    assertThatThrownBy(() -> view.forRead(end, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> view.forRead(-1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> view.forRead(0, -1)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> new BytesView(MemorySegment.ofArray(new byte[8])))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aViewMayPassToAnotherThread() throws InterruptedException {
    Bytes<?> bytes = view.forRead(pool.frameAt(1), 8);
    bytes.readInt();
    int[] left = new int[1];
    Thread other = new Thread(() -> left[0] = (int) bytes.readRemaining() + 0 * bytes.readInt());
    other.start();
    other.join();
    assertThat(left[0]).isEqualTo(4);
  }

  @Test
  void rebindingLeavesNoGarbage() {
    int[] turn = new int[1];
    Allocations.assertNone(
        () -> {
          int id = 1 + (turn[0]++ & 7);
          view.forWrite(pool.frameAt(id), 64).writeLong(turn[0]);
          if (view.forRead(pool.frameAt(id), 8).readLong() != turn[0]) {
            throw new AssertionError();
          }
        });
    assertThat(turn[0]).isPositive();
  }
}
