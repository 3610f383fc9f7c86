package org.pmhxb.cli.cluster;

import java.util.List;
import org.pmhxb.router.HxbConfig;

/**
 * What the nodes of a cluster on this machine are given beside their place.
 *
 * @param keyFile path of the frame key, "" for none
 * @param tag what is done with it
 * @param faults what the nodes' ports do to what they receive, as in the key {@code faults}; "" for
 *     nothing
 * @param driver of the interfaces of the veth fabric: packet or af_packet
 */
public record NodeOptions(
    String keyFile, HxbConfig.Tag tag, String faults, HxbConfig.Driver driver) {
  /** The driver of veth interfaces unless another is asked for. */
  public static final HxbConfig.Driver VETH_DRIVER = HxbConfig.Driver.PACKET;

  /** All drivers of veth interfaces. */
  public static final List<HxbConfig.Driver> VETH_DRIVERS =
      List.of(HxbConfig.Driver.PACKET, HxbConfig.Driver.AF_PACKET);

  /** What {@code --driver} must be. */
  public static final String VETH_DRIVERS_RULE = "packet or af_packet for veth interfaces";

  /** No key, no faults, the usual driver. */
  public static final NodeOptions NONE = new NodeOptions("", HxbConfig.Tag.OFF, "", VETH_DRIVER);

  public NodeOptions {
    if (!VETH_DRIVERS.contains(driver)) {
      throw new IllegalArgumentException(
          "--driver is " + driver + "; must be " + VETH_DRIVERS_RULE);
    }
  }
}
