package org.pmhxb.mpi.engine;

/**
 * What messages are matched by. Mutable, so that a look-up needs no new object; never change one
 * that is in a map. Ordered, so that a map finds its way among keys of one hash code, which a rank
 * can choose, without a search.
 */
final class MatchKey implements Comparable<MatchKey> {
  private int epoch;
  private int context;
  private int source;
  private int tag;

  MatchKey set(int ofEpoch, int inContext, int fromSource, int withTag) {
    epoch = ofEpoch;
    context = inContext;
    source = fromSource;
    tag = withTag;
    return this;
  }

  MatchKey copy() {
    return new MatchKey().set(epoch, context, source, tag);
  }

  int epoch() {
    return epoch;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof MatchKey k
        && k.context == context
        && k.source == source
        && k.tag == tag
        && k.epoch == epoch;
  }

  @Override
  public int hashCode() {
    int h = context * 0x9E3779B1 + source;
    h = h * 0x85EBCA6B + tag;
    return (h ^ h >>> 15) * 0xC2B2AE35 + epoch;
  }

  @Override
  public int compareTo(MatchKey k) {
    int order = Integer.compare(context, k.context);
    order = order != 0 ? order : Integer.compare(source, k.source);
    order = order != 0 ? order : Integer.compare(tag, k.tag);
    return order != 0 ? order : Integer.compare(epoch, k.epoch);
  }
}
