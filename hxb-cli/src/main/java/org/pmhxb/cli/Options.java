package org.pmhxb.cli;

import java.nio.file.Path;
import java.util.List;
import org.pmhxb.cli.cluster.NodeOptions;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.pm.port.PortFaults;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.Shape;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How option values are read and coordinates written. */
public final class Options {
  private Options() {}

  /** Reads 2x2x2. */
  static final class ShapeConverter implements ITypeConverter<Shape> {
    @Override
    public Shape convert(String text) {
      try {
        return Shape.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** Reads a driver of veth interfaces. */
  static final class VethDriverConverter implements ITypeConverter<HxbConfig.Driver> {
    @Override
    public HxbConfig.Driver convert(String text) {
      return NodeOptions.VETH_DRIVERS.stream()
          .filter(driver -> driver.toString().equalsIgnoreCase(text))
          .findFirst()
          .orElseThrow(
              () ->
                  new TypeConversionException(
                      "\"" + text + "\": must be " + NodeOptions.VETH_DRIVERS_RULE));
    }
  }

  /** Reads loss=0.01,reorder=0.1. */
  public static final class FaultsConverter implements ITypeConverter<PortFaults> {
    @Override
    public PortFaults convert(String text) {
      try {
        return PortFaults.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** Reads 200mbit. */
  static final class RateConverter implements ITypeConverter<LinkRate> {
    @Override
    public LinkRate convert(String text) {
      try {
        return LinkRate.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /**
   * Reads a path: not "", as of a variable that is not set, which is the current folder to Java.
   */
  static Path path(String text) {
    if (text.isEmpty()) {
      throw new TypeConversionException("it is empty");
    }
    return Path.of(text);
  }

  /** In brackets, as in (1,0,1). */
  static String place(List<Integer> coordinates) {
    return coordinates.toString().replace('[', '(').replace(']', ')').replace(" ", "");
  }
}
