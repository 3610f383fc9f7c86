package org.pmhxb.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.pmhxb.bufpool.Owner;

/** What {@link PmEndpoint#poll} promises whatever the handler does with a message. */
class PollTest {
  private static final int ENDPOINT = 7;
  private static final int MESSAGES = 400;
  private static final String FAULT = "of the handler";

  /** Each message is looked at, and then kept, left for later, looked through, or a fault. */
  private static final class Moody implements MessageHandler {
    final SplittableRandom random;
    final List<Loan> loans = new ArrayList<>();
    final List<Integer> kept = new ArrayList<>();
    final Runnable progress;
    int next;
    int faults;
    boolean left;

    Moody(long seed, Runnable progress) {
      this.random = new SplittableRandom(seed);
      this.progress = progress;
    }

    @Override
    public void onMessage(Message m) {
      assertThat(left).as("handed over after the one that was left").isFalse();
      assertThat(m.memory().get(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, m.offset()))
          .isEqualTo(next);
      assertThat(m.lengthBytes()).isEqualTo(4 + next % 60);
      int mood = random.nextInt(24);
      if (mood == 0) {
        m.defer();
        left = true;
        return;
      }
      int number = next++;
      switch (mood) {
        case 1 -> keep(m, number);
        case 2 -> {
          keep(m, number);
          fail();
        }
        case 3 -> fail();
        case 4 -> {
          m.defer();
          fail();
        }
        case 5 -> assertThat(m.bytes().readInt()).isEqualTo(number);
        case 6 -> progress.run();
        default -> {
          // Most just return.
        }
      }
    }

    private void keep(Message m, int number) {
      Loan loan = m.retain();
      assertThat(loan).isNotNull();
      loans.add(loan);
      kept.add(number);
    }

    private void fail() {
      faults++;
      throw new IllegalStateException(FAULT);
    }
  }

  @Property(tries = 30, seed = "71")
  void handsOverEachMessageOnceInOrder(
      @ForAll @IntRange(min = 1, max = 1_000) int seed, @ForAll boolean inline) {
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 128).withWindow(64);
    try (TestNet net = new TestNet(2, 2, seed, 900, config, inline)) {
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
      from.coalesceUpTo(-1);
      Moody handler = new Moody(seed, net::step);
      int sent = 0;
      int rounds = 0;
      while (handler.next < MESSAGES && rounds++ < 20_000) {
        SendBuffer b = sent < MESSAGES ? from.claim(1, 4 + sent % 60) : null;
        if (b != null) {
          b.memory().set(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, b.offset(), sent++);
          from.send(b);
        }
        if (rounds % 7 == 0) {
          net.step();
          pollOnce(to, handler);
        }
        returnSome(handler);
      }
      assertThat(handler.next).isEqualTo(MESSAGES);
      handler.loans.forEach(Loan::close);
      for (int i = 0; i < 200; i++) {
        net.step();
      }
      to.poll(handler, 1);
      assertThat(net.pools.get(1).ownedBy(Owner.LOAN)).isZero();
      assertThat(net.pools.get(1).ownedBy(Owner.INBOX)).isZero();
      assertThat(net.nodes.get(1).brokenBound()).isNull();
    }
  }

  @Example
  void aDutyCycleInAHandlerSettlesTheMessagesBefore() {
    try (TestNet net = inlinePair()) {
      PmEndpoint to = opened(net, 3);
      int[] inInbox = {-1};
      int handed =
          to.poll(
              m -> {
                if (m.memory().get(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, m.offset())
                    == 1) {
                  net.step();
                  inInbox[0] = net.pools.get(1).ownedBy(Owner.INBOX);
                }
              },
              3);
      assertThat(handed).isEqualTo(3);
      assertThat(inInbox[0]).as("its own and the one behind").isEqualTo(2);
    }
  }

  /** On loan, or copied because it shares its frame: nothing else can become of it. */
  @Property
  void whatWasRetainedIsNotRetainedOrDeferredAgain(@ForAll boolean shares) {
    try (TestNet net = inlinePair()) {
      PmEndpoint to = opened(net, 0);
      PmEndpoint from = net.nodes.get(0).core.endpoint(ENDPOINT);
      from.coalesceUpTo(shares ? 256 : -1);
      List<SendBuffer> claims = new ArrayList<>();
      while (claims.size() < 2) {
        SendBuffer b = from.claim(1, 64);
        if (b != null) {
          claims.add(b);
        } else {
          net.step();
        }
      }
      claims.forEach(from::send);
      net.run(1_000_000);
      int[] kept = {0};
      int handed =
          to.poll(
              m -> {
                try (Loan loan = m.retain()) {
                  assertThat(loan.isCopy()).isEqualTo(shares);
                  assertThatThrownBy(m::retain).isInstanceOf(IllegalStateException.class);
                  assertThatThrownBy(m::defer).isInstanceOf(IllegalStateException.class);
                  kept[0]++;
                }
              },
              8);
      assertThat(handed).isEqualTo(2);
      assertThat(kept[0]).isEqualTo(2);
      assertThat(to.poll(m -> kept[0]++, 8)).as("again").isZero();
    }
  }

  @Example
  void loansComeHomeAfterTheirEndpointIsClosed() {
    try (TestNet net = inlinePair()) {
      PmEndpoint to = opened(net, 3);
      List<Loan> loans = new ArrayList<>();
      to.poll(m -> loans.add(m.retain()), 3);
      to.close();
      net.step();
      net.step();
      assertThat(net.pools.get(1).ownedBy(Owner.LOAN)).isEqualTo(3);
      loans.forEach(Loan::close);
      net.step();
      assertThat(net.pools.get(1).ownedBy(Owner.LOAN)).isZero();
    }
  }

  private static TestNet inlinePair() {
    NodeConfig config = NodeConfig.defaults(0x1234, 1, 128).withWindow(64);
    return new TestNet(2, 2, 5, 900, config, true);
  }

  /** An endpoint that messages wait for, which tell their number. */
  private static PmEndpoint opened(TestNet net, int messages) {
    PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
    PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
    from.coalesceUpTo(-1);
    for (int sent = 0; sent < messages; ) {
      SendBuffer b = from.claim(1, 64);
      if (b != null) {
        b.memory().set(java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED, b.offset(), sent++);
        from.send(b);
      }
      net.step();
    }
    net.run(20_000_000);
    assertThat(net.pools.get(1).ownedBy(Owner.INBOX)).isEqualTo(messages);
    return to;
  }

  private static void pollOnce(PmEndpoint to, Moody handler) {
    int before = handler.next;
    int faults = handler.faults;
    int limit = 1 + handler.random.nextInt(40);
    handler.left = false;
    try {
      int handed = to.poll(handler, limit);
      assertThat(handed).isEqualTo(handler.next - before).isLessThanOrEqualTo(limit);
      assertThat(handler.faults).as("faults that poll kept for itself").isEqualTo(faults);
    } catch (IllegalStateException e) {
      assertThat(e).hasMessage(FAULT);
      assertThat(handler.faults).isEqualTo(faults + 1);
    }
  }

  /** Loans are what they were, however many messages came since. */
  private static void returnSome(Moody handler) {
    while (handler.loans.size() > 8) {
      int i = handler.random.nextInt(handler.loans.size());
      try (Loan loan = handler.loans.remove(i)) {
        assertThat(loan.bytes().readInt()).isEqualTo(handler.kept.remove(i));
      }
    }
  }

  @Example
  void aViewOfAMessageIsEmptyOnceItsHandlerReturned() {
    try (TestNet net = new TestNet(2, 1, 5, 600, NodeConfig.defaults(0x1234, 1, 128))) {
      PmEndpoint from = net.nodes.get(0).open(ENDPOINT);
      PmEndpoint to = net.nodes.get(1).open(ENDPOINT);
      from.coalesceUpTo(-1);
      List<net.openhft.chronicle.bytes.Bytes<?>> views = new ArrayList<>();
      Message[] last = new Message[1];
      int[] got = {0};
      for (int sent = 0; got[0] < 3; ) {
        SendBuffer b = sent < 3 ? from.claim(1, 8) : null;
        if (b != null) {
          b.bytes().writeLong(sent++);
          from.send(b);
        }
        net.step();
        to.poll(
            m -> {
              last[0] = m;
              if (got[0]++ == 0) {
                views.add(m.bytes());
              } else {
                assertThat(views.get(0).readRemaining()).isZero();
              }
            },
            8);
      }
      assertThatThrownBy(last[0]::offset).hasMessageContaining("valid within its handler only");
      assertThatThrownBy(last[0]::retain).hasMessageContaining("valid within its handler only");
    }
  }
}
