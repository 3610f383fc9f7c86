package org.pmhxb.cli.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.pmhxb.bufpool.BufferPool;
import org.pmhxb.bufpool.DpdkPool;
import org.pmhxb.bufpool.Owner;
import org.pmhxb.ffi.Eal;
import org.pmhxb.ffi.EalOptions;
import org.pmhxb.ffi.Hugepages;
import org.pmhxb.ffi.Rings;
import org.pmhxb.pm.port.Burst;
import org.pmhxb.pm.port.DpdkPort;
import org.pmhxb.pm.port.DpdkPorts;

/** The rails of one node over real ports, and the far ends of their cables in a test's hands. */
final class RealRails implements AutoCloseable {
  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static final int WINDOW = Owner.of(Owner.WINDOW, 1);
  private static final int CAPACITY = 1_024;

  final DpdkPool pool;
  final List<DpdkPort> near = new ArrayList<>();
  private final DpdkPool farPool;
  private final List<DpdkPort> far = new ArrayList<>();
  private final List<Long> rings = new ArrayList<>();
  private final List<String> links = new ArrayList<>();
  private final Burst burst = new Burst(32);

  private RealRails(boolean onePool) {
    Eal.init(EalOptions.defaults());
    String name = "fz" + NUMBER.incrementAndGet();
    pool = DpdkPool.create(name, BufferPool.JUMBO_STRIDE_BYTES, CAPACITY, Hugepages.AUTO);
    farPool =
        onePool
            ? pool
            : DpdkPool.create(name + "f", BufferPool.JUMBO_STRIDE_BYTES, CAPACITY, Hugepages.AUTO);
  }

  /** Bare rings: no switch that would look at addresses. */
  static RealRails ring(int rails) {
    RealRails made = new RealRails(true);
    String name = "fz" + NUMBER.incrementAndGet();
    long[] in = new long[rails];
    long[] out = new long[rails];
    long[] macs = new long[rails];
    DpdkPool[] pools = new DpdkPool[rails];
    for (int r = 0; r < rails; r++) {
      in[r] = Rings.create(name + "i" + r, 64, true, true);
      out[r] = Rings.create(name + "o" + r, 64, true, true);
      made.rings.addAll(List.of(in[r], out[r]));
      macs[r] = 0x0200_0000_0200L | r;
      pools[r] = made.pool;
    }
    made.near.addAll(List.of(DpdkPorts.rings(name + "n", in, out, pools, macs)));
    made.far.addAll(List.of(DpdkPorts.rings(name + "f", out, in, pools, macs)));
    return made;
  }

  /** Veth pairs in this network namespace; needs root. */
  static RealRails veth(int rails) throws IOException, InterruptedException {
    RealRails made = new RealRails(false);
    for (int r = 0; r < rails; r++) {
      String line = "hxb" + ProcessHandle.current().pid() + "z" + NUMBER.incrementAndGet();
      made.links.add(line + "a");
      run("ip link add " + line + "a mtu 9000 type veth peer name " + line + "b mtu 9000");
      for (String end : List.of(line + "a", line + "b")) {
        Path ipv6 = Path.of("/proc/sys/net/ipv6/conf", end, "disable_ipv6");
        if (Files.exists(ipv6)) {
          Files.writeString(ipv6, "1"); // no router solicitations between the test's frames
        }
        run("ip link set " + end + " up");
      }
      made.near.add(DpdkPorts.afPacket(line + "a", made.pool));
      made.far.add(DpdkPorts.afPacket(line + "b", made.farPool));
    }
    return made;
  }

  private static void run(String command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command.split(" ")).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).as("%s: %s", command, output).isZero();
  }

  /** Sends any bytes to a near rail. */
  void send(int rail, byte[] frame) {
    int id = farPool.allocate(WINDOW);
    assertThat(id).as("a free buffer").isPositive();
    long at = farPool.frameAt(id);
    MemorySegment.copy(frame, 0, farPool.memory(), ValueLayout.JAVA_BYTE, at, frame.length);
    burst.set(0, Burst.descriptor(id, frame.length));
    assertThat(far.get(rail).txBurst(burst, 0, 1)).isEqualTo(1);
    farPool.transfer(id, WINDOW, Owner.PORT);
  }

  /** What the node has sent on a rail since. */
  List<byte[]> received(int rail) {
    List<byte[]> frames = new ArrayList<>();
    int n;
    do {
      n = far.get(rail).rxBurst(burst, 32);
      for (int i = 0; i < n; i++) {
        int id = Burst.id(burst.get(i));
        byte[] frame = new byte[Burst.lengthBytes(burst.get(i))];
        long at = farPool.frameAt(id);
        MemorySegment.copy(farPool.memory(), ValueLayout.JAVA_BYTE, at, frame, 0, frame.length);
        farPool.transfer(id, Owner.PORT, Owner.NODE);
        farPool.release(id, Owner.NODE);
        frames.add(frame);
      }
    } while (n > 0);
    return frames;
  }

  /** Lets the ports free what they sent; the node has closed its own ends. */
  @Override
  public void close() throws IOException, InterruptedException {
    for (int r = 0; r < far.size(); r++) {
      received(r);
    }
    far.forEach(DpdkPort::close);
    rings.forEach(Rings::free);
    for (String link : links) {
      run("ip link del " + link);
    }
    for (DpdkPool each : farPool == pool ? List.of(pool) : List.of(pool, farPool)) {
      each.flush();
      assertThat(each.available()).as("buffers at home").isEqualTo(each.capacity());
      each.close();
    }
  }
}
