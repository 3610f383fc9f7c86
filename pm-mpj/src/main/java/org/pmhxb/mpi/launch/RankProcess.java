package org.pmhxb.mpi.launch;

import java.nio.file.Path;
import java.util.Arrays;
import org.pmhxb.ffi.ProcessGroup;
import org.pmhxb.router.HxbConfig;

/** One rank and its node in a process of their own; started by {@code hxb mpirun}. */
public final class RankProcess {
  private RankProcess() {}

  /**
   * Arguments: --config, the node's file, main class and its arguments. Properties: hxb.mpi.ranks,
   * hxb.mpi.map, hxb.mpi.job.
   */
  public static void main(String[] args) throws Exception {
    ProcessGroup.own();
    HxbConfig config = HxbConfig.read(Path.of(args[1]));
    int[] nodes =
        Placement.valueOf(System.getProperty("hxb.mpi.map", "LINES"))
            .nodes(config.shape(), Integer.getInteger("hxb.mpi.ranks"));
    new RankNode(config, node -> nodes)
        .run(
            new Program(args[2], Arrays.copyOfRange(args, 3, args.length)),
            RankProcess.class.getClassLoader(),
            Long.getLong("hxb.mpi.job", 1L));
  }
}
