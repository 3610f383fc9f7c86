package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.pm.wire.FrameHeader;

/** Gives the routing buffers for its announcements. Owner: the poll thread. */
final class LinkFrames implements Routing.LinkOutput {
  private final NodeCore core;
  private final int longestFrameBytes;
  private Rail rail;
  private int id;

  LinkFrames(NodeCore core) {
    this.core = core;
    this.longestFrameBytes = PmNode.longestFrameBytes(core.config);
  }

  @Override
  public MemorySegment frames() {
    return core.frames;
  }

  @Override
  public long begin(int railIndex) {
    id = core.controlBuffer();
    if (id == 0) {
      return -1;
    }
    rail = core.rails[railIndex];
    return core.pool.frameAt(id);
  }

  @Override
  public long macAddress(int railIndex) {
    return core.rails[railIndex].macAddress;
  }

  @Override
  public int longestFrameBytes() {
    return longestFrameBytes;
  }

  @Override
  public int trailerBytes() {
    return core.tagBytes;
  }

  @Override
  public void commit(int lengthBytes) {
    long at = core.pool.frameAt(id);
    int length = lengthBytes - FrameHeader.BYTES;
    FrameHeader.endpointsLengthBeyond(core.frames, at, 0, 0, length, 0);
    FrameHeader.flagsDst(core.frames, at, core.tagFlag, FrameHeader.EVERY_NODE);
    FrameHeader.crc(core.frames, at, core.crc.of(at, length));
    if (core.tag != null) {
      core.tagLineFrame(at, length);
    }
    if (!rail.putControl(id, lengthBytes + core.tagBytes)) {
      core.counters.drop(DropReason.TRANSMIT_QUEUE_FULL);
      core.pool.release(id, Owner.NODE);
    }
  }
}
