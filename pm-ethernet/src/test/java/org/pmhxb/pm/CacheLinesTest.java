package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sun.misc.Unsafe;

/**
 * What each frame reads and writes of a peer lies in as few cache lines as its classes say
 * (docs/performance/send.md), laid out as the JVM does with {@code scripts/jvm.args}.
 */
class CacheLinesTest {
  private static final int LINE_BYTES = 64;

  @ParameterizedTest
  @CsvSource({
    "org.pmhxb.pm.LaneState, org.pmhxb.pm.Lane, 1",
    "org.pmhxb.pm.SendState, org.pmhxb.pm.Peer, 1",
    "org.pmhxb.pm.AckState, org.pmhxb.pm.Peer, 2",
    "org.pmhxb.pm.SettleState, org.pmhxb.pm.Peer, 3",
    "org.pmhxb.pm.InLane, org.pmhxb.pm.InLane, 1",
    "org.pmhxb.pm.Way, org.pmhxb.pm.PathState, 2",
    "org.pmhxb.pm.PathTimes, org.pmhxb.pm.PathState, 4",
    "org.pmhxb.pm.flow.WindowEnd, org.pmhxb.pm.flow.SendWindow, 2",
  })
  void hotFieldsComeFirst(String hot, String whole, int lines) throws Exception {
    Class<?> lastHot = Class.forName(hot);
    long hotEnd = 0;
    for (Class<?> c = lastHot; c != Object.class; c = c.getSuperclass()) {
      for (Field field : c.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers())) {
          long at = unsafe().objectFieldOffset(field);
          hotEnd = Math.max(hotEnd, at + bytes(field.getType()));
        }
      }
    }
    assertThat(lastHot).isAssignableFrom(Class.forName(whole));
    assertThat(hotEnd).as("end of %s", hot).isLessThanOrEqualTo((long) lines * LINE_BYTES);
  }

  private static int bytes(Class<?> type) {
    if (type == long.class || type == double.class) {
      return Long.BYTES;
    }
    return type == byte.class || type == boolean.class ? 1 : Integer.BYTES;
  }

  private static Unsafe unsafe() throws ReflectiveOperationException {
    Field field = Unsafe.class.getDeclaredField("theUnsafe");
    field.setAccessible(true);
    return (Unsafe) field.get(null);
  }
}
