package org.pmhxb.cli.doctor;

import com.fasterxml.jackson.annotation.JsonInclude;

/**
 * One line of the doctor's report.
 *
 * @param value what was found, for a person
 * @param remedy the command that mends it, or null when nothing is to be mended
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record Finding(String name, Status status, String value, String remedy) {
  static Finding ok(String name, String value) {
    return new Finding(name, Status.OK, value, null);
  }

  static Finding warning(String name, String value, String remedy) {
    return new Finding(name, Status.WARNING, value, remedy);
  }

  static Finding failure(String name, String value, String remedy) {
    return new Finding(name, Status.FAILURE, value, remedy);
  }

  /** Its remedy as root types it, where there may be no sudo. */
  Finding forRoot() {
    return remedy == null ? this : new Finding(name, status, value, remedy.replace("sudo ", ""));
  }
}
