package org.pmhxb.cli.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What Linux says of a process or thread in {@code /proc/PID/stat} and {@code
 * /proc/PID/task/TID/stat}. Immutable.
 *
 * @param name the second field: what the program calls itself, at most 15 bytes
 * @param state the third: one letter
 * @param group the fifth: its process group
 * @param session the sixth
 * @param cpuTicks the 14th and 15th: processor time of it, in and out of the kernel; of a process,
 *     that of its threads that have ended too
 * @param startTicks the 22nd: when it began, since the machine did; tells it from a later one with
 *     its number
 */
public record ProcStat(
    String name, char state, long group, long session, long cpuTicks, long startTicks) {
  /** Ticks of a second, USER_HZ: 100 wherever Linux runs Java. */
  public static final long TICKS_PER_SECOND = 100;

  /** A tick, ns. */
  public static final long TICK_NS = 1_000_000_000L / TICKS_PER_SECOND;

  // Behind the name, which may hold spaces and brackets.
  private static final int STATE = 0;
  private static final int GROUP = 2;
  private static final int SESSION = 3;
  private static final int USER_TICKS = 11;
  private static final int SYSTEM_TICKS = 12;
  private static final int START_TICKS = 19;

  /**
   * Reads a process's file.
   *
   * @param proc where the kernel's files are, {@code /proc}
   * @return empty when there is no such process
   * @throws IllegalStateException when the file is none of Linux's
   */
  public static Optional<ProcStat> ofProcess(Path proc, long pid) {
    return of(proc.resolve(Long.toString(pid)));
  }

  /**
   * Reads the file of a process or thread.
   *
   * @param directory of it, {@code /proc/PID} or {@code /proc/PID/task/TID}
   * @return empty when there is none, or none any more
   * @throws IllegalStateException when the file is none of Linux's
   */
  public static Optional<ProcStat> of(Path directory) {
    Path file = directory.resolve("stat");
    String line;
    try {
      line = Files.readString(file);
    } catch (IOException e) {
      // It has ended, or does so just now.
      return Optional.empty();
    }
    try {
      return Optional.of(parse(line));
    } catch (IndexOutOfBoundsException | NumberFormatException e) {
      throw new IllegalStateException(file + " is no stat file of Linux: \"" + line + "\"", e);
    }
  }

  private static ProcStat parse(String line) {
    int close = line.lastIndexOf(')');
    String[] fields = line.substring(close + 2).split(" ");
    return new ProcStat(
        line.substring(line.indexOf('(') + 1, close),
        fields[STATE].charAt(0),
        Long.parseLong(fields[GROUP]),
        Long.parseLong(fields[SESSION]),
        Long.parseLong(fields[USER_TICKS]) + Long.parseLong(fields[SYSTEM_TICKS]),
        Long.parseLong(fields[START_TICKS]));
  }

  /** Whether the very process still runs that began then, and no later one with its number. */
  public static boolean isRunning(Path proc, long pid, long startTicks) {
    return ofProcess(proc, pid)
        .filter(stat -> !stat.hasEnded() && stat.startTicks() == startTicks)
        .isPresent();
  }

  /** Whether it has ended and nobody has asked yet how. */
  public boolean hasEnded() {
    return state == 'Z' || state == 'X';
  }
}
