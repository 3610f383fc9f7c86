package org.pmhxb.sim.work;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.pmhxb.pm.Loan;
import org.pmhxb.pm.Message;
import org.pmhxb.pm.MessageHandler;

/**
 * What a program receives, for the oracle to judge; now and then a message is kept on loan for a
 * while, or left for the next poll.
 */
final class Reader implements AutoCloseable {
  private static final int LOANS_MAX = 4;

  private final Host host;
  private final SplittableRandom random;
  private final int oddity;
  private final List<Loan> loans = new ArrayList<>();

  /**
   * @param oddity one in so many messages is kept, another left
   */
  Reader(Host host, int oddity) {
    this.host = host;
    this.random = host.random();
    this.oddity = oddity;
  }

  /** Of one endpoint. */
  MessageHandler at(int endpoint) {
    return new MessageHandler() {
      @Override
      public void onMessage(Message m) {
        read(endpoint, m);
      }

      @Override
      public void onPeerDown(int node, int session) {
        host.oracle().endTold(host, endpoint, node, session);
      }
    };
  }

  private void read(int endpoint, Message m) {
    int chance = random.nextInt(oddity);
    if (chance == 0) {
      m.defer();
      return;
    }
    host.oracle().received(host, endpoint, m);
    if (chance == 1 && loans.size() < LOANS_MAX) {
      Loan loan = m.retain();
      if (loan != null) {
        loans.add(loan);
      }
    }
  }

  /** Gives a loan back, now and then. */
  void step() {
    if (!loans.isEmpty() && random.nextInt(4) == 0) {
      loans.remove(random.nextInt(loans.size())).close();
    }
  }

  @Override
  public void close() {
    loans.forEach(Loan::close);
    loans.clear();
  }
}
