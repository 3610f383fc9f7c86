package org.pmhxb.cli.doctor;

import java.util.List;

/** Looks at one side of a machine. */
interface Check {
  List<Finding> examine(Machine machine);
}
