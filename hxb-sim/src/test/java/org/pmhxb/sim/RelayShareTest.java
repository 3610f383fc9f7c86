package org.pmhxb.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;
import org.pmhxb.pm.PmEndpoint;
import org.pmhxb.pm.SendBuffer;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.net.LinkSpec;
import org.pmhxb.sim.work.Host;
import org.pmhxb.sim.work.Program;

/**
 * Nodes 0, 1 and 2 on one line send all they can to node 4, which is behind node 1: what node 1
 * relays goes first, and yet its own messages go on, while the link to node 4 is full.
 */
class RelayShareTest {
  private static final Shape SHAPE = Shape.of(3, 2);
  private static final int RELAY = 1;
  private static final int TARGET = 4;
  private static final int SIZE = 1_500;
  private static final long END_NS = 100_000_000L;

  private static final class Sender implements Program, MessageHandler {
    private final PmEndpoint endpoint;
    private final boolean sends;
    private final long[] from = new long[SHAPE.nodes()];
    private long startNs = -1;
    private long nowNs;

    Sender(Host host, boolean sends) {
      this.endpoint = host.node().open(1);
      this.sends = sends;
    }

    @Override
    public int step(long now) {
      nowNs = now;
      startNs = startNs < 0 ? now : startNs;
      int work = endpoint.poll(this, 64);
      while (sends && !isDone() && work < 64) {
        SendBuffer buffer = endpoint.claim(TARGET, SIZE);
        if (buffer == null) {
          break;
        }
        endpoint.send(buffer);
        work++;
      }
      return work;
    }

    @Override
    public void onMessage(Message message) {
      if (nowNs - startNs < END_NS) {
        from[message.source()]++;
      }
    }

    @Override
    public boolean isDone() {
      return startNs >= 0 && nowNs - startNs >= END_NS;
    }

    @Override
    public void close() {
      endpoint.close();
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 2", "2, 1", "2, 2"})
  void whoRelaysIsHeardToo(long seed, int others) {
    List<Sender> programs = new ArrayList<>();
    List<Integer> senders = others == 1 ? List.of(0, RELAY) : List.of(0, RELAY, 2);
    SimResult result =
        Simulation.run(
            StreamOptions.of(
                SHAPE,
                1,
                LinkSpec.gigabit(),
                host -> {
                  Sender program = new Sender(host, senders.contains(host.self()));
                  programs.add(program);
                  return List.of(program);
                },
                List.of(),
                seed));

    assertThat(result.violation()).isNull();
    long[] from = programs.get(TARGET).from;
    double all = IntStream.of(0, RELAY, 2).mapToLong(node -> from[node]).sum();
    double links = END_NS / (double) LinkSpec.gigabit().sendNs(SIZE + 64);
    assertThat(all).as("of the link").isGreaterThan(0.9 * links);
    assertThat(from[RELAY] / all).as("of node 1: %s", Arrays.toString(from)).isBetween(0.17, 0.5);
  }
}
