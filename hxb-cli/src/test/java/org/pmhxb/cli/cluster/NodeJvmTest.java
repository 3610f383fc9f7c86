package org.pmhxb.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeJvmTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "-XX:TieredStopAtLevel=1",
        "-Xmx1g",
        "-XX:+UseG1GC",
        "-XX:MaxRAMPercentage=50",
        "-agentlib:jdwp=transport=dt_socket",
        "-Dhxb.home=folder"
      })
  void whatIsThisProcesssOwnAffairIsNotInherited(String flag) {
    assertThat(NodeJvm.isInherited(flag)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-XX:CompileCommand=dontinline,org.pmhxb.pm.PmNode::doWork",
        "-XX:ObjectAlignmentInBytes=64",
        "-XX:AOTCache=hxb.aot",
        "--enable-native-access=ALL-UNNAMED",
        "-Xlog:cds=off,aot=off"
      })
  void whatMakesItsCodeWhatItIsIsInherited(String flag) {
    assertThat(NodeJvm.isInherited(flag)).isTrue();
  }
}
