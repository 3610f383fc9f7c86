package org.pmhxb.router;

import java.util.List;
import java.util.stream.Collectors;

/** A configuration with errors: all of them, a line each. */
public final class ConfigException extends IllegalArgumentException {
  private final transient List<ConfigError> errors;

  ConfigException(List<ConfigError> errors) {
    super(errors.stream().map(ConfigError::toString).collect(Collectors.joining("\n")));
    this.errors = List.copyOf(errors);
  }

  /** In the order of their lines. */
  public List<ConfigError> errors() {
    return errors;
  }
}
