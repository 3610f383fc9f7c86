package org.pmhxb.ffi;

import org.pmhxb.ffi.gen.Pmhxb;

/**
 * Doorbells: eventfds that wake a thread in {@link Hxb#waitReadable} (control path; ringing is
 * {@link Hxb#eventSignal}).
 */
public final class Events {
  private Events() {}

  /** A new doorbell, not rung. */
  public static int create() {
    NativeLibrary.load();
    int code = Pmhxb.hxb_event_create();
    if (code < 0) {
      throw new NativeException("hxb_event_create", code, Errno.remedy(code, "see hxb doctor"));
    }
    return code;
  }

  /** Nobody may wait on it or ring it any more. */
  public static void close(int fd) {
    int code = Pmhxb.hxb_event_close(fd);
    if (code < 0) {
      throw new NativeException("hxb_event_close(" + fd + ")", code, "");
    }
  }
}
