package org.pmhxb.cost;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.pmhxb.ffi.NativeLibrary;
import org.pmhxb.pm.wire.FrameHeader;

/** The C twin (native/bench/twin.h): it is called as the loops call the Java node. */
final class Twin implements Subject {
  /** Lies beside libpmhxb. */
  static final String FILE_NAME = "libhxbtwin.so";

  /** Places in {@code enum twin_counter}; frames sent are not compared: announcements differ. */
  private static final int DROPPED_AT = COMPARED.size() + 1;

  private static final int TROUBLE_AT = DROPPED_AT + 1;
  private static final int RAILS_MAX = 18;

  private static final SymbolLookup SYMBOLS = symbols();
  private static final FunctionDescriptor OF_HANDLE = FunctionDescriptor.of(JAVA_LONG, JAVA_LONG);

  // Bounded, no system call: safe to delay a safepoint for; as the Java node's bursts are.
  private static final MethodHandle RECEIVE =
      critical("twin_receive", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
  private static final MethodHandle SEND =
      critical(
          "twin_send",
          FunctionDescriptor.of(
              JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));
  private static final MethodHandle CYCLE =
      critical("twin_cycle", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

  private static final MethodHandle CREATE = control("twin_create", OF_HANDLE);
  private static final MethodHandle ADD_PEER =
      control("twin_add_peer", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle ADD_NEIGHBOUR =
      control(
          "twin_add_neighbour",
          FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
  private static final MethodHandle DESTROY =
      control("twin_destroy", FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle FLUSH =
      control("twin_flush", FunctionDescriptor.ofVoid(JAVA_LONG));
  private static final MethodHandle DIGEST = control("twin_digest", OF_HANDLE);
  private static final MethodHandle CONTENTS =
      control("twin_contents", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
  private static final MethodHandle COUNTER =
      control("twin_counter", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT));
  private static final MethodHandle BYTES_OF_CONFIG =
      control("twin_config_bytes", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

  private final long handle;
  private final int rails;
  private final int payloadBytes;

  private static SymbolLookup symbols() {
    Path file = NativeLibrary.path().resolveSibling(FILE_NAME);
    if (!Files.isRegularFile(file)) {
      throw new IllegalStateException(
          file + " is not there: build it with: cmake --build native/build --target hxbtwin");
    }
    return SymbolLookup.libraryLookup(file, Arena.global());
  }

  private static MethodHandle critical(String name, FunctionDescriptor type) {
    return bind(name, type, Linker.Option.critical(false));
  }

  private static MethodHandle control(String name, FunctionDescriptor type) {
    return bind(name, type);
  }

  private static MethodHandle bind(String name, FunctionDescriptor type, Linker.Option... options) {
    return Linker.nativeLinker().downcallHandle(SYMBOLS.findOrThrow(name), type, options);
  }

  /** Writes a struct of twin.h field by field; every field lies at a multiple of its size. */
  private static final class Struct {
    private final MemorySegment memory;
    private long at;

    Struct(Arena arena, int which) {
      memory = arena.allocate((int) call(() -> (int) BYTES_OF_CONFIG.invokeExact(which)), 8);
    }

    Struct u16(int value) {
      memory.set(ValueLayout.JAVA_SHORT, at, (short) value);
      at += Short.BYTES;
      return this;
    }

    Struct u32(int value) {
      memory.set(JAVA_INT, at, value);
      at += Integer.BYTES;
      return this;
    }

    Struct u64(long value) {
      at = at + 7 & ~7L;
      memory.set(JAVA_LONG, at, value);
      at += Long.BYTES;
      return this;
    }

    /** All fields were written, or this class and twin.h are not of one mind. */
    long address() {
      if (at != memory.byteSize()) {
        throw new IllegalStateException(
            "a struct of twin.h has " + memory.byteSize() + " B, written were " + at);
      }
      return memory.address();
    }
  }

  /** What the twin is to be: the same node as the Java one. */
  record Config(
      int nodes,
      int windowFrames,
      int inboxMessages,
      int endpoint,
      int relayRails,
      int[] extents,
      long nowNs,
      int payloadBytes) {}

  Twin(Lab lab, Config config) {
    rails = lab.rails();
    payloadBytes = config.payloadBytes();
    try (Arena arena = Arena.ofConfined()) {
      Struct c =
          new Struct(arena, 0)
              .u64(lab.pool.handle())
              .u64(lab.pool.memory().address())
              .u32(lab.pool.strideBytes())
              .u32(lab.pool.capacity())
              .u32(0)
              .u32(config.nodes())
              .u32(Lab.KEY)
              .u32(config.windowFrames())
              .u32(config.inboxMessages())
              .u32(config.endpoint())
              .u32(rails)
              .u32(config.relayRails());
      for (int extent : config.extents()) {
        c.u32(extent);
      }
      c.u32(FrameHeader.BYTES + Lab.maxPayloadBytes(config.payloadBytes()))
          .u64(config.nowNs())
          .u64(FarPeers.ROUND_NS);
      for (int r = 0; r < RAILS_MAX; r++) {
        c.u16(r < rails ? lab.port(r).portNumber() : 0);
      }
      for (int r = 0; r < RAILS_MAX; r++) {
        c.u64(r < rails ? lab.port(r).macAddress() : 0);
      }
      long address = c.address();
      handle = call(() -> (long) CREATE.invokeExact(address));
    }
    if (handle == 0) {
      throw new IllegalStateException("twin_create refused " + config);
    }
  }

  void addPeer(int peer, int session, int granted, int limit) {
    try (Arena arena = Arena.ofConfined()) {
      Struct p =
          new Struct(arena, 1)
              .u32(peer)
              .u32(session)
              .u32(FarPeers.FIRST_SEQ)
              .u32(FarPeers.FIRST_SEQ)
              .u32(granted)
              .u32(limit);
      for (int r = 0; r < RAILS_MAX; r++) {
        p.u64(r < rails ? Lab.mac(peer, r) : 0);
      }
      long address = p.address();
      check("twin_add_peer", call(() -> (int) ADD_PEER.invokeExact(handle, address)));
    }
  }

  void addNeighbour(int dimension, int coordinate, int rail, long mac) {
    check(
        "twin_add_neighbour",
        call(() -> (int) ADD_NEIGHBOUR.invokeExact(handle, dimension, coordinate, rail, mac)));
  }

  private static void check(String function, long result) {
    if (result < 0) {
      throw new IllegalStateException(function + " answers " + result);
    }
  }

  @Override
  public int receive(long nowNs, int messages) {
    try {
      return (int) RECEIVE.invokeExact(handle, nowNs, messages);
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }

  @Override
  public int send(long nowNs, Turns order, int from, int messages, long first) {
    try {
      return (int)
          SEND.invokeExact(handle, nowNs, order.address(from), messages, payloadBytes, first);
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }

  @Override
  public void cycle(long nowNs) {
    try {
      int received = (int) CYCLE.invokeExact(handle, nowNs);
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }

  @Override
  public long digest() {
    return call(() -> (long) DIGEST.invokeExact(handle));
  }

  @Override
  public void readContents(boolean contents) {
    run(
        () -> {
          CONTENTS.invokeExact(handle, contents ? 1 : 0);
        });
  }

  @Override
  public boolean isClean() {
    return counter(DROPPED_AT) == 0 && counter(TROUBLE_AT) == 0;
  }

  @Override
  public Map<String, Long> counters() {
    Map<String, Long> counters = new LinkedHashMap<>();
    for (int i = 0; i < COMPARED.size(); i++) {
      counters.put(COMPARED.get(i).name(), counter(i));
    }
    counters.put(DROPPED, counter(DROPPED_AT));
    counters.put(TROUBLE, counter(TROUBLE_AT));
    return counters;
  }

  private long counter(int index) {
    return call(() -> (long) COUNTER.invokeExact(handle, index));
  }

  @Override
  public String details() {
    return counters().toString();
  }

  @Override
  public String toString() {
    return "the C twin";
  }

  @Override
  public void close() {
    run(
        () -> {
          FLUSH.invokeExact(handle);
        });
    run(
        () -> {
          DESTROY.invokeExact(handle);
        });
  }

  @FunctionalInterface
  private interface Call {
    long call() throws Throwable;
  }

  @FunctionalInterface
  private interface Action {
    void run() throws Throwable;
  }

  private static long call(Call call) {
    try {
      return call.call();
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }

  private static void run(Action action) {
    try {
      action.run();
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }
}
