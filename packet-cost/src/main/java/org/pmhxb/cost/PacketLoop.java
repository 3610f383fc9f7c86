package org.pmhxb.cost;

/**
 * One path of one subject under load: prepare frames, let the subject work on them, settle what it
 * left; the clock is read in between, so that the subject's share stands apart. Owner: the thread
 * that opened the bench.
 */
public abstract class PacketLoop {
  /** Packets of a batch, the unit over which medians are taken. */
  public static final int BATCH_PACKETS = 2_048;

  /** Virtual time that a packet takes: about what it really does, so timers run as often. */
  private static final long PACKET_NS = 40;

  final Lab lab;
  final Subject subject;
  final int burst;
  long nowNs;
  private final PhaseTimes times = new PhaseTimes();
  private final ClockCost clock = new ClockCost();
  private long emitted;

  PacketLoop(Lab lab, Subject subject, int burst, long nowNs) {
    this.lab = lab;
    this.subject = subject;
    this.burst = burst;
    this.nowNs = nowNs;
  }

  /** Puts frames for one burst in place. Not the subject's work. */
  abstract void prepare();

  /** The subject's work on one burst. */
  abstract void work();

  /**
   * Takes back what the subject left. Not its work.
   *
   * @param burstsLeft of this batch
   */
  abstract void settle(int burstsLeft);

  /**
   * The subject's work on acknowledgements of what it sent before, which is a path of its own: it
   * is timed beside {@link #work}. Called before each burst, and behind the last one of a batch.
   *
   * @return false: none had come, and nothing was done
   */
  boolean readAcks() {
    return false;
  }

  /** After a batch. Not the subject's work. */
  void finish() {}

  /** What making and taking the frames costs without a subject; nothing reaches it. */
  abstract void generateOnly();

  /**
   * Runs one batch.
   *
   * @return packets that went through the subject
   */
  public final int batch() {
    long pathNs = 0;
    long acksNs = 0;
    long generatorNs = 0;
    int acksReads = 0;
    int bursts = bursts();
    double clockNs = clock.readNs();
    long from = System.nanoTime();
    for (int i = bursts - 1; i >= 0; i--) {
      prepare();
      nowNs += PACKET_NS * burst;
      long begin = System.nanoTime();
      generatorNs += begin - from;
      if (readAcks()) {
        long read = System.nanoTime();
        acksNs += read - begin;
        acksReads++;
        begin = read;
      }
      work();
      long end = System.nanoTime();
      settle(i);
      pathNs += end - begin;
      // The tail belongs to the next burst's generator time.
      from = end;
    }
    long begin = System.nanoTime();
    generatorNs += begin - from;
    if (readAcks()) {
      acksNs += System.nanoTime() - begin;
      acksReads++;
    }
    finish();
    emitted += lab.emitted();
    int packets = bursts * burst;
    times.add(
        withoutClock(pathNs, bursts, clockNs),
        withoutClock(acksNs, acksReads, clockNs),
        withoutClock(generatorNs, bursts + 1, clockNs),
        packets);
    return packets;
  }

  /** What so many phases took, without what reading the clock took in each. */
  private static double withoutClock(long ns, int phases, double clockNs) {
    return Math.max(0, ns - clockNs * phases);
  }

  /** The same without the subject, for the generator's own cost. */
  public final int generatorBatch() {
    int bursts = bursts();
    for (int i = 0; i < bursts; i++) {
      generateOnly();
    }
    return bursts * burst;
  }

  private int bursts() {
    return Math.max(1, BATCH_PACKETS / burst);
  }

  /** What the batches since {@link PhaseTimes#begin} cost. */
  public final PhaseTimes times() {
    return times;
  }

  /** Digest of all frames that left the subject. */
  final long emitted() {
    return emitted;
  }

  /**
   * A benchmark whose frames are dropped measures something else: it must fail.
   *
   * @throws IllegalStateException naming what was counted
   */
  public final void check() {
    if (subject.isClean()) {
      return;
    }
    var counters = subject.counters();
    for (String name : new String[] {Subject.DROPPED, Subject.TROUBLE}) {
      if (counters.get(name) != 0) {
        throw new IllegalStateException(
            "%s counted %s = %d %s"
                .formatted(subject, name, counters.get(name), subject.details()));
      }
    }
  }
}
