package mpiprograms;

import java.util.Objects;
import mpi.MPIException;

/** What a program under test expects; a failure ends its rank, and so its job. */
final class Expect {
  private Expect() {}

  static void equal(Object expected, Object found, String what) {
    if (!Objects.equals(expected, found)) {
      throw new IllegalStateException(what + " is " + found + ", expected " + expected);
    }
  }

  static void isTrue(boolean found, String what) {
    equal(true, found, what);
  }

  /** The call must throw what MPJ's users know, saying why. */
  static void fails(Runnable call, String... words) {
    try {
      call.run();
    } catch (MPIException e) {
      for (String word : words) {
        isTrue(e.toString().contains(word), "'" + word + "' in " + e);
      }
      return;
    }
    throw new IllegalStateException("no MPIException that says " + String.join(", ", words));
  }
}
