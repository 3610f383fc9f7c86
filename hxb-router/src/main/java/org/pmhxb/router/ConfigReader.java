package org.pmhxb.router;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.toml.TomlMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.pm.PmNode;
import org.pmhxb.pm.port.DpdkPorts;
import org.pmhxb.pm.port.PortFaults;
import org.pmhxb.pm.wire.FrameHeader;
import org.pmhxb.pm.wire.FrameTag;

/** Reads and validates a node's configuration; gathers all errors before it complains. */
final class ConfigReader {
  /** Far more than 27 rails need. */
  private static final int MAX_BYTES = 1 << 20;

  /** What some editors put in front of UTF-8. */
  private static final String BYTE_ORDER_MARK = "\uFEFF";

  private static final String STRIDE = "pool.stride-bytes";

  private static final int STRIDE_BYTES_MIN = 1_024;

  private static final int WINDOW_MIN = 4;

  /** What the acknowledgements of the smallest window need. */
  private static final int MTU_MIN_BYTES = mtuFor(WINDOW_MIN, 0);

  /** Processors that the kernel's calls can name (CPU_SETSIZE). */
  private static final int CPUS = 1_024;

  /**
   * Longest path of a Unix socket: sun_path has 108 bytes, one of them the closing zero, and the
   * JDK takes two less.
   */
  private static final int MAX_SOCKET_BYTES = 106;

  private static final String LINE_RULE = DpdkPorts.LINE_NAME_RULE + " (no path)";

  /** A kernel interface's name has at most 15 bytes (IFNAMSIZ - 1). */
  private static final String INTERFACE = "[^\\s/:\\p{Cntrl}]{1,15}";

  private static final String PCI_ADDRESS =
      "([0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7]";

  /** What EAL takes behind the address of an allowed device. */
  private static final String DEVARGS =
      "[A-Za-z0-9_-]+=[^\\s,\\p{Cntrl}]+(,[A-Za-z0-9_-]+=[^\\s,\\p{Cntrl}]+)*";

  private static final String DRIVERS = "\"shm\", \"memif\", \"packet\", \"af_packet\", \"pci\"";

  private static final List<String> ROOT_KEYS =
      List.of(
          "name",
          "key",
          "shape",
          "coordinates",
          "key-file",
          "tag",
          "faults",
          "mtu",
          "control-socket",
          "pool",
          "peer",
          "poll",
          "rail",
          "far");
  private static final List<String> FAR_KEYS = List.of("coordinates", "longer-us");

  /** 10 s: the limit of PmNode.longWay. */
  private static final int FAR_MAX_US = 10_000_000;

  private static final List<String> RAIL_KEYS = List.of("dimension", "index", "driver", "device");

  /** Nesting is limited to what {@link TomlLines} follows: see there. */
  private static final TomlMapper MAPPER = new TomlMapper();

  private final ConfigScope scope;
  private final HxbConfig.Builder builder = HxbConfig.builder();

  private ConfigReader(ConfigScope scope) {
    this.scope = scope;
  }

  static HxbConfig read(Path file) {
    String name = file.toString();
    try {
      byte[] bytes = bytesOf(file);
      if (bytes.length > MAX_BYTES) {
        throw unreadable(name, "has more than " + MAX_BYTES + " bytes");
      }
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      return parse(name, text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text);
    } catch (NoSuchFileException e) {
      throw unreadable(name, "no such file; hxb up writes such files, see hxb node --help");
    } catch (AccessDeniedException e) {
      throw unreadable(name, "cannot be read: permission denied");
    } catch (CharacterCodingException e) {
      throw unreadable(name, "is not UTF-8 text");
    } catch (IOException e) {
      throw unreadable(name, "cannot be read: " + e);
    }
  }

  /** At most one byte more than is allowed: a device file has no end. */
  private static byte[] bytesOf(Path file) throws IOException {
    if (Files.isDirectory(file)) {
      throw unreadable(file.toString(), "is a directory, not a file");
    }
    try (InputStream in = Files.newInputStream(file)) {
      return in.readNBytes(MAX_BYTES + 1);
    }
  }

  private static ConfigException unreadable(String file, String problem) {
    return new ConfigException(List.of(new ConfigError(file, 0, "", "", problem)));
  }

  static HxbConfig parse(String file, String text) {
    TomlLines lines = TomlLines.of(text);
    if (!lines.tooLong().isEmpty()) {
      String problem = "a key with its tables has at most " + TomlLines.MAX_KEY + " characters";
      throw new ConfigException(
          List.of(new ConfigError(file, lines.tooLongLine(), lines.tooLong(), "", problem)));
    }
    JsonNode root;
    try {
      root = MAPPER.readTree(text);
    } catch (JacksonException e) {
      throw new ConfigException(List.of(syntaxError(file, text, lines, e)));
    }
    ConfigScope scope = new ConfigScope(file, lines);
    return new ConfigReader(scope).document(file, root);
  }

  private static ConfigError syntaxError(
      String file, String text, TomlLines lines, JacksonException e) {
    String message = e.getOriginalMessage();
    if (message.startsWith("Duplicate key") && !lines.duplicate().isEmpty()) {
      // Jackson's location is that of the statement behind it.
      String key = lines.duplicate();
      String problem = "stands twice; first on line " + lines.line(key);
      return new ConfigError(file, lines.duplicateLine(), key, "", problem);
    }
    JsonLocation at = e.getLocation();
    int last = Math.max(1, (int) text.lines().count());
    int line = at == null || at.getLineNr() < 1 ? last : Math.min(at.getLineNr(), last);
    return new ConfigError(file, line, "", "", "is not TOML: " + inPlainWords(message));
  }

  /** Of the parser's commonest complaints, which name what it met and not what is to be done. */
  private static String inPlainWords(String complaint) {
    return switch (complaint) {
      case "Unknown token" -> "a value that is no number, true or false: text stands in quotes";
      case "Premature end of file" -> "ends within a value: a quote or bracket is not closed";
      default -> complaint;
    };
  }

  private HxbConfig document(String file, JsonNode root) {
    scope.unknownKeys(root, "", ROOT_KEYS);
    builder.key = key(root);
    frameKey(root);
    faults(root);
    builder.shape = shape(root);
    builder.coordinates = coordinates(root, "coordinates");
    builder.mtuBytes =
        scope.integer(
            root, "mtu", MTU_MIN_BYTES, HxbConfig.MTU_MAX_BYTES, builder.mtuBytes, "bytes");
    builder.controlSocket = scope.text(root, "control-socket", "");
    checkSocket("control-socket", builder.controlSocket);
    builder.name = name(root);
    pool(root);
    peer(root);
    poll(root);
    int railsPerDimension = rails(root);
    checkStride();
    checkMtu();
    far(root);
    scope.throwIfAny();
    return new HxbConfig(file, builder, railsPerDimension);
  }

  private String key(JsonNode root) {
    String key = scope.requiredText(root, "key", "the cluster's key, 1 to 64 characters");
    if (key != null) {
      boolean hex = key.startsWith("0x");
      if (hex && !key.matches("0x[0-9a-fA-F]{1,8}")) {
        scope.error("key", key, "must have 1 to 8 hexadecimal digits after 0x");
      } else if (key.isBlank() || key.length() > 64) {
        scope.error("key", key, "must have 1 to 64 characters, not only blanks");
      }
    }
    return key;
  }

  /** The file itself is read at the node's start. */
  private void frameKey(JsonNode root) {
    builder.keyFile = scope.text(root, "key-file", "");
    if (root.has("key-file") && builder.keyFile.isBlank()) {
      scope.error("key-file", builder.keyFile, "must be the path of a file of mode 600");
    }
    checkPath("key-file", builder.keyFile);
    boolean given = !builder.keyFile.isBlank();
    HxbConfig.Tag otherwise = given ? HxbConfig.Tag.REPLAY : HxbConfig.Tag.OFF;
    builder.tag = scope.choice(root, "tag", HxbConfig.Tag.class, otherwise);
    if (builder.tag != HxbConfig.Tag.OFF && !given) {
      scope.error("tag", builder.tag.toString(), "needs a key-file");
    }
  }

  private void faults(JsonNode root) {
    builder.faults = scope.text(root, "faults", "");
    try {
      PortFaults.parse(builder.faults);
    } catch (IllegalArgumentException e) {
      scope.error("faults", builder.faults, e.getMessage());
    }
  }

  private Shape shape(JsonNode root) {
    String text = scope.requiredText(root, "shape", "1 to 3 extents, as in \"2x2x2\"");
    if (text == null) {
      return null;
    }
    try {
      return Shape.parse(text);
    } catch (IllegalArgumentException e) {
      scope.error("shape", text, e.getMessage());
      return null;
    }
  }

  private Coordinates coordinates(JsonNode table, String path) {
    JsonNode node = table.get("coordinates");
    if (node == null) {
      scope.missing(path, "one number per dimension, as in [1, 0, 1]");
      return null;
    }
    String text = node.isTextual() ? node.textValue() : numbers(node);
    if (text == null) {
      scope.error(path, node.toString(), "must be 1 to 3 whole numbers, as in [1, 0, 1]");
      return null;
    }
    try {
      Coordinates c = Coordinates.parse(text);
      int given = text.split(",", -1).length;
      Shape shape = builder.shape;
      if (shape != null && given != shape.dimensions()) {
        scope.error(
            path,
            node.toString(),
            "must be " + shape.dimensions() + " numbers for the shape " + shape);
      } else if (shape != null && !shape.contains(c)) {
        scope.error(
            path, node.toString(), "must be in " + ranges(shape) + " for the shape " + shape);
      } else {
        return c;
      }
    } catch (IllegalArgumentException e) {
      scope.error(path, node.toString(), e.getMessage());
    }
    return null;
  }

  /** An array of whole numbers as text, or null. */
  private static String numbers(JsonNode node) {
    if (!node.isArray() || node.isEmpty()) {
      return null;
    }
    StringBuilder text = new StringBuilder();
    for (JsonNode element : node) {
      if (!element.isIntegralNumber()) {
        return null;
      }
      text.append(text.isEmpty() ? "" : ",").append(element.asText());
    }
    return text.toString();
  }

  private static String ranges(Shape shape) {
    StringBuilder text = new StringBuilder();
    for (int d = 0; d < shape.dimensions(); d++) {
      text.append(d == 0 ? "" : ", ").append("0..").append(shape.extent(d) - 1);
    }
    return text.toString();
  }

  private String name(JsonNode root) {
    String name = scope.text(root, "name", "");
    if (!root.has("name")) {
      boolean known = builder.shape != null && builder.coordinates != null;
      return known ? "node" + builder.shape.node(builder.coordinates) : "";
    }
    if (!name.matches("[A-Za-z0-9._-]{1,63}")) {
      scope.error("name", name, "must be 1 to 63 letters, digits, dots, underscores and hyphens");
    }
    return name;
  }

  private void checkSocket(String path, String socket) {
    int bytes = socket.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MAX_SOCKET_BYTES) {
      scope.error(
          path, socket, "has " + bytes + " bytes; a socket's path has at most " + MAX_SOCKET_BYTES);
    } else {
      checkPath(path, socket);
    }
  }

  /**
   * What this JVM takes for a path, which depends on the character set that it was started with.
   */
  private void checkPath(String path, String file) {
    try {
      Path.of(file);
    } catch (InvalidPathException e) {
      boolean ascii = file.chars().allMatch(c -> c < 0x80);
      scope.error(
          path,
          file,
          "is no path: "
              + e.getReason()
              + (ascii ? "" : "; start it with LC_ALL=C.UTF-8 in the environment, or use ASCII"));
    }
  }

  private void pool(JsonNode root) {
    JsonNode pool = scope.table(root, "pool", List.of("buffers", "stride-bytes", "hugepages"));
    int buffers = scope.integer(pool, "pool.buffers", 0, (1 << 24) - 1, 0, "buffers");
    if (buffers > 0 && buffers < 64) {
      scope.error("pool.buffers", "" + buffers, "must be 0 (automatic) or 64 to 16777215");
    }
    builder.poolBuffers = buffers;
    builder.poolStrideBytes = stride(pool);
    builder.hugepages =
        scope.choice(pool, "pool.hugepages", HxbConfig.Hugepages.class, HxbConfig.Hugepages.AUTO);
  }

  /** 0 after an error. */
  private int stride(JsonNode pool) {
    int stride = scope.integer(pool, STRIDE, 0, BufferPool.STRIDE_BYTES_MAX, 0, "bytes");
    if (stride != 0 && (stride < STRIDE_BYTES_MIN || stride % BufferPool.STRIDE_UNIT_BYTES != 0)) {
      scope.error(
          STRIDE,
          "" + stride,
          "must be 0 (automatic) or a multiple of %d, %d to %d"
              .formatted(
                  BufferPool.STRIDE_UNIT_BYTES, STRIDE_BYTES_MIN, BufferPool.STRIDE_BYTES_MAX));
      return 0;
    }
    return stride;
  }

  /** Buffers hold a frame and, whatever the mtu, a slot of the driver that copies into them. */
  private void checkStride() {
    int stride = builder.poolStrideBytes;
    int frameBytes = builder.mtuBytes + FrameHeader.ETHERNET_HEADER_BYTES;
    int slotBytes = uses(HxbConfig.Driver.AF_PACKET) ? DpdkPorts.AF_PACKET_SLOT_BYTES : 0;
    int bytes = Math.max(frameBytes, slotBytes);
    if (stride > 0 && bytes > BufferPool.frameCapacityBytes(stride)) {
      scope.error(
          STRIDE,
          "" + stride,
          (bytes > frameBytes ? "the driver af_packet" : "an mtu of " + builder.mtuBytes)
              + " needs more: take "
              + BufferPool.strideBytesFor(bytes)
              + " or 0 (automatic)");
    }
  }

  /** An acknowledgement tells of a whole window, in one frame. */
  private static int mtuFor(int windowFrames, int trailerBytes) {
    return PmNode.controlBytesMax(windowFrames, trailerBytes) - FrameHeader.ETHERNET_HEADER_BYTES;
  }

  /** What the acknowledgements need, and what a driver carries whatever its interface does. */
  private void checkMtu() {
    int mtu = builder.mtuBytes;
    int trailer = builder.tag == HxbConfig.Tag.OFF ? 0 : FrameTag.BYTES;
    int needed = mtuFor(builder.windowFrames, trailer);
    if (mtu < needed) {
      int most = builder.windowFrames;
      while (most >= WINDOW_MIN && mtuFor(most, trailer) > mtu) {
        most /= 2;
      }
      scope.error(
          "mtu",
          "" + mtu,
          "must be %d at least, as an acknowledgement of peer.window = %d needs%s%s"
              .formatted(
                  needed,
                  builder.windowFrames,
                  trailer == 0 ? "" : " with its tag",
                  most < WINDOW_MIN ? "" : ", or take a window of %d".formatted(most)));
    }
    if (mtu > DpdkPorts.AF_PACKET_MTU_MAX_BYTES && uses(HxbConfig.Driver.AF_PACKET)) {
      scope.error(
          "mtu",
          "" + mtu,
          "the driver af_packet carries at most "
              + DpdkPorts.AF_PACKET_MTU_MAX_BYTES
              + ": take that at all nodes, or the driver packet");
    }
  }

  private boolean uses(HxbConfig.Driver driver) {
    return builder.rails.stream().anyMatch(rail -> rail.driver() == driver);
  }

  private void peer(JsonNode root) {
    JsonNode peer = scope.table(root, "peer", List.of("window", "timeout-ms"));
    builder.windowFrames =
        scope.powerOfTwo(peer, "peer.window", WINDOW_MIN, 4_096, builder.windowFrames, "frames");
    builder.peerTimeoutMs =
        scope.integer(peer, "peer.timeout-ms", 100, 3_600_000, builder.peerTimeoutMs, "ms");
  }

  private void poll(JsonNode root) {
    JsonNode poll = scope.table(root, "poll", List.of("cpu", "idle"));
    builder.pollCpu = scope.integer(poll, "poll.cpu", -1, CPUS - 1, builder.pollCpu, "");
    builder.idle = scope.choice(poll, "poll.idle", HxbConfig.Idle.class, builder.idle);
  }

  /** Nodes to which the way is longer than to others of as many hops. */
  private void far(JsonNode root) {
    JsonNode list = root.get("far");
    if (list != null && !list.isArray()) {
      scope.error("far", list.toString(), "must be tables headed [[far]]");
      return;
    }
    Map<Coordinates, String> paths = new HashMap<>();
    for (int i = 0; list != null && i < list.size(); i++) {
      String path = "far[" + i + "]";
      JsonNode node = list.get(i);
      if (!node.isObject()) {
        scope.error(path, node.toString(), "must be a table headed [[far]]");
        continue;
      }
      scope.unknownKeys(node, path, FAR_KEYS);
      Coordinates where = coordinates(node, path + ".coordinates");
      int longerUs = scope.requiredInteger(node, path + ".longer-us", 1, FAR_MAX_US);
      if (where == null) {
        continue;
      }
      String former = paths.putIfAbsent(where, path);
      if (where.equals(builder.coordinates)) {
        scope.error(path + ".coordinates", where.toString(), "is this node itself");
      } else if (former != null) {
        scope.error(path + ".coordinates", where.toString(), "is also " + scope.at(former));
      } else if (longerUs >= 1_000L * builder.peerTimeoutMs) {
        scope.error(
            path + ".longer-us",
            "" + longerUs,
            "must be less than peer.timeout-ms, which is %d ms: such a node would be taken for silent"
                .formatted(builder.peerTimeoutMs));
      } else {
        builder.far.add(new HxbConfig.Far(where, longerUs));
      }
    }
  }

  /** Fills the builder in the layout's order; returns the rails per dimension. */
  private int rails(JsonNode root) {
    JsonNode list = root.get("rail");
    if (list != null && !list.isArray()) {
      scope.error("rail", list.toString(), "must be tables headed [[rail]]");
      return 1;
    }
    // By dimension and index: what the layout's order is.
    Map<Integer, HxbConfig.Rail> byPlace = new TreeMap<>();
    Map<Integer, String> pathByPlace = new TreeMap<>();
    Map<String, String> pathByDevice = new HashMap<>();
    Map<String, String> pathByLine = new HashMap<>();
    int errorsBefore = scope.errors();
    for (int i = 0; list != null && i < list.size(); i++) {
      String path = "rail[" + i + "]";
      HxbConfig.Rail rail = rail(list.get(i), path);
      if (rail == null) {
        continue;
      }
      int place = rail.dimension().ordinal() * 16 + rail.index();
      String name = RailLayout.name(rail.dimension().ordinal(), rail.index());
      String former = pathByPlace.putIfAbsent(place, path);
      if (former != null) {
        scope.error(
            path + ".index", "" + rail.index(), "rail " + name + " is also " + scope.at(former));
      }
      former = pathByDevice.putIfAbsent(rail.device(), path);
      if (former != null) {
        scope.error(
            path + ".device", rail.device(), "is also the device of the rail " + scope.at(former));
      }
      String socket = rail.option("socket", "");
      former = socket.isEmpty() ? null : pathByLine.putIfAbsent(rail.driver() + socket, path);
      if (former != null) {
        scope.error(path + ".socket", socket, "is also the line of the rail " + scope.at(former));
      }
      byPlace.put(place, rail);
    }
    builder.rails.addAll(byPlace.values());
    return scope.errors() == errorsBefore && builder.shape != null ? checkRailCounts() : 1;
  }

  /** Same number in every dimension with more than one node, indices without gaps. */
  private int checkRailCounts() {
    int[] count = new int[Dimension.COUNT];
    int[] highest = {-1, -1, -1};
    for (HxbConfig.Rail rail : builder.rails) {
      int d = rail.dimension().ordinal();
      count[d]++;
      highest[d] = rail.index();
    }
    int perDimension = Math.max(1, Math.max(count[0], Math.max(count[1], count[2])));
    for (int d = 0; d < Dimension.COUNT; d++) {
      boolean needed = builder.shape.extent(d) > 1;
      if (needed && (count[d] != perDimension || highest[d] != perDimension - 1)) {
        scope.error(
            "rail",
            "",
            "dimension "
                + Dimension.of(d)
                + (count[d] == 0
                    ? " has no rail"
                    : " has %d rail%s, the highest of index %d"
                        .formatted(count[d], count[d] == 1 ? "" : "s", highest[d]))
                + "; each dimension of the shape "
                + builder.shape
                + " with more than one node needs indices 0.."
                + (perDimension - 1));
      }
    }
    return perDimension;
  }

  private HxbConfig.Rail rail(JsonNode node, String path) {
    if (!node.isObject()) {
      scope.error(path, node.toString(), "must be a table headed [[rail]]");
      return null;
    }
    int before = scope.errors();
    Dimension dimension = scope.requiredChoice(node, path + ".dimension", Dimension.class);
    int index = scope.requiredInteger(node, path + ".index", 0, RailLayout.MAX_PER_DIMENSION - 1);
    HxbConfig.Driver driver = driver(node, path + ".driver");
    String device = scope.requiredText(node, path + ".device", "the interface or PCI address");
    if (driver != null && device != null) {
      checkDevice(path + ".device", driver, device);
    }
    if (dimension != null
        && builder.shape != null
        && builder.shape.extent(dimension.ordinal()) == 1) {
      scope.error(
          path + ".dimension",
          dimension.toString(),
          "has a single node in the shape " + builder.shape + " and so no rails");
    }
    Map<String, String> options = options(node, path, driver, dimension);
    if (scope.errors() != before) {
      return null;
    }
    String name = driver == HxbConfig.Driver.PCI ? fullAddress(device) : device;
    return new HxbConfig.Rail(dimension, index, driver, name, options);
  }

  /** A PCI address as the kernel and DPDK write it: with its domain, in small letters. */
  private static String fullAddress(String address) {
    int function = address.lastIndexOf(':') - 2;
    int domain = function == 0 ? 0 : Integer.parseUnsignedInt(address, 0, function - 1, 16);
    return "%04x:%s".formatted(domain, address.substring(function).toLowerCase(Locale.ROOT));
  }

  /** The drivers of a node of its own; those that a reader may look for are named with a reason. */
  private HxbConfig.Driver driver(JsonNode node, String path) {
    String text = node.path("driver").asText();
    if (text.equals("ring")) {
      scope.error(path, text, "joins the nodes of one process (hxb demo); take one of " + DRIVERS);
      return null;
    }
    if (text.equals("af_xdp")) {
      scope.error(path, text, "is not supported; take packet for a kernel interface");
      return null;
    }
    return scope.requiredChoice(node, path, HxbConfig.Driver.class);
  }

  private void checkDevice(String path, HxbConfig.Driver driver, String device) {
    switch (driver) {
      case PACKET, AF_PACKET -> {
        if (!device.matches(INTERFACE)) {
          scope.error(path, device, "must be an interface's name of 1 to 15 characters");
        }
      }
      case PCI -> {
        if (!device.matches(PCI_ADDRESS)) {
          scope.error(path, device, "must be a PCI address, as in \"0000:01:00.0\"");
        }
      }
      case SHM, MEMIF -> {
        if (!device.matches("[A-Za-z0-9._-]{1,31}")) {
          scope.error(
              path, device, "must be 1 to 31 letters, digits, dots, underscores and hyphens");
        }
      }
    }
  }

  /** Keys that only some drivers have. */
  private static List<String> optionKeys(HxbConfig.Driver driver) {
    return switch (driver) {
      case PCI -> List.of("devargs");
      case PACKET, AF_PACKET -> List.of();
      case SHM, MEMIF -> List.of("socket", "role");
    };
  }

  private Map<String, String> options(
      JsonNode node, String path, HxbConfig.Driver driver, Dimension dimension) {
    if (driver == null) {
      return Map.of();
    }
    List<String> known = new ArrayList<>(RAIL_KEYS);
    known.addAll(optionKeys(driver));
    scope.unknownKeys(node, path, known);
    Map<String, String> options = new LinkedHashMap<>();
    for (String key : optionKeys(driver)) {
      JsonNode value = node.get(key);
      if (value == null) {
        continue;
      }
      if (!value.isTextual()) {
        scope.error(path + "." + key, value.toString(), "must be text in quotes");
      } else {
        options.put(key, value.asText());
      }
    }
    String devargs = options.get("devargs");
    if (devargs != null && !devargs.matches(DEVARGS)) {
      scope.error(path + ".devargs", devargs, "must be name=value pairs with commas between them");
    }
    if (driver == HxbConfig.Driver.SHM || driver == HxbConfig.Driver.MEMIF) {
      checkLine(path, driver, options, dimension);
    }
    return options;
  }

  private void checkLine(
      String path, HxbConfig.Driver driver, Map<String, String> options, Dimension dimension) {
    String socket = options.get("socket");
    if (socket == null || socket.isEmpty()) {
      scope.missing(path + ".socket", "name of the line, the same at both ends: " + LINE_RULE);
    } else if (!socket.matches(DpdkPorts.LINE_NAME)) {
      scope.error(path + ".socket", socket, "must be " + LINE_RULE);
    }
    String role = options.get("role");
    if (role == null) {
      scope.missing(path + ".role", "\"server\" at one end, \"client\" at the other");
    } else if (!role.equals("server") && !role.equals("client")) {
      scope.error(path + ".role", role, "must be \"server\" or \"client\"");
    }
    if (dimension != null
        && builder.shape != null
        && builder.shape.extent(dimension.ordinal()) > 2) {
      scope.error(
          path + ".driver",
          driver.toString(),
          "joins two nodes only, dimension "
              + dimension
              + " of the shape "
              + builder.shape
              + " has "
              + builder.shape.extent(dimension.ordinal()));
    }
  }
}
