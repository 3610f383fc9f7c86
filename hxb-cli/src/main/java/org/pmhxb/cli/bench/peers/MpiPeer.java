package org.pmhxb.cli.bench.peers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.pmhxb.cli.bench.MachineInfo;
import org.pmhxb.cli.mpi.Executables;

/** An MPI over TCP on all links, driven by scripts/peers/mpi_bench.c. */
final class MpiPeer implements Peer {
  /** Messages under way: 512 KB of 8 KB messages, some of large ones. */
  private static final int SMALL_WINDOW = 64;

  private static final int LARGE_WINDOW = 8;
  private static final int LARGE_BYTES = 65_536;

  private final boolean openMpi;
  private final Path program;

  /**
   * @param openMpi else MPICH
   * @param built where install-peers.sh put what it built
   */
  MpiPeer(boolean openMpi, Path built) {
    this.openMpi = openMpi;
    this.program = built.resolve("mpi_bench." + flavour());
  }

  private String flavour() {
    return openMpi ? "openmpi" : "mpich";
  }

  @Override
  public String name() {
    return flavour();
  }

  @Override
  public String how() {
    return openMpi
        ? "Open MPI, btl tcp on all links; shared memory: btl vader"
        : "MPICH ch4:ucx, UCX over tcp with as many rails as links; shared memory: its own";
  }

  @Override
  public Optional<String> missing() {
    if (!Foreign.installed("mpirun." + flavour())) {
      return Optional.of("mpirun." + flavour() + " is not installed");
    }
    return Files.isExecutable(program)
        ? Optional.empty()
        : Optional.of(program + " is not built; run scripts/install-peers.sh");
  }

  @Override
  public String version() {
    return MachineInfo.firstLine("mpirun." + flavour(), "--version")
            .replaceAll("mpirun.openmpi |HYDRA build details:", "")
            .strip()
        + (openMpi ? "" : MachineInfo.firstLine("mpichversion").replaceAll("\\s+", " "));
  }

  @Override
  public boolean polls() {
    return true;
  }

  @Override
  public boolean supports(PeerCase what) {
    return true;
  }

  @Override
  public PeerFigures run(PeerCase what, PeerSite site, Foreign programs, Times times)
      throws IOException, InterruptedException {
    List<String> command = openMpi ? openMpi(site, programs) : mpich(site, programs);
    command.add(program.toString());
    command.add(what.ping() ? "ping" : "stream");
    command.add("" + what.sizeBytes());
    command.add("" + (what.sizeBytes() > LARGE_BYTES ? LARGE_WINDOW : SMALL_WINDOW));
    command.add(what.both() ? "1" : "0");
    command.add("" + times.warmUp());
    command.add("" + times.measure());
    Foreign.Running running = programs.onA(site, environment(site), command);
    return Outputs.own(name(), programs.await(running, times.limit(), "}\n"), what.ping());
  }

  private List<String> openMpi(PeerSite site, Foreign programs) throws IOException {
    List<String> command = new ArrayList<>(List.of("mpirun.openmpi", "--allow-run-as-root"));
    command.addAll(Executables.openMpiSessionsIn(programs.scratch()));
    command.addAll(List.of("-np", "2", "--oversubscribe", "--mca", "pml", "ob1"));
    if (site.isLocal()) {
      command.addAll(List.of("--bind-to", "core", "--mca", "btl", "vader,self"));
      return command;
    }
    command.addAll(List.of("--bind-to", "none", "--mca", "btl", "tcp,self"));
    command.addAll(List.of("--host", PeerSite.HOST_A + ":1," + PeerSite.HOST_B + ":1"));
    command.addAll(List.of("--mca", "plm", "rsh", "--mca", "plm_rsh_agent", programs.agent()));
    command.addAll(List.of("--mca", "oob_tcp_if_include", PeerSite.controlInterface()));
    command.addAll(List.of("--mca", "btl_tcp_if_include", site.interfaces()));
    return command;
  }

  private List<String> mpich(PeerSite site, Foreign programs) throws IOException {
    List<String> command = new ArrayList<>(List.of("mpirun.mpich", "-n", "2"));
    if (site.isLocal()) {
      command.addAll(List.of("-bind-to", "core"));
      return command;
    }
    command.addAll(List.of("-ppn", "1", "-hosts", PeerSite.HOST_A + "," + PeerSite.HOST_B));
    command.addAll(List.of("-launcher", "rsh", "-launcher-exec", programs.agent()));
    command.addAll(List.of("-iface", PeerSite.controlInterface()));
    return command;
  }

  private Map<String, String> environment(PeerSite site) {
    Map<String, String> environment = new HashMap<>();
    // Both refuse to run as root otherwise, or ask a resource manager that is not there.
    environment.put("OMPI_ALLOW_RUN_AS_ROOT", "1");
    environment.put("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    if (!openMpi && !site.isLocal()) {
      environment.putAll(UcxPeer.overLinks(site));
    }
    return environment;
  }
}
