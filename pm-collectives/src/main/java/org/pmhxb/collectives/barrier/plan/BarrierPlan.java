package org.pmhxb.collectives.barrier.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * What one node does in a barrier: at each step it awaits an ARRIVE from each of some nodes, then
 * sends. Made once, when the barrier is opened. Immutable.
 *
 * @param node whose plan it is
 */
public record BarrierPlan(int node, List<Step> steps) {
  /**
   * @param number by which frames name it, 0 to 255
   * @param sources nodes whose ARRIVE with this number is awaited, ascending
   * @param sends what follows, in order
   */
  public record Step(int number, int[] sources, List<Send> sends) {
    public Step {
      sources = sources.clone();
      Arrays.sort(sources);
      sends = List.copyOf(sends);
    }

    @Override
    public int[] sources() {
      return sources.clone();
    }

    /** How many nodes are awaited. */
    public int sourceCount() {
      return sources.length;
    }

    /**
     * By what it says: of itself a record takes two arrays for the same only where they are one.
     */
    @Override
    public boolean equals(Object other) {
      return other instanceof Step step
          && number == step.number
          && Arrays.equals(sources, step.sources)
          && sends.equals(step.sends);
    }

    @Override
    public int hashCode() {
      return Objects.hash(number, Arrays.hashCode(sources), sends);
    }
  }

  /**
   * One ARRIVE: to one node, or to several by one frame to their line.
   *
   * @param step number of the step at which the targets await it
   * @param targets node numbers, ascending
   * @param way which of the barrier's rails of a dimension it takes, from 0; several barriers that
   *     are in flight at once count from different ones
   * @param line to a line: its dimension; else -1
   */
  public record Send(int step, int[] targets, int way, int line) {
    public Send {
      targets = targets.clone();
      Arrays.sort(targets);
      if (line < 0 && targets.length != 1) {
        throw new IllegalArgumentException("a frame to " + targets.length + " nodes needs a line");
      }
    }

    @Override
    public int[] targets() {
      return targets.clone();
    }

    /** How many nodes it goes to. */
    public int targetCount() {
      return targets.length;
    }

    /** One of them, from 0. */
    public int target(int index) {
      return targets[index];
    }

    /** As {@link Step#equals}. */
    @Override
    public boolean equals(Object other) {
      return other instanceof Send send
          && step == send.step
          && Arrays.equals(targets, send.targets)
          && way == send.way
          && line == send.line;
    }

    @Override
    public int hashCode() {
      return Objects.hash(step, Arrays.hashCode(targets), way, line);
    }
  }

  public BarrierPlan {
    steps = List.copyOf(steps);
  }

  /** Frames that this node sends in one barrier. */
  public int frames() {
    int frames = 0;
    for (Step step : steps) {
      frames += step.sends().size();
    }
    return frames;
  }
}
