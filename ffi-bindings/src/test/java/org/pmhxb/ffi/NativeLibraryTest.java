package org.pmhxb.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.ffi.NativeLibrary.Facts;
import org.pmhxb.ffi.gen.Pmhxb;

/** Where the library is looked for, and what is refused, each with its remedy. */
class NativeLibraryTest {
  @TempDir Path directory;

  private Path library(Path in) throws IOException {
    Files.createDirectories(in);
    return Files.createFile(in.resolve(NativeLibrary.FILE_NAME));
  }

  private static Facts facts(int abi, String running, Map<Integer, Integer> layout) {
    return new Facts(abi, "DPDK 22.11.1", running, layout);
  }

  @Test
  void theRealLibraryPassesItsChecks() {
    NativeLibrary.load();
    NativeLibrary.load();
    assertThat(NativeLibrary.path()).isRegularFile();
    assertThat(NativeLibrary.dpdkVersion()).startsWith("DPDK 2");
  }

  @Test
  void thePropertyComesBeforeTheVariableBeforeTheHome() throws IOException {
    Path byProperty = library(directory.resolve("a"));
    Path byVariable = library(directory.resolve("b"));
    Path byHome = library(directory.resolve("home/native/build"));
    String a = byProperty.toString();
    String b = byVariable.getParent().toString();
    String home = directory.resolve("home").toString();
    assertThat(NativeLibrary.find(a, b, home)).isEqualTo(byProperty);
    assertThat(NativeLibrary.find(null, b, home)).isEqualTo(byVariable);
    assertThat(NativeLibrary.find("", " ", home)).isEqualTo(byHome);
  }

  @Test
  void aPathThatIsSetButWrongEndsTheSearch() throws IOException {
    library(directory.resolve("work/native/build"));
    String home = directory.resolve("work").toString();
    String wrong = directory.resolve("nowhere").toString();
    assertThatThrownBy(() -> NativeLibrary.find(wrong, null, home))
        .isInstanceOf(NativeLoadException.class)
        .hasMessageContaining("hxb.native.path")
        .hasMessageContaining(wrong);
    assertThatThrownBy(() -> NativeLibrary.find(null, wrong, home))
        .hasMessageContaining("HXB_NATIVE")
        .hasMessageContaining("cmake --build native/build");
    assertThatThrownBy(() -> NativeLibrary.find(null, null, wrong))
        .hasMessageContaining("hxb.home")
        .hasMessageContaining("there is no " + wrong + "/native/build/libpmhxb.so");
  }

  /** Though one may lie below the folder that the program was started in. */
  @Test
  void aLibraryThatNobodyNamedIsNotLookedFor() {
    assertThatThrownBy(() -> NativeLibrary.find(null, "", " "))
        .isInstanceOf(NativeLoadException.class)
        .hasMessageContaining("where libpmhxb.so is, is not set")
        .hasMessageContaining("-Dhxb.native.path=DIR")
        .hasMessageContaining("HXB_NATIVE=DIR");
  }

  @Test
  void pointReleasesOfOneDpdkAgree() {
    Map<Integer, Integer> expected = NativeLibrary.expectedLayout();
    Facts facts = facts(Pmhxb.HXB_ABI_VERSION(), "DPDK 22.11.5", expected);
    assertThat(facts.dpdkBuilt()).isNotEqualTo(facts.dpdkRunning());
    NativeLibrary.check(facts, expected);
  }

  @Test
  void anotherAbiVersionIsRefused() {
    Map<Integer, Integer> expected = NativeLibrary.expectedLayout();
    assertThatThrownBy(() -> NativeLibrary.check(facts(99, "DPDK 22.11.1", expected), expected))
        .isInstanceOf(NativeLoadException.class)
        .hasMessageContaining("ABI version 99")
        .hasMessageContaining("rebuild it");
  }

  @Test
  void anotherDpdkThanCompiledAgainstIsRefused() {
    Map<Integer, Integer> expected = NativeLibrary.expectedLayout();
    Facts facts = facts(Pmhxb.HXB_ABI_VERSION(), "DPDK 24.11.1", expected);
    assertThatThrownBy(() -> NativeLibrary.check(facts, expected))
        .isInstanceOf(NativeLoadException.class)
        .hasMessageContaining("compiled against DPDK 22.11.1 but runs with DPDK 24.11.1")
        .hasMessageContaining("rebuild it");
  }

  @Test
  void everyWrongSizeOrOffsetIsRefused() {
    Map<Integer, Integer> expected = NativeLibrary.expectedLayout();
    assertThat(expected).hasSizeGreaterThanOrEqualTo(15);
    for (int item : expected.keySet()) {
      Map<Integer, Integer> wrong = new TreeMap<>(expected);
      wrong.merge(item, 8, Integer::sum);
      Facts facts = facts(Pmhxb.HXB_ABI_VERSION(), "DPDK 22.11.1", wrong);
      assertThatThrownBy(() -> NativeLibrary.check(facts, expected))
          .isInstanceOf(NativeLoadException.class)
          .hasMessageContaining("layout item " + item + " ")
          .hasMessageContaining("scripts/generate-bindings.sh");
    }
  }

  @Test
  void forbiddenNativeAccessNamesTheFlag() {
    IllegalCallerException cause = new IllegalCallerException("Illegal native access");
    assertThat(NativeLibrary.nativeAccessDenied(cause))
        .hasMessageContaining("--enable-native-access=ALL-UNNAMED")
        .hasCause(cause);
  }
}
