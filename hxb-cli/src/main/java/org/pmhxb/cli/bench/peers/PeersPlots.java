package org.pmhxb.cli.bench.peers;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.XYChart;
import org.pmhxb.cli.bench.ChartFiles;

/** One plot a message size and direction: the share of the links that each peer reaches. */
final class PeersPlots {
  /** A little above the links' whole rate. */
  private static final double MOST = 1.05;

  private PeersPlots() {}

  /** The name of a plot's files. */
  static String id(PeerCase of) {
    return "share-" + of.sizeBytes() + (of.both() ? "-both" : "-one");
  }

  /**
   * Writes each as SVG and PNG; those with fewer than two link counts have nothing to show.
   *
   * @throws IOException also when the JVM cannot draw: it lacks fonts
   */
  static List<Path> write(List<PeerFound> found, Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    for (PeerCase of : PeersPlan.FULL.shaped(1)) {
      List<PeerFound> points =
          found.stream().filter(f -> f.what().over(1).equals(of) && f.failure() == null).toList();
      if (points.stream().map(f -> f.what().links()).distinct().count() > 1) {
        files.addAll(ChartFiles.write(chart(points, of), directory, id(of)));
      }
    }
    return files;
  }

  private static XYChart chart(List<PeerFound> points, PeerCase of) {
    List<String> peers = points.stream().map(PeerFound::peer).distinct().toList();
    List<ChartFiles.Curve> curves = peers.stream().map(peer -> curve(points, peer, peers)).toList();
    return ChartFiles.linear(PeersPage.title(of), "links", "share", MOST, curves);
  }

  private static ChartFiles.Curve curve(List<PeerFound> points, String peer, List<String> peers) {
    List<PeerFound> of = points.stream().filter(f -> f.peer().equals(peer)).toList();
    ChartFiles.Line line =
        peer.equals(PeersSuite.HXB) ? ChartFiles.Line.FULL : ChartFiles.Line.DASHED;
    return new ChartFiles.Curve(
        peer,
        peers.indexOf(peer),
        line,
        true,
        of.stream().map(f -> f.what().links()).toList(),
        of.stream().map(f -> f.share().median()).toList());
  }
}
