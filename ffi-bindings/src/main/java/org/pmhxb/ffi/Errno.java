package org.pmhxb.ffi;

import java.util.Map;

/** The negative results of native calls (Linux, generic numbering: x86-64 and AArch64 agree). */
public final class Errno {
  public static final int EPERM = 1;
  public static final int ENOENT = 2;
  public static final int EIO = 5;
  public static final int EAGAIN = 11;
  public static final int ENOMEM = 12;
  public static final int EACCES = 13;
  public static final int EFAULT = 14;
  public static final int EBUSY = 16;
  public static final int EEXIST = 17;
  public static final int ENODEV = 19;
  public static final int EINVAL = 22;
  public static final int EMFILE = 24;
  public static final int ENOSPC = 28;
  public static final int ERANGE = 34;
  public static final int ENAMETOOLONG = 36;
  public static final int ENOTSUP = 95;
  public static final int EADDRINUSE = 98;
  public static final int ENETDOWN = 100;
  public static final int ENOBUFS = 105;
  public static final int EALREADY = 114;

  private static final Map<Integer, String> TEXTS =
      Map.ofEntries(
          Map.entry(EPERM, "EPERM, operation not permitted"),
          Map.entry(ENOENT, "ENOENT, not found"),
          Map.entry(EIO, "EIO, input/output error"),
          Map.entry(EAGAIN, "EAGAIN, not now"),
          Map.entry(ENOMEM, "ENOMEM, out of memory"),
          Map.entry(EACCES, "EACCES, permission denied"),
          Map.entry(EFAULT, "EFAULT, bad address"),
          Map.entry(EBUSY, "EBUSY, still in use"),
          Map.entry(EEXIST, "EEXIST, exists already"),
          Map.entry(ENODEV, "ENODEV, no such device"),
          Map.entry(EINVAL, "EINVAL, invalid argument"),
          Map.entry(EMFILE, "EMFILE, too many open files"),
          Map.entry(ENOSPC, "ENOSPC, no room left"),
          Map.entry(ERANGE, "ERANGE, out of range"),
          Map.entry(ENAMETOOLONG, "ENAMETOOLONG, name too long"),
          Map.entry(ENOTSUP, "ENOTSUP, not supported"),
          Map.entry(EADDRINUSE, "EADDRINUSE, address already in use"),
          Map.entry(ENETDOWN, "ENETDOWN, port is stopped"),
          Map.entry(ENOBUFS, "ENOBUFS, no buffer space"),
          Map.entry(EALREADY, "EALREADY, done already"));

  private Errno() {}

  /** For example {@code "-19 (ENODEV, no such device)"}. */
  public static String describe(int code) {
    String text = TEXTS.get(-code);
    return text == null ? Integer.toString(code) : code + " (" + text + ")";
  }

  /** What to do about a call that opens files: their limit's mend, or what else it may lack. */
  static String remedy(int code, String otherwise) {
    return code == -EMFILE
        ? "raise the limit of open files: ulimit -n 1024, or LimitNOFILE of its service"
        : otherwise;
  }
}
