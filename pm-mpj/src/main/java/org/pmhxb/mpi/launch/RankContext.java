package org.pmhxb.mpi.launch;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.pmhxb.mpi.engine.Engine;

/**
 * What a launcher hands to the device of a rank. MPJ makes its device by itself and passes it
 * nothing, so the device asks for the context by its class loader, which is the rank's own.
 *
 * @param jobNumber the same at all ranks of a job, different from other jobs'
 * @param startLimitNs how long MPI.Init waits for the other ranks
 * @param finished the device's to set: MPI.Finalize has ended, and no MPI.Init has begun since
 */
public record RankContext(
    Engine engine, long jobNumber, long startLimitNs, AtomicBoolean finished) {
  private static final Map<ClassLoader, RankContext> CONTEXTS =
      Collections.synchronizedMap(new WeakHashMap<>());

  /** MPI.Init has ended, and no MPI.Finalize since: others may wait for this rank. Any thread. */
  boolean owesFinalize() {
    return engine.isStarted() && !finished.get();
  }

  /** Before the rank's program begins. */
  public static void register(ClassLoader loader, RankContext context) {
    CONTEXTS.put(loader, context);
  }

  /**
   * Any thread.
   *
   * @throws IllegalStateException the program was not started as a rank
   */
  public static RankContext of(ClassLoader loader) {
    RankContext context = CONTEXTS.get(loader);
    if (context == null) {
      throw new IllegalStateException(
          "this process was not started as a rank; start the program with: hxb mpirun -n N -- ...");
    }
    return context;
  }
}
