package org.pmhxb.collectives;

import java.lang.foreign.MemorySegment;
import org.pmhxb.pm.Loan;

/** A message that came before its turn: on loan, or in a slot of {@link HeldStore}. */
final class Held {
  Held next;
  int sourceNode;
  MemorySegment memory;

  /** Where the message begins, header and all. */
  long at;

  int lengthBytes;

  /** Of the buffer that it lies in; null when it was copied. */
  Loan loan;

  /** That it was copied to; -1 when it is on loan. */
  int slot;
}
