package org.pmhxb.jmh;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.pmhxb.ffi.NativeLibrary;

/** What crossing into libpmhxb costs by itself: the function returns a constant. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(1)
public class EmptyDowncall {
  // Constant handles, as the packet path has them: only those are compiled into direct calls.
  private static final MethodHandle CRITICAL = bind(Linker.Option.critical(false));
  private static final MethodHandle ORDINARY = bind();

  private static MethodHandle bind(Linker.Option... options) {
    NativeLibrary.load();
    return Linker.nativeLinker()
        .downcallHandle(
            SymbolLookup.libraryLookup(NativeLibrary.path(), Arena.global())
                .find("hxb_abi_version")
                .orElseThrow(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT),
            options);
  }

  @Benchmark
  public int critical() throws Throwable {
    return (int) CRITICAL.invokeExact();
  }

  @Benchmark
  public int ordinary() throws Throwable {
    return (int) ORDINARY.invokeExact();
  }
}
