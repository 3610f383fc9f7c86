package org.pmhxb.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.router.HxbConfig.Driver;
import org.pmhxb.router.HxbConfig.Hugepages;
import org.pmhxb.router.HxbConfig.Idle;
import org.pmhxb.router.HxbConfig.Rail;

class HxbConfigTest {
  private static final String GOOD =
      """
      key = "lattice"
      shape = "2x2"
      coordinates = [1, 0]

      [[rail]]
      dimension = "y"
      index = 0
      driver = "memif"
      device = "m0"
      socket = "line-y0"
      role = "client"

      [[rail]]
      dimension = "x"
      index = 0
      driver = "af_packet"
      device = "x0"
      """;

  private static List<String> errors(String text) {
    ConfigException e =
        catchThrowableOfType(ConfigException.class, () -> HxbConfig.parse("n.toml", text));
    assertThat(e).as("must be refused:\n%s", text).isNotNull();
    assertThat(e.getMessage().lines()).hasSameSizeAs(e.errors());
    return e.errors().stream().map(ConfigError::toString).toList();
  }

  @Test
  void readsASmallFileAndFillsInDefaults() {
    HxbConfig c = HxbConfig.parse("n.toml", GOOD);
    assertThat(c.name()).isEqualTo("node1");
    assertThat(c.node()).isEqualTo(1);
    assertThat(c.shape()).isEqualTo(Shape.of(2, 2));
    assertThat(c.railsPerDimension()).isEqualTo(1);
    assertThat(c.devices()).containsExactly("x0", "m0"); // the layout's order, not the file's
    assertThat(c.railLayout().name(1)).isEqualTo("y0");
    assertThat(c.rails().get(1).driver()).isEqualTo(Driver.MEMIF);
    assertThat(c.rails().get(1).options()).isEqualTo(Map.of("socket", "line-y0", "role", "client"));
    assertThat(c.rails().get(0).option("devargs", "none")).isEqualTo("none");
    assertThat(c.mtuBytes()).isEqualTo(9000);
    assertThat(c.controlSocket()).isEmpty();
    assertThat(c.poolBuffers()).isZero();
    assertThat(c.poolStrideBytes()).isEqualTo(10_368);
    assertThat(c.hugepages()).isEqualTo(Hugepages.AUTO);
    assertThat(c.windowFrames()).isEqualTo(256);
    assertThat(c.peerTimeoutMs()).isEqualTo(5000);
    assertThat(c.pollCpu()).isEqualTo(-1);
    assertThat(c.idle()).isEqualTo(Idle.BACKOFF);
  }

  @Test
  void keysAreTextOrHexadecimal() {
    assertThat(HxbConfig.keyHash("0xCAFE0001")).isEqualTo(0xCAFE0001);
    assertThat(HxbConfig.keyHash("123456789")).isEqualTo(0xE3069283); // CRC32C's check value
    assertThat(HxbConfig.parse("n", GOOD).keyHash()).isEqualTo(HxbConfig.keyHash("lattice"));
    assertThat(errors(GOOD.replace("lattice", "0xg"))).hasSize(1);
    assertThat(errors(GOOD.replace("lattice", "0x123456789"))).hasSize(1);
    assertThat(errors(GOOD.replace("lattice", " "))).hasSize(1);
  }

  @Test
  void reportsAllErrorsTogetherWithFileLineKeyValueAndRange() {
    String text =
        """
        key = 5
        shape = "2x2x2"
        coordinates = [1, 0, 2]
        mtuu = 9000
        mtu = 70000

        [pool]
        buffers = 12
        stride-bytes = 5000
        hugepages = "maybe"

        [peer]
        window = 100
        time-out-ms = 7

        [poll]
        cpu = "two"

        [[rail]]
        dimension = "w"
        index = 9
        driver = "af_packet"
        """;
    assertThat(errors(text))
        .containsExactly(
            "n.toml:1: key = 5: must be text in quotes",
            "n.toml:3: coordinates = [1,0,2]: must be in 0..1, 0..1, 0..1 for the shape 2x2x2",
            "n.toml:4: mtuu = 9000: is no key; did you mean \"mtu\"?",
            "n.toml:5: mtu = 70000: must be 602 to 16000 bytes",
            "n.toml:8: pool.buffers = 12: must be 0 (automatic) or 64 to 16777215",
            "n.toml:9: pool.stride-bytes = 5000: must be 0 (automatic) or a multiple of 128, 1024 to"
                + " 32768",
            "n.toml:10: pool.hugepages = \"maybe\": must be one of \"auto\", \"require\","
                + " \"never\"",
            "n.toml:13: peer.window = 100: must be a power of two, 4 to 4096 frames",
            "n.toml:14: peer.time-out-ms = 7: is no key; did you mean \"timeout-ms\"?",
            "n.toml:17: poll.cpu = \"two\": must be -1 to 1023",
            "n.toml:19: rail[0].device: is missing: the interface or PCI address",
            "n.toml:20: rail[0].dimension = \"w\": must be one of \"x\", \"y\", \"z\"",
            "n.toml:21: rail[0].index = 9: must be 0 to 8");
  }

  @Test
  void anEmptyFileNamesWhatIsRequired() {
    assertThat(errors(""))
        .containsExactly(
            "n.toml: key: is missing: the cluster's key, 1 to 64 characters",
            "n.toml: shape: is missing: 1 to 3 extents, as in \"2x2x2\"",
            "n.toml: coordinates: is missing: one number per dimension, as in [1, 0, 1]");
  }

  @Test
  void syntaxErrorsHaveTheirLine() {
    assertThat(errors("key = \"a\"\nshape = \n"))
        .hasSize(1)
        .first()
        .asString()
        .startsWith("n.toml:2: is not TOML: ");
    assertThat(errors("key = \"a\"\n\n[pool\nbuffers = 1\n"))
        .first()
        .asString()
        .startsWith("n.toml:3: is not TOML: ");
    assertThat(errors("key = \"a\"\ntag = off\n"))
        .first()
        .asString()
        .startsWith("n.toml:2: ")
        .endsWith("text stands in quotes");
    assertThat(errors("key = \"a\"\ncoordinates = [0\n"))
        .first()
        .asString()
        .endsWith("a quote or bracket is not closed");
    assertThat(errors("key = \"a\"\nshape = \"2\"\nkey = \"b\"\nmtu = 1\n"))
        .containsExactly("n.toml:3: key: stands twice; first on line 1");
  }

  @Test
  void shapeAndCoordinatesMustAgree() {
    assertThat(errors(GOOD.replace("[1, 0]", "[1]")))
        .containsExactly("n.toml:3: coordinates = [1]: must be 2 numbers for the shape 2x2");
    assertThat(errors(GOOD.replace("[1, 0]", "[1, 0.5]"))).hasSize(1);
    assertThat(errors(GOOD.replace("[1, 0]", "\"1;0\""))).hasSize(1);
    assertThat(errors(GOOD.replace("[1, 0]", "[-1, 0]"))).hasSize(1);
    assertThat(HxbConfig.parse("n", GOOD.replace("[1, 0]", "\"1,0\"")).node()).isEqualTo(1);
    assertThat(errors(GOOD.replace("2x2", "2x70000")))
        .anyMatch(e -> e.startsWith("n.toml:2: shape = 2x70000: ") && e.contains("1..65535"));
  }

  private static final String FAR =
      """

      [[far]]
      coordinates = [0, 1]
      longer-us = 1500
      """;

  @Test
  void farNodesAreOthersAndNamedOnce() {
    assertThat(HxbConfig.parse("n", GOOD).far()).isEmpty();
    assertThat(HxbConfig.parse("n", GOOD + FAR).far())
        .containsExactly(new HxbConfig.Far(new Coordinates(0, 1, 0), 1_500));
    assertThat(errors(GOOD + FAR.replace("[0, 1]", "[1, 0]")))
        .singleElement()
        .asString()
        .contains("far[0].coordinates", "is this node itself");
    assertThat(errors(GOOD + FAR + FAR))
        .singleElement()
        .asString()
        .contains("far[1].coordinates", "is also ");
    assertThat(errors(GOOD + FAR.replace("[0, 1]", "[0, 2]")))
        .singleElement()
        .asString()
        .contains("far[0].coordinates = [0,2]", "0..1, 0..1");
    assertThat(errors(GOOD + FAR.replace("1500", "10000001")))
        .singleElement()
        .asString()
        .contains("far[0].longer-us = 10000001", "1 to 10000000");
    assertThat(errors(GOOD + FAR.replace("1500", "0"))).hasSize(1);
    assertThat(errors(GOOD + FAR.replace("longer-us", "longer"))).hasSize(2);
    assertThat(errors(GOOD + FAR.replace("coordinates", "node"))).hasSize(2);
    assertThat(errors("far = 3\n" + GOOD)).singleElement().asString().contains("[[far]]");
    assertThat(errors("fo = 3\n" + GOOD)).singleElement().asString().contains("there are: ");
    assertThat(errors("far = [3]\n" + GOOD)).singleElement().asString().contains("[[far]]");
  }

  @Test
  void railsMustFillTheShape() {
    assertThat(errors(GOOD.replace("dimension = \"y\"", "dimension = \"x\"")))
        .containsExactly("n.toml:15: rail[1].index = 0: rail x0 is also on line 5");
    assertThat(errors(GOOD.replace("dimension = \"y\"", "dimension = \"z\"")).get(0))
        .startsWith("n.toml:6: rail[0].dimension = z: has a single node in the shape 2x2");
    assertThat(errors(GOOD.replaceFirst("index = 0", "index = 1")))
        .anyMatch(e -> e.contains("dimension y has 1 rail, the highest of index 1"));
    assertThat(errors(GOOD.substring(0, GOOD.lastIndexOf("[[rail]]"))))
        .anyMatch(e -> e.contains("dimension x has no rail"));
    assertThat(errors(GOOD.substring(0, GOOD.indexOf("[[rail]]"))))
        .as("no line is wrong where none stands")
        .first()
        .asString()
        .startsWith("n.toml: rail: dimension x has no rail");
    assertThat(errors(GOOD.replace("\"m0\"", "\"x0\"").replace("memif", "af_packet")))
        .anyMatch(e -> e.contains("rail[0].socket") && e.contains("is no key"));
    String twice =
        "key = \"k\"\nshape = \"2\"\ncoordinates = [0]\n"
            + "[[rail]]\ndimension=\"x\"\nindex=0\ndriver=\"af_packet\"\ndevice=\"e0\"\n"
            + "[[rail]]\ndimension=\"x\"\nindex=1\ndriver=\"af_packet\"\ndevice=\"e0\"\n";
    assertThat(errors(twice))
        .containsExactly(
            "n.toml:13: rail[1].device = e0: is also the device of the rail on line 4");
    assertThat(errors(twice.replaceFirst("af_packet", "packet")))
        .as("each device once, whichever driver takes it")
        .containsExactly(
            "n.toml:13: rail[1].device = e0: is also the device of the rail on line 4");
  }

  @Test
  void aPciAddressMayBeShortAndIsOneDeviceHoweverItIsWritten() {
    String two =
        "key = \"k\"\nshape = \"2\"\ncoordinates = [0]\n"
            + "[[rail]]\ndimension=\"x\"\nindex=0\ndriver=\"pci\"\ndevice=\"0A:00.0\"\n"
            + "[[rail]]\ndimension=\"x\"\nindex=1\ndriver=\"pci\"\ndevice=\"000100A2:0a:00.0\"\n";
    assertThat(HxbConfig.parse("n.toml", two).rails())
        .as("as the kernel and DPDK write them")
        .extracting(HxbConfig.Rail::device)
        .containsExactly("0000:0a:00.0", "100a2:0a:00.0");
    assertThat(errors(two.replace("000100A2", "00000000")))
        .containsExactly(
            "n.toml:13: rail[1].device = 0000:0a:00.0: is also the device of the rail on line 4");
  }

  @Test
  void aLineOfSharedMemoryIsOneRailsOwn() {
    String two =
        "key = \"k\"\nshape = \"2\"\ncoordinates = [0]\n"
            + "[[rail]]\ndimension=\"x\"\nindex=0\ndriver=\"shm\"\ndevice=\"a\"\n"
            + "socket=\"line\"\nrole=\"server\"\n"
            + "[[rail]]\ndimension=\"x\"\nindex=1\ndriver=\"shm\"\ndevice=\"b\"\n"
            + "socket=\"line\"\nrole=\"client\"\n";
    assertThat(errors(two))
        .containsExactly(
            "n.toml:16: rail[1].socket = line: is also the line of the rail on line 4");
    assertThat(HxbConfig.parse("n.toml", two.replaceFirst("\"shm\"", "\"memif\"")).rails())
        .as("names of memif's sockets and of our lines are not the same")
        .hasSize(2);
  }

  @Test
  void sharedMemoryIsForTwoNodesAndNeedsSocketAndRole() {
    assertThat(HxbConfig.parse("n.toml", GOOD.replace("memif", "shm")).rails().get(1).driver())
        .isEqualTo(Driver.SHM);
    assertThat(errors(GOOD.replace("memif", "shm").replace("\"2x2\"", "\"2x3\"")))
        .containsExactly(
            "n.toml:8: rail[0].driver = shm: joins two nodes only, dimension y of the shape 2x3"
                + " has 3");
    assertThat(errors(GOOD.replace("\"2x2\"", "\"2x3\"")))
        .containsExactly(
            "n.toml:8: rail[0].driver = memif: joins two nodes only, dimension y of the shape 2x3"
                + " has 3");
    assertThat(errors(GOOD.replace("\"client\"", "\"master\"")))
        .containsExactly("n.toml:11: rail[0].role = master: must be \"server\" or \"client\"");
    assertThat(errors(GOOD.replace("socket = \"line-y0\"\n", "")))
        .containsExactly(
            "n.toml:5: rail[0].socket: is missing: name of the line, the same at both ends:"
                + " 1 to 60 letters, digits or any of ._- (no path)");
    assertThat(errors(GOOD.replace("line-y0", "/run/y0.sock")))
        .containsExactly(
            "n.toml:10: rail[0].socket = /run/y0.sock: must be 1 to 60 letters, digits or any of ._-"
                + " (no path)");
    assertThat(errors(GOOD.replace("line-y0", "a".repeat(61))))
        .hasSize(1)
        .allMatch(e -> e.contains("1 to 60 letters"));
    assertThat(errors("control-socket = \"/" + "a".repeat(106) + "\"\n" + GOOD))
        .hasSize(1)
        .allMatch(e -> e.contains("at most 106"));
  }

  /** Half of a surrogate pair is in no character set, as letters beyond ASCII are not in C's. */
  @Test
  void whatIsNoPathIsRefusedWithItsLine() {
    assertThat(errors("key-file = \"a\\u0000b\"\n" + GOOD))
        .hasSize(1)
        .first()
        .asString()
        .startsWith("n.toml:1: key-file = a\0b: is no path: Nul character not allowed");
    assertThat(errors("control-socket = \"/run/\\ud800\"\n" + GOOD))
        .hasSize(1)
        .first()
        .asString()
        .startsWith("n.toml:1: control-socket = ")
        .contains("is no path: ")
        .endsWith("start it with LC_ALL=C.UTF-8 in the environment, or use ASCII");
  }

  @Test
  void devicesSuitTheirDriver() {
    assertThat(errors(GOOD.replace("\"x0\"", "\"a name that is too long\""))).hasSize(1);
    assertThat(errors(GOOD.replace("\"x0\"", "\"x/0\""))).hasSize(1);
    assertThat(errors(GOOD.replace("af_packet", "pci"))).hasSize(1);
    String pci = GOOD.replace("af_packet", "pci").replace("\"x0\"", "\"0000:01:00.1\"");
    String devargs = "mprq_en=1,rxqs_min_mprq=1";
    assertThat(HxbConfig.parse("n", pci + "devargs = \"" + devargs + "\"\n").rails().getFirst())
        .extracting(rail -> rail.option("devargs", ""))
        .isEqualTo(devargs);
    assertThat(errors(pci + "devargs = \"a b\"\n")).hasSize(1);
    assertThat(errors(pci + "devargs = \"-l\"\n")).hasSize(1);
    assertThat(errors(pci + "devargs = [1]\n")).hasSize(1);
  }

  /** What is read is honoured: options that no driver of a node obeys are refused. */
  @Test
  void whatWouldNotBeHonouredIsRefused() {
    assertThat(errors(GOOD.replace("\"af_packet\"", "\"ring\"")))
        .containsExactly(
            "n.toml:16: rail[1].driver = ring: joins the nodes of one process (hxb demo); take one"
                + " of \"shm\", \"memif\", \"packet\", \"af_packet\", \"pci\"");
    assertThat(errors(GOOD.replace("\"af_packet\"", "\"af_xdp\"")))
        .containsExactly(
            "n.toml:16: rail[1].driver = af_xdp: is not supported; take packet for a kernel"
                + " interface");
    assertThat(errors(GOOD.replace("\"af_packet\"", "7")))
        .containsExactly(
            "n.toml:16: rail[1].driver = 7: must be one of \"shm\", \"memif\", \"packet\", \"af_packet\", \"pci\"");
    assertThat(errors(GOOD + "queue = 1\n")).hasSize(1).first().asString().contains("is no key");
    assertThat(errors(GOOD + "devargs = \"a=1\"\n")).hasSize(1);
    assertThat(errors(GOOD.replace("role =", "id = 3\nrole ="))).hasSize(1);
    assertThat(errors("endpoints = 3\n" + GOOD)).hasSize(1);
  }

  /** Whose slots, which it copies into buffers, are as long at each mtu. */
  @Test
  void theSlotsOfAfPacketMustFitTheBuffers() {
    String small = "mtu = 1500\n" + GOOD + "\n[pool]\nstride-bytes = 2048\n";
    assertThat(errors(small))
        .containsExactly(
            "n.toml:21: pool.stride-bytes = 2048: the driver af_packet needs more: take 10368"
                + " or 0 (automatic)");
    assertThat(errors(small.replace("1500", "9000"))).hasSize(1);
    assertThat(errors(small.replace("2048", "10240"))).hasSize(1);
    assertThat(HxbConfig.parse("n", small.replace("2048", "10368")).poolStrideBytes())
        .isEqualTo(10_368);
    assertThat(HxbConfig.parse("n", small.replace("af_packet", "packet")).poolStrideBytes())
        .isEqualTo(2048);
    // A longer mtu needs more than a slot.
    assertThat(errors(small.replace("1500", "12000")))
        .anyMatch(e -> e.contains("an mtu of 12000 needs more: take 12160"));
  }

  /** 64 of header, 16 of a probe, 16 and 64 x 8 of an acknowledgement, and its window's bits. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          602  | 4    | ''
          602  | 64   | ''
          602  | 128  | must be 610 at least, as an acknowledgement of peer.window = 128 needs, or take a window of 64
          625  | 256  | must be 626 at least, as an acknowledgement of peer.window = 256 needs, or take a window of 128
          626  | 256  | ''
          1106 | 4096 | ''
          1105 | 4096 | must be 1106 at least, as an acknowledgement of peer.window = 4096 needs, or take a window of 2048
          """)
  void acknowledgementsMustFitTheMtu(int mtu, int window, String problem) {
    String text = "mtu = %d\n%s\n[peer]\nwindow = %d\n".formatted(mtu, GOOD, window);
    if (problem.isEmpty()) {
      assertThat(HxbConfig.parse("n", text).mtuBytes()).isEqualTo(mtu);
    } else {
      assertThat(errors(text)).containsExactly("n.toml:1: mtu = " + mtu + ": " + problem);
    }
  }

  @Test
  void tagsMustFitTheMtuToo() {
    String text = "mtu = 617\nkey-file = \"k\"\n" + GOOD + "\n[peer]\nwindow = 64\n";
    assertThat(errors(text))
        .containsExactly(
            "n.toml:1: mtu = 617: must be 618 at least, as an acknowledgement of peer.window = 64 needs with"
                + " its tag");
    assertThat(HxbConfig.parse("n", text.replace("617", "618")).mtuBytes()).isEqualTo(618);
  }

  @Test
  void afPacketCarriesNoLongerFramesThanItsSlots() {
    String text = "mtu = 10163\n" + GOOD;
    assertThat(errors(text))
        .containsExactly(
            "n.toml:1: mtu = 10163: the driver af_packet carries at most 10162: take that at all nodes,"
                + " or the driver packet");
    assertThat(HxbConfig.parse("n", text.replace("10163", "10162")).mtuBytes()).isEqualTo(10_162);
    assertThat(HxbConfig.parse("n", text.replace("af_packet", "packet")).mtuBytes())
        .isEqualTo(10_163);
  }

  @Test
  void aWayAsLongAsThePeersTimeoutIsRefused() {
    String far = GOOD + "\n[[far]]\ncoordinates = [0, 1]\nlonger-us = 5000000\n";
    assertThat(errors(far))
        .singleElement()
        .asString()
        .contains(
            "far[0].longer-us = 5000000: must be less than peer.timeout-ms, which is 5000 ms");
    assertThat(HxbConfig.parse("n", far.replace("5000000", "4999999")).far()).hasSize(1);
    assertThat(HxbConfig.parse("n", far + "\n[peer]\ntimeout-ms = 5001\n").far()).hasSize(1);
  }

  @Test
  void mtuMustFitTheBuffers() {
    String small = GOOD.replace("af_packet", "packet") + "\n[pool]\nstride-bytes = 8192\n";
    assertThat(errors(small))
        .containsExactly(
            "n.toml:20: pool.stride-bytes = 8192: an mtu of 9000 needs more: take 9344"
                + " or 0 (automatic)");
    String fits = "mtu = 8050\n" + small;
    assertThat(HxbConfig.parse("n", fits).poolStrideBytes()).isEqualTo(8192);
    assertThat(errors("mtu = 8051\n" + small)).hasSize(1);
    // Left to itself the stride follows.
    String packet = GOOD.replace("af_packet", "packet");
    HxbConfig long12000 = HxbConfig.parse("n", "mtu = 12000\n" + packet);
    assertThat(long12000.poolStrideBytes()).isEqualTo(95 * 128);
    HxbConfig usual = HxbConfig.parse("n", packet);
    assertThat(usual.poolStrideBytes()).isEqualTo(81 * 128);
    assertThat(usual.toBuilder().mtuBytes(12_000).build().poolStrideBytes()).isEqualTo(95 * 128);
  }

  @Test
  void tablesOfTheWrongKindAreNamed() {
    assertThat(errors("pool = 3\n" + GOOD))
        .containsExactly("n.toml:1: pool = 3: must be a table headed [pool]");
    String noRails = GOOD.substring(0, GOOD.indexOf("[[rail]]"));
    assertThat(errors(noRails + "rail = 3\n"))
        .anyMatch(e -> e.equals("n.toml:5: rail = 3: must be tables headed [[rail]]"));
    assertThat(errors(noRails + "rail = [3]\n"))
        .anyMatch(e -> e.startsWith("n.toml:5: rail[0] = 3: must be a table"));
  }

  @Test
  void misspeltTablesHaveTheirLine() {
    assertThat(errors(GOOD + "\n[[fra]]\ncoordinates = [0, 1]\n"))
        .singleElement()
        .asString()
        .startsWith("n.toml:" + (GOOD.lines().count() + 2) + ": fra = [");
  }

  @Test
  void aBuilderObeysTheSameRules() {
    assertThatThrownBy(() -> HxbConfig.builder().build())
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("key")
        .hasMessageContaining("shape: is missing");
    assertThatThrownBy(
            () -> HxbConfig.parse("n", GOOD).toBuilder().mtuBytes(1).windowFrames(5).build())
        .hasMessageContaining("mtu = 1: must be 602 to 16000 bytes")
        .hasMessageContaining("peer.window = 5: must be a power of two");
    HxbConfig single =
        HxbConfig.builder()
            .key("k")
            .shape(Shape.of(1))
            .coordinates(new Coordinates(0, 0, 0))
            .build();
    assertThat(single.rails()).isEmpty();
    assertThat(single.railLayout().count()).isZero();
    assertThatThrownBy(() -> single.toBuilder().coordinates(new Coordinates(0, 0, 1)).build())
        .hasMessageContaining("coordinates = [0,0,1]");
  }

  @Property(tries = 300, seed = "21")
  void whatIsWrittenReadsBackEqual(@ForAll long seed) {
    Random random = new Random(seed);
    Shape shape = Shape.of(1 + random.nextInt(3), 1 + random.nextInt(2), 1 + random.nextInt(4));
    HxbConfig.Builder b =
        HxbConfig.builder()
            .key(random.nextBoolean() ? "0x" + Integer.toHexString(random.nextInt()) : wild(random))
            .shape(shape)
            .coordinates(shape.coordinates(random.nextInt(shape.nodes())))
            .mtuBytes(1_200 + random.nextInt(12_000))
            .controlSocket("/run/" + asPath(wild(random)))
            .poolBuffers(64 + random.nextInt(10_000))
            .poolStrideBytes(random.nextBoolean() ? 0 : 13_824 + 128 * random.nextInt(100))
            .hugepages(Hugepages.values()[random.nextInt(3)])
            .windowFrames(4 << random.nextInt(11))
            .peerTimeoutMs(100 + random.nextInt(10_000))
            .pollCpu(random.nextInt(64) - 1)
            .idle(Idle.values()[random.nextInt(4)]);
    if (random.nextBoolean()) {
      b.name("n-" + random.nextInt(100));
    }
    int perDimension = 1 + random.nextInt(9);
    for (int d = Dimension.COUNT - 1; d >= 0; d--) {
      for (int i = 0; shape.extent(d) > 1 && i < perDimension; i++) {
        b.rail(
            new Rail(
                Dimension.of(d),
                i,
                Driver.PCI,
                "0000:%02x:%02x.0".formatted(d, i),
                random.nextBoolean() ? Map.of() : Map.of("devargs", "a=\"1\"\\,b=2")));
      }
    }
    int other = random.nextInt(shape.nodes());
    int longest = Math.min(10_000_000, 1_000 * b.peerTimeoutMs - 1);
    if (!shape.coordinates(other).equals(b.coordinates)) {
      b.far(new HxbConfig.Far(shape.coordinates(other), 1 + random.nextInt(longest)));
    }
    HxbConfig first = b.build();
    HxbConfig second = HxbConfig.parse("copy", first.toToml());
    assertThat(second).isEqualTo(first).hasSameHashCodeAs(first);
    assertThat(second.toToml()).isEqualTo(first.toToml());
    assertThat(second.key()).isEqualTo(b.key);
    assertThat(second.controlSocket()).isEqualTo(b.controlSocket);
    assertThat(second.coordinates()).isEqualTo(b.coordinates);
    assertThat(second.mtuBytes()).isEqualTo(b.mtuBytes);
    assertThat(second.windowFrames()).isEqualTo(b.windowFrames);
    int least = Math.max(10_368, BufferPool.strideBytesFor(b.mtuBytes + 14));
    assertThat(second.poolStrideBytes())
        .isEqualTo(b.poolStrideBytes > 0 ? b.poolStrideBytes : least);
    assertThat(second.idle()).isEqualTo(b.idle);
    assertThat(second.rails()).containsExactlyInAnyOrderElementsOf(b.rails);
    assertThat(second.rails()).isEqualTo(first.rails());
    assertThat(second.far()).isEqualTo(b.far);
  }

  private static String wild(Random random) {
    StringBuilder text = new StringBuilder("k");
    for (int n = random.nextInt(20); n > 0; n--) {
      text.append((char) (1 + random.nextInt(0x2FF)));
    }
    return text.toString();
  }

  /** Without what no path has in the character set that this JVM was started with. */
  private static String asPath(String text) {
    CharsetEncoder encoder = Charset.forName(System.getProperty("sun.jnu.encoding")).newEncoder();
    return text.codePoints()
        .filter(c -> encoder.canEncode((char) c))
        .mapToObj(Character::toString)
        .collect(Collectors.joining());
  }

  @Property(tries = 3000, seed = "22")
  void damagedFilesAreRefusedOrReadNeverAnythingElse(@ForAll long seed) {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder(GOOD);
    String spices = "\"'[]{}=.,#\n\\ 0-x9_é\u0000";
    for (int n = 1 + random.nextInt(4); n > 0; n--) {
      int at = random.nextInt(text.length());
      switch (random.nextInt(3)) {
        case 0 -> text.deleteCharAt(at);
        case 1 -> text.setCharAt(at, spices.charAt(random.nextInt(spices.length())));
        default -> text.insert(at, spices.charAt(random.nextInt(spices.length())));
      }
    }
    try {
      assertThat(HxbConfig.parse("n.toml", text.toString()).rails()).hasSize(2);
    } catch (ConfigException e) {
      int lineCount = text.toString().split("\n", -1).length;
      assertThat(e.errors())
          .isNotEmpty()
          .allMatch(x -> x.line() >= (isOfWhatIsNotThere(x) ? 0 : 1) && x.line() <= lineCount);
    }
  }

  /** No line has what is missing. */
  private static boolean isOfWhatIsNotThere(ConfigError error) {
    return error.problem().startsWith("is missing: ") || error.key().equals("rail");
  }

  /** A megabyte of brackets must end in a message, not in a StackOverflowError. */
  @Test
  void deepNestingIsRefused() {
    for (String deep : List.of("[", "{a=", "{ x . y = [")) {
      String text = "key = " + deep.repeat(100_000);
      assertThat(errors(text)).hasSize(1).first().asString().startsWith("n.toml:1: is not TOML");
    }
    assertThat(errors("[" + "a.".repeat(100_000) + "a]\n")).isNotEmpty();
  }

  /** Each of the keys would be kept with the name of its table: a megabyte of text, 35 GB. */
  @ParameterizedTest
  @ValueSource(strings = {"[%s]\n", "[[%s]]\n", "[x.y.%s]\n", "%s = 1\n", "x = {\"%s\" = 1}\n"})
  void aKeyOfHalfAMegabyteIsRefusedByItsLine(String where) {
    String text = "key = \"k\"\n" + where.formatted("n".repeat(500_000)) + "a = 1\n".repeat(70_000);
    assertThat(errors(text))
        .singleElement()
        .asString()
        .startsWith("n.toml:2: ")
        .contains("nnnnnnnn...: a key with its tables has at most 256 characters");
  }

  @Test
  void aLongValueIsShownByItsBeginning() {
    assertThat(errors("x = \"" + "v".repeat(800_000) + "\"\n"))
        .anyMatch(
            error ->
                error.toString().startsWith("n.toml:1: x = \"vvvv")
                    && error.toString().length() < 400);
  }

  /** The line of each of 30,000 errors is looked for among 10,000 lines. */
  @Test
  void aLongFileIsReadInTimeThatGrowsAsItDoes() {
    String text = "key = \"k\"\n" + "[[rail]]\n".repeat(10_000);
    assertTimeoutPreemptively(
        Duration.ofSeconds(10), () -> assertThat(errors(text)).hasSizeGreaterThan(30_000));
  }

  @Test
  void filesThatCannotBeReadAreNamed(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("node.toml");
    assertThatThrownBy(() -> HxbConfig.read(file)).hasMessageStartingWith(file + ": no such file");
    assertThatThrownBy(() -> HxbConfig.read(folder))
        .isInstanceOf(ConfigException.class)
        .hasMessage(folder + ": is a directory, not a file");
    assertThatThrownBy(() -> HxbConfig.read(Path.of("/dev/zero")))
        .hasMessage("/dev/zero: has more than 1048576 bytes");
    Files.write(file, new byte[] {'k', (byte) 0xFF});
    assertThatThrownBy(() -> HxbConfig.read(file)).hasMessageContaining("not UTF-8");
    Files.write(file, new byte[(1 << 20) + 1]);
    assertThatThrownBy(() -> HxbConfig.read(file)).hasMessageContaining("more than 1048576");
    Files.writeString(file, GOOD, StandardCharsets.UTF_8);
    assertThat(HxbConfig.read(file)).isEqualTo(HxbConfig.parse("n", GOOD));
    Files.writeString(file, "\uFEFF" + GOOD, StandardCharsets.UTF_8);
    assertThat(HxbConfig.read(file)).isEqualTo(HxbConfig.parse("n", GOOD));
  }
}
