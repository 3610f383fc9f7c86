package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.pmhxb.ffi.Events;
import org.pmhxb.ffi.Hxb;

/** A descriptor's number is another file's once it is closed: nobody may write to it then. */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RungEventTest {
  @Test
  void itIsClosedWhenTheLastWhoRingsHasLeft() throws Exception {
    RungEvent event = new RungEvent();
    event.ring();
    assertThat(isReadable(event.fd())).isTrue();
    assertThat(Hxb.waitReadable(0, 0, event.fd(), 0)).isEqualTo(1);
    assertThat(isReadable(event.fd())).isFalse();
    assertThat(event.enter()).isTrue();
    assertThat(event.enter()).isTrue();
    event.leave();
    Thread closer = Thread.ofPlatform().daemon().start(event::close);
    while (event.enter()) {
      event.leave();
    }
    while (closer.isAlive() && !waits(closer)) {
      Thread.onSpinWait();
    }
    assertThat(closer.isAlive()).isTrue();
    // What was entered before may still be rung.
    Hxb.eventSignal(event.fd());
    assertThat(isReadable(event.fd())).isTrue();
    event.leave();
    closer.join();
    assertThat(event.enter()).isFalse();
  }

  @Test
  void whoRingsLateRingsForNobodyElse() {
    RungEvent event = closed();
    int other = Events.create();
    for (int i = 0; i < 20 && other != event.fd(); i++) {
      // Some other thread of this JVM opened a file in between.
      Events.close(other);
      event = closed();
      other = Events.create();
    }
    assertThat(other).as("the number is used again").isEqualTo(event.fd());
    event.ring();
    assertThat(isReadable(other)).isFalse();
    Events.close(other);
  }

  private static RungEvent closed() {
    RungEvent event = new RungEvent();
    event.close();
    return event;
  }

  /** Whether it lets others run: nothing else of it does so before the descriptor is closed. */
  private static boolean waits(Thread closer) {
    return Arrays.stream(closer.getStackTrace()).anyMatch(f -> f.getMethodName().equals("yield"));
  }

  private static boolean isReadable(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment fds = arena.allocateFrom(ValueLayout.JAVA_INT, fd);
      return Hxb.waitReadable(fds.address(), 1, -1, 1_000) > 0;
    }
  }
}
