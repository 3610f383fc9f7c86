import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.FragmentAssembler;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Streams and ping-pongs over Aeron, for "hxb bench peers". It runs outside the product, on Aeron's own class path.
 *
 * <pre>
 * AeronBench stream SIZE WARM_UP_S SECONDS OUT IN   OUT, IN: channels separated by ';', or none
 * AeronBench ping   SIZE WARM_UP_S SECONDS OUT IN   asks over OUT, is answered over IN
 * AeronBench pong   SIZE WARM_UP_S SECONDS OUT IN
 * AeronBench ipc-stream SIZE WARM_UP_S SECONDS      two threads of one process
 * AeronBench ipc-ping   SIZE WARM_UP_S SECONDS
 * </pre>
 *
 * <p>The media driver runs in the thread of the program (invoker), the least threads that Aeron can have over UDP: two
 * processes on two processors. A receiver prints one JSON object.
 */
public final class AeronBench {
  private static final int MTU_BYTES = 8_960;
  private static final int TERM_BYTES = 16 << 20;
  private static final int FRAGMENTS = 64;
  private static final int STREAM = 7;
  private static final int BACK = 8;
  private static final long GIVE_UP_NS = 10_000_000_000L;
  private static final int SAMPLES = 1 << 20;
  private static final int FEW = 1_000;

  private final int size;
  private final long warmUpNs;
  private final long measureNs;

  private AeronBench(String[] args) {
    size = Integer.parseInt(args[1]);
    warmUpNs = Math.round(Double.parseDouble(args[2]) * 1e9);
    measureNs = Math.round(Double.parseDouble(args[3]) * 1e9);
  }

  public static void main(String[] args) throws Exception {
    AeronBench bench = new AeronBench(args);
    switch (args[0]) {
      case "stream" -> bench.overUdp(args, false, false);
      case "ping" -> bench.overUdp(args, true, true);
      case "pong" -> bench.overUdp(args, true, false);
      case "ipc-stream" -> bench.overIpc(false);
      case "ipc-ping" -> bench.overIpc(true);
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  private static MediaDriver.Context driver(ThreadingMode mode) {
    return new MediaDriver.Context()
        .aeronDirectoryName("/dev/shm/hxb-aeron-" + ProcessHandle.current().pid())
        .dirDeleteOnStart(true)
        .dirDeleteOnShutdown(true)
        .threadingMode(mode)
        .mtuLength(MTU_BYTES)
        .publicationTermBufferLength(TERM_BYTES)
        .ipcTermBufferLength(TERM_BYTES);
  }

  private void overUdp(String[] args, boolean pingPong, boolean asking) {
    try (MediaDriver driver = MediaDriver.launch(driver(ThreadingMode.INVOKER));
        Aeron aeron =
            Aeron.connect(
                new Aeron.Context()
                    .aeronDirectoryName(driver.aeronDirectoryName())
                    .useConductorAgentInvoker(true)
                    .driverAgentInvoker(driver.sharedAgentInvoker()))) {
      AgentInvoker media = driver.sharedAgentInvoker();
      AgentInvoker client = aeron.conductorAgentInvoker();
      Runnable turn =
          () -> {
            media.invoke();
            client.invoke();
          };
      List<Subscription> in = new ArrayList<>();
      channels(args, 5).forEach(channel -> in.add(aeron.addSubscription(channel, STREAM)));
      List<ExclusivePublication> out = new ArrayList<>();
      channels(args, 4).forEach(channel -> out.add(aeron.addExclusivePublication(channel, STREAM)));
      awaitConnected(out, in, turn);
      if (pingPong) {
        ping(out.getFirst(), in.getFirst(), asking, turn);
      } else {
        stream(out, in, turn);
      }
    }
  }

  private static List<String> channels(String[] args, int index) {
    return args.length <= index || args[index].isEmpty() ? List.of() : Arrays.asList(args[index].split(";"));
  }

  private static void awaitConnected(List<ExclusivePublication> out, List<Subscription> in, Runnable turn) {
    long fromNs = System.nanoTime();
    while (!out.stream().allMatch(ExclusivePublication::isConnected) || !in.stream().allMatch(Subscription::isConnected)) {
      turn.run();
      if (System.nanoTime() - fromNs > GIVE_UP_NS) {
        throw new IllegalStateException("not connected: " + out + " " + in);
      }
    }
  }

  /** Counts what comes within the measurement. */
  private final class Counter implements FragmentHandler {
    private final long fromNs;
    private final long toNs;
    private long messages;
    private double times;
    private double numbers;
    private double timesSquared;
    private double products;
    private long firstNs;
    private long lastNs;

    private Counter(long startNs) {
      fromNs = startNs + warmUpNs;
      toNs = fromNs + measureNs;
    }

    @Override
    public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
      long nowNs = System.nanoTime();
      if (nowNs - fromNs < 0 || nowNs - toNs >= 0) {
        return;
      }
      if (messages++ == 0) {
        firstNs = nowNs;
      }
      lastNs = nowNs;
      if (messages <= FEW) {
        note((nowNs - fromNs) / 1e9);
      }
    }

    private void note(double time) {
      times += time;
      numbers += messages;
      timesSquared += time * time;
      products += time * messages;
    }

    /** Of the straight line through the messages' times: it does not mind that several come at once. */
    private double slope() {
      return (messages * products - times * numbers) / (messages * timesSquared - times * times);
    }

    private void print() {
      // Of few large messages one more or less would show.
      boolean steady = messages < FEW && lastNs - firstNs > measureNs / 2;
      System.out.printf(
          Locale.ROOT, "{\"messagesPerSecond\":%.3f}%n", steady ? slope() : messages / (measureNs / 1e9));
    }
  }

  private UnsafeBuffer message() {
    return new UnsafeBuffer(BufferUtil.allocateDirectAligned(size, 64));
  }

  private void stream(List<ExclusivePublication> out, List<Subscription> in, Runnable turn) {
    long startNs = System.nanoTime();
    Counter counter = new Counter(startNs);
    FragmentHandler handler = new FragmentAssembler(counter);
    UnsafeBuffer message = message();
    long endNs = startNs + warmUpNs + measureNs + 300_000_000L;
    while (System.nanoTime() - endNs < 0) {
      turn.run();
      for (ExclusivePublication publication : out) {
        publication.offer(message, 0, size);
      }
      for (Subscription subscription : in) {
        subscription.poll(handler, FRAGMENTS);
      }
    }
    if (!in.isEmpty()) {
      counter.print();
    }
  }

  private void ping(ExclusivePublication out, Subscription in, boolean asking, Runnable turn) {
    long[] halfNs = new long[SAMPLES];
    int[] count = {0};
    int[] came = {0};
    FragmentHandler handler = (buffer, offset, length, header) -> came[0]++;
    UnsafeBuffer message = message();
    long fromNs = System.nanoTime() + warmUpNs;
    // The answering side hears of no end: it answers a little longer than it is asked.
    long toNs = fromNs + measureNs + (asking ? 0 : 300_000_000L);
    while (System.nanoTime() - toNs < 0) {
      if (asking) {
        long beganNs = System.nanoTime();
        offer(out, message, turn, toNs);
        await(in, handler, came, turn, toNs);
        long nowNs = System.nanoTime();
        if (beganNs - fromNs >= 0 && nowNs - toNs < 0 && count[0] < SAMPLES) {
          halfNs[count[0]++] = (nowNs - beganNs) / 2;
        }
      } else if (await(in, handler, came, turn, toNs)) {
        offer(out, message, turn, toNs);
      }
    }
    if (asking) {
      printHalf(halfNs, count[0]);
    }
  }

  private void offer(ExclusivePublication out, UnsafeBuffer message, Runnable turn, long toNs) {
    while (out.offer(message, 0, size) < 0 && System.nanoTime() - toNs < 0) {
      turn.run();
    }
    turn.run();
  }

  private static boolean await(Subscription in, FragmentHandler handler, int[] came, Runnable turn, long toNs) {
    int before = came[0];
    while (came[0] == before && System.nanoTime() - toNs < 0) {
      turn.run();
      in.poll(handler, FRAGMENTS);
    }
    return came[0] != before;
  }

  private void printHalf(long[] halfNs, int count) {
    Arrays.sort(halfNs, 0, count);
    System.out.printf(
        Locale.ROOT,
        "{\"messagesPerSecond\":%.3f,\"minUs\":%.3f,\"p50Us\":%.3f,\"p99Us\":%.3f}%n",
        count / (measureNs / 1e9),
        halfNs[0] / 1e3,
        halfNs[count / 2] / 1e3,
        halfNs[(int) (count * 0.99)] / 1e3);
  }

  /** The driver only has to set up here: it sleeps. */
  private void overIpc(boolean pingPong) throws InterruptedException {
    MediaDriver.Context context =
        driver(ThreadingMode.SHARED).sharedIdleStrategy(new SleepingMillisIdleStrategy(1));
    try (MediaDriver driver = MediaDriver.launch(context);
        Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(driver.aeronDirectoryName()))) {
      Runnable nothing = Thread::onSpinWait;
      Subscription there = aeron.addSubscription("aeron:ipc", STREAM);
      ExclusivePublication to = aeron.addExclusivePublication("aeron:ipc", STREAM);
      Subscription here = aeron.addSubscription("aeron:ipc", BACK);
      ExclusivePublication back = aeron.addExclusivePublication("aeron:ipc", BACK);
      awaitConnected(List.of(to, back), List.of(there, here), nothing);
      Thread second =
          new Thread(
              () -> {
                if (pingPong) {
                  ping(back, there, false, nothing);
                } else {
                  stream(List.of(), List.of(there), nothing);
                }
              });
      second.start();
      if (pingPong) {
        ping(to, here, true, nothing);
      } else {
        stream(List.of(to), List.of(), nothing);
      }
      second.join();
    }
  }
}
