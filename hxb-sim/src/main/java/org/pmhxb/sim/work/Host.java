package org.pmhxb.sim.work;

import java.util.SplittableRandom;
import org.pmhxb.pm.PmNode;
import org.pmhxb.router.Shape;
import org.pmhxb.sim.Oracle;

/** What a program is told of the node that it runs on. */
public interface Host {
  int self();

  /** Which start of this node it is, from 0. */
  int life();

  Shape shape();

  PmNode node();

  /** Random numbers of this life of this node. */
  SplittableRandom random();

  /** Where messages are to be entered, so that what becomes of them is judged. */
  Oracle oracle();

  /** Nothing that is sent to that node can arrive any more. */
  boolean isGone(int node);

  /** The session with a node that is up, or 0. */
  int session(int node);
}
