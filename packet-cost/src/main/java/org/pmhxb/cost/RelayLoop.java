package org.pmhxb.cost;

import java.lang.foreign.MemorySegment;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * Frames of node 1 = (1,0) to node 2 = (0,1) of a 2x2 shape pass node 0: in on its X rails, out on
 * its Y rails. They go round: the generator takes them from the Y rings, sets the hop part back and
 * passes them to the X rings again.
 */
final class RelayLoop extends PacketLoop {
  static final int SRC = 1;
  static final int DST = 2;
  private static final int CYCLE_FRAMES = 32;

  private final int rails;
  private final int frameBytes;
  private final long[] mine;

  /** Frames of {@link #mine}, for the subject or back from it. */
  private int held;

  /**
   * @param rails of each dimension
   */
  RelayLoop(Lab lab, Subject subject, int burst, long nowNs, int rails, int payloadBytes) {
    super(lab, subject, burst, nowNs);
    this.rails = rails;
    this.frameBytes = FrameHeader.BYTES + payloadBytes;
    this.mine = new long[burst];
    lab.allocate(burst);
    for (int i = 0; i < burst; i++) {
      mine[i] = Burst.descriptor(lab.id(i), frameBytes);
      write(lab.pool.frameAt(lab.id(i)), payloadBytes, i);
    }
    held = burst;
  }

  private void write(long at, int payloadBytes, int seq) {
    MemorySegment frames = lab.frames;
    FrameHeader.kindSrc(frames, at, FrameHeader.DATA, SRC);
    FrameHeader.flagsDst(frames, at, 0, DST);
    FrameHeader.keySession(frames, at, Lab.KEY, 1);
    FrameHeader.seqAck(frames, at, seq, 1);
    FrameHeader.credit(frames, at, 0);
    FrameHeader.endpointsLengthBeyond(frames, at, 7, 7, payloadBytes, 0);
    frames.asSlice(at + FrameHeader.BYTES, payloadBytes).fill((byte) seq);
    FrameHeader.crc(frames, at, lab.crc.of(at, payloadBytes));
  }

  /** As node 1 sends them, frame i over rail i mod rails of both dimensions. */
  @Override
  void prepare() {
    if (held != burst) {
      throw new IllegalStateException((burst - held) + " of " + burst + " frames were not relayed");
    }
    for (int i = 0; i < burst; i++) {
      int rail = i % rails;
      long at = lab.pool.frameAt(Burst.id(mine[i]));
      FrameHeader.front(
          lab.frames,
          at,
          lab.port(rail).macAddress(),
          Lab.mac(SRC, rail),
          2,
          0,
          rail << 8 | rail << 4);
      lab.burst.set(i, mine[i]);
    }
    lab.spread(burst, rails);
    held = 0;
  }

  @Override
  void work() {
    for (int i = 0; i < burst; i += CYCLE_FRAMES) {
      subject.cycle(nowNs);
    }
  }

  /** The relay's own announcements are no transit. */
  @Override
  void settle(int burstsLeft) {
    for (int r = 0; r < rails; r++) {
      take(rails + r);
    }
    // An announcement took a frame's place in the burst.
    for (int i = 0; held < burst && i < 2; i++) {
      subject.cycle(nowNs);
      for (int r = 0; r < rails; r++) {
        take(rails + r);
      }
    }
  }

  private void take(int rail) {
    int n = lab.fromNode(rail);
    for (int i = 0; i < n; i++) {
      long d = lab.burst.get(i);
      long at = lab.pool.frameAt(Burst.id(d));
      if (FrameHeader.kind(lab.frames, at) == FrameHeader.DATA) {
        lab.noteWhole(at);
        mine[held++] = d;
      } else {
        lab.release(d);
      }
    }
  }

  @Override
  void generateOnly() {
    prepare();
    held = burst;
    lab.takeBack(rails);
  }

  /** Gives the frames home. */
  void close() {
    for (int i = 0; i < held; i++) {
      lab.release(mine[i]);
    }
    held = 0;
  }
}
