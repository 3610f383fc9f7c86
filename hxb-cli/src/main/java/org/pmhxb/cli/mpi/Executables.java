package org.pmhxb.cli.mpi;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.pmhxb.cli.UserErrorException;

/** Programs that are looked for on the PATH. */
public final class Executables {
  private Executables() {}

  public static boolean has(String program) {
    String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
    return Stream.of(path.split(File.pathSeparator))
        .anyMatch(dir -> Files.isExecutable(Path.of(dir, program)));
  }

  /** Open MPI's mpirun: Debian names it so where MPICH may stand beside it, others do not. */
  public static String openMpiRun() {
    return ofOpenMpi("mpirun");
  }

  /** Open MPI's C compiler, by the same rule. */
  public static String openMpiCompiler() {
    return ofOpenMpi("mpicc");
  }

  /**
   * Options of Open MPI's mpirun: it and its daemons keep their session folders in a directory of
   * the caller's, who removes it with them. Each removes its own at its end, but not when it is
   * killed, and in the usual place for temporary files nobody would know whose they are.
   *
   * @param directory that is there
   */
  public static List<String> openMpiSessionsIn(Path directory) {
    return List.of("--mca", "orte_tmpdir_base", directory.toString());
  }

  private static String ofOpenMpi(String program) {
    String debian = program + ".openmpi";
    return has(debian) ? debian : program;
  }

  /**
   * @throws UserErrorException it is not there
   */
  static void require(String program, String debianPackage) {
    if (!has(program)) {
      throw new UserErrorException(
          "no " + program + " on the PATH; install it: apt-get install " + debianPackage);
    }
  }
}
