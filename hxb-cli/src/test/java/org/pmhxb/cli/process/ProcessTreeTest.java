package org.pmhxb.cli.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class ProcessTreeTest {
  private final Sleep sleep = new Sleep();

  @AfterEach
  void leavesNothing() {
    Thread.interrupted();
    sleep.running().forEach(ProcessHandle::destroyForcibly);
  }

  /** Returns when it has three generations, all of which run. */
  private Process start(String before) throws IOException {
    String child = "sh -c '%1$s & echo up; wait; %1$s'; %1$s".formatted(sleep);
    Process process = startUntilUp(before + child);
    // Who has forked last may not be that program yet.
    for (long startNs = System.nanoTime();
        sleep.running().size() < 3 && millisSince(startNs) < 10_000; ) {
      Thread.onSpinWait();
    }
    assertThat(sleep.running()).hasSize(3);
    return process;
  }

  private static Process startUntilUp(String script) throws IOException {
    Process process = new ProcessBuilder("sh", "-c", script).start();
    assertThat(process.getInputStream().read()).isEqualTo('u');
    return process;
  }

  private static long millisSince(long startNs) {
    return (System.nanoTime() - startNs) / 1_000_000;
  }

  @Test
  void aGrandchildThatIgnoresToBeAskedIsEndedByForce() throws Exception {
    Process process = start("trap '' TERM; ");
    long startNs = System.nanoTime();
    ProcessTree.end(List.of(process), 200);
    assertThat(millisSince(startNs)).isBetween(200L, 4_000L);
    assertThat(process.isAlive()).isFalse();
    assertThat(sleep.running()).isEmpty();
  }

  @Test
  void whatEndsWhenAskedIsNotWaitedFor() throws Exception {
    Process process = start("");
    long startNs = System.nanoTime();
    ProcessTree.end(List.of(process), 10_000);
    assertThat(millisSince(startNs)).isLessThan(5_000);
    assertThat(process.exitValue()).as("SIGTERM").isEqualTo(128 + 15);
    assertThat(sleep.running()).isEmpty();
  }

  @Test
  void anInterruptIsKeptAndShortensNothing() throws Exception {
    Process process = start("trap '' TERM; ");
    Thread.currentThread().interrupt();
    long startNs = System.nanoTime();
    ProcessTree.awaitEnd(List.of(process), List.of(), 100);
    assertThat(millisSince(startNs)).as("bounded").isBetween(100L, 4_000L);
    assertThat(Thread.currentThread().isInterrupted()).isTrue();
    ProcessTree.end(process);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(process.isAlive()).isFalse();
    assertThat(sleep.running()).isEmpty();
  }

  /** Its parent does not ask how it ended. */
  @Test
  void aZombieIsNotWaitedFor() throws Exception {
    Process parent = startUntilUp("sleep 1 & echo up; exec " + sleep);
    List<ProcessHandle> child = parent.children().toList();
    long startNs = System.nanoTime();
    ProcessTree.awaitEnd(List.of(), child, 10_000);
    assertThat(millisSince(startNs)).isBetween(50L, 5_000L);
    assertThat(child).singleElement().matches(ProcessHandle::isAlive, "is a zombie");
  }

  @Test
  void awaitsAnEndOrMakesIt() throws Exception {
    Process ends = new ProcessBuilder("sh", "-c", "exit 3").start();
    assertThat(ProcessTree.awaitOrEnd(ends, Duration.ofSeconds(10))).isTrue();
    assertThat(ends.exitValue()).isEqualTo(3);

    assertThat(ProcessTree.awaitOrEnd(start(""), Duration.ofMillis(50))).isFalse();
    assertThat(sleep.running()).isEmpty();

    Process waitedFor = start("");
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> ProcessTree.awaitOrEnd(waitedFor, Duration.ofSeconds(10)))
        .isInstanceOf(InterruptedException.class);
    assertThat(sleep.running()).isEmpty();
  }
}
