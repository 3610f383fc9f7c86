package org.pmhxb.jmh;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.pmhxb.cost.Path;

/**
 * Claim, payload, send, header, CRC, hold for resend, burst: {@code path.median}. With the peers'
 * acknowledgements, read before the next burst: {@code withAcks.median}.
 */
public class SendPath extends PathState {
  /** Up to 2,560, in random turns. */
  @Param({"1", "100"})
  int peers;

  @Setup(Level.Trial)
  public void open() {
    open(Path.SEND, peers);
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public int send() {
    return inJava();
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public int sendInC() {
    return inC();
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public int generatorAlone() {
    return generatorOnly();
  }
}
