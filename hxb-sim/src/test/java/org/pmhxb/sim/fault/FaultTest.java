package org.pmhxb.sim.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.pmhxb.router.Shape;

class FaultTest {
  private static final Shape CUBE = Shape.of(2, 2, 2);

  @ParameterizedTest
  @EnumSource(Profile.class)
  void whatAProfileMakesCanBeWrittenAndRead(Profile profile) {
    for (long seed = 1; seed <= 50; seed++) {
      for (Fault fault : profile.schedule(CUBE, 2, 5_000_000_000L, seed).faults()) {
        assertThat(Fault.parse(fault.toString())).isEqualTo(fault);
      }
    }
  }

  @Test
  void theMixedProfileUsesEveryKindThatIsBrief() {
    List<FaultKind> kinds =
        java.util.stream.LongStream.rangeClosed(1, 400)
            .boxed()
            .flatMap(s -> Profile.MIXED.schedule(CUBE, 2, 5_000_000_000L, s).faults().stream())
            .map(Fault::kind)
            .distinct()
            .toList();

    assertThat(kinds).containsExactlyInAnyOrder(FaultKind.brief());
    assertThat(FaultKind.values()).hasSize(FaultKind.brief().length + 3);
  }

  @Test
  void readsUnitsAndLeavesOutWhatIsLeftOut() {
    Fault fault = Fault.parse("slow-link@3.x1:2ms+1s:rate=0.25");

    assertThat(fault.kind()).isEqualTo(FaultKind.SLOW_LINK);
    assertThat(fault.place()).isEqualTo(new Place(3, 0, 1));
    assertThat(fault.startNs()).isEqualTo(2_000_000L);
    assertThat(fault.endNs()).isEqualTo(1_002_000_000L);
    assertThat(fault.rate()).isEqualTo(0.25);
    assertThat(fault.amount()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "cut@0.x1:1ms+20ms, cut@0.x1:1ms+20ms",
    "cut@0.x1:1000000ns+20000us, cut@0.x1:1ms+20ms",
    "crash@3:0s+1500ms, crash@3:0ms+1500ms",
    "loss@*:1001us+1000ms:rate=0.050, loss@*:1001us+1s:rate=0.05",
    "loss@*.x0:1ns+1s:rate=1e-4:amount=0, loss@*.x0:1ns+1s:rate=1.0E-4",
    "skew@02:1ms+1s:rate=-0, skew@2:1ms+1s",
    "skew@*.*:1ms+1s:rate=-1e-999:seed=3, skew@*:1ms+1s:seed=3",
    "skew@2:1ms+1s:rate=-1:amount=7, skew@2:1ms+1s:rate=-1:amount=7",
    "loss@*:1ms+1s:rate=0.5:seed=-9, loss@*:1ms+1s:rate=0.5:seed=-9"
  })
  void isWrittenAsItIsTyped(String typed, String written) {
    Fault fault = Fault.parse(typed);

    assertThat(fault).hasToString(written);
    assertThat(Fault.parse(written)).as("seed included").isEqualTo(fault);
  }

  @ParameterizedTest
  @CsvSource({
    "cut, \"cut\"",
    "cut@3, \"cut@3\"",
    "cat@3:1ms+1ms, \"cat\"",
    "cut@3.w0:1ms+1ms, \"3.w0\"",
    "loss@*:1+1, \"loss@*:1+1\"",
    "cut@3:18446744074s+1ms, \"cut@3:18446744074s+1ms\"",
    "cut@3:1ms+99999999999999999999s, \"cut@3:1ms+99999999999999999999s\"",
    "cut@3:9000000000s+1ms, 0..1000000000000000000",
    "loss@*:1ms+1s:rate=1.2.3, \"loss@*:1ms+1s:rate=1.2.3\"",
    "cut@3:1ms+1s:seed=99999999999999999999, \"cut@3:1ms+1s:seed=99999999999999999999\""
  })
  void refusesWhatItCannotReadAndNamesIt(String text, String named) {
    assertThatThrownBy(() -> Fault.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(named);
  }

  private static Schedule schedule(String... faults) {
    return new Schedule(CUBE, 2, 5_000_000_000L, Stream.of(faults).map(Fault::parse).toList());
  }

  /** Neither at its beginning nor long behind its end, as what is dead without end may. */
  @Test
  void isolationMayEndASessionWhenItHasLastedForAboutThePeerTimeout() {
    Schedule schedule = schedule("cut@*:1ms+7s", "stall@0:20s+4s");

    assertThat(schedule.mayEndSession(0, 1, true, 3_999_000_000L)).isFalse();
    assertThat(schedule.mayEndSession(0, 1, true, 4_001_000_000L)).isTrue();
    assertThat(schedule.mayEndSession(0, 1, true, 7_500_000_000L)).isTrue();
    assertThat(schedule.mayEndSession(0, 1, true, 15_000_000_000L)).isFalse();
    assertThat(schedule.mayEndSession(0, 1, true, 22_999_000_000L)).isFalse();
    assertThat(schedule.mayEndSession(0, 1, true, 23_001_000_000L)).isTrue();
    assertThat(schedule.mayEndSession(2, 3, true, 23_001_000_000L)).isFalse();
    assertThat(schedule.mayEverEndSession(0, 1)).isTrue();
    assertThat(schedule.mayEverEndSession(2, 3)).isTrue();

    Schedule inARow = schedule("stall@0:0s+2s", "cut@*:1500ms+7s");
    assertThat(inARow.mayEndSession(0, 1, true, 1_600_000_000L)).isFalse();
    assertThat(inARow.mayEndSession(0, 1, true, 4_001_000_000L)).isTrue();

    Schedule standing = schedule("crash@1:1ms+1ms");
    assertThat(standing.mayEndSession(0, 1, true, 999_000L)).isFalse();
    assertThat(standing.mayEndSession(0, 1, true, 1_000_000_000_000L)).isTrue();
  }

  @Test
  void onlyDeathAndLongIsolationMayEndASession() {
    Schedule schedule =
        schedule("stall@0:1ms+2s", "cut@0.x0:1ms+60s", "cut@*:1ms+2s", "restart@5:3ms+1ms");

    assertThat(schedule.mayEndSession(0, 1, false, 10_000_000L)).isFalse();
    assertThat(schedule.mayEndSession(5, 1, false, 2_000_000L)).isFalse();
    assertThat(schedule.mayEndSession(5, 1, false, 3_000_000L)).isTrue();
    assertThat(schedule.mayEndSession(5, 1, true, 3_000_000L))
        .as("a session of the life that began with the restart")
        .isFalse();
  }
}
