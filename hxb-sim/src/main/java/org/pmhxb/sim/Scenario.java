package org.pmhxb.sim;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.pmhxb.pm.FrameKey;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.fault.Fault;
import org.pmhxb.sim.fault.Profile;
import org.pmhxb.sim.fault.Schedule;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Workloads;

/**
 * What a sweep varies by seed: with faults, also the size of windows and budgets, the way in which
 * programs use their node, the first sequence number and the pace of the traffic, because faults
 * hide in combinations.
 *
 * @param messages from each node to each of its destinations on each channel
 * @param sizeBytes of each message, 0 for random sizes
 * @param given faults beside those of the profile
 * @param only places of the faults to keep, or null for all
 */
public record Scenario(
    Shape shape,
    int rails,
    Profile profile,
    Workloads workload,
    int messages,
    int sizeBytes,
    List<LinkSpec> links,
    List<Fault> given,
    List<Integer> only) {
  private static final int LARGE_NODES = 256;
  private static final int[] WINDOWS = {8, 16, 64, 256};
  private static final int[] CREDITS = {96, 256, 512};
  private static final FrameKey.Mode[] TAGS = {
    FrameKey.Mode.OFF, FrameKey.Mode.OFF, FrameKey.Mode.TAG, FrameKey.Mode.REPLAY
  };
  private static final long FAR_NS_LEAST = 1_000_000L;
  private static final long FAR_NS_MOST = 30_000_000L;
  private static final long[] SPANS_NS = {0, 10_000_000L, 50_000_000L};

  /** Of every session: frames of an earlier one then differ in nothing but the session. */
  private static final long NEAR_WRAP = 0xFFFF_FFE0L;

  public Scenario {
    links = List.copyOf(links);
    given = List.copyOf(given);
  }

  /** Gigabit links, no faults beside the profile's. */
  public static Scenario of(
      Shape shape, int rails, Profile profile, Workloads workload, int messages) {
    return new Scenario(
        shape,
        rails,
        profile,
        workload,
        messages,
        0,
        Collections.nCopies(3, LinkSpec.gigabit()),
        List.of(),
        null);
  }

  /** The run of a seed. */
  public SimOptions options(long seed) {
    boolean large = shape.nodes() > LARGE_NODES;
    SplittableRandom random = new SplittableRandom(seed * 0x2545_F491_4F6C_DD1DL);
    NodeOptions node = large ? NodeOptions.large() : NodeOptions.small();
    long spanNs = 0;
    List<LinkSpec> cables = links;
    if (profile != Profile.NONE && !large) {
      node = varied(node, random);
      spanNs = SPANS_NS[random.nextInt(SPANS_NS.length)];
      if (profile.variesMore()) {
        cables = varied(random);
        node = node.withVariety(variety(!cables.equals(links), random));
      }
    }
    return new SimOptions(
        shape,
        rails,
        seed,
        node,
        cables,
        schedule(seed, node),
        workload.of(messages, sizeBytes, spanNs),
        SimOptions.PROGRESS_BOUND_NS,
        large ? 1_000 : 1,
        false);
  }

  private static NodeOptions varied(NodeOptions node, SplittableRandom random) {
    return node.with(
        WINDOWS[random.nextInt(WINDOWS.length)],
        CREDITS[random.nextInt(CREDITS.length)],
        random.nextBoolean() ? NEAR_WRAP : -1,
        random.nextBoolean());
  }

  /** One dimension in four machines leads to another site. */
  private List<LinkSpec> varied(SplittableRandom random) {
    List<LinkSpec> cables = new ArrayList<>(links);
    int d = random.nextInt(3);
    long latencyNs = FAR_NS_LEAST + random.nextLong(FAR_NS_MOST - FAR_NS_LEAST);
    if (random.nextInt(4) == 0 && shape.extent(d) > 1) {
      LinkSpec near = links.get(d);
      cables.set(
          d, new LinkSpec(near.bitsPerSecond(), latencyNs, near.queueBytes(), near.ringFrames()));
    }
    return cables;
  }

  private static NodeOptions.Variety variety(boolean far, SplittableRandom random) {
    return new NodeOptions.Variety(TAGS[random.nextInt(TAGS.length)], random.nextInt(4) == 0, far);
  }

  private Schedule schedule(long seed, NodeOptions node) {
    Schedule made = profile.schedule(shape, rails, node.peerTimeoutNs(), seed).and(given);
    return only == null ? made : made.only(only);
  }

  /** The command that runs one seed of this alone, with only some of its faults. */
  public String replayCommand(long seed, List<Integer> kept) {
    StringBuilder command = new StringBuilder("hxb sim --shape ").append(shape);
    command.append(" --rails ").append(rails);
    command.append(" --seed ").append(seed);
    command.append(" --faults ").append(profile);
    given.forEach(fault -> command.append(" --fault ").append(fault));
    command.append(" --workload ").append(workload);
    command.append(" --messages ").append(messages);
    if (sizeBytes > 0) {
      command.append(" --size ").append(sizeBytes);
    }
    for (int d = 0; d < 3; d++) {
      if (!links.get(d).equals(LinkSpec.gigabit())) {
        command.append(" --link ").append("xyz".charAt(d)).append('=').append(links.get(d));
      }
    }
    if (kept != null) {
      String places = kept.toString().replaceAll("[\\[\\] ]", "");
      command.append(" --only ").append(places.isEmpty() ? "none" : places);
    }
    return command.append(" --replay").toString();
  }

  public Scenario withOnly(List<Integer> kept) {
    return new Scenario(shape, rails, profile, workload, messages, sizeBytes, links, given, kept);
  }
}
