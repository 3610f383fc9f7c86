package org.pmhxb.pm;

/** What is known of a message that was sent: {@link PmEndpoint#fate}. */
public enum Fate {
  /** It is on its way, and its session lives. */
  PENDING,

  /** Its destination's node has stored it. */
  STORED,

  /** Its session ended before that was known: it may have arrived, and will not be sent again. */
  UNKNOWN
}
