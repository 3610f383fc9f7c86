package org.pmhxb.bufpool;

/**
 * A buffer was used against its contract: released twice, used after release, by another than its
 * owner, or by an ID that is not this pool's. With {@code -Dhxb.pool.debug=true} the cause is the
 * stack trace of the last release.
 */
public final class PoolMisuseError extends AssertionError {
  PoolMisuseError(String message, Throwable lastRelease) {
    super(message, lastRelease);
  }
}
