package org.pmhxb.mpi.examples;

import java.util.Locale;
import mpi.Intracomm;
import mpi.MPI;
import mpi.Request;

/**
 * Bandwidth and half round trips of MPI messages between two ranks, for {@code hxb bench mpi}; any
 * device. Arguments: one or more of
 *
 * <pre>
 *   latency SIZE ROUNDS
 *   oneway  SIZE WARMUP COUNT
 *   both    SIZE WARMUP COUNT
 *   unexpected COUNT ROUNDS
 *   window  MESSAGES         of the streams behind it: under way each way, 16 at first
 * </pre>
 *
 * <p>Unexpected: so many messages of 8 bytes wait, with different tags, and are received in the
 * reverse order; microseconds per receive.
 *
 * <p>Each prints a line "RESULT kind size value busy": microseconds or bytes per second (of both
 * directions together), and the share of the machine's processor time that was not idle. Every
 * message carries its number at both ends, which is checked.
 */
public final class Measure {
  private final Intracomm comm = MPI.COMM_WORLD;
  private final int rank = comm.Rank();
  private final int other = 1 - rank;

  /** Messages under way each way. */
  private int window = 16;

  private Measure() {}

  public static void main(String[] argv) {
    String[] args = MPI.Init(argv);
    if (MPI.COMM_WORLD.Size() != 2) {
      throw new IllegalArgumentException("two ranks, not " + MPI.COMM_WORLD.Size());
    }
    Measure measure = new Measure();
    for (int i = 0; i < args.length; ) {
      int size = Integer.parseInt(args[i + 1]);
      if (args[i].equals("window")) {
        measure.window = size;
        i += 2;
        continue;
      }
      int third = Integer.parseInt(args[i + 2]);
      if (args[i].equals("unexpected")) {
        measure.unexpected(size, third);
        i += 3;
      } else if (args[i].equals("latency")) {
        measure.latency(size, third);
        i += 3;
      } else {
        measure.stream(args[i].equals("both"), size, third, Integer.parseInt(args[i + 3]));
        i += 4;
      }
    }
    MPI.Finalize();
  }

  private void latency(int size, int rounds) {
    byte[] data = new byte[size];
    long startNs = 0;
    Processors before = null;
    for (int i = -rounds / 2; i < rounds; i++) {
      if (i == 0) {
        startNs = System.nanoTime();
        before = Processors.now();
      }
      if (rank == 0) {
        number(data, i);
        comm.Send(data, 0, size, MPI.BYTE, other, 1);
        comm.Recv(data, 0, size, MPI.BYTE, other, 1);
        requireNumber(data, ~i);
      } else {
        comm.Recv(data, 0, size, MPI.BYTE, other, 1);
        requireNumber(data, i);
        number(data, ~i);
        comm.Send(data, 0, size, MPI.BYTE, other, 1);
      }
    }
    result("latency", size, (System.nanoTime() - startNs) / 2e3 / rounds, before);
  }

  /** Of a message of any length, in its last byte too. */
  private static void number(byte[] data, int number) {
    if (data.length > 0) {
      data[0] = (byte) number;
      data[data.length - 1] = (byte) number;
    }
  }

  private static void requireNumber(byte[] data, int number) {
    for (int at = 0; at < data.length; at += Math.max(1, data.length - 1)) {
      if (data[at] != (byte) number) {
        throw new IllegalStateException(
            "byte %d of message %d is %d".formatted(at, number, data[at]));
      }
    }
  }

  private void unexpected(int count, int rounds) {
    long[] data = new long[1];
    double best = Double.MAX_VALUE;
    Processors before = Processors.now();
    for (int round = 0; round < rounds; round++) {
      for (int tag = 10; rank == 0 && tag < 10 + count; tag++) {
        data[0] = tag;
        comm.Send(data, 0, 1, MPI.LONG, other, tag);
      }
      comm.Barrier();
      long startNs = System.nanoTime();
      for (int tag = 9 + count; rank == 1 && tag >= 10; tag--) {
        comm.Recv(data, 0, 1, MPI.LONG, other, tag);
        if (data[0] != tag) {
          throw new IllegalStateException("message " + data[0] + " for tag " + tag);
        }
      }
      best = Math.min(best, (System.nanoTime() - startNs) / 1e3 / count);
      comm.Barrier();
    }
    double[] theirs = new double[1];
    comm.Sendrecv(
        new double[] {best}, 0, 1, MPI.DOUBLE, other, 3, theirs, 0, 1, MPI.DOUBLE, other, 3);
    result("unexpected", count, theirs[0], before);
  }

  private void stream(boolean both, int size, int warmUp, int count) {
    transfer(both, size, warmUp);
    // Nothing is under way when the clock starts: a backlog of the warm-up would count as speed.
    comm.Barrier();
    Processors before = Processors.now();
    double[] times = {transfer(both, size, count)};
    double[] otherTimes = new double[1];
    comm.Sendrecv(times, 0, 1, MPI.DOUBLE, other, 3, otherTimes, 0, 1, MPI.DOUBLE, other, 3);
    // When the last has come: at the receiver of a one-way stream.
    double longest = Math.max(times[0], otherTimes[0]);
    double bytes = (double) size * count * (both ? 2 : 1);
    result(both ? "both" : "oneway", size, bytes / longest, before);
  }

  /** Sends or receives so many messages, or both; seconds until the last was complete here. */
  private double transfer(boolean both, int size, int count) {
    boolean sends = both || rank == 0;
    boolean receives = both || rank == 1;
    long[][] out = new long[window][size / 8];
    long[][] in = new long[window][size / 8];
    Request[] sent = new Request[window];
    Request[] received = new Request[window];
    for (int i = 0; receives && i < window; i++) {
      received[i] = comm.Irecv(in[i], 0, size / 8, MPI.LONG, other, 2);
    }
    comm.Barrier();
    long startNs = System.nanoTime();
    // What is received lags behind what is sent by a window: both ways have as much under way as
    // one.
    int lag = both ? window - 1 : 0;
    for (int i = 0; i < count + lag; i++) {
      int slot = i % window;
      if (sends && i < count) {
        if (sent[slot] != null) {
          sent[slot].Wait();
        }
        out[slot][0] = i;
        out[slot][size / 8 - 1] = ~i;
        sent[slot] = comm.Isend(out[slot], 0, size / 8, MPI.LONG, other, 2);
      }
      int next = i - lag;
      if (receives && next >= 0) {
        int at = next % window;
        received[at].Wait();
        if (in[at][0] != next || in[at][size / 8 - 1] != ~next) {
          throw new IllegalStateException("message " + next + " is " + in[at][0]);
        }
        if (next + window < count) {
          received[at] = comm.Irecv(in[at], 0, size / 8, MPI.LONG, other, 2);
        }
      }
    }
    for (Request request : sent) {
      if (request != null) {
        request.Wait();
      }
    }
    return (System.nanoTime() - startNs) / 1e9;
  }

  private void result(String kind, int size, double value, Processors before) {
    double busy = Processors.now().busySince(before);
    if (rank == 0) {
      System.out.printf(Locale.ROOT, "RESULT %s %d %.3f %.3f%n", kind, size, value, busy);
    }
  }
}
