package org.pmhxb.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.pmhxb.cli.veth.WaitingTool;

/**
 * A rail is cut, or mended; what does it waits from before the measurement on, in the namespaces of
 * the nodes. To be closed before these are removed. Owner: one thread at a time.
 */
final class RailChange implements AutoCloseable {
  private final List<WaitingTool> ends = new ArrayList<>();

  /**
   * @param namespaces of the nodes whose ends change, the sender's first
   * @param prepare starts the tool for one of them; what it throws leaves, and no tool is left
   */
  RailChange(List<String> namespaces, Function<String, WaitingTool> prepare) {
    try {
      for (String namespace : namespaces) {
        ends.add(prepare.apply(namespace));
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** The sender's end first: from its time on, which is the answer, nothing leaves by that rail. */
  long happen() {
    long doneNs = 0;
    for (WaitingTool end : ends) {
      end.tell();
      doneNs = doneNs == 0 ? System.nanoTime() : doneNs;
    }
    return doneNs;
  }

  /** Ends the tools, whether they were told anything or not. */
  @Override
  public void close() {
    ends.forEach(WaitingTool::close);
  }
}
