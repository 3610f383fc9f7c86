package org.pmhxb.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.pmhxb.pm.FrameKey;
import org.pmhxb.router.HxbConfig.Tag;

class FrameKeyFileTest {
  private static final String HEX = "000102030405060708090a0b0c0d0e0f";

  @TempDir private Path folder;

  private Path file(String text, String mode) throws IOException {
    return file(text.getBytes(), mode);
  }

  private Path file(byte[] bytes, String mode) throws IOException {
    Path file = folder.resolve("key");
    Files.write(file, bytes);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    return file;
  }

  @Test
  void readsHexadecimalAndBytes() throws IOException {
    FrameKey expected =
        new FrameKey(FrameKey.Mode.TAG, 0x0706_0504_0302_0100L, 0x0f0e_0d0c_0b0a_0908L, 5);
    assertThat(FrameKeyFile.read(file(HEX + "\n", "rw-------"), Tag.TAG, 5)).isEqualTo(expected);
    byte[] raw = new byte[16];
    for (int i = 0; i < raw.length; i++) {
      raw[i] = (byte) i;
    }
    assertThat(FrameKeyFile.read(file(raw, "r--------"), Tag.TAG, 5)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r--r--", "rw-rw----", "rw----r--", "rwx------"})
  void refusesAFileThatOthersMayRead(String mode) throws IOException {
    Path file = file(HEX, mode);
    assertThatThrownBy(() -> FrameKeyFile.read(file, Tag.REPLAY, 1))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith(file + ": has the mode " + mode)
        .hasMessageEndingWith("chmod 600 " + file);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "abc", "00000000000000000000000000000000", HEX + "00", "xyz"})
  void refusesWhatIsNoKey(String text) throws IOException {
    Path file = file(text, "rw-------");
    assertThatThrownBy(() -> FrameKeyFile.read(file, Tag.TAG, 1))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith(file.toString())
        .hasMessageContaining("openssl rand -hex 16");
  }

  @Test
  void refusesWhatIsNoFile() {
    assertThatThrownBy(() -> FrameKeyFile.read(folder.resolve("none"), Tag.TAG, 1))
        .hasMessageContaining("no such file");
    assertThatThrownBy(() -> FrameKeyFile.read(folder, Tag.TAG, 1))
        .hasMessageContaining("is not a file");
  }
}
