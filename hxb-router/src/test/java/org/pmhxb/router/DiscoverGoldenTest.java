package org.pmhxb.router;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.pmhxb.pm.Routing;
import org.pmhxb.pm.wire.FrameHeader;

/** The DISCOVER frames of PROTOCOL.md section 11: this code sends them, and takes them. */
class DiscoverGoldenTest {
  private static final int KEY = 0x0badcafe;
  private static final Shape SHAPE = Shape.of(4, 4, 2);
  private static final int RAIL_X1 = 1;
  private static final int LONGEST_BYTES = 128;

  private static byte[] golden(String name) throws IOException {
    String text = Files.readString(Path.of(System.getProperty("hxb.home"), "PROTOCOL.md"));
    Matcher block =
        Pattern.compile("```golden name=" + name + "\n(.*?)```", Pattern.DOTALL).matcher(text);
    assertThat(block.find()).as("PROTOCOL.md has a golden frame named " + name).isTrue();
    StringBuilder hex = new StringBuilder();
    block
        .group(1)
        .lines()
        .filter(line -> line.matches("[0-9a-f]{4}: .*"))
        .forEach(line -> hex.append(line.substring(6).replace(" ", "")));
    return HexFormat.of().parseHex(hex);
  }

  private static Discovery discovery(int node, long incarnation) {
    return new Discovery(
        SHAPE,
        SHAPE.coordinates(node),
        new RailLayout(SHAPE, 2),
        KEY,
        incarnation,
        List.of("eth1", "eth2", "eth3", "eth4", "eth5", "eth6"));
  }

  @Test
  void sendsTheDocumentedFrames() throws IOException {
    Output out = new Output();
    discovery(3, 0x1111_1111_1111_1111L).linkWork(0, out);
    assertThat(out.frames).hasSize(2 * 6);
    assertThat(out.frames.get(2 * RAIL_X1)).isEqualTo(golden("discover"));
    assertThat(out.frames.get(2 * RAIL_X1 + 1)).isEqualTo(golden("discover-full"));
  }

  @Test
  void takesTheDocumentedFrames() throws IOException {
    Discovery neighbour = discovery(1, 5);
    take(neighbour, golden("discover"));
    assertThat(neighbour.neighbours()).isEmpty();
    take(neighbour, golden("discover-full"));
    assertThat(neighbour.faults()).isEmpty();
    assertThat(neighbour.malformed()).isZero();
    assertThat(neighbour.neighbours()).hasSize(1);
    assertThat(neighbour.neighbours().get(0).node()).isEqualTo(3);
    assertThat(neighbour.neighbours().get(0).mac()).isEqualTo(0x0200_0000_0001L);
  }

  private static void take(Discovery discovery, byte[] frame) {
    discovery.onLinkFrame(RAIL_X1, MemorySegment.ofArray(frame), 0, frame.length, 0);
  }

  private static final class Output implements Routing.LinkOutput {
    private final MemorySegment memory = Arena.ofAuto().allocate(512).fill((byte) 0x5A);
    private final List<byte[]> frames = new ArrayList<>();

    @Override
    public MemorySegment frames() {
      return memory;
    }

    @Override
    public long begin(int rail) {
      return 128;
    }

    @Override
    public long macAddress(int rail) {
      return 0x0200_0000_0000L | rail;
    }

    @Override
    public int longestFrameBytes() {
      return LONGEST_BYTES;
    }

    @Override
    public int trailerBytes() {
      return 0;
    }

    @Override
    public void commit(int lengthBytes) {
      assertThat(lengthBytes).isGreaterThan(FrameHeader.BYTES);
      frames.add(memory.asSlice(128, lengthBytes).toArray(ValueLayout.JAVA_BYTE));
    }
  }
}
