#!/usr/bin/env bash
# Installs what "hxb bench peers" measures beside this project: iperf3, mptcpize, Open MPI, MPICH, UCX, sockperf and
# dpdk-testpmd from Debian, Aeron from Maven Central; and builds the small programs that drive MPI and Aeron. What
# cannot be had is named; the benchmark then goes on without it and says so.
set -uo pipefail

usage() {
  cat <<'TEXT'
Usage: scripts/install-peers.sh
Install what "hxb bench peers" measures beside this project. Needs root where a package is missing. Exit code 1:
something could not be had, and is named.
Environment:
  JAVA_HOME   a JDK 25 (otherwise one is looked for)
Example: scripts/install-peers.sh && ./hxb bench peers --quick
TEXT
}

case "${1:-}" in -h | --help) usage; exit ;; esac
[ $# = 0 ] || { usage >&2; exit 2; }

home="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"
out="$home/target/peers"
aeron=1.51.0
failed=0

say() { printf 'install-peers: %s\n' "$*" >&2; }
miss() { say "MISSING: $*"; failed=1; }
have() { command -v "$1" >/dev/null 2>&1; }

missing=()
want() { have "$1" || missing+=("${@:2}"); }
want iperf3 iperf3
want mptcpize mptcpize
want mpirun.openmpi openmpi-bin
# openmpi-bin has a compiler's wrapper without the headers.
echo '#include <mpi.h>' | mpicc.openmpi -fsyntax-only -x c - 2>/dev/null ||
  missing+=(libopenmpi-dev)
want mpirun.mpich mpich
want mpicc.mpich libmpich-dev
want ucx_perftest ucx-utils
want sockperf sockperf
want dpdk-testpmd dpdk-dev
want hostname hostname

if [ "${#missing[@]}" -gt 0 ]; then
  if [ "$(id -u)" != 0 ] || ! have apt-get; then
    miss "packages ${missing[*]}; run: sudo apt-get install --no-install-recommends ${missing[*]}"
  else
    say "installing: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install --simulate -y --no-install-recommends "${missing[@]}" >/dev/null 2>&1 || apt-get update -qq >&2
    # One by one: a package that a distribution lacks must not keep the others away.
    for package in "${missing[@]}"; do
      apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "$package" >&2 || miss "package $package"
    done
  fi
fi

mkdir -p "$out"
for flavour in openmpi mpich; do
  if have "mpicc.$flavour"; then
    "mpicc.$flavour" -O2 -Wall -Wextra -o "$out/mpi_bench.$flavour" "$home/scripts/peers/mpi_bench.c" ||
      miss "mpi_bench for $flavour: the compiler's words are above"
    "mpicc.$flavour" -O2 -Wall -Wextra -o "$out/mpi_barrier.$flavour" "$home/scripts/peers/mpi_barrier.c" ||
      miss "mpi_barrier for $flavour: the compiler's words are above"
  fi
done

jar="$out/aeron-all-$aeron.jar"
if [ ! -s "$jar" ]; then
  say "fetching Aeron $aeron"
  # Not in the project's folder: Maven would do it once for each of its modules.
  (cd "$out" && mvn -q -B dependency:copy "-Dartifact=io.aeron:aeron-all:$aeron" -DoutputDirectory=.) >&2 ||
    miss "Aeron $aeron: Maven's words are above"
fi
if [ -s "$jar" ]; then
  "$("$home/scripts/find-jdk")/bin/javac" -d "$out/classes" -cp "$jar" "$home/scripts/peers/AeronBench.java" ||
    miss "AeronBench: the compiler's words are above"
fi
exit "$failed"
