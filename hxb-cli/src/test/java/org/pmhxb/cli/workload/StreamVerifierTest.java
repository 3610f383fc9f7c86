package org.pmhxb.cli.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class StreamVerifierTest {
  private static final int SRC = 3;
  private static final int DST = 65_535;

  private static final PayloadPattern PATTERN = new PayloadPattern(SRC, DST);

  private final MemorySegment memory = Arena.ofAuto().allocate(16_384);
  private final long address = PayloadPattern.addressOf(memory, 64, 16_384 - 64);

  private void write(int lengthBytes, int kind, long seq) {
    PATTERN.write(address, lengthBytes, kind, seq, 12_345);
  }

  private boolean give(StreamVerifier verifier, int lengthBytes, long seq) {
    write(lengthBytes, PayloadPattern.DATA, seq);
    return verifier.accept(address, lengthBytes);
  }

  @Property
  void anyChangedBitIsCorrupt(
      @ForAll @IntRange(min = 8, max = 600) int lengthBytes,
      @ForAll @LongRange(min = 0, max = 1L << 40) long seq,
      @ForAll @IntRange(min = 0, max = 4_799) int bit) {
    int changed = bit % (8 * lengthBytes);
    write(lengthBytes, PayloadPattern.DATA, seq);
    assertThat(PATTERN.verify(address, lengthBytes, seq)).isEqualTo(seq);

    long at = 64 + changed / 8;
    byte before = memory.get(ValueLayout.JAVA_BYTE, at);
    memory.set(ValueLayout.JAVA_BYTE, at, (byte) (before ^ 1 << changed % 8));

    assertThat(PATTERN.verify(address, lengthBytes, seq)).isEqualTo(PayloadPattern.CORRUPT);
  }

  @Property(tries = 200)
  void aMessageOfAnotherStreamOrLengthIsCorrupt(
      @ForAll @IntRange(min = 40, max = 9_000) int lengthBytes,
      @ForAll @IntRange(min = 1, max = 39) int shorter) {
    write(lengthBytes, PayloadPattern.DATA, 9);

    assertThat(new PayloadPattern(SRC, DST - 1).verify(address, lengthBytes, 9)).isNegative();
    assertThat(new PayloadPattern(SRC + 1, DST).verify(address, lengthBytes, 9)).isNegative();
    assertThat(PATTERN.verify(address, lengthBytes - shorter, 9)).isNegative();
    assertThat(PayloadPattern.sentNs(address, lengthBytes)).isEqualTo(12_345);
  }

  /** A buffer that is used again holds messages of before. */
  @Property
  void aWordOfAnotherMessageIsCorrupt(
      @ForAll @LongRange(min = 0, max = 1L << 40) long seq,
      @ForAll @LongRange(min = 1, max = 1L << 20) long before,
      @ForAll @IntRange(min = 2, max = 7) int word) {
    write(64, PayloadPattern.DATA, seq);
    long stale = memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 64 + 8L * word);
    write(64, PayloadPattern.DATA, seq + before);
    assertThat(PATTERN.verify(address, 64, seq)).isEqualTo(seq + before);
    boolean sentAtTheSameTime = word == 3;

    memory.set(ValueLayout.JAVA_LONG_UNALIGNED, 64 + 8L * word, stale);

    assertThat(PATTERN.verify(address, 64, seq) == PayloadPattern.CORRUPT)
        .isEqualTo(!sentAtTheSameTime);
  }

  @Test
  void memoryIsCheckedBeforeItsAddressIsTaken() {
    MemorySegment heap = MemorySegment.ofArray(new byte[64]);
    assertThatThrownBy(() -> PayloadPattern.addressOf(heap, 0, 64))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> PayloadPattern.addressOf(memory, 16_384 - 63, 64))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  /** Loses, repeats and moves messages at random and compares with what was done. */
  @Property(tries = 300)
  void countsWhatHappened(@ForAll long seed, @ForAll @IntRange(min = 4, max = 80) int lengthBytes) {
    Random random = new Random(seed);
    int total = 2_000;
    List<Long> order = new ArrayList<>();
    Set<Long> lost = new HashSet<>();
    for (long seq = 0; seq < total; seq++) {
      if (random.nextInt(20) == 0) {
        lost.add(seq);
      } else {
        order.add(seq);
      }
    }
    for (int i = 0; i < 40; i++) {
      int at = random.nextInt(order.size() - 1);
      Collections.swap(order, at, at + 1);
    }
    long swapped = 0;
    long highest = -1;
    for (long seq : order) {
      swapped += seq < highest ? 1 : 0;
      highest = Math.max(highest, seq);
    }
    StreamVerifier verifier = new StreamVerifier(SRC, DST);
    long repeated = 0;
    for (long seq : order) {
      assertThat(give(verifier, lengthBytes, seq)).isTrue();
      if (random.nextInt(30) == 0) {
        assertThat(give(verifier, lengthBytes, seq)).isFalse();
        repeated++;
      }
    }
    write(PayloadPattern.HEADER_BYTES, PayloadPattern.END, total);
    verifier.accept(address, PayloadPattern.HEADER_BYTES);

    assertThat(verifier.lost()).isEqualTo(lost.size());
    assertThat(verifier.duplicated()).isEqualTo(repeated);
    assertThat(verifier.misordered()).isEqualTo(swapped);
    assertThat(verifier.corrupt()).isZero();
    assertThat(verifier.messages()).isEqualTo(order.size());
    assertThat(verifier.complete()).isEqualTo(lost.isEmpty());
  }

  @Test
  void aWholeStreamIsComplete() {
    StreamVerifier verifier = new StreamVerifier(SRC, DST);
    for (long seq = 0; seq < 5_000; seq++) {
      give(verifier, 4, seq);
    }
    assertThat(verifier.ended()).isFalse();
    assertThat(verifier.lostOf(5_010)).isEqualTo(10);
    write(PayloadPattern.HEADER_BYTES, PayloadPattern.END, 5_000);
    verifier.accept(address, PayloadPattern.HEADER_BYTES);

    assertThat(verifier.complete()).isTrue();
    assertThat(verifier.bytes()).isEqualTo(20_000);
  }

  @Test
  void aMessageFarBehindItsTurnIsADuplicateAndNoLossIsForgiven() {
    StreamVerifier verifier = new StreamVerifier(SRC, DST);
    give(verifier, 64, 1);
    for (long seq = 2; seq < 2 + StreamVerifier.MEMORY_MESSAGES; seq++) {
      give(verifier, 64, seq);
    }
    give(verifier, 64, 0);

    assertThat(verifier.lost()).isEqualTo(1);
    assertThat(verifier.duplicated()).isEqualTo(1);
  }

  @Test
  void aLongJumpIsLossAndWhatComesLateIsMisordered() {
    StreamVerifier verifier = new StreamVerifier(SRC, DST);
    give(verifier, 64, 5_000_000);
    give(verifier, 64, 4_999_999);
    give(verifier, 64, 4_999_999);

    assertThat(verifier.lost()).isEqualTo(4_999_999);
    assertThat(verifier.misordered()).isEqualTo(1);
    assertThat(verifier.duplicated()).isEqualTo(1);
  }
}
