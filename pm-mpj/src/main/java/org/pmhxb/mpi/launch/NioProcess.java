package org.pmhxb.mpi.launch;

import java.util.Arrays;
import org.pmhxb.ffi.ProcessGroup;

/** One rank over MPJ's own TCP device, for comparisons; started by {@code hxb mpirun}. */
public final class NioProcess {
  /** MPJ's default: longer messages wait for their receive. */
  private static final int PROTOCOL_SWITCH_BYTES = 128 * 1024;

  private NioProcess() {}

  /**
   * Arguments: --config, a name of the job's, main class and its arguments. Properties:
   * hxb.mpi.rank, hxb.mpi.ranks, hxb.mpi.directory (address:port, at rank 0).
   */
  public static void main(String[] args) throws Exception {
    ProcessGroup.own();
    int rank = Integer.getInteger("hxb.mpi.rank");
    int ranks = Integer.getInteger("hxb.mpi.ranks");
    String[] directory = System.getProperty("hxb.mpi.directory").split(":");
    String configuration =
        "#Number of Processes;"
            + ranks
            + ";#Protocol Switch Limit;"
            + PROTOCOL_SWITCH_BYTES
            + ";#Server Name;"
            + directory[0]
            + ";#Server Port;"
            + directory[1];
    Program program = new Program(args[2], Arrays.copyOfRange(args, 3, args.length));
    ClassLoader loader = NioProcess.class.getClassLoader();
    int port = Integer.parseInt(directory[1]);
    try (NioDirectory server = rank == 0 ? new NioDirectory(directory[0], port, ranks) : null) {
      NioDirectory.await(directory[0], port, RankNode.START_LIMIT_NS);
      program.run(loader, rank, configuration, "niodev");
    } catch (Throwable t) {
      t.printStackTrace();
      System.err.println("hxb: rank " + rank + " failed (" + t + ")");
      System.exit(1);
    }
  }
}
