package org.pmhxb.cli.workload;

/**
 * Judges one stream of {@link PayloadPattern} messages, from one source to one destination: each
 * must come once, in order, intact. Owner: the receiving thread. Allocation-free.
 */
public final class StreamVerifier {
  /** A message that comes later than this many after its turn counts as a duplicate. */
  public static final int MEMORY_MESSAGES = 1_024;

  private static final int WORDS = MEMORY_MESSAGES / Long.SIZE;

  private final int src;
  private final PayloadPattern pattern;

  /** Bit seq modulo the memory: that one of the last messages before {@link #next} has come. */
  private final long[] seen = new long[WORDS];

  private long next;
  private long messages;
  private long bytes;
  private long missing;
  private long duplicated;
  private long misordered;
  private long corrupt;
  private long total = -1;

  /** A stream that begins with sequence number 0. */
  public StreamVerifier(int src, int dst) {
    this.src = src;
    this.pattern = new PayloadPattern(src, dst);
  }

  /**
   * Takes a message.
   *
   * @param address see {@link PayloadPattern#addressOf}
   * @return whether it was intact and new; only then is it counted in {@link #messages()}
   */
  public boolean accept(long address, int lengthBytes) {
    long seq = pattern.verify(address, lengthBytes, next);
    if (seq == PayloadPattern.CORRUPT) {
      corrupt++;
      return false;
    }
    if (PayloadPattern.kind(address, lengthBytes) == PayloadPattern.END) {
      return end(seq);
    }
    if (seq != next) {
      if (seq < next) {
        return late(seq, lengthBytes);
      }
      skipTo(seq);
    }
    seen[word(seq)] |= bit(seq);
    next = seq + 1;
    messages++;
    bytes += lengthBytes;
    return true;
  }

  private boolean end(long count) {
    if (total >= 0) {
      duplicated++;
      return false;
    }
    if (count < next) {
      // More came than the source says it sent: those beyond are none of its messages.
      corrupt += next - count;
    }
    total = count;
    return true;
  }

  private boolean late(long seq, int lengthBytes) {
    boolean remembered = next - seq <= MEMORY_MESSAGES;
    if (!remembered || (seen[word(seq)] & bit(seq)) != 0) {
      duplicated++;
      return false;
    }
    seen[word(seq)] |= bit(seq);
    missing--;
    misordered++;
    messages++;
    bytes += lengthBytes;
    return true;
  }

  /** Notes that those from {@link #next} to {@code seq} - 1 did not come before {@code seq}. */
  private void skipTo(long seq) {
    missing += seq - next;
    for (long s = Math.max(next, seq - MEMORY_MESSAGES); s < seq; s++) {
      seen[word(s)] &= ~bit(s);
    }
    next = seq;
  }

  private static int word(long seq) {
    return (int) (seq >>> 6) & WORDS - 1;
  }

  private static long bit(long seq) {
    return 1L << seq;
  }

  /** Whether the end was announced and everything before it has come. */
  public boolean complete() {
    return total >= 0 && lost() == 0;
  }

  /** Whether the end was announced. */
  public boolean ended() {
    return total >= 0;
  }

  public int source() {
    return src;
  }

  /** Intact messages, each counted once. */
  public long messages() {
    return messages;
  }

  /** Bytes of those messages. */
  public long bytes() {
    return bytes;
  }

  /** Messages that did not come, up to the announced end or else up to the last that came. */
  public long lost() {
    return missing + Math.max(0, total - next);
  }

  /** As {@link #lost()} when the source is known to have sent {@code sent} messages. */
  public long lostOf(long sent) {
    return missing + Math.max(0, sent - next);
  }

  /** Messages that came again. */
  public long duplicated() {
    return duplicated;
  }

  /** Messages that came after a later one. */
  public long misordered() {
    return misordered;
  }

  /** Messages with a byte changed. */
  public long corrupt() {
    return corrupt;
  }
}
