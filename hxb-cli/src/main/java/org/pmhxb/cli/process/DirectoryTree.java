package org.pmhxb.cli.process;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** A directory with all that is in it. */
public final class DirectoryTree {
  private DirectoryTree() {}

  /** Removes it, or a file; what others remove meanwhile is none of its affair. */
  public static void delete(Path directory) throws IOException {
    Files.walkFileTree(directory, new Remover());
  }

  private static final class Remover extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException why) throws IOException {
      throwUnlessGone(why);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, IOException why) throws IOException {
      throwUnlessGone(why);
      Files.deleteIfExists(directory);
      return FileVisitResult.CONTINUE;
    }

    private static void throwUnlessGone(IOException why) throws IOException {
      if (why != null && !(why instanceof NoSuchFileException)) {
        throw why;
      }
    }
  }
}
