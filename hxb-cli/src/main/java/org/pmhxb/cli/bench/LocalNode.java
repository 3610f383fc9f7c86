package org.pmhxb.cli.bench;

import java.util.Map;
import org.pmhxb.cli.node.NodeHandle;
import org.pmhxb.cli.workload.MessageLink;
import org.pmhxb.cli.workload.Workload;
import org.pmhxb.cli.workload.WorkloadReport;
import org.pmhxb.cli.workload.WorkloadSpec;

/** A node in this process. It stays running when this is closed. */
public final class LocalNode implements BenchNode {
  private final NodeHandle handle;
  private MessageLink link;

  public LocalNode(NodeHandle handle) {
    this.handle = handle;
  }

  @Override
  public int node() {
    return handle.self();
  }

  @Override
  public Map<String, Long> counters() {
    return handle.status().counters();
  }

  @Override
  public void prepare(WorkloadSpec spec) {
    link = handle.open(spec.endpoint(), spec.ownFrames());
  }

  @Override
  public WorkloadReport run(WorkloadSpec spec, long startNs) throws InterruptedException {
    Workload workload = Workload.of(spec, link, startNs, System::nanoTime);
    return handle.drive(workload, Thread.currentThread()::isInterrupted);
  }

  @Override
  public void close() {
    if (link != null) {
      link.close();
      link = null;
    }
  }
}
