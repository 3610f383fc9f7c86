package org.pmhxb.cli;

import java.util.List;
import org.pmhxb.cli.cluster.ClusterSpec;
import org.pmhxb.cli.veth.LinkRate;
import org.pmhxb.router.Shape;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How option values are read and coordinates written. */
final class Options {
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

  /** A cluster's specification; what does not go together is wrong usage of the command. */
  static ClusterSpec spec(
      HxbCommand command, ClusterSpec.Fabric fabric, Shape shape, int rails, LinkRate rate) {
    if (rails < 1 || rails > 9) {
      throw command.wrongUsage("--rails is " + rails + "; must be in 1..9");
    }
    try {
      return new ClusterSpec(fabric, shape, rails, rate);
    } catch (IllegalArgumentException e) {
      throw command.wrongUsage(e.getMessage());
    }
  }

  /** In brackets, as in (1,0,1). */
  static String place(List<Integer> coordinates) {
    return coordinates.toString().replace('[', '(').replace(']', ')').replace(" ", "");
  }
}
