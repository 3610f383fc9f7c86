package org.pmhxb.bufpool;

/**
 * Who answers for a buffer: a kind in bits 24-31 and, in bits 0-23, which one of that kind.
 *
 * <p>The kinds are ready to use as owners of holder 0; {@link #of} adds a holder. 0 is {@link
 * #FREE}: the pool or a driver has the buffer.
 */
public final class Owner {
  public static final int HOLDER_MAX = 0xFF_FFFF;

  private static final int KIND_SHIFT = 24;

  /** In the pool, or below it: in a receive ring, or released here while a driver still sends. */
  public static final int FREE = 0;

  /**
   * A node's poll loop: received and not yet placed, relayed and waiting for its rail, or a control
   * frame being written.
   */
  public static final int NODE = 1 << KIND_SHIFT;

  /** A rail took it for transmission, or gave it at receive; holder = rail. */
  public static final int PORT = 2 << KIND_SHIFT;

  /** Held for resend until acknowledged; holder = peer. */
  public static final int WINDOW = 3 << KIND_SHIFT;

  /** Waits for its turn in a sequence array; holder = peer. */
  public static final int REORDER = 4 << KIND_SHIFT;

  /** In order, waits for its endpoint's poll; holder = endpoint. */
  public static final int INBOX = 5 << KIND_SHIFT;

  /** Claimed by the application and not yet sent; holder = endpoint. */
  public static final int APPLICATION = 6 << KIND_SHIFT;

  /** A received message that the application retained; holder = endpoint. */
  public static final int LOAN = 7 << KIND_SHIFT;

  /** Taken away by whoever stands for the machine around a node: the simulator. */
  public static final int WIRE = 8 << KIND_SHIFT;

  private static final String[] NAMES = {
    "FREE", "NODE", "PORT", "WINDOW", "REORDER", "INBOX", "APPLICATION", "LOAN", "WIRE"
  };

  private Owner() {}

  /**
   * An owner of a kind.
   *
   * @param holder 0 to {@link #HOLDER_MAX}; higher bits are cut off, so that a bad number cannot
   *     turn into another kind
   */
  public static int of(int kind, int holder) {
    return kind | holder & HOLDER_MAX;
  }

  /** One of the kind constants. */
  public static int kind(int owner) {
    return owner & ~HOLDER_MAX;
  }

  public static int holder(int owner) {
    return owner & HOLDER_MAX;
  }

  /** For people: {@code WINDOW 12}. Control path. */
  public static String describe(int owner) {
    int kind = owner >>> KIND_SHIFT;
    String name = kind < NAMES.length ? NAMES[kind] : "kind " + kind;
    return owner == FREE ? name : name + " " + holder(owner);
  }
}
