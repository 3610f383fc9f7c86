package org.pmhxb.cli.mpi;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.pmhxb.cli.UserErrorException;
import org.pmhxb.mpi.launch.Program;

/** Where a rank finds its classes: the device, MPJ as the distribution has it, the program. */
public final class RankClassPath {
  static final Path MPJ_HOME = Path.of(System.getProperty("hxb.mpj.home", "/usr/share/mpj"));
  static final Path MPJ = MPJ_HOME.resolve("lib/mpj.jar");
  static final Path LOG4J =
      Path.of(System.getProperty("hxb.log4j.jar", "/usr/share/java/log4j-1.2.jar"));

  /** A program that was named by a file of it, with the class's name. */
  private static final Pattern FILE = Pattern.compile("(?:.*/)?([^/]+)\\.(?:java|class)");

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
   * Why ranks with this class path cannot run a program, with the mend; empty when they can.
   * Nothing of the program is run.
   *
   * @param word the main class, as it was given
   */
  public static Optional<String> objection(String word, String program) throws IOException {
    ClassLoader parent = ClassLoader.getPlatformClassLoader();
    try (URLClassLoader loader = new URLClassLoader(urls(program), parent)) {
      Program.entry(Class.forName(word, false, loader));
      return Optional.empty();
    } catch (ClassNotFoundException e) {
      return Optional.of(notThere(word, program));
    } catch (NoSuchMethodException | IllegalAccessException e) {
      return Optional.of(
          "class "
              + word
              + " in -cp "
              + program
              + " cannot be started: it has to be public, and to have a method public static void"
              + " main(String[])");
    } catch (LinkageError e) {
      return Optional.of("class " + word + " in -cp " + program + " cannot be loaded: " + e);
    }
  }

  private static String notThere(String word, String program) {
    Matcher file = FILE.matcher(word);
    if (file.matches()) {
      return "\""
          + word
          + "\" is a file; give the class's name, "
          + file.group(1)
          + (word.endsWith(".java") ? ", when javac has compiled it" : "");
    }
    String missing =
        paths(program).stream()
            .filter(path -> !Files.exists(path))
            .map(path -> "; there is no " + path)
            .collect(Collectors.joining());
    return "there is no class "
        + word
        + " in -cp "
        + program
        + missing
        + "; give the folder or the jar where "
        + word.replace('.', '/')
        + ".class is";
  }

  /** Entries of a class path; {@code folder/*} stands for the jars in it, as for the JVM. */
  public static List<Path> paths(String classPath) {
    return Stream.of(classPath.split(File.pathSeparator)).flatMap(RankClassPath::entries).toList();
  }

  private static Stream<Path> entries(String entry) {
    if (!entry.equals("*") && !entry.endsWith("/*")) {
      return Stream.of(Path.of(entry));
    }
    Path folder = Path.of(entry.substring(0, entry.length() - 1));
    try (Stream<Path> files = Files.list(folder.toAbsolutePath())) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList().stream();
    } catch (NoSuchFileException | NotDirectoryException e) {
      return Stream.of(folder); // for the message that it is not there
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
      List<Path> jars = files.filter(f -> f.toString().endsWith(".jar")).sorted().toList();
      return Stream.concat(Stream.of(jar), jars.stream());
    } catch (IOException e) {
      throw new IllegalStateException("cannot list " + lib + ": " + e.getMessage(), e);
    }
  }
}
