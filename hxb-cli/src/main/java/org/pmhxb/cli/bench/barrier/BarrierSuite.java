package org.pmhxb.cli.bench.barrier;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.pmhxb.collectives.barrier.plan.BarrierAlgorithm;
import org.pmhxb.collectives.barrier.plan.BarrierSpec;
import org.pmhxb.collectives.barrier.plan.Participants;
import org.pmhxb.collectives.barrier.plan.Planner;
import org.pmhxb.collectives.logp.BarrierModel;
import org.pmhxb.collectives.logp.ParallelModel;
import org.pmhxb.collectives.logp.Processors;
import org.pmhxb.collectives.probe.FabricLogp;
import org.pmhxb.router.Shape;

/** Which barriers are measured on a machine. */
public final class BarrierSuite {
  private BarrierSuite() {}

  /** All nodes of a shape. */
  public static Participants everyone(Shape shape, int rails) {
    return Participants.of(shape, rails, IntStream.range(0, shape.nodes()).toArray());
  }

  /**
   * Every algorithm as it is, over all rails, and with every frame to one node; of these what makes
   * a difference on this machine.
   */
  public static List<BarrierSpec> all(Shape shape, int rails) {
    Participants group = everyone(shape, rails);
    List<BarrierSpec> specs = new ArrayList<>();
    for (BarrierAlgorithm algorithm : BarrierAlgorithm.values()) {
      BarrierSpec plain = BarrierSpec.of(algorithm);
      specs.add(plain);
      if (!Planner.plans(group, plain.withRails(rails)).equals(Planner.plans(group, plain))) {
        specs.add(plain.withRails(rails));
      }
      if (Planner.frames(group, plain.withoutLines()) != Planner.frames(group, plain)) {
        specs.add(plain.withoutLines());
      }
    }
    return specs;
  }

  /**
   * The model of a machine of which each node is a process here: with a processor for each if there
   * are so many, else on those that there are.
   */
  public static BarrierModel model(FabricLogp found, int nodes) {
    int processors = Runtime.getRuntime().availableProcessors();
    return new ParallelModel(
        found.logp(),
        nodes <= processors ? Processors.ONE_EACH : new Processors(processors, found.wakeNs()));
  }

  /**
   * Reads {@code all} or a list with commas.
   *
   * @throws IllegalArgumentException names what is none
   */
  public static List<BarrierSpec> of(String names, Shape shape, int rails) {
    if (names.equals("all")) {
      return all(shape, rails);
    }
    List<BarrierSpec> specs = new ArrayList<>();
    for (String name : names.split(",")) {
      BarrierSpec spec = BarrierSpec.parse(name);
      Planner.frames(everyone(shape, rails), spec);
      specs.add(spec);
    }
    return specs;
  }
}
