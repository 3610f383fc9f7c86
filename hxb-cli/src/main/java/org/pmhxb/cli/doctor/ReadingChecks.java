package org.pmhxb.cli.doctor;

import java.util.List;
import java.util.Set;

/**
 * What this user may not read, so that the other checks, which come before, took it for missing.
 */
final class ReadingChecks implements Check {
  /** One if there is any such thing. */
  @Override
  public List<Finding> examine(Machine machine) {
    Set<String> unreadable = machine.unreadable();
    return unreadable.isEmpty()
        ? List.of()
        : List.of(
            Finding.warning(
                "files",
                "not readable for this user, and counted as missing: "
                    + String.join(", ", unreadable),
                "sudo hxb doctor ..."));
  }
}
