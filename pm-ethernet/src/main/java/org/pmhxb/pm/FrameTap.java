package org.pmhxb.pm;

import java.lang.foreign.MemorySegment;

/** Sees every received frame in its buffer before it is checked: for proofs and captures. */
public interface FrameTap {
  /** May read and write the frame; must not keep it. Called by the poll thread. */
  void onFrame(int rail, int bufferId, MemorySegment frames, long at, int lengthBytes);
}
