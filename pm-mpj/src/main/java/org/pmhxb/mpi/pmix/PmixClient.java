package org.pmhxb.mpi.pmix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * This process as its launcher knows it. One per process; control path, one thread, but any may
 * close it.
 */
public final class PmixClient implements AutoCloseable {
  private static final String MEND =
      "was this process started by a launcher with PMIx, as in: mpirun -n 8 hxb mpirank ... ?";

  private final PmixLibrary lib = new PmixLibrary();
  private final Arena arena = Arena.ofShared();
  private final MemorySegment self = arena.allocate(PmixLibrary.PROC_BYTES, 8);
  private final int rank;
  private final int size;
  private boolean closed; // under this

  /**
   * Reports to the launcher.
   *
   * @throws PmixException there is none, or no library
   */
  public PmixClient() {
    check("PMIx_Init", call(() -> (int) lib.init.invokeExact(self, MemorySegment.NULL, 0L)), MEND);
    rank = self.get(JAVA_INT, PmixLibrary.PROC_RANK);
    size = number("pmix.job.size", PmixLibrary.RANK_WILDCARD);
  }

  /** This process's rank, 0 to {@link #size()} - 1. */
  public int rank() {
    return rank;
  }

  /** Processes of the job. */
  public int size() {
    return size;
  }

  /**
   * Publishes a text and waits until every process has published its own.
   *
   * @return all of them by rank
   */
  public String[] exchange(String key, String text) {
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment value = scratch.allocate(PmixLibrary.VALUE_BYTES, 8);
      value.set(JAVA_SHORT, 0, PmixLibrary.TYPE_STRING);
      value.set(ADDRESS, PmixLibrary.VALUE_DATA, scratch.allocateFrom(text));
      MemorySegment name = scratch.allocateFrom(key);
      check(
          "PMIx_Put",
          call(() -> (int) lib.put.invokeExact(PmixLibrary.SCOPE_GLOBAL, name, value)),
          "see the launcher's own messages");
      check("PMIx_Commit", call(() -> (int) lib.commit.invokeExact()), "see the launcher");
      fence(scratch);
    }
    String[] all = new String[size];
    for (int rank = 0; rank < size; rank++) {
      all[rank] = text(key, rank);
    }
    return all;
  }

  private void fence(Arena scratch) {
    MemorySegment everyone = process(scratch, PmixLibrary.RANK_WILDCARD);
    MemorySegment collect = scratch.allocate(PmixLibrary.INFO_BYTES, 8);
    collect.setString(0, "pmix.collect");
    collect.set(JAVA_SHORT, PmixLibrary.INFO_VALUE, PmixLibrary.TYPE_BOOL);
    collect.set(JAVA_BYTE, PmixLibrary.INFO_VALUE + PmixLibrary.VALUE_DATA, (byte) 1);
    check(
        "PMIx_Fence",
        call(() -> (int) lib.fence.invokeExact(everyone, 1L, collect, 1L)),
        "did another process of the job end?");
  }

  private MemorySegment process(Arena scratch, int rank) {
    MemorySegment process = scratch.allocate(PmixLibrary.PROC_BYTES, 8).copyFrom(self);
    process.set(JAVA_INT, PmixLibrary.PROC_RANK, rank);
    return process;
  }

  private String text(String key, int rank) {
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment value = get(scratch, key, rank, PmixLibrary.TYPE_STRING);
      MemorySegment chars = value.get(ADDRESS, PmixLibrary.VALUE_DATA);
      String text = chars.reinterpret(Long.MAX_VALUE).getString(0);
      free(chars);
      free(value);
      return text;
    }
  }

  private int number(String key, int rank) {
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment value = get(scratch, key, rank, PmixLibrary.TYPE_UINT32);
      int number = value.get(JAVA_INT, PmixLibrary.VALUE_DATA);
      free(value);
      return number;
    }
  }

  /** A value that the library allocated: ours to free. */
  private MemorySegment get(Arena scratch, String key, int rank, short type) {
    MemorySegment process = process(scratch, rank);
    MemorySegment name = scratch.allocateFrom(key);
    MemorySegment out = scratch.allocate(ADDRESS);
    check(
        "PMIx_Get of " + key + " of rank " + rank,
        call(() -> (int) lib.get.invokeExact(process, name, MemorySegment.NULL, 0L, out)),
        MEND);
    MemorySegment value = out.get(ADDRESS, 0).reinterpret(PmixLibrary.VALUE_BYTES);
    if (value.get(JAVA_SHORT, 0) != type) {
      throw new IllegalStateException(
          key + " has PMIx type " + value.get(JAVA_SHORT, 0) + ", not " + type);
    }
    return value;
  }

  private void free(MemorySegment memory) {
    call(
        () -> {
          lib.free.invokeExact(memory);
          return 0;
        });
  }

  /**
   * Takes leave of the launcher, once however often it is called; without it an end counts as a
   * crash. Who calls it meanwhile waits for that.
   */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      check(
          "PMIx_Finalize",
          call(() -> (int) lib.finish.invokeExact(MemorySegment.NULL, 0L)),
          "see the launcher's own messages");
      arena.close();
    }
  }

  private interface Native {
    int call() throws Throwable;
  }

  private static int call(Native code) {
    try {
      return code.call();
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable t) {
      throw new IllegalStateException("a call of libpmix failed", t);
    }
  }

  private static void check(String call, int status, String mend) {
    if (status != 0) {
      throw new PmixException(call, status, mend);
    }
  }
}
