package org.pmhxb.router;

import java.util.Map;

/** Writes a configuration as TOML, every key stated. */
final class ConfigWriter {
  private ConfigWriter() {}

  static String write(HxbConfig.Builder b) {
    StringBuilder out = new StringBuilder(512);
    out.append("# One node of a PM/Ethernet-HXB cluster.\n");
    if (!b.name.isEmpty()) {
      text(out, "name", b.name);
    }
    text(out, "key", b.key);
    if (b.shape != null) {
      text(out, "shape", b.shape.toString());
    }
    if (b.coordinates != null) {
      coordinates(out, b.coordinates, b.shape);
    }
    if (!b.keyFile.isEmpty()) {
      text(out, "key-file", b.keyFile);
    }
    if (b.tag != HxbConfig.Tag.OFF || !b.keyFile.isEmpty()) {
      text(out, "tag", b.tag.toString());
    }
    if (!b.faults.isEmpty()) {
      text(out, "faults", b.faults);
    }
    number(out, "mtu", b.mtuBytes);
    text(out, "control-socket", b.controlSocket);
    out.append("\n[pool]\n");
    number(out, "buffers", b.poolBuffers);
    number(out, "stride-bytes", b.poolStrideBytes);
    text(out, "hugepages", b.hugepages.toString());
    out.append("\n[peer]\n");
    number(out, "window", b.windowFrames);
    number(out, "timeout-ms", b.peerTimeoutMs);
    out.append("\n[poll]\n");
    number(out, "cpu", b.pollCpu);
    text(out, "idle", b.idle.toString());
    for (HxbConfig.Rail rail : b.rails) {
      out.append("\n[[rail]]\n");
      text(out, "dimension", rail.dimension().toString());
      number(out, "index", rail.index());
      text(out, "driver", rail.driver().toString());
      text(out, "device", rail.device());
      for (Map.Entry<String, String> option : rail.options().entrySet()) {
        text(out, option.getKey(), option.getValue());
      }
    }
    for (HxbConfig.Far far : b.far) {
      out.append("\n[[far]]\n");
      coordinates(out, far.coordinates(), b.shape);
      number(out, "longer-us", far.longerUs());
    }
    return out.toString();
  }

  private static void coordinates(StringBuilder out, Coordinates c, Shape shape) {
    int dimensions = shape == null ? Dimension.COUNT : shape.dimensions();
    out.append("coordinates = ").append(coordinates(c, dimensions)).append('\n');
  }

  /** Dimensions beyond the shape's are left out, unless they are not 0: then they are an error. */
  private static String coordinates(Coordinates c, int dimensions) {
    int last = dimensions;
    for (int d = dimensions; d < Dimension.COUNT; d++) {
      last = c.get(d) != 0 ? d + 1 : last;
    }
    return c.toList().subList(0, last).toString();
  }

  private static void number(StringBuilder out, String key, int value) {
    out.append(key).append(" = ").append(value).append('\n');
  }

  private static void text(StringBuilder out, String key, String value) {
    out.append(key(key)).append(" = ").append(quoted(value)).append('\n');
  }

  private static String key(String key) {
    return key.matches("[A-Za-z0-9_-]+") ? key : quoted(key);
  }

  /** A TOML basic string. */
  static String quoted(String value) {
    StringBuilder out = new StringBuilder(value.length() + 2).append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        default -> {
          if (c < 0x20 || c == 0x7F) {
            out.append(String.format("\\u%04x", (int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    return out.append('"').toString();
  }
}
