package org.pmhxb.cli.mpi;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.pmhxb.cli.UserErrorException;

/** Where a rank finds its classes: the device, MPJ as the distribution has it, the program. */
public final class RankClassPath {
  static final Path MPJ_HOME = Path.of(System.getProperty("hxb.mpj.home", "/usr/share/mpj"));
  static final Path MPJ = MPJ_HOME.resolve("lib/mpj.jar");
  static final Path LOG4J =
      Path.of(System.getProperty("hxb.log4j.jar", "/usr/share/java/log4j-1.2.jar"));

  private RankClassPath() {}

  /**
   * @throws IllegalStateException MPJ is not installed
   */
  static void requireMpj() {
    for (Path jar : List.of(MPJ, LOG4J)) {
      if (!Files.exists(jar)) {
        throw new UserErrorException(
            jar + " is missing; install it: apt-get install libmpj-java liblog4j1.2-java");
      }
    }
  }

  /** What a rank loads for itself. */
  public static URL[] urls(String program) throws MalformedURLException {
    requireMpj();
    List<URL> urls = new ArrayList<>();
    for (String entry : rank(paths(program)).split(File.pathSeparator)) {
      urls.add(Path.of(entry).toUri().toURL());
    }
    return urls.toArray(URL[]::new);
  }

  /**
   * Whether ranks with this class path have the class; true also where that is not known without
   * starting one.
   */
  public static boolean has(String mainClass, String program) throws IOException {
    if (program.contains("*")) {
      return true;
    }
    try (URLClassLoader loader = new URLClassLoader(urls(program), null)) {
      return loader.findResource(mainClass.replace('.', '/') + ".class") != null;
    }
  }

  static List<Path> paths(String classPath) {
    return Stream.of(classPath.split(File.pathSeparator)).map(Path::of).toList();
  }

  /** The device first, since MPJ has a class of its name too. */
  static String rank(List<Path> program) {
    return own() + File.pathSeparator + mpj() + File.pathSeparator + join(program.stream());
  }

  static String mpj() {
    return join(Stream.of(MPJ, LOG4J));
  }

  /** This process's own class path. A jar that names others counts for all of them. */
  static String own() {
    return join(
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(Path::of)
            .flatMap(RankClassPath::withLibraries));
  }

  private static String join(Stream<Path> entries) {
    return entries
        .map(p -> p.toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static Stream<Path> withLibraries(Path jar) {
    Path lib = jar.resolveSibling("lib");
    if (!jar.getFileName().toString().equals("hxb-cli.jar") || !Files.isDirectory(lib)) {
      return Stream.of(jar);
    }
    try (Stream<Path> files = Files.list(lib)) {
      return Stream.concat(Stream.of(jar), files.sorted().toList().stream());
    } catch (IOException e) {
      throw new IllegalStateException("cannot list " + lib + ": " + e.getMessage(), e);
    }
  }
}
