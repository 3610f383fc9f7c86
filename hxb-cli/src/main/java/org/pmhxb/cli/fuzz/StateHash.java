package org.pmhxb.cli.fuzz;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.pm.NodeCounters;
import org.pmhxb.pm.port.Port;

/**
 * A hash of all that a node keeps: every field of every object of this project that can be reached
 * from it, private ones included, so that what is added later is watched too. Left out: the clock,
 * what is checked by itself (counters, pool, ports and their queues), what an answer to a frame of
 * an unknown session may change, where the frames of the present burst lie and whose turn it is,
 * and the relay's cache, which holds what follows from a frame's ends and path whatever becomes of
 * it.
 */
final class StateHash {
  static final Set<String> SKIPPED_FIELDS =
      Set.of(
          "NodeCore.nowNs",
          "NodeCore.patienceNs",
          "NodeCore.pollGapNs",
          "NodeCore.sleepGapNs",
          "NodeCore.restUntilNs",
          "NodeCore.slept",
          "PmNode.timerDueNs",
          "Peer.resetSentNs",
          "AckState.nextControlPath",
          "AckState.controlWay",
          "Receiver.strays");
  private static final Set<String> SKIPPED_TYPES =
      Set.of("Rail", "RailTurns", "TransitCache", "QueueBursts");

  private static final class Plan {
    final List<Field> fields = new ArrayList<>();
  }

  private final Map<Class<?>, Plan> plans = new HashMap<>();
  private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
  private Map<String, String> described;
  private long hash;

  /** The hash now. */
  long of(Object root) {
    seen.clear();
    hash = 1;
    described = null;
    walk(root, "");
    return hash;
  }

  /** The same values by their places, for a message. Slow. */
  Map<String, String> describe(Object root) {
    seen.clear();
    described = new TreeMap<>();
    walk(root, root.getClass().getSimpleName());
    Map<String, String> result = described;
    described = null;
    return result;
  }

  /** Places whose value differs, at most 20. */
  static List<String> difference(Map<String, String> before, Map<String, String> after) {
    List<String> lines = new ArrayList<>();
    Map<String, String> all = new TreeMap<>(before);
    all.putAll(after);
    for (String place : all.keySet()) {
      String was = before.getOrDefault(place, "nothing");
      String is = after.getOrDefault(place, "nothing");
      if (!was.equals(is) && lines.size() < 20) {
        lines.add(place + ": " + was + " -> " + is);
      }
    }
    return lines;
  }

  private void mix(long value, String place) {
    hash = (hash ^ value) * 0x9E37_79B9_7F4A_7C15L;
    hash ^= hash >>> 29;
    if (described != null) {
      described.put(place, Long.toHexString(value));
    }
  }

  private String place(String of, String name) {
    return described == null ? "" : of + "." + name;
  }

  private void walk(Object object, String place) {
    if (object == null) {
      mix(0, place);
      return;
    }
    Class<?> type = object.getClass();
    if (type.isArray()) {
      array(object, type.getComponentType(), place);
    } else if (object instanceof Enum<?> e) {
      mix(e.ordinal() + 1, place);
    } else if (object instanceof Number || object instanceof String || object instanceof Boolean) {
      mix(object.hashCode(), place);
    } else if (object instanceof List<?> list) {
      mix(list.size(), place);
      list.forEach(element -> walk(element, place(place, "list")));
    } else if (isOurs(type) && seen.add(object)) {
      fields(object, type, place);
    }
  }

  private static boolean isOurs(Class<?> type) {
    return type.getName().startsWith("org.pmhxb.")
        && !type.isHidden()
        && !BufferPool.class.isAssignableFrom(type)
        && !Port.class.isAssignableFrom(type)
        && type != NodeCounters.class
        && !SKIPPED_TYPES.contains(type.getSimpleName());
  }

  private void array(Object array, Class<?> component, String place) {
    int n = Array.getLength(array);
    mix(n, place);
    if (array instanceof long[] longs) {
      for (int i = 0; i < n; i++) {
        mix(longs[i], described == null ? "" : place + "[" + i + "]");
      }
    } else if (array instanceof int[] ints) {
      for (int i = 0; i < n; i++) {
        mix(ints[i], described == null ? "" : place + "[" + i + "]");
      }
    } else if (component.isPrimitive()) {
      for (int i = 0; i < n; i++) {
        mix(Array.get(array, i).hashCode(), described == null ? "" : place + "[" + i + "]");
      }
    } else {
      Object[] objects = (Object[]) array;
      for (int i = 0; i < n; i++) {
        walk(objects[i], described == null ? "" : place + "[" + i + "]");
      }
    }
  }

  private void fields(Object object, Class<?> type, String place) {
    try {
      for (Field field : plans.computeIfAbsent(type, StateHash::plan).fields) {
        Class<?> kind = field.getType();
        String name = place(place, field.getName());
        if (kind == long.class) {
          mix(field.getLong(object), name);
        } else if (kind == int.class) {
          mix(field.getInt(object), name);
        } else if (kind == boolean.class) {
          mix(field.getBoolean(object) ? 1 : 2, name);
        } else {
          walk(field.get(object), name);
        }
      }
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("cannot read the state of " + type, e);
    }
  }

  private static Plan plan(Class<?> type) {
    Plan plan = new Plan();
    for (Class<?> c = type; c != null && c.getName().startsWith("org.pmhxb."); ) {
      for (Field field : c.getDeclaredFields()) {
        String name = c.getSimpleName() + "." + field.getName();
        if (!Modifier.isStatic(field.getModifiers()) && !SKIPPED_FIELDS.contains(name)) {
          field.setAccessible(true);
          plan.fields.add(field);
        }
      }
      c = c.getSuperclass();
    }
    return plan;
  }
}
