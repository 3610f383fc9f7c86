package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.Profile;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workloads;

/**
 * What the simulator found, as the fewest faults that showed it. The faults are written out: a seed
 * alone means another schedule once the profiles change.
 */
class RegressionTest {
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "one way dead for good: the other side hears of the end too | 2x2x2 | 2 | 26"
            + " | cut-rx@7:916753ns+94000000ns:seed=-1884731372395210406"
            + " crash@1:21569202ns+74000000ns",
        "announcement with a damaged source address is believed until the next only | 2x2x2 | 2 | 185"
            + " | jitter@*.y*:2779616ns+6000000ns:amount=8538366:seed=-5841703960833620"
            + " crash@1:6525598ns+36000000ns"
            + " corruption@*:49913202ns+64000000ns:rate=0.19807488477438534:seed=-7661794750639106356"
            + " stall@2:43909862ns+13152651ns",
        "a path whose next hop was never heard is left for another | 3x2x1 | 1 | 147"
            + " | stop@0:2280447ns+69570027ns:seed=9065489226945992081"
            + " crash@1:3562021ns+1000000ns:seed=-2043096156623285578",
        "being asked by the peer does not put off one's own questions | 2x2x2 | 1 | 93"
            + " | crash@1:1220721ns+26000000ns:seed=-3543685899526555621"
            + " partial@0.z0:4485937ns+37000000ns:seed=-1262426974117620739",
        "credit of an ended session is not told before the new one asks | 2x2x2 | 2 | 7475"
            + " | stopped-consumer@4:939699ns+81000000ns:seed=6539213121876852569"
            + " burst-loss@*.*0:3699100ns+34000000ns:rate=0.005426724266019794:amount=48:seed=-5523976056062251071"
            + " restart@3:24135472ns+1387929ns:seed=-6592938652611730418"
            + " late-duplication@*:500000ns+23635472ns:rate=0.2:amount=41387929:seed=-5841236430367970867"
            + " burst-loss@2.*1:1254251ns+118000000ns:rate=0.010800770660155253:amount=4:seed=2011403388248193808"
            + " duplication@2.x1:511858ns+67000000ns:rate=0.26083599754951065:seed=1386768104037739915",
        "a stalled relay passes on what a node said before it died | 2x2x2 | 2 | 5090"
            + " | crash@4:10657603ns+11000000ns:seed=-3857996793680702671"
            + " stall@6:796834ns+1717246123ns:seed=-3232573970827100842",
        "what a receiver had stored died with it, and its source before it noticed | 2x2x2 | 2 | 8632"
            + " | restart@3:5581240ns+6161092ns:seed=-7191880981531820385"
            + " crash@6:12323562ns+117000000ns:seed=4537367864954773678"
            + " slow-consumer@3:3551520ns+54000000ns:amount=2088178:seed=4897453708248941568",
        "what a receiver had stored died with it after the session had ended | 3x1x1 | 1 | 1"
            + " | stopped-consumer@1:0ms+7s"
            + " cut@0.x0:100ms+7s"
            + " restart@1:6500ms+100ms",
        "the next life does not know a session that the one before it had offered | 2x2x2 | 2 | 562"
            + " | seldom@*:1182407ns+163069088ns:amount=3965256:seed=-853819968750621614"
            + " restart@3:18602797ns+356434ns:seed=-837876112288783817",
        "nor does one that was stopped meanwhile | 2x2x2 | 2 | 681"
            + " | stop@5:14614052ns+238357386ns:seed=-5294900137442559987"
            + " stall@0:2022460ns+732402494ns:seed=-1564277236063811387",
        "what a peer told of its stall is believed no longer where it hears nothing | 3x2x2 | 2 | 98"
            + " | crash@4:534742ns+105000000ns:seed=2059467110240876754"
            + " stall@7:2746759ns+1007831655ns:seed=827405209940970721"
      })
  void staysMended(String what, String shape, int rails, long seed, String faults) {
    List<Fault> schedule = Stream.of(faults.split(" ")).map(Fault::parse).toList();
    Scenario scenario =
        new Scenario(
            Shape.parse(shape),
            rails,
            Profile.WIRE,
            Workloads.ALL_TO_ALL,
            10,
            0,
            Collections.nCopies(3, LinkSpec.gigabit()),
            schedule,
            null);
    int profiles = scenario.options(seed).schedule().faults().size() - schedule.size();
    List<Integer> only =
        java.util.stream.IntStream.range(profiles, profiles + schedule.size()).boxed().toList();

    SimResult result = Simulation.run(scenario.withOnly(only).options(seed));

    assertThat(result.violation()).as(what).isNull();
    assertThat(result.delivered()).isPositive();
  }
}
