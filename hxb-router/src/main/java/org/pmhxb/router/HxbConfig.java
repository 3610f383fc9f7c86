package org.pmhxb.router;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32C;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.pm.port.PortFaults;
import org.pmhxb.pm.wire.FrameHeader;

/**
 * One node's configuration: a small TOML file, validated once and as a whole. An instance is valid;
 * it comes from {@link #read}, {@link #parse} or {@link Builder#build} only.
 *
 * <pre>
 * key = "lattice"               # cluster key: text, or 0x and up to 8 hexadecimal digits
 * shape = "2x2x2"
 * coordinates = [1, 0, 1]
 *
 * [[rail]]                      # one per NIC; every index 0..R-1 in every dimension of extent > 1
 * dimension = "x"
 * index = 0
 * driver = "packet"
 * device = "x0"
 * </pre>
 *
 * <p>All other keys have defaults: see {@link Builder}.
 */
public final class HxbConfig {
  /** Largest mtu: with headers it fits a buffer of 16 KB. */
  public static final int MTU_MAX_BYTES = 16_000;

  /** How a rail's frames reach the wire. */
  public enum Driver {
    /** Memory that two processes of one host share: the shim's own lines. */
    SHM,
    /** The same by memif, whose other end may be another program's. */
    MEMIF,
    /** A kernel interface through a packet socket of the shim's own. */
    PACKET,
    /** The same through DPDK net_af_packet. */
    AF_PACKET,
    /** A NIC bound to a user-space driver. */
    PCI;

    /** As in the file. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Whether the pool lies in 2 MB pages. */
  public enum Hugepages {
    /** Where there are any. */
    AUTO,
    /** Or the node does not start. */
    REQUIRE,
    /** 4 KB pages. */
    NEVER;

    /** As in the file. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What a poll thread does when there is nothing to do. */
  public enum Idle {
    /** Polls on; for a core of its own. */
    SPIN,
    /** Gives the core to others that want it. */
    YIELD,
    /** Spins, yields, then sleeps until a frame wakes it. */
    BACKOFF,
    /** Sleeps at once until a frame wakes it. */
    PARK;

    /** As in the file. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Whether frames carry a keyed tag (PROTOCOL.md section 2.6); the same at all nodes. */
  public enum Tag {
    /** No. */
    OFF,
    /** Yes. */
    TAG,
    /** Yes, and each counts once. */
    REPLAY;

    /** As in the file. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * One NIC.
   *
   * @param dimension the line that it is cabled to
   * @param index within the dimension, 0 to 8; joined with the same index of the neighbours
   * @param driver how to reach it
   * @param device interface name, PCI address, or for shm and memif any name
   * @param options further keys of the driver, in the order written: {@code socket} and {@code
   *     role} of shm and memif, {@code devargs} of pci
   */
  public record Rail(
      Dimension dimension, int index, Driver driver, String device, Map<String, String> options) {
    /** Copies the options. */
    public Rail {
      options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
    }

    /** Without options. */
    public Rail(Dimension dimension, int index, Driver driver, String device) {
      this(dimension, index, driver, device, Map.of());
    }

    /** An option, or what to take when it is not there. */
    public String option(String key, String otherwise) {
      return options.getOrDefault(key, otherwise);
    }
  }

  /**
   * A node to which the way takes longer than to others of as many hops, as over a link to another
   * site.
   *
   * @param coordinates its place
   * @param longerUs by which the round trip is longer, 1 to 10,000,000 us
   */
  public record Far(Coordinates coordinates, int longerUs) {}

  private final String file;
  private final String name;
  private final String key;
  private final Shape shape;
  private final Coordinates coordinates;
  private final List<Rail> rails;
  private final List<Far> far;
  private final int railsPerDimension;
  private final String faults;
  private final String keyFile;
  private final Tag tag;
  private final int mtuBytes;
  private final String controlSocket;
  private final int poolBuffers;
  private final int poolStrideBytes;
  private final Hugepages hugepages;
  private final int windowFrames;
  private final int peerTimeoutMs;
  private final int pollCpu;
  private final Idle idle;

  HxbConfig(String file, Builder b, int railsPerDimension) {
    this.file = file;
    this.name = b.name;
    this.key = b.key;
    this.shape = b.shape;
    this.coordinates = b.coordinates;
    this.rails = List.copyOf(b.rails);
    this.far = List.copyOf(b.far);
    this.railsPerDimension = railsPerDimension;
    this.faults = b.faults;
    this.keyFile = b.keyFile;
    this.tag = b.tag;
    this.mtuBytes = b.mtuBytes;
    this.controlSocket = b.controlSocket;
    this.poolBuffers = b.poolBuffers;
    this.poolStrideBytes = b.poolStrideBytes;
    this.hugepages = b.hugepages;
    this.windowFrames = b.windowFrames;
    this.peerTimeoutMs = b.peerTimeoutMs;
    this.pollCpu = b.pollCpu;
    this.idle = b.idle;
  }

  /**
   * Reads a file.
   *
   * @throws ConfigException with all errors together
   */
  public static HxbConfig read(Path file) {
    return ConfigReader.read(file);
  }

  /**
   * Reads a text.
   *
   * @param file what errors shall call it
   * @throws ConfigException with all errors together
   */
  public static HxbConfig parse(String file, String toml) {
    return ConfigReader.parse(file, toml);
  }

  /** For a configuration made by a program. */
  public static Builder builder() {
    return new Builder();
  }

  /** A builder that starts from this. */
  public Builder toBuilder() {
    Builder b = new Builder();
    b.name = name;
    b.key = key;
    b.shape = shape;
    b.coordinates = coordinates;
    b.rails.addAll(rails);
    b.far.addAll(far);
    b.faults = faults;
    b.keyFile = keyFile;
    b.tag = tag;
    b.mtuBytes = mtuBytes;
    b.controlSocket = controlSocket;
    b.poolBuffers = poolBuffers;
    b.poolStrideBytes = poolStrideBytes;
    b.hugepages = hugepages;
    b.windowFrames = windowFrames;
    b.peerTimeoutMs = peerTimeoutMs;
    b.pollCpu = pollCpu;
    b.idle = idle;
    return b;
  }

  /** The file's text; {@link #parse} gives an equal configuration back. */
  public String toToml() {
    return ConfigWriter.write(toBuilder());
  }

  /**
   * What this file's value cannot be, as the machine is: found at the node's start, not when it was
   * read.
   *
   * @param key with its table, as in {@code pool.buffers}
   * @param problem what is wrong, and the mend
   */
  public ConfigException refused(String key, Object value, String problem) {
    return new ConfigException(
        List.of(new ConfigError(file, 0, key, String.valueOf(value), problem)));
  }

  /** For who reads the file; {@code node} and its number unless given. */
  public String name() {
    return name;
  }

  /** As written. */
  public String key() {
    return key;
  }

  /** The key as it stands in every frame: the hexadecimal number, or the text's CRC32C. */
  public int keyHash() {
    return keyHash(key);
  }

  /** See {@link #keyHash()}. */
  public static int keyHash(String key) {
    if (key.startsWith("0x")) {
      return Integer.parseUnsignedInt(key.substring(2), 16);
    }
    CRC32C crc = new CRC32C();
    crc.update(key.getBytes(StandardCharsets.UTF_8));
    return (int) crc.getValue();
  }

  public Shape shape() {
    return shape;
  }

  public Coordinates coordinates() {
    return coordinates;
  }

  /** This node's number. */
  public int node() {
    return shape.node(coordinates);
  }

  /** In the order of {@link RailLayout}: the list's index is the rail's number. */
  public List<Rail> rails() {
    return rails;
  }

  /** Nodes to which the way is longer; see {@link org.pmhxb.pm.PmNode#longWay}. */
  public List<Far> far() {
    return far;
  }

  /** Rails in each dimension of extent 2 or more; 1 for a single node, which has none. */
  public int railsPerDimension() {
    return railsPerDimension;
  }

  /** How the rails are numbered. */
  public RailLayout railLayout() {
    return new RailLayout(shape, railsPerDimension);
  }

  /** The rails' devices in their order, as {@link Discovery} wants them. */
  public List<String> devices() {
    return rails.stream().map(Rail::device).toList();
  }

  /** Path of the frame key's file; empty: none. */
  public String keyFile() {
    return keyFile;
  }

  /** What the ports do to what they receive, for tests. */
  public PortFaults faults() {
    return PortFaults.parse(faults);
  }

  public Tag tag() {
    return tag;
  }

  /** Bytes of a frame behind the 14 of its Ethernet header. */
  public int mtuBytes() {
    return mtuBytes;
  }

  /** Path of the socket for status and orders; empty: none. */
  public String controlSocket() {
    return controlSocket;
  }

  /** Buffers in the pool; 0: as many as the sum of its uses. */
  public int poolBuffers() {
    return poolBuffers;
  }

  /** Bytes from one buffer to the next. */
  public int poolStrideBytes() {
    return poolStrideBytes > 0
        ? poolStrideBytes
        : Math.max(
            BufferPool.strideBytesFor(mtuBytes + FrameHeader.ETHERNET_HEADER_BYTES),
            BufferPool.JUMBO_STRIDE_BYTES);
  }

  public Hugepages hugepages() {
    return hugepages;
  }

  /** Largest send window per peer in frames, a power of two. */
  public int windowFrames() {
    return windowFrames;
  }

  /** Silence after which a peer counts as dead, in ms. */
  public int peerTimeoutMs() {
    return peerTimeoutMs;
  }

  /** CPU that the poll thread is bound to; -1: none. */
  public int pollCpu() {
    return pollCpu;
  }

  public Idle idle() {
    return idle;
  }

  /** Same text, same configuration. */
  @Override
  public boolean equals(Object other) {
    return other instanceof HxbConfig c && c.toToml().equals(toToml());
  }

  @Override
  public int hashCode() {
    return toToml().hashCode();
  }

  /** The file's text. */
  @Override
  public String toString() {
    return toToml();
  }

  /**
   * Collects values; {@link #build} checks them by the very rules that hold for files. Defaults:
   *
   * <pre>
   * name              "node" and the node's number
   * key-file          "" (none)
   * tag               "off"; with a key-file "replay"
   * faults            "" (none); for tests
   * mtu               9000
   * control-socket    "" (none)
   * pool.buffers      0 (the sum of its uses)
   * pool.stride-bytes 0 (10368, or what a longer mtu needs)
   * pool.hugepages    "auto"
   * peer.window       256 frames
   * peer.timeout-ms   5000
   * poll.cpu          -1 (any)
   * poll.idle         "backoff"
   * </pre>
   */
  public static final class Builder {
    String name = "";
    String key = "";
    Shape shape;
    Coordinates coordinates;
    final List<Rail> rails = new ArrayList<>();
    final List<Far> far = new ArrayList<>();
    String faults = "";
    String keyFile = "";
    Tag tag = Tag.OFF;
    int mtuBytes = 9000;
    String controlSocket = "";
    int poolBuffers;
    int poolStrideBytes;
    Hugepages hugepages = Hugepages.AUTO;
    int windowFrames = 256;
    int peerTimeoutMs = 5000;
    int pollCpu = -1;
    Idle idle = Idle.BACKOFF;

    Builder() {}

    /** 1 to 63 letters, digits, dots, underscores and hyphens. */
    public Builder name(String value) {
      name = value;
      return this;
    }

    /** 1 to 64 characters; required. */
    public Builder key(String value) {
      key = value;
      return this;
    }

    /** Required. */
    public Builder shape(Shape value) {
      shape = value;
      return this;
    }

    /** Required. */
    public Builder coordinates(Coordinates value) {
      coordinates = value;
      return this;
    }

    /** Adds one, in any order. */
    public Builder rail(Rail value) {
      rails.add(value);
      return this;
    }

    /** Adds one, each node once and not this one. */
    public Builder far(Far value) {
      far.add(value);
      return this;
    }

    /** What the ports do to what they receive, for tests; see {@link PortFaults#parse}. */
    public Builder faults(String value) {
      faults = value;
      return this;
    }

    /** A secret for tags; see {@link FrameKeyFile}. */
    public Builder frameKey(String file, Tag mode) {
      keyFile = file;
      tag = mode;
      return this;
    }

    /** 602 to 16,000 bytes, and what the acknowledgements of a window need. */
    public Builder mtuBytes(int value) {
      mtuBytes = value;
      return this;
    }

    /** At most 106 bytes, the limit of a Unix socket's path. */
    public Builder controlSocket(String value) {
      controlSocket = value;
      return this;
    }

    /** 0, or 64 to 16,777,215. */
    public Builder poolBuffers(int value) {
      poolBuffers = value;
      return this;
    }

    /** 0 (what the mtu needs), or a multiple of 128, 1,024 to 32,768: see BufferPool. */
    public Builder poolStrideBytes(int value) {
      poolStrideBytes = value;
      return this;
    }

    /** Auto, require or never. */
    public Builder hugepages(Hugepages value) {
      hugepages = value;
      return this;
    }

    /** A power of two, 4 to 4,096. */
    public Builder windowFrames(int value) {
      windowFrames = value;
      return this;
    }

    /** 100 to 3,600,000 ms. */
    public Builder peerTimeoutMs(int value) {
      peerTimeoutMs = value;
      return this;
    }

    /** -1 to 1,023. */
    public Builder pollCpu(int value) {
      pollCpu = value;
      return this;
    }

    /** Spin, yield, backoff or park. */
    public Builder idle(Idle value) {
      idle = value;
      return this;
    }

    /**
     * Checks all values.
     *
     * @throws ConfigException with all errors together; their lines are those of the text that
     *     {@link HxbConfig#toToml} would give
     */
    public HxbConfig build() {
      return ConfigReader.parse("(generated)", ConfigWriter.write(this));
    }
  }
}
