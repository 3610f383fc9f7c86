package org.pmhxb.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version that the build wrote into {@code version.properties}. */
public final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {"hxb " + project(), "JDK " + Runtime.version()};
  }

  /** As in 0.1.0-SNAPSHOT. */
  public static String project() {
    Properties properties = new Properties();
    try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException("version.properties cannot be read", e);
    }
    return properties.getProperty("version");
  }
}
