package org.pmhxb.cli;

import org.pmhxb.router.HxbConfig;
import picocli.CommandLine.Option;

/** How the nodes of a veth cluster reach their interfaces, of every command that makes some. */
final class DriverOption {
  @Option(
      names = "--driver",
      paramLabel = "DRIVER",
      converter = Options.VethDriverConverter.class,
      description =
          "How a veth interface is reached: packet (a packet socket of our own) or af_packet"
              + " (DPDK's net_af_packet, half a microsecond longer). Default: packet.")
  private HxbConfig.Driver driver;

  /** As given; null when not. */
  HxbConfig.Driver driver() {
    return driver;
  }
}
