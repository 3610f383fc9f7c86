package org.pmhxb.cli.cluster;

import org.pmhxb.router.HxbConfig;

/**
 * What the nodes of a cluster on this machine are given beside their place.
 *
 * @param keyFile path of the frame key, "" for none
 * @param tag what is done with it
 * @param faults what the nodes' ports do to what they receive, as in the key {@code faults}; "" for
 *     nothing
 */
public record NodeOptions(String keyFile, HxbConfig.Tag tag, String faults) {
  /** No key, no faults. */
  public static final NodeOptions NONE = new NodeOptions("", HxbConfig.Tag.OFF, "");
}
