package org.pmhxb.jmh;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Setup;
import org.pmhxb.cost.Path;

/** Receive burst on an X rail, checks, route, hop part rewritten, transmit burst on a Y rail. */
public class RelayPath extends PathState {
  @Setup(Level.Trial)
  public void open() {
    open(Path.RELAY, 1);
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public int relay() {
    return inJava();
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public int relayInC() {
    return inC();
  }

  @Benchmark
  @OperationsPerInvocation(PACKETS)
  public int generatorAlone() {
    return generatorOnly();
  }
}
