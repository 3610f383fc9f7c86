package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PollLeaseTest {
  private final PollLease lease = new PollLease();

  @Test
  void goesToWhoAskedAndComesBack() {
    assertThat(lease.tryTake()).as("at home").isFalse();
    assertThat(lease.isWanted()).isTrue();
    lease.offer();
    assertThat(lease.isWanted()).isFalse();
    assertThat(lease.tryTake()).isTrue();
    assertThat(lease.isOut()).isTrue();
    assertThat(lease.takeHome()).as("while it is out").isFalse();
    lease.giveBack();
    assertThat(lease.turns()).isEqualTo(1);
    assertThat(lease.takeHome()).isTrue();
    assertThat(lease.isWanted()).as("after a turn").isFalse();
  }

  /** A driver that took another's question for its own would never sleep. */
  @Test
  void whoAsksWhileAnotherDrivesWantsNothing() {
    lease.offer();
    assertThat(lease.tryTake()).isTrue();
    assertThat(lease.tryTake()).as("it is out").isFalse();
    assertThat(lease.isWanted()).isFalse();
  }
}
