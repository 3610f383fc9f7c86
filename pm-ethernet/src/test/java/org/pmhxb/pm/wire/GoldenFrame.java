package org.pmhxb.pm.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One {@code golden} block of PROTOCOL.md section 11.
 *
 * @param header values by name of field
 * @param payload fields in order
 * @param bytes the frame
 */
public record GoldenFrame(
    String name, Map<String, Long> header, List<Field> payload, byte[] bytes) {

  /** A payload field: its name and its bytes as on the wire. */
  public record Field(String name, byte[] bytes) {
    public long value() {
      return new BigInteger(1, bytes).longValue();
    }
  }

  private static final Pattern BLOCK =
      Pattern.compile("```golden name=([a-z-]+)\n(.*?)```", Pattern.DOTALL);
  private static final Pattern HEADER = Pattern.compile("(\\w+) = 0x([0-9a-f]+)");
  private static final Pattern PAYLOAD =
      Pattern.compile("payload\\.([\\w.]+):(\\d+) = 0x([0-9a-f]+)");
  private static final Pattern HEX = Pattern.compile("[0-9a-f]{4}: ([0-9a-f ]+)");

  /** All blocks by name; the file lies in the directory that the build names {@code hxb.home}. */
  public static Map<String, GoldenFrame> readAll() {
    String root = System.getProperty("hxb.home");
    if (root == null) {
      throw new IllegalStateException(
          "hxb.home is not set: run the tests by Maven, or pass -Dhxb.home=<directory of PROTOCOL.md>");
    }
    String text;
    try {
      text = Files.readString(Path.of(root, "PROTOCOL.md"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Map<String, GoldenFrame> all = new LinkedHashMap<>();
    Matcher block = BLOCK.matcher(text);
    while (block.find()) {
      GoldenFrame frame = parse(block.group(1), block.group(2));
      if (all.put(frame.name, frame) != null) {
        throw new IllegalStateException("two golden frames named " + frame.name);
      }
    }
    return all;
  }

  private static GoldenFrame parse(String name, String text) {
    Map<String, Long> header = new LinkedHashMap<>();
    List<Field> payload = new ArrayList<>();
    StringBuilder hex = new StringBuilder();
    for (String line : text.split("\n")) {
      Matcher bytes = HEX.matcher(line);
      Matcher field = PAYLOAD.matcher(line);
      if (bytes.matches()) {
        hex.append(bytes.group(1).replace(" ", ""));
      } else if (field.matches()) {
        byte[] value = bytesOf(field.group(3));
        if (value.length * 8 != Integer.parseInt(field.group(2))) {
          throw new IllegalStateException(name + ": width and value differ: " + line);
        }
        payload.add(new Field(field.group(1), value));
      } else {
        for (String part : line.split(" ; ")) {
          Matcher one = HEADER.matcher(part);
          if (!one.matches()) {
            throw new IllegalStateException(name + ": cannot read " + part);
          }
          header.put(one.group(1), Long.parseLong(one.group(2), 16));
        }
      }
    }
    return new GoldenFrame(name, header, payload, bytesOf(hex.toString()));
  }

  private static byte[] bytesOf(String hex) {
    return java.util.HexFormat.of().parseHex(hex);
  }

  public int get(String field) {
    return (int) (long) header.get(field);
  }

  /** A payload field's value. */
  public long payload(String field) {
    return payload.stream().filter(f -> f.name.equals(field)).findFirst().orElseThrow().value();
  }

  /** Offset of a payload field within the payload. */
  public int offsetOf(String field) {
    int at = 0;
    for (Field f : payload) {
      if (f.name.equals(field)) {
        return at;
      }
      at += f.bytes.length;
    }
    throw new IllegalArgumentException(name + " has no payload field " + field);
  }

  /** Builds the frame of the named values by the production codec. */
  public byte[] build() {
    byte[] built = new byte[bytes.length];
    java.util.Arrays.fill(built, (byte) 0x5A); // what is not written shows
    MemorySegment region = java.lang.foreign.Arena.ofAuto().allocate(bytes.length + 64L);
    long at = 64;
    FrameHeader.hop(region, at, get("hopLimit"), get("copy"), get("path"));
    FrameHeader.ethernet(region, at, header.get("dstMac"), header.get("srcMac"));
    FrameHeader.kindSrc(region, at, get("kind"), get("src"));
    FrameHeader.flagsDst(region, at, get("flags"), get("dst"));
    FrameHeader.keySession(region, at, get("key"), get("session"));
    FrameHeader.seqAck(region, at, get("seq"), get("ack"));
    FrameHeader.credit(region, at, get("credit"));
    int length = get("length");
    FrameHeader.endpointsLengthBeyond(
        region, at, get("srcEndpoint"), get("dstEndpoint"), length, get("beyond"));
    int to = FrameHeader.BYTES;
    for (Field field : payload) {
      for (byte b : field.bytes) {
        region.set(java.lang.foreign.ValueLayout.JAVA_BYTE, at + to++, b);
      }
    }
    FrameHeader.crc(region, at, new FrameCrc(region).of(at, length));
    MemorySegment.copy(region, java.lang.foreign.ValueLayout.JAVA_BYTE, at, built, 0, built.length);
    return built;
  }
}
