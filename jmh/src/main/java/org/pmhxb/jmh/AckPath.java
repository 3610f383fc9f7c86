package org.pmhxb.jmh;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.pmhxb.cost.Path;

/** Acknowledgement frames that settle one held frame each and bring credit. */
public class AckPath extends PathState {
  /** Up to 2,560, in random turns. */
  @Param({"1", "100"})
  int peers;

  @Setup(Level.Trial)
  public void open() {
    open(Path.ACK, peers);
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public int ack() {
    return inJava();
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public int ackInC() {
    return inC();
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public int generatorAlone() {
    return generatorOnly();
  }
}
