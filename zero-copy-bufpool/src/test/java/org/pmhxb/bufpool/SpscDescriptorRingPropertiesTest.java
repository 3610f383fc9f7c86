package org.pmhxb.bufpool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Apart from the other tests of the ring: one class, one engine, one report. */
class SpscDescriptorRingPropertiesTest {
  @Property(tries = 200, seed = "1")
  void fieldsDoNotTouchEachOther(
      @ForAll @IntRange(max = 0xFF) int op,
      @ForAll @IntRange(max = 0xFF) int flags,
      @ForAll @IntRange(max = 0xFFFF) int tag,
      @ForAll @IntRange(max = 0xFFFF) int endpoint,
      @ForAll @IntRange(max = 0xFFFF) int offset,
      @ForAll @IntRange(max = 0xFF_FFFF) int buffer,
      @ForAll @IntRange(max = 0xFF_FFFF) int node,
      @ForAll @IntRange(max = 0xFFFF) int length) {
    long lo = Descriptor.lo(op, flags, tag, endpoint, offset);
    long hi = Descriptor.hi(buffer, node, length);
    assertThat(Descriptor.op(lo)).isEqualTo(op);
    assertThat(Descriptor.flags(lo)).isEqualTo(flags);
    assertThat(Descriptor.tag(lo)).isEqualTo(tag);
    assertThat(Descriptor.endpoint(lo)).isEqualTo(endpoint);
    assertThat(Descriptor.offset(lo)).isEqualTo(offset);
    assertThat(Descriptor.bufferId(hi)).isEqualTo(buffer);
    assertThat(Descriptor.node(hi)).isEqualTo(node);
    assertThat(Descriptor.length(hi)).isEqualTo(length);
  }

  @Property(tries = 100, seed = "2")
  void anyInterleavingKeepsTheOrder(@ForAll List<@IntRange(max = 9) Integer> steps) {
    SpscDescriptorRing ring = SpscDescriptorRing.create(8);
    ArrayDeque<Long> model = new ArrayDeque<>();
    long next = 0;
    for (int step : steps) {
      if (step < 5) {
        boolean taken = ring.offer(next, ~next);
        assertThat(taken).isEqualTo(model.size() < 8);
        if (taken) {
          model.add(next++);
        }
      } else {
        boolean got = ring.poll();
        assertThat(got).isEqualTo(!model.isEmpty());
        if (got) {
          assertThat(ring.lo()).isEqualTo(model.remove());
          assertThat(ring.hi()).isEqualTo(~ring.lo());
        }
      }
    }
  }
}
