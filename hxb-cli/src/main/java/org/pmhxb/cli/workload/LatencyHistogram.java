package org.pmhxb.cli.workload;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/** Times in nanoseconds up to a minute, to three digits. Recording does not allocate. */
public final class LatencyHistogram {
  private static final long MAX_NS = 60_000_000_000L;

  private final Histogram histogram = new Histogram(MAX_NS, 3);

  /** Counts one time; longer ones than a minute count as a minute. */
  public void record(long ns) {
    histogram.recordValue(Math.clamp(ns, 0, MAX_NS));
  }

  public void clear() {
    histogram.reset();
  }

  public boolean isEmpty() {
    return histogram.getTotalCount() == 0;
  }

  /** Adds what {@link #encoded} wrote; nothing for "". */
  public void add(String encoded) {
    if (encoded.isEmpty()) {
      return;
    }
    try {
      ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(encoded));
      histogram.add(Histogram.decodeFromCompressedByteBuffer(bytes, MAX_NS));
    } catch (DataFormatException | IllegalArgumentException e) {
      throw new IllegalArgumentException("a histogram cannot be read: " + e.getMessage(), e);
    }
  }

  /** Text that {@link #add} reads; "" when nothing was counted. */
  public String encoded() {
    if (isEmpty()) {
      return "";
    }
    ByteBuffer bytes = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
    int length = histogram.encodeIntoCompressedByteBuffer(bytes);
    return Base64.getEncoder().encodeToString(Arrays.copyOf(bytes.array(), length));
  }

  /** The figures that reports show, nanoseconds; null when nothing was counted. */
  public Summary summary() {
    return isEmpty()
        ? null
        : new Summary(
            histogram.getMinValue(),
            histogram.getValueAtPercentile(50),
            histogram.getValueAtPercentile(99),
            histogram.getValueAtPercentile(99.9),
            histogram.getMaxValue());
  }

  /** Nanoseconds. */
  public record Summary(long min, long p50, long p99, long p999, long max) {}
}
