package org.pmhxb.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class EalTest {
  @Test
  void theCallersAffinityAndTheOneEalOutliveTheStart() {
    BitSet before = Threads.affinity();
    Eal eal = Eal.init(EalOptions.defaults().withHeapMegabytes(64));
    assertThat(Threads.affinity()).isEqualTo(before);
    assertThat(Eal.init(EalOptions.defaults())).isSameAs(eal);
    assertThat(eal.arguments()).contains("--no-pci", "--no-telemetry");
    assertThat(eal.arguments().contains("--in-memory")).isEqualTo(eal.hugepages());
  }

  @Test
  void withoutHugepagesNoFileIsShared() {
    List<String> small = Eal.arguments(EalOptions.defaults().withHeapMegabytes(48), false);
    assertThat(small).contains("--no-huge", "--no-shconf", "48").doesNotContain("--in-memory");
    List<String> huge = Eal.arguments(EalOptions.defaults(), true);
    assertThat(huge).contains("--in-memory").doesNotContain("--no-huge", "-m");
  }

  @Test
  void whatIsToBeDoneIsByWhatIsLacking() {
    assertThat(Eal.remedy(-Errno.EMFILE, true)).contains("ulimit -n").doesNotContain("hugepages");
    assertThat(Eal.remedy(-Errno.ENOMEM, true)).isEqualTo(Hugepages.REMEDY);
    assertThat(Errno.describe(-Errno.EMFILE)).isEqualTo("-24 (EMFILE, too many open files)");
  }

  /** Neither more memory nor another argument helps. */
  @Test
  void whateverFindsTooManyFilesOpenNamesTheirLimit() {
    String mend = Eal.remedy(-Errno.EMFILE, false);
    for (Hugepages pages : Hugepages.values()) {
      assertThat(Region.remedy(-Errno.EMFILE, 4096, pages)).as("%s", pages).isEqualTo(mend);
    }
    assertThat(Ports.remedy(-Errno.EMFILE)).isEqualTo(mend);
    assertThat(PacketSocket.remedy(-Errno.EMFILE)).isEqualTo(mend);
    assertThat(AfPacket.interfaceRemedy(-Errno.EMFILE)).isEqualTo(mend);
    assertThat(Region.remedy(-Errno.ENOMEM, 4096, Hugepages.AUTO)).startsWith("free memory");
    assertThat(Region.remedy(-Errno.ENOMEM, 4096, Hugepages.REQUIRED)).contains("1 page of 2 MB");
  }

  @Test
  void namedPciDevicesNeedTheBus() {
    EalOptions options = EalOptions.defaults().withExtra(List.of("-a", "0000:01:00.0"));
    assertThat(Eal.arguments(options, true)).doesNotContain("--no-pci").contains("0000:01:00.0");
    EalOptions inOne = options.withExtra(List.of("-a0000:01:00.0"));
    assertThat(Eal.arguments(inOne, true)).doesNotContain("--no-pci").contains("-a0000:01:00.0");
  }

  @Test
  void optionsOutOfRangeAreNamed() {
    assertThatThrownBy(() -> EalOptions.defaults().withHeapMegabytes(8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("8 not in 16..65536");
    assertThatThrownBy(() -> new EalOptions(Hugepages.AUTO, 64, "a/b", List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a/b");
  }

  @Test
  void aThreadRegistersAndPins() throws InterruptedException {
    Eal.init(EalOptions.defaults().withHeapMegabytes(64));
    BitSet[] pinned = new BitSet[1];
    int cpu = Threads.affinity().nextSetBit(0);
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  Threads.register();
                  Threads.pin(cpu);
                  pinned[0] = Threads.affinity();
                  Threads.unregister();
                });
    thread.join();
    BitSet one = new BitSet();
    one.set(cpu);
    assertThat(pinned[0]).isEqualTo(one);
    assertThatThrownBy(() -> Threads.pin(100_000))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("100000")
        .hasMessageContaining("EINVAL");
  }

  @Test
  void anActionOnACpuLeavesTheCallersAffinityAlone() {
    BitSet before = Threads.affinity();
    int cpu = before.previousSetBit(before.length());
    BitSet one = new BitSet();
    one.set(cpu);
    Thread caller = Thread.currentThread();

    assertThat(Threads.callOn(cpu, Threads::affinity)).isEqualTo(one);
    assertThat(Threads.callOn(cpu, Thread::currentThread)).isNotSameAs(caller);
    assertThat(Threads.callOn(-1, Thread::currentThread)).isSameAs(caller);
    assertThatThrownBy(
            () ->
                Threads.callOn(
                    cpu,
                    () -> {
                      throw new IllegalArgumentException("of the action");
                    }))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("of the action");
    assertThat(Threads.affinity()).isEqualTo(before);
  }

  @Test
  void aCpuThatIsNotThereIsNamedBeforeTheActionRuns() {
    BitSet before = Threads.affinity();
    boolean[] ran = {false};
    assertThatThrownBy(() -> Threads.callOn(before.length(), () -> ran[0] = true))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("hxb_thread_pin(" + before.length() + ")")
        .hasMessageContaining("this process may use CPUs " + before);
    assertThat(ran[0]).isFalse();
  }

  @Test
  void anInterruptDoesNotLoseWhatTheActionMade() {
    int cpu = Threads.affinity().nextSetBit(0);
    Thread.currentThread().interrupt();
    assertThat(Threads.callOn(cpu, () -> "made")).isEqualTo("made");
    assertThat(Thread.interrupted()).isTrue();
  }
}
