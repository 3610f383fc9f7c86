package org.pmhxb.bufpool;

/**
 * The 16-byte primitive in which buffers are handed over between threads and processes, as two
 * words; it holds no address and no Java reference.
 *
 * <pre>
 * lo  63      56 55     48 47        32 31        16 15         0
 *    | op:8     | flags:8 | tag:16     | endpoint:16| offset:16  |
 * hi  63               40 39               16 15                0
 *    | bufferId:24       | node:24           | length:16         |
 * </pre>
 *
 * <p>Offset and length are bytes within the buffer's frame. All fields are unsigned; what does not
 * fit a field is cut off, never carried into its neighbour.
 */
public final class Descriptor {
  public static final int BYTES = 2 * Long.BYTES;

  private static final int OP_SHIFT = 56;
  private static final int FLAGS_SHIFT = 48;
  private static final int TAG_SHIFT = 32;
  private static final int ENDPOINT_SHIFT = 16;

  /** Of the buffer ID, the uppermost field of the second word. */
  public static final int BUFFER_SHIFT = 40;

  private static final int NODE_SHIFT = 16;
  private static final long U8 = 0xFF;
  private static final long U16 = 0xFFFF;
  private static final long U24 = 0xFF_FFFF;

  private Descriptor() {}

  public static long lo(int op, int flags, int tag, int endpoint, int offset) {
    return (op & U8) << OP_SHIFT
        | (flags & U8) << FLAGS_SHIFT
        | (tag & U16) << TAG_SHIFT
        | (endpoint & U16) << ENDPOINT_SHIFT
        | offset & U16;
  }

  public static long hi(int bufferId, int node, int length) {
    return (bufferId & U24) << BUFFER_SHIFT | (node & U24) << NODE_SHIFT | length & U16;
  }

  /** The same, of a word that has the node already. */
  public static long hiOf(long nodeWord, int bufferId, int length) {
    return (bufferId & U24) << BUFFER_SHIFT | nodeWord | length & U16;
  }

  public static int op(long lo) {
    return (int) (lo >>> OP_SHIFT);
  }

  public static int flags(long lo) {
    return (int) (lo >>> FLAGS_SHIFT & U8);
  }

  public static int tag(long lo) {
    return (int) (lo >>> TAG_SHIFT & U16);
  }

  public static int endpoint(long lo) {
    return (int) (lo >>> ENDPOINT_SHIFT & U16);
  }

  public static int offset(long lo) {
    return (int) (lo & U16);
  }

  public static int bufferId(long hi) {
    return (int) (hi >>> BUFFER_SHIFT);
  }

  public static int node(long hi) {
    return (int) (hi >>> NODE_SHIFT & U24);
  }

  public static int length(long hi) {
    return (int) (hi & U16);
  }
}
