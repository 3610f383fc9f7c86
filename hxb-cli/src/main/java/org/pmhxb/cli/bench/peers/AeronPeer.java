package org.pmhxb.cli.bench.peers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Aeron, driven by scripts/peers/AeronBench.java in JVMs of its own. */
final class AeronPeer implements Peer {
  private static final int PORT = 40_000;
  private static final int BACK_PORT = 41_000;

  /**
   * Its processes are new in each run, and their compilers have to get through the driver's loop
   * first: seconds of traffic over links that limit it, and where nothing else does.
   */
  private static final double WARM_UP_SHAPED = 2;

  private static final double WARM_UP = 6;

  private final Path built;

  /**
   * @param built where install-peers.sh put the jar and the classes
   */
  AeronPeer(Path built) {
    this.built = built;
  }

  private Optional<Path> jar() {
    try (var files = Files.list(built)) {
      return files
          .filter(f -> f.getFileName().toString().matches("aeron-all-.*\\.jar"))
          .findFirst();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  @Override
  public String name() {
    return "aeron";
  }

  @Override
  public String how() {
    return "Aeron, media driver in the program's thread; UDP: one publication per link, no order"
        + " among links; shared memory: IPC within one process";
  }

  @Override
  public Optional<String> missing() {
    return jar().isPresent() && Files.exists(built.resolve("classes/AeronBench.class"))
        ? Optional.empty()
        : Optional.of("Aeron is not in " + built + "; run scripts/install-peers.sh");
  }

  @Override
  public String version() {
    return jar().map(file -> file.getFileName().toString()).orElse("");
  }

  @Override
  public boolean polls() {
    return true;
  }

  @Override
  public boolean supports(PeerCase what) {
    return !what.both() || what.medium() == PeerCase.Medium.SHAPED;
  }

  @Override
  public PeerFigures run(PeerCase what, PeerSite site, Foreign programs, Times times)
      throws IOException, InterruptedException {
    double least = what.medium() == PeerCase.Medium.SHAPED ? WARM_UP_SHAPED : WARM_UP;
    Times longer = new Times(Math.max(least, times.warmUp()), times.measure());
    if (site.isLocal()) {
      String mode = what.ping() ? "ipc-ping" : "ipc-stream";
      Foreign.Running both = programs.onA(site, Map.of(), command(mode, what, longer));
      return Outputs.own(name(), programs.await(both, longer.limit()), what.ping());
    }
    String toB = channels(what.links(), PORT, site::addressB);
    String toA =
        what.ping() || what.both() ? channels(what.links(), BACK_PORT, site::addressA) : "";
    List<String> a = command(what.ping() ? "ping" : "stream", what, longer);
    a.addAll(List.of(toB, toA));
    List<String> b = command(what.ping() ? "pong" : "stream", what, longer);
    b.addAll(List.of(toA, toB));
    Foreign.Running far = programs.onB(site, Map.of(), b);
    Foreign.Running near = programs.onA(site, Map.of(), a);
    String said = programs.await(near, longer.limit()) + programs.await(far, longer.limit());
    return Outputs.own(name(), said, what.ping());
  }

  private static String channels(
      int links, int port, java.util.function.IntFunction<String> address) {
    return IntStream.range(0, links)
        .mapToObj(i -> "aeron:udp?endpoint=" + address.apply(i) + ":" + (port + i))
        .collect(Collectors.joining(";"));
  }

  private List<String> command(String mode, PeerCase what, Times times) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");
    command.add("--sun-misc-unsafe-memory-access=allow");
    command.add("-XX:+UseSerialGC");
    command.addAll(List.of("-cp", built.resolve("classes") + ":" + jar().orElseThrow()));
    command.addAll(List.of("AeronBench", mode, "" + what.sizeBytes()));
    command.addAll(List.of("" + times.warmUp(), "" + times.measure()));
    return command;
  }
}
