package org.pmhxb.sim.work;

import java.util.List;

/** Gives each node its programs, at every start of the node. */
@FunctionalInterface
public interface Workload {
  List<Program> programs(Host host);
}
