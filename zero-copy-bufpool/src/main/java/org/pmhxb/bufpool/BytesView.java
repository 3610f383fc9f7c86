package org.pmhxb.bufpool;

import java.lang.foreign.MemorySegment;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.bytes.PointerBytesStore;
import net.openhft.chronicle.bytes.VanillaBytes;

/**
 * A Chronicle Bytes view of pool memory for the program above: made once, re-bound for each message
 * without allocation, nothing copied.
 *
 * <p>Owner: one thread at a time. What {@link #bytes()} returned stays the same object; after
 * {@link #unbind()} it is empty, so that reading a released message is refused. It must not be used
 * after its region is unmapped.
 *
 * <p>Chronicle Bytes rests on sun.misc.Unsafe: it is kept to this edge of the product.
 */
public final class BytesView {
  private final MemorySegment region;
  private final long base;
  private final long regionBytes;
  private final PointerBytesStore store = new PointerBytesStore();
  private final VanillaBytes<Void> bytes;

  /**
   * @param region the memory into which offsets count, for example {@link BufferPool#memory()}
   */
  public BytesView(MemorySegment region) {
    if (!region.isNative()) {
      throw new IllegalArgumentException("a BytesView needs native memory");
    }
    this.region = region;
    this.base = region.address();
    this.regionBytes = region.byteSize();
    store.set(base, 0);
    store.singleThreadedCheckDisabled(true);
    bytes = store.bytesForWrite();
    // A loan's view is made by one thread and may be read by another, one at a time.
    bytes.singleThreadedCheckDisabled(true);
  }

  /** Binds to received bytes: all of them readable, nothing writable beyond. */
  public Bytes<?> forRead(long offset, int lengthBytes) {
    bind(offset, lengthBytes);
    bytes.writePosition(lengthBytes);
    return bytes;
  }

  /** Binds to space to be written: empty, with room for {@code lengthBytes}. */
  public Bytes<?> forWrite(long offset, int lengthBytes) {
    bind(offset, lengthBytes);
    return bytes;
  }

  /** Leaves the view empty, for reading and writing. */
  public void unbind() {
    bind(0, 0);
  }

  /** The view as it is bound. */
  public Bytes<?> bytes() {
    return bytes;
  }

  /** The memory into which offsets count. */
  public MemorySegment region() {
    return region;
  }

  private void bind(long offset, int lengthBytes) {
    if (lengthBytes < 0 || offset < 0 || offset > regionBytes - lengthBytes) {
      throw new IndexOutOfBoundsException(
          "%d B at %d lie outside the region of %d B".formatted(lengthBytes, offset, regionBytes));
    }
    store.set(base + offset, lengthBytes);
    bytes.clear();
  }
}
