package org.pmhxb.cli.doctor;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** How grave a finding is. */
public enum Status {
  /** As it should be. */
  OK("green"),
  /** Works, but slower, or without one of the fabrics. */
  WARNING("yellow"),
  /** Nothing works until this is mended; decides the exit code. */
  FAILURE("red");

  private final String colour;

  Status(String colour) {
    this.colour = colour;
  }

  /** A picocli colour name. */
  String colour() {
    return colour;
  }

  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
