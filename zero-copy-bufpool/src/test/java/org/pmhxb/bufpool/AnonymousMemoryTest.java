package org.pmhxb.bufpool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class AnonymousMemoryTest {
  private static final int PAGE_BYTES = 4096;

  @Test
  void isZeroFromTheBeginningOfAPageToItsEndAndIsWritable() {
    long bytes = 3 * PAGE_BYTES + 1;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = AnonymousMemory.map(bytes, arena);
      assertThat(memory.byteSize()).isEqualTo(bytes);
      assertThat(memory.address() % PAGE_BYTES).isZero();
      assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
      memory.set(ValueLayout.JAVA_BYTE, bytes - 1, (byte) 7);
      assertThat(memory.get(ValueLayout.JAVA_BYTE, bytes - 1)).isEqualTo((byte) 7);
    }
  }

  @Test
  void goesWithItsArena() throws IOException {
    MemorySegment memory;
    try (Arena arena = Arena.ofConfined()) {
      memory = AnonymousMemory.map(1L << 30, arena);
      assertThat(isMapped(memory.address())).isTrue();
    }
    assertThat(isMapped(memory.address())).isFalse();
  }

  private static boolean isMapped(long address) throws IOException {
    List<String> lines = Files.readAllLines(Path.of("/proc/self/maps"));
    return lines.stream()
        .map(line -> line.substring(0, line.indexOf(' ')).split("-"))
        .anyMatch(
            ends ->
                Long.parseUnsignedLong(ends[0], 16) <= address
                    && address < Long.parseUnsignedLong(ends[1], 16));
  }

  @Test
  void whatDoesNotFitIsNamed() {
    try (Arena arena = Arena.ofConfined()) {
      assertThatThrownBy(() -> AnonymousMemory.map(1L << 60, arena))
          .isInstanceOf(OutOfMemoryError.class)
          .hasMessageContaining("1152921504606846976 bytes");
    }
  }
}
