package org.pmhxb.cli.cluster;

import java.util.LinkedHashMap;
import java.util.Map;
import org.pmhxb.router.Coordinates;
import org.pmhxb.router.Dimension;
import org.pmhxb.router.HxbConfig;
import org.pmhxb.router.RailLayout;
import org.pmhxb.router.Shape;

/** Writes the configuration of each node of a cluster on this machine. */
public final class NodeConfigs {
  private NodeConfigs() {}

  /** The configuration of one node; its files are in the cluster's directory. */
  public static HxbConfig of(ClusterSpec spec, ClusterPaths paths, int node) {
    Shape shape = spec.shape();
    RailLayout layout = new RailLayout(shape, spec.rails());
    HxbConfig.Builder builder =
        HxbConfig.builder()
            .name(paths.cluster() + "-" + node)
            .key(paths.cluster())
            .shape(shape)
            .coordinates(shape.coordinates(node))
            .controlSocket(paths.socket(node).toString())
            .idle(spec.poll().idle())
            .pollCpu(spec.poll().cpu(node, shape.nodes()))
            .frameKey(spec.options().keyFile(), spec.options().tag())
            .faults(spec.options().faults());
    for (int rail = 0; rail < layout.count(); rail++) {
      builder.rail(rail(spec, paths, layout, node, rail));
    }
    return builder.build();
  }

  private static HxbConfig.Rail rail(
      ClusterSpec spec, ClusterPaths paths, RailLayout layout, int node, int rail) {
    Dimension dimension = Dimension.of(layout.dimension(rail));
    int index = layout.index(rail);
    String name = layout.name(rail);
    HxbConfig.Driver driver =
        switch (spec.fabric()) {
          case VETH -> spec.options().driver();
          case SHM -> HxbConfig.Driver.SHM;
          case MEMIF -> HxbConfig.Driver.MEMIF;
        };
    if (spec.fabric() == ClusterSpec.Fabric.VETH) {
      return new HxbConfig.Rail(dimension, index, driver, name, Map.of());
    }
    // Nodes that share a process have lines of the same name.
    String device = name + "-" + node;
    return new HxbConfig.Rail(
        dimension, index, driver, device, line(spec, paths, layout, node, rail));
  }

  /**
   * Of shared memory: one socket per pair of rails, named after the lower node; that one listens.
   * The name lies in the kernel's abstract namespace, where no file is left behind, so it must
   * differ between clusters of all directories.
   */
  private static Map<String, String> line(
      ClusterSpec spec, ClusterPaths paths, RailLayout layout, int node, int rail) {
    Coordinates here = spec.shape().coordinates(node);
    int dimension = layout.dimension(rail);
    boolean lower = here.get(dimension) == 0;
    Coordinates low =
        switch (dimension) {
          case 0 -> new Coordinates(0, here.y(), here.z());
          case 1 -> new Coordinates(here.x(), 0, here.z());
          default -> new Coordinates(here.x(), here.y(), 0);
        };
    String socket =
        String.format(
            "%s-%08x-%d-%s",
            paths.cluster(),
            paths.directory().hashCode(),
            spec.shape().node(low),
            layout.name(rail));
    Map<String, String> options = new LinkedHashMap<>();
    options.put("socket", socket);
    options.put("role", lower ? "server" : "client");
    return options;
  }
}
