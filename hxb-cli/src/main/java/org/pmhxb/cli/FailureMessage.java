package org.pmhxb.cli;

import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLockInterruptionException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import org.pmhxb.cli.veth.ToolException;
import org.pmhxb.ffi.Errno;
import org.pmhxb.ffi.NativeException;
import org.pmhxb.mpi.pmix.PmixException;
import org.pmhxb.router.ConfigException;

/** What ended a command, in the words of a user. */
public final class FailureMessage {
  private FailureMessage() {}

  /**
   * Tells a person why a command ended.
   *
   * @param command as it was called, "hxb node"
   * @return the exit code
   */
  static int tell(Throwable e, String command, PrintWriter err) {
    if (e instanceof ConfigException wrong) {
      wrong.getMessage().lines().forEach(line -> err.println(command + ": " + line));
      return Main.USAGE;
    }
    err.println(command + ": " + of(e));
    for (Throwable further :
        e.getSuppressed()) { // as a clean-up that failed, too, and left something
      err.println(command + ": and then: " + of(further));
    }
    if (System.getenv("HXB_TRACE") != null) {
      e.printStackTrace(err);
    } else if (!isUsers(e)) {
      err.println("(HXB_TRACE=1 shows where)");
    }
    return Main.FAILED;
  }

  /** The message, or what else says it in one line. */
  public static String of(Throwable e) {
    if (e instanceof FileSystemException file && file.getReason() == null) {
      return file.getFile() + ": " + reason(file);
    }
    if (isInterruption(e)) {
      // The JDK's message names the call that was waiting, or is none.
      return "interrupted";
    }
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }

  /** Why, without the file's name, which is all that the JDK's message of some says. */
  public static String reason(FileSystemException e) {
    return switch (e) {
      case NoSuchFileException none -> "there is no such file or directory";
      case AccessDeniedException denied -> "permission denied; run hxb as root, or as its owner";
      case FileAlreadyExistsException exists -> "is there already";
      case NotDirectoryException file -> "is no directory";
      default -> e.getReason() == null ? e.getClass().getSimpleName() : e.getReason();
    };
  }

  /**
   * Whether the command was asked to end: of itself, or as what failed because of that. A thread
   * that waits in a channel is told so by the channel's end.
   */
  static boolean isInterruption(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof InterruptedException
          || cause instanceof ClosedByInterruptException
          || cause instanceof FileLockInterruptionException
          || cause.getClass() == InterruptedIOException.class) { // a time-out is one by class
        return true;
      }
    }
    return false;
  }

  /**
   * Whether the mend is the user's: a file that is not there, a right that is lacking, a cluster
   * that is up already, a rank without its launcher. Where in the program it was thrown tells
   * nobody anything.
   */
  static boolean isUsers(Throwable e) {
    return switch (e) {
      case UserErrorException asked -> true;
      case Throwable asked when isInterruption(asked) -> true;
      case FileSystemException file -> true;
      case PmixException launcher -> true;
      case ToolException tool -> tool.lacksRights();
      case NativeException call -> call.code() == -Errno.EPERM || call.code() == -Errno.EACCES;
      default -> false;
    };
  }
}
