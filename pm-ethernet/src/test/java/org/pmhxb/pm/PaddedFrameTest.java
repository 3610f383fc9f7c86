package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.Rings;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.DpdkPort;
import org.pmhxb.pm.port.DpdkPorts;
import org.pmhxb.pm.wire.FrameCrc;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Frames that are longer than header and payload, over a driver whose burst call looks at the CRC
 * of a frame that came alone, and there at all of it: what counts is the CRC of header and payload.
 */
class PaddedFrameTest {
  private static final int KEY = 0x1234;
  private static final int PAYLOAD_BYTES = 40;

  private DpdkPool pool;
  private long toNode;
  private long fromNode;
  private DpdkPort line;
  private PmNode node;

  @BeforeEach
  void open() {
    Eal.init(EalOptions.defaults());
    pool = DpdkPool.create("padded", BufferPool.JUMBO_STRIDE_BYTES, 600, Hugepages.AUTO);
    toNode = Rings.create("padded-in", 64, true, true);
    fromNode = Rings.create("padded-out", 64, true, true);
    line = DpdkPorts.ring("padded-line", fromNode, toNode, pool, 2);
    DpdkPort port = DpdkPorts.ring("padded-node", toNode, fromNode, pool, 1);
    long[][] macs = {{1, 2}};
    node =
        new PmNode(
            NodeConfig.defaults(KEY, 1, 128), pool, new LineRouting(0, macs), List.of(port), true);
  }

  @AfterEach
  void close() {
    node.close();
    line.close();
    Rings.free(toNode);
    Rings.free(fromNode);
    pool.close();
    assertThat(pool.leftMapped()).as("every buffer came home").isFalse();
  }

  /**
   * Past the CRC a frame lacks a session.
   *
   * @param frames of the burst
   * @param covered bytes behind the payload that the CRC covers, too
   */
  @ParameterizedTest
  @CsvSource({
    "1, 0, 0", "1, 4, 0", "1, 4, 4", "1, 24, 0", "1, 24, 24", "1, 24, 8",
    "2, 0, 0", "2, 4, 0", "2, 4, 4", "5, 24, 0", "5, 24, 24", "4, 24, 8",
  })
  void onlyTheCrcOfHeaderAndPayloadCounts(int frames, int paddingBytes, int covered) {
    Burst burst = new Burst(8);
    for (int i = 0; i < frames; i++) {
      burst.set(i, frame(paddingBytes, covered));
    }
    for (int i = 0; i < frames; i++) {
      pool.transfer(Burst.id(burst.get(i)), Owner.NODE, Owner.PORT);
    }
    assertThat(line.txBurst(burst, 0, frames)).isEqualTo(frames);
    node.doWork(1_000_000);
    assertThat(node.counters().get(Counter.FRAMES_RECEIVED)).isEqualTo(frames);
    assertThat(node.counters().dropped(DropReason.CRC)).isEqualTo(covered == 0 ? 0 : frames);
    assertThat(node.counters().dropped(DropReason.NO_SESSION)).isEqualTo(covered == 0 ? frames : 0);
  }

  private long frame(int paddingBytes, int covered) {
    int id = pool.allocate(Owner.NODE);
    long at = pool.frameAt(id);
    MemorySegment m = pool.memory();
    int lengthBytes = FrameHeader.BYTES + PAYLOAD_BYTES + paddingBytes;
    m.asSlice(at, lengthBytes).fill((byte) 0x5A);
    FrameHeader.front(m, at, 1, 2, 2, 0, 0);
    FrameHeader.kindSrc(m, at, FrameHeader.DATA, 1);
    FrameHeader.flagsDst(m, at, 0, 0);
    FrameHeader.keySession(m, at, KEY, 77);
    FrameHeader.seqAck(m, at, 1, 1);
    FrameHeader.credit(m, at, 0);
    FrameHeader.endpointsLengthBeyond(m, at, 7, 7, PAYLOAD_BYTES, 0);
    FrameHeader.crc(m, at, new FrameCrc(m).of(at, PAYLOAD_BYTES + covered));
    return Burst.descriptor(id, lengthBytes);
  }
}
