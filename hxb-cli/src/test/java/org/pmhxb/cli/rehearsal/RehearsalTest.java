package org.pmhxb.cli.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a rehearsal without rails of the kernel's goes through; with them: {@code ArchiveIT}. */
class RehearsalTest {
  @Test
  void nothingIsLostAndEveryFaultIsMet() throws Exception {
    // As a rehearsal left it that was killed; its process's number is this one's, which began
    // later.
    long pid = ProcessHandle.current().pid();
    Path abandoned = Path.of(System.getProperty("java.io.tmpdir"), "hxb-rehearsal-" + pid + "-1-1");
    Files.createDirectories(abandoned.resolve("lines"));

    List<Rehearsal.Act> acts = Rehearsal.run(false, line -> assertThat(line).isNotBlank());

    assertThat(abandoned).doesNotExist();
    assertThat(acts)
        .extracting(Rehearsal.Act::name)
        .containsExactly("bursts", "lines", "relays", "faults");
    for (Rehearsal.Act act : acts) {
      assertThat(act.failures()).as(act.name()).isEmpty();
      assertThat(act.faulty()).as(act.name()).isZero();
      assertThat(act.messages()).as(act.name()).isGreaterThan(1_000);
    }
    assertMet(acts.get(1), "messages-coalesced", "acks-received", "probe-replies");
    assertMet(acts.get(2), "relayed", "out-of-order");
    assertMet(
        acts.get(3),
        "resent",
        "duplicates-reported",
        "out-of-order",
        "drop.crc",
        "drop.duplicate",
        "drop.hop-check",
        "paths-evicted",
        "paths-restored");
  }

  private static void assertMet(Rehearsal.Act act, String... counters) {
    Map<String, Long> counts = act.counters();
    for (String counter : counters) {
      assertThat(counts.get(counter)).as(act.name() + ": " + counter).isPositive();
    }
  }
}
