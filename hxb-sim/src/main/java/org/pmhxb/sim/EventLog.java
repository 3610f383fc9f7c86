package org.pmhxb.sim;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What happened, in order: the same bytes for the same seed. Owner: the simulation's thread. */
public final class EventLog {
  private final boolean on;
  private final StringBuilder text = new StringBuilder();
  private final EventQueue queue;

  EventLog(EventQueue queue, boolean on) {
    this.queue = queue;
    this.on = on;
  }

  /** Whether lines are kept: ask before composing one. */
  public boolean isOn() {
    return on;
  }

  /** Notes a line at the present virtual time. */
  public void add(String line) {
    if (on) {
      text.append(queue.nowNs()).append(' ').append(line).append('\n');
    }
  }

  /** All lines. */
  public byte[] bytes() {
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** The last lines that mention a pair of nodes or concern the whole machine. */
  public List<String> lastOf(int a, int b, int limit) {
    String forth = " " + a + ">" + b + " ";
    String back = " " + b + ">" + a + " ";
    List<String> found = new ArrayList<>();
    int end = text.length();
    while (end > 0 && found.size() < limit) {
      int from = text.lastIndexOf("\n", end - 2) + 1;
      String line = text.substring(from, end - 1);
      if (a < 0 || line.contains(forth) || line.contains(back) || line.contains(" fault ")) {
        found.add(line);
      }
      end = from;
    }
    return found.reversed();
  }
}
