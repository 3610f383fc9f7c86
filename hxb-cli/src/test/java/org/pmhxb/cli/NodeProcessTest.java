package org.pmhxb.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeProcessTest {
  @Test
  void eachConfigurationIsANode() {
    assertThat(NodeProcess.files("--config", "a.toml", "--config", "b.toml"))
        .containsExactly(Path.of("a.toml"), Path.of("b.toml"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"--config", "--config a.toml --json", "a.toml", "--help a.toml"})
  void otherWordsAreRefusedWithWhatItTakes(String line) {
    assertThatThrownBy(() -> NodeProcess.files(line.split(" ")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("takes --config FILE")
        .hasMessageEndingWith("was given " + line);
  }
}
