package org.pmhxb.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests against a machine that is a few files in a directory. */
abstract class FakeMachine {
  @TempDir Path root;
  Machine machine;

  @BeforeEach
  void create() {
    machine = new Machine(root);
  }

  final void file(String path, String text) {
    try {
      Files.createDirectories(root.resolve(path).getParent());
      Files.writeString(root.resolve(path), text + "\n");
    } catch (IOException e) {
      throw new AssertionError("cannot prepare " + path, e);
    }
  }

  /** In the place of one that is there. */
  final void link(String path, String target) {
    try {
      Files.createDirectories(root.resolve(path).getParent());
      Files.deleteIfExists(root.resolve(path));
      Files.createSymbolicLink(root.resolve(path), Path.of(target));
    } catch (IOException e) {
      throw new AssertionError("cannot prepare " + path, e);
    }
  }
}
