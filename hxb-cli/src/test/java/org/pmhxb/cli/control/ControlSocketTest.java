package org.pmhxb.cli.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.pmhxb.cli.UserErrorException;

class ControlSocketTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  @TempDir private Path directory;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final CountDownLatch left = new CountDownLatch(1);
  private final CountDownLatch release = new CountDownLatch(1);
  private ControlServer server;
  private Path path;

  @BeforeEach
  void start() throws IOException {
    path = directory.resolve("s");
    leaveSocket(path);
    server = ControlServer.start(path, Talk::new);
  }

  /** As a process that crashed leaves it. */
  private static void leaveSocket(Path at) throws IOException {
    try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.bind(UnixDomainSocketAddress.of(at));
    }
    assertThat(at).exists();
  }

  @Test
  void aFileThatIsNoSocketStays() throws IOException {
    Path file = Files.writeString(directory.resolve("passwd"), "root");

    assertThatThrownBy(() -> ControlServer.start(file, Talk::new))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining(file + ": a file that is no socket is there");

    assertThat(file).hasContent("root");
  }

  /** As /dev/null is one, which a node of root would take away from everybody. */
  @Test
  void aPipeOrDeviceStays() throws Exception {
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();

    assertThatThrownBy(() -> ControlServer.start(pipe, Talk::new))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining(pipe + ": a file that is no socket is there");

    assertThat(pipe).exists();
  }

  @Test
  void aSocketOnWhichSomebodyAnswersStaysHis() throws IOException {
    assertThatThrownBy(() -> ControlServer.start(path, Talk::new))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("control-socket " + path + ": a process answers there already");

    try (ControlClient client = ControlClient.connect(path)) {
      assertThat(client.call(ControlJson.request("echo"), LIMIT).path("count").asInt()).isOne();
    }
  }

  /** Whose queue of those who ask is full, as after a minute of them each second. */
  @Test
  void whoStandsStillKeepsNobodyWaiting() throws Exception {
    Path still = directory.resolve("still");
    List<SocketChannel> asking = new ArrayList<>();
    try (ServerSocketChannel listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      listening.bind(UnixDomainSocketAddress.of(still), 1);
      boolean room = true;
      while (room) {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        asking.add(channel);
        channel.configureBlocking(false);
        try {
          room = channel.connect(UnixDomainSocketAddress.of(still));
        } catch (SocketException _) {
          room = false; // EAGAIN
        }
      }
      assertTimeoutPreemptively(
          LIMIT,
          () -> {
            assertThatThrownBy(
                    () ->
                        ControlClient.ask(
                            still, ControlJson.request("echo"), Duration.ofMillis(200)))
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessageContaining(still + " took no connection within 200 ms");
            assertThatThrownBy(() -> ControlServer.requireNobody(still))
                .isInstanceOf(UserErrorException.class)
                .hasMessageContaining("a process answers there already");
          });
    } finally {
      for (SocketChannel channel : asking) {
        channel.close();
      }
    }
  }

  /** No thread can be made, as at a limit of them, which passes. */
  @Test
  void whoGetsNoThreadIsTurnedAwayAndTheNextAnswered() throws Exception {
    Path other = directory.resolve("other");
    ServerSocketChannel listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    listening.bind(UnixDomainSocketAddress.of(other));
    AtomicInteger made = new AtomicInteger();
    ThreadFactory threads =
        talk -> {
          if (made.getAndIncrement() == 0) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          return Thread.ofPlatform().daemon().unstarted(talk);
        };
    try (ControlServer second = new ControlServer(other, listening, threads)) {
      second.answer(Talk::new);
      assertThatThrownBy(() -> ControlClient.ask(other, ControlJson.request("echo"), LIMIT))
          .isInstanceOf(IOException.class);
      assertThat(ControlClient.ask(other, ControlJson.request("echo"), LIMIT).path("count").asInt())
          .isOne();
    }
  }

  /** The longest that the configuration takes can be bound. */
  @Test
  void aPathOf106BytesIsOpened() throws Exception {
    Path folder = Files.createTempDirectory(Path.of("/tmp"), "hxb");
    Path longest = folder.resolve("s".repeat(106 - folder.toString().length() - 1));
    assertThat(longest.toString()).hasSize(106);
    try (ControlServer opened = ControlServer.start(longest, Talk::new)) {
      assertThat(
              ControlClient.ask(longest, ControlJson.request("echo"), LIMIT).path("ok").asBoolean())
          .isTrue();
    }
    Path longer = folder.resolve("s".repeat(107 - folder.toString().length() - 1));
    assertThatThrownBy(() -> ControlServer.start(longer, Talk::new))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("at most 106 bytes");
    Files.delete(folder);
  }

  @AfterEach
  void stop() throws IOException {
    release.countDown();
    server.close();
    assertThat(path).doesNotExist();
  }

  private final class Talk implements ControlServer.Conversation {
    private int count;

    @Override
    public ObjectNode reply(ObjectNode request, BooleanSupplier gone) throws Exception {
      count++;
      return switch (request.path("op").asText()) {
        case "echo" -> ControlJson.object().put("ok", true).put("count", count);
        case "wait" -> {
          release.await();
          yield ControlJson.object().put("ok", true);
        }
        case "leave" -> {
          long untilNs = System.nanoTime() + LIMIT.toNanos();
          while (!gone.getAsBoolean()) {
            if (System.nanoTime() - untilNs > 0) {
              throw new IllegalStateException("nobody left");
            }
            Thread.sleep(1);
          }
          left.countDown();
          yield ControlJson.object().put("ok", true);
        }
        default -> throw new IllegalArgumentException("no such op");
      };
    }

    @Override
    public void close() {
      ended.countDown();
    }
  }

  @Test
  void answersEachLineOfAConnectionInTurn() throws Exception {
    try (ControlClient client = ControlClient.connect(path)) {
      for (int i = 1; i <= 100; i++) {
        ObjectNode request = ControlJson.request("echo").put("filler", "x".repeat(i * 100));
        assertThat(client.call(request, LIMIT).path("count").asInt()).isEqualTo(i);
      }
    }
    assertThat(ended.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aRefusalCarriesItsReason() {
    assertThatThrownBy(() -> ControlClient.ask(path, ControlJson.request("dance"), LIMIT))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("refused dance: no such op");
  }

  @Test
  void aLineThatIsNoJsonIsAnsweredAndTheConnectionGoesOn() throws Exception {
    try (SocketChannel raw = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      raw.connect(UnixDomainSocketAddress.of(path));
      raw.write(ByteBuffer.wrap("}{\n[1]\n{\"op\":\"echo\"}\n".getBytes(StandardCharsets.UTF_8)));
      LineReader reader = new LineReader(raw, 1_000);
      assertThat(reader.next()).contains("\"ok\":false").contains("not JSON");
      assertThat(reader.next()).contains("not a JSON object");
      assertThat(reader.next()).isEqualTo("{\"ok\":true,\"count\":1}");
    }
  }

  @Test
  void anEndlessLineEndsTheConnection() throws Exception {
    try (SocketChannel raw = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      raw.connect(UnixDomainSocketAddress.of(path));
      ByteBuffer bytes = ByteBuffer.wrap(new byte[ControlServer.MAX_LINE_BYTES + 2]);
      assertThatThrownBy(
              () -> {
                while (true) {
                  bytes.clear();
                  raw.write(bytes);
                }
              })
          .isInstanceOf(IOException.class);
    }
    assertThat(ended.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(ControlClient.ask(path, ControlJson.request("echo"), LIMIT).path("ok").asBoolean())
        .isTrue();
  }

  @Test
  void aLongAnswerHearsThatTheOtherSideWent() throws Exception {
    try (ControlClient client = ControlClient.connect(path)) {
      client.send(ControlJson.request("leave"));
      assertThat(left.await(100, TimeUnit.MILLISECONDS)).isFalse();
    }
    assertThat(left.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(ended.await(10, TimeUnit.SECONDS)).isTrue();
  }

  /** An answer that nobody took makes the end an error for the server. */
  @Test
  void aLongAnswerHearsThatTheOtherSideWentWithoutTakingTheFormer() throws Exception {
    try (ControlClient client = ControlClient.connect(path)) {
      client.send(ControlJson.request("echo"));
      client.send(ControlJson.request("leave"));
      assertThat(left.await(100, TimeUnit.MILLISECONDS)).isFalse();
    }
    assertThat(left.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(ended.await(10, TimeUnit.SECONDS)).isTrue();
  }

  /** As socat does behind its input. */
  @Test
  void whoEndsItsHalfIsAnswered() throws Exception {
    try (SocketChannel raw = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      raw.connect(UnixDomainSocketAddress.of(path));
      String lines = "{\"op\":\"echo\"}\n{\"op\":\"leave\"}\n{\"op\":\"echo\"}\n";
      raw.write(ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8)));
      raw.shutdownOutput();
      LineReader reader = new LineReader(raw, 1_000);
      assertThat(reader.next()).isEqualTo("{\"ok\":true,\"count\":1}");
      assertThat(reader.next()).isEqualTo("{\"ok\":true}");
      assertThat(reader.next()).isEqualTo("{\"ok\":true,\"count\":3}");
      assertThat(reader.next()).isNull();
    }
  }

  /** The limit of a measurement is minutes: who interrupts it does not wait for that. */
  @Test
  void anInterruptEndsTheWaitForAnAnswerAndIsKept() throws Exception {
    try (ControlClient client = ControlClient.connect(path)) {
      client.send(ControlJson.request("wait"));
      Thread waiting = Thread.currentThread();
      Thread.ofVirtual()
          .start(
              () -> {
                LockSupport.parkNanos(100_000_000);
                waiting.interrupt();
              });
      long startNs = System.nanoTime();
      assertThatThrownBy(() -> client.receive("wait", LIMIT))
          .isInstanceOf(InterruptedIOException.class)
          .hasMessageContaining("was to answer wait");
      assertThat(Thread.interrupted()).isTrue();
      assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(LIMIT.dividedBy(2));
    }
  }

  @Test
  void aSlowAnswerTimesOutAndOthersAreServedMeanwhile() throws Exception {
    try (ControlClient client = ControlClient.connect(path)) {
      assertThatThrownBy(() -> client.call(ControlJson.request("wait"), Duration.ofMillis(50)))
          .hasMessageContaining("did not answer wait within 50 ms");
      assertThat(ControlClient.ask(path, ControlJson.request("echo"), LIMIT).path("ok").asBoolean())
          .isTrue();
    }
  }

  /** As a process without a free descriptor is answered. */
  @Test
  void whatIsNotAcceptedNowIsAcceptedLater() throws Exception {
    Path other = directory.resolve("other");
    try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.bind(UnixDomainSocketAddress.of(other));
      try (ControlServer late = new ControlServer(other, new Reluctant(channel))) {
        late.answer(Talk::new);
        assertThat(
                ControlClient.ask(other, ControlJson.request("echo"), LIMIT).path("count").asInt())
            .isOne();
      }
    }
  }

  /** Accepts nothing at first. */
  private static final class Reluctant extends ServerSocketChannel {
    private final ServerSocketChannel channel;
    private int refusals = 2;

    Reluctant(ServerSocketChannel channel) {
      super(channel.provider());
      this.channel = channel;
    }

    @Override
    public SocketChannel accept() throws IOException {
      if (refusals-- > 0) {
        throw new IOException("Too many open files");
      }
      return channel.accept();
    }

    @Override
    public ServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
      return channel.bind(local, backlog);
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
      return channel.setOption(name, value);
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
      return channel.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
      return channel.supportedOptions();
    }

    @Override
    public ServerSocket socket() {
      return channel.socket();
    }

    @Override
    public SocketAddress getLocalAddress() throws IOException {
      return channel.getLocalAddress();
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
      channel.close();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
      channel.configureBlocking(block);
    }
  }

  @Test
  void nobodyThereIsSaid() {
    assertThatThrownBy(() -> ControlClient.connect(directory.resolve("other")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no answer on " + directory.resolve("other"));
  }
}
