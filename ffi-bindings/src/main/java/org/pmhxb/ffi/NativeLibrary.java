package org.pmhxb.ffi;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.pmhxb.ffi.gen.Pmhxb;
import org.pmhxb.ffi.gen.hxb_pool_config;
import org.pmhxb.ffi.gen.hxb_port_config;
import org.pmhxb.ffi.gen.hxb_port_info;
import org.pmhxb.ffi.gen.hxb_port_stats;
import org.pmhxb.ffi.gen.hxb_region;

/**
 * Finds, loads and checks libpmhxb, once per process.
 *
 * <p>Looked for, in this order, the first that is set; never where a program happens to be started,
 * for others may write there:
 *
 * <ol>
 *   <li>system property {@code hxb.native.path}: the file, or the directory that holds it;
 *   <li>environment variable {@code HXB_NATIVE}: the same;
 *   <li>{@code native/build} under the system property {@code hxb.home} (set by the launcher).
 * </ol>
 *
 * A path that is set but does not hold the library is an error; the search does not go on.
 */
public final class NativeLibrary {
  /** File name of the library. */
  public static final String FILE_NAME = "libpmhxb.so";

  /** Byte offset of the reference count (16 bits) in an mbuf; verified on load. */
  public static final int MBUF_REFCNT_OFFSET = 18;

  private static final String BUILD =
      "build it with: cmake -S native -B native/build && cmake --build native/build";

  private static Path loadedFrom;
  private static NativeLoadException failure;

  private NativeLibrary() {}

  /** What a loaded library says about itself; apart from the checks, so that tests can lie. */
  record Facts(int abi, String dpdkBuilt, String dpdkRunning, Map<Integer, Integer> layout) {}

  /**
   * Loads and checks the library; later calls return at once, or repeat the first failure.
   *
   * @throws NativeLoadException naming the remedy
   */
  public static synchronized void load() {
    if (loadedFrom != null) {
      return;
    }
    if (failure != null) {
      throw new NativeLoadException(failure.getMessage(), failure);
    }
    try {
      Path file =
          find(
              System.getProperty("hxb.native.path"),
              System.getenv("HXB_NATIVE"),
              System.getProperty("hxb.home"));
      open(file);
      check(ask(), expectedLayout());
      loadedFrom = file;
    } catch (NativeLoadException e) {
      failure = e;
      throw e;
    }
  }

  /** The file that was loaded. */
  public static synchronized Path path() {
    load();
    return loadedFrom;
  }

  /** For example {@code "DPDK 22.11.11"}: what the process runs. */
  public static String dpdkVersion() {
    load();
    return text(Pmhxb.hxb_dpdk_running());
  }

  static Path find(String property, String variable, String home) {
    if (property != null && !property.isBlank()) {
      return required("system property hxb.native.path", property);
    }
    if (variable != null && !variable.isBlank()) {
      return required("environment variable HXB_NATIVE", variable);
    }
    if (home != null && !home.isBlank()) {
      Path file = Path.of(home, "native", "build", FILE_NAME);
      return required("system property hxb.home", file.toString());
    }
    throw new NativeLoadException(
        "where "
            + FILE_NAME
            + " is, is not set: start the JVM with -Dhxb.native.path=DIR or with HXB_NATIVE=DIR in its"
            + " environment; DIR is native/build of a checkout where ./hxb build has run, or lib of an"
            + " unpacked tarball");
  }

  private static Path required(String source, String value) {
    Path given = Path.of(value).toAbsolutePath();
    Path file = Files.isDirectory(given) ? given.resolve(FILE_NAME) : given;
    if (!Files.isRegularFile(file)) {
      throw new NativeLoadException(
          source + " says " + value + ", but there is no " + file + "; correct it, or " + BUILD);
    }
    return file;
  }

  private static void open(Path file) {
    try {
      System.load(file.toString());
    } catch (UnsatisfiedLinkError e) {
      throw new NativeLoadException(
          file
              + " cannot be loaded: "
              + e.getMessage()
              + "; install DPDK (apt install dpdk libdpdk-dev), then re"
              + BUILD,
          e);
    } catch (IllegalCallerException e) {
      throw nativeAccessDenied(e);
    }
  }

  static NativeLoadException nativeAccessDenied(IllegalCallerException cause) {
    return new NativeLoadException(
        "this JVM forbids native calls ("
            + cause.getMessage()
            + "); start it with --enable-native-access=ALL-UNNAMED",
        cause);
  }

  private static Facts ask() {
    try {
      Map<Integer, Integer> layout = new TreeMap<>();
      for (int item : expectedLayout().keySet()) {
        layout.put(item, Pmhxb.hxb_layout(item));
      }
      return new Facts(
          Pmhxb.hxb_abi_version(),
          text(Pmhxb.hxb_dpdk_built()),
          text(Pmhxb.hxb_dpdk_running()),
          layout);
    } catch (IllegalCallerException e) {
      throw nativeAccessDenied(e);
    } catch (ExceptionInInitializerError | NoClassDefFoundError | UnsatisfiedLinkError e) {
      throw new NativeLoadException(
          FILE_NAME + " lacks a function that the bindings name (" + e + "); re" + BUILD, e);
    }
  }

  /** Sizes and offsets that the bindings were generated for, by {@code enum hxb_layout_item}. */
  static Map<Integer, Integer> expectedLayout() {
    Map<Integer, Integer> expected = new TreeMap<>();
    expected.put(Pmhxb.HXB_LAYOUT_MBUF_SIZE(), 128);
    expected.put(Pmhxb.HXB_LAYOUT_MBUF_BUF_ADDR(), 0);
    expected.put(Pmhxb.HXB_LAYOUT_MBUF_DATA_OFF(), 16);
    expected.put(Pmhxb.HXB_LAYOUT_MBUF_REFCNT(), MBUF_REFCNT_OFFSET);
    expected.put(Pmhxb.HXB_LAYOUT_MBUF_PKT_LEN(), 36);
    expected.put(Pmhxb.HXB_LAYOUT_MBUF_DATA_LEN(), 40);
    expected.put(Pmhxb.HXB_LAYOUT_HEADROOM(), Pmhxb.HXB_FRAME_OFFSET());
    expected.put(Pmhxb.HXB_LAYOUT_REGION_SIZE(), (int) hxb_region.sizeof());
    expected.put(Pmhxb.HXB_LAYOUT_POOL_CONFIG_SIZE(), (int) hxb_pool_config.sizeof());
    expected.put(Pmhxb.HXB_LAYOUT_POOL_CONFIG_NAME(), (int) hxb_pool_config.name$offset());
    expected.put(Pmhxb.HXB_LAYOUT_PORT_INFO_SIZE(), (int) hxb_port_info.sizeof());
    expected.put(Pmhxb.HXB_LAYOUT_PORT_INFO_DRIVER(), (int) hxb_port_info.driver$offset());
    expected.put(Pmhxb.HXB_LAYOUT_PORT_STATS_SIZE(), (int) hxb_port_stats.sizeof());
    expected.put(Pmhxb.HXB_LAYOUT_PORT_CONFIG_SIZE(), (int) hxb_port_config.sizeof());
    expected.put(Pmhxb.HXB_LAYOUT_POINTER_SIZE(), Long.BYTES);
    return expected;
  }

  static void check(Facts facts, Map<Integer, Integer> expected) {
    if (facts.abi() != Pmhxb.HXB_ABI_VERSION()) {
      throw new NativeLoadException(
          FILE_NAME
              + " has ABI version "
              + facts.abi()
              + ", these classes need "
              + Pmhxb.HXB_ABI_VERSION()
              + "; re"
              + BUILD);
    }
    if (!release(facts.dpdkBuilt()).equals(release(facts.dpdkRunning()))) {
      throw new NativeLoadException(
          FILE_NAME
              + " was compiled against "
              + facts.dpdkBuilt()
              + " but runs with "
              + facts.dpdkRunning()
              + "; re"
              + BUILD);
    }
    expected.forEach(
        (item, bytes) -> {
          int found = facts.layout().getOrDefault(item, -Errno.EINVAL);
          if (found != bytes) {
            throw new NativeLoadException(
                "struct layout item "
                    + item
                    + " (enum hxb_layout_item) is "
                    + found
                    + " bytes in "
                    + FILE_NAME
                    + ", the bindings were generated for "
                    + bytes
                    + " bytes; run scripts/generate-bindings.sh and re"
                    + BUILD);
          }
        });
  }

  /** "DPDK 22.11.11" and "DPDK 22.11.5" are one release: DPDK keeps its ABI within it. */
  private static String release(String version) {
    String[] parts = version.split("\\.");
    return parts.length < 2 ? version : parts[0] + "." + parts[1];
  }

  private static String text(MemorySegment cString) {
    return cString.getString(0);
  }
}
