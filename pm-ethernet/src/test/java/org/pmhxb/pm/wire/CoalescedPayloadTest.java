package org.pmhxb.pm.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Payloads of several messages against a list of byte arrays (PROTOCOL.md section 7.1). */
class CoalescedPayloadTest {
  private static final long AT = 64;

  /** Messages one after the other into one payload, until one does not fit. */
  private record Built(List<byte[]> messages, MemorySegment memory, int bytes) {
    static Built of(Random random, int room, int longest) {
      MemorySegment memory = Arena.ofAuto().allocate(AT + 2L * room + longest + 64, 8);
      memory.fill((byte) 0x5A);
      long source = AT + room + 16;
      List<byte[]> messages = new ArrayList<>();
      int used = 0;
      while (true) {
        byte[] message = new byte[random.nextInt(longest + 1)];
        random.nextBytes(message);
        if (!CoalescedPayload.fits(used, messages.size(), message.length, room)) {
          break;
        }
        if (messages.isEmpty()) {
          MemorySegment.copy(message, 0, memory, ValueLayout.JAVA_BYTE, AT, message.length);
          CoalescedPayload.begin(memory, AT, room, message.length);
        } else {
          MemorySegment.copy(message, 0, memory, ValueLayout.JAVA_BYTE, source, message.length);
          CoalescedPayload.append(memory, AT, room, messages.size(), used, source, message.length);
        }
        used += CoalescedPayload.paddedBytes(message.length);
        messages.add(message);
      }
      int bytes = CoalescedPayload.finish(memory, AT, room, messages.size(), used);
      return new Built(messages, memory, bytes);
    }
  }

  @Property(tries = 300, seed = "71")
  void messagesComeOutAsTheyWentIn(
      @ForAll @IntRange(min = 300, max = 9_000) int room,
      @ForAll @IntRange(max = 256) int longest,
      @ForAll long seed) {
    Built built = Built.of(new Random(seed), room, longest);
    MemorySegment memory = built.memory;
    int bytes = built.bytes;
    assertThat(bytes).isLessThanOrEqualTo(room);
    assertThat(CoalescedPayload.isValid(memory, AT, bytes)).isTrue();
    assertThat(CoalescedPayload.messages(memory, AT, bytes)).isEqualTo(built.messages.size());
    long at = AT;
    for (int i = 0; i < built.messages.size(); i++) {
      byte[] message = built.messages.get(i);
      assertThat(CoalescedPayload.length(memory, AT, bytes, i)).isEqualTo(message.length);
      int padded = CoalescedPayload.paddedBytes(message.length);
      byte[] read = memory.asSlice(at, padded).toArray(ValueLayout.JAVA_BYTE);
      assertThat(read).as("message %d, zeros behind it", i).startsWith(message);
      for (int b = message.length; b < padded; b++) {
        assertThat(read[b]).isZero();
      }
      at += padded;
    }
    assertThat(at + CoalescedPayload.tableBytes(built.messages.size())).isEqualTo(AT + bytes);
  }

  /** Whatever arrives is judged without looking outside of the payload. */
  @Property(tries = 2_000, seed = "72")
  void judgesAnyBytes(@ForAll @IntRange(max = 64) int bytes, @ForAll long seed) {
    Random random = new Random(seed);
    byte[] payload = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      payload[i] = (byte) (random.nextInt(3) == 0 ? random.nextInt(24) : 0);
    }
    // The segment ends where the payload does: reading further would throw.
    MemorySegment memory = MemorySegment.ofArray(payload);
    if (CoalescedPayload.isValid(memory, 0, bytes)) {
      int messages = CoalescedPayload.messages(memory, 0, bytes);
      int sum = CoalescedPayload.tableBytes(messages);
      for (int i = 0; i < messages; i++) {
        sum += CoalescedPayload.paddedBytes(CoalescedPayload.length(memory, 0, bytes, i));
      }
      assertThat(messages).isPositive();
      assertThat(sum).isEqualTo(bytes);
    }
  }

  @Property(tries = 300, seed = "73")
  void noticesAWrongTable(@ForAll long seed) {
    Random random = new Random(seed);
    Built built = Built.of(random, 600, 60);
    int table = CoalescedPayload.tableBytes(built.messages.size());
    long field = AT + built.bytes - table + 2L * random.nextInt(table / 2);
    short was = built.memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, field);
    int delta = 8 * 256 * (1 + random.nextInt(20));
    // In memory order: the high byte of a big-endian field is the low one here.
    built.memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, field, (short) (was + (delta >>> 8)));
    assertThat(CoalescedPayload.isValid(built.memory, AT, built.bytes)).isFalse();
  }
}
