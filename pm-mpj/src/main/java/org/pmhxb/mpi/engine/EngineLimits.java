package org.pmhxb.mpi.engine;

/**
 * How messages are split; all ranks of a job use the same.
 *
 * @param eagerBytes messages up to this length are sent at once, 0 to headBytesMax
 * @param headBytes of longer messages at least so much goes with the envelope, so that the links
 *     are busy while the grant is on its way, and more while the receiver has room: up to a quarter
 *     of it and {@link #HEAD_BYTES_MAX}; 0 to headBytesMax, 0: never any
 * @param unexpectedBytes a receiver keeps at most so much for each sender; what is beyond that
 *     waits at the sender, 1 KiB to 1 GiB
 */
public record EngineLimits(int eagerBytes, int headBytes, long unexpectedBytes) {
  /** Largest head. */
  public static final int HEAD_BYTES_MAX = 1 << 20;

  /** What a waiting message costs beside its bytes. */
  static final int ENVELOPE_COST_BYTES = 128;

  public EngineLimits {
    range("eagerBytes", eagerBytes, 0, HEAD_BYTES_MAX);
    range("headBytes", headBytes, 0, HEAD_BYTES_MAX);
    range("unexpectedBytes", unexpectedBytes, 1 << 10, 1 << 30);
  }

  private static void range(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + " is " + value + "; must be in " + least + ".." + most);
    }
  }

  /** From the properties hxb.mpi.eagerBytes, hxb.mpi.headBytes and hxb.mpi.unexpectedBytes. */
  public static EngineLimits fromProperties() {
    return new EngineLimits(
        Integer.getInteger("hxb.mpi.eagerBytes", 64 << 10),
        Integer.getInteger("hxb.mpi.headBytes", 64 << 10),
        Long.getLong("hxb.mpi.unexpectedBytes", 4L << 20));
  }
}
