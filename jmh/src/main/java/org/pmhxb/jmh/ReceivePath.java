package org.pmhxb.jmh;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.pmhxb.cost.Path;

/**
 * Receive burst, parse, validate, CRC, order, acknowledge, deliver, handler, credit and buffer
 * return.
 */
public class ReceivePath extends PathState {
  /** Up to 2,560, in random turns. */
  @Param({"1", "100"})
  int peers;

  @Setup(Level.Trial)
  public void open() {
    open(Path.RECEIVE, peers);
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public int receive() {
    return inJava();
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public int receiveInC() {
    return inC();
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public int generatorAlone() {
    return generatorOnly();
  }
}
