package org.pmhxb.cli;

import org.pmhxb.cli.veth.LinkRate;
import picocli.CommandLine.Option;

/** How fast the links are, of every benchmark that shapes them by itself. */
final class RateOption {
  @Option(
      names = "--rate",
      paramLabel = "RATE",
      converter = Options.RateConverter.class,
      defaultValue = "200mbit",
      description = "Raw rate of each shaped link, as in 200mbit or 1gbit.")
  private LinkRate rate;

  LinkRate rate() {
    return rate;
  }
}
