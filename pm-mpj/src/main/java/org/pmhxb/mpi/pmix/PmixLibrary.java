package org.pmhxb.mpi.pmix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * The calls of {@code libpmix.so.2} (PMIx 3.1 to 5) over primitives, and the layouts of {@code
 * pmix_common.h} that they need. Control path: none is critical, several block.
 */
final class PmixLibrary {
  /** {@code pmix_proc_t}: nspace[256], rank:32. */
  static final long PROC_BYTES = 260;

  static final long PROC_RANK = 256;

  /** {@code pmix_value_t}: type:16, a union of up to 24 bytes from 8 on. */
  static final long VALUE_BYTES = 32;

  static final long VALUE_DATA = 8;

  /** {@code pmix_info_t}: key[512], flags:32, value from 520 on. */
  static final long INFO_BYTES = 552;

  static final long INFO_VALUE = 520;

  static final int RANK_WILDCARD = -2;
  static final short TYPE_BOOL = 1;
  static final short TYPE_STRING = 3;
  static final short TYPE_UINT32 = 14;
  static final byte SCOPE_GLOBAL = 3;

  private static final String NAME = "libpmix.so.2";
  private static final Linker LINKER = Linker.nativeLinker();

  private final SymbolLookup symbols;
  final MethodHandle init;
  final MethodHandle put;
  final MethodHandle commit;
  final MethodHandle fence;
  final MethodHandle get;
  final MethodHandle finish;
  final MethodHandle free;

  PmixLibrary() {
    symbols = open();
    init = bind("PMIx_Init", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG));
    put = bind("PMIx_Put", FunctionDescriptor.of(JAVA_INT, JAVA_BYTE, ADDRESS, ADDRESS));
    commit = bind("PMIx_Commit", FunctionDescriptor.of(JAVA_INT));
    fence =
        bind("PMIx_Fence", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG));
    get =
        bind(
            "PMIx_Get",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));
    finish = bind("PMIx_Finalize", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
    free =
        LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("free"), FunctionDescriptor.ofVoid(ADDRESS));
  }

  private static SymbolLookup open() {
    try {
      return SymbolLookup.libraryLookup(NAME, Arena.global());
    } catch (IllegalArgumentException e) {
      throw new PmixException(
          "cannot load " + NAME + "; install it: apt-get install libpmix2 (comes with openmpi-bin)",
          e);
    }
  }

  private MethodHandle bind(String name, FunctionDescriptor type) {
    MemorySegment symbol =
        symbols
            .find(name)
            .orElseThrow(() -> new PmixException(NAME + " has no " + name + ": too old?", null));
    return LINKER.downcallHandle(symbol, type);
  }
}
