#!/bin/sh
# Runs a command in a network namespace under a host name of its own, with that namespace's interfaces in /sys, where
# UCX looks for them. MPI launchers call it in place of rsh: the host name stands for the namespace.
#
# Usage: in-namespace.sh HOST COMMAND...      the words of COMMAND are joined and read by a shell, as rsh does
# Environment: HXB_NETNS_<HOST> is the namespace of HOST.
set -eu
host="$1"
shift
eval "namespace=\$HXB_NETNS_$host"
exec nsenter "--net=/run/netns/$namespace" unshare --mount --uts \
  sh -c 'mount -t sysfs sysfs /sys && hostname "$0" && exec sh -c "$1"' "$host" "$*"
