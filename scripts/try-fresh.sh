#!/usr/bin/env bash
# Tries the project as on a new machine: makes a minimal Debian by debootstrap, copies this working tree into it
# and runs a command there. Needs root and debootstrap; takes mirror and proxy from this machine's apt.
#
# shellcheck disable=SC2016 # what stands in single quotes is expanded elsewhere: by apt, and by the inner shells
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: scripts/try-fresh.sh SUITE [COMMAND...]       default: ./hxb demo --seconds 2
Try this working tree in a minimal Debian of its own, made by debootstrap. Needs root.
Environment:
  FRESH_DIR   where the system is kept (default /var/tmp/hxb-fresh-SUITE); remove it to begin anew
  FRESH_JDK   a JDK 25 of this machine to copy in, for suites that have no package of it
  FRESH_M2    a Maven repository of this machine to copy in, to save the downloads
Example: scripts/try-fresh.sh trixie ./hxb test
TEXT
}

case "${1:-}" in
  -h | --help) usage; exit ;;
  "") usage >&2; exit 2 ;;
esac
suite="$1"
shift
[ "$#" -gt 0 ] || set -- ./hxb demo --seconds 2
root="${FRESH_DIR:-/var/tmp/hxb-fresh-$suite}"
source_dir="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"

say() { printf 'try-fresh: %s\n' "$*" >&2; }

# The first Debian archive among this machine's apt sources.
mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m1 -E '/debian/?$' || true)"
[ -n "$mirror" ] || { say "no Debian archive among this machine's apt sources; see /etc/apt/sources.list"; exit 1; }

if [ ! -e "$root/etc/debian_version" ]; then
  say "making $suite in $root from $mirror"
  debootstrap --variant=minbase "$suite" "$root" "$mirror" >&2
fi

# How this machine reaches the network: names, proxy, certificate authorities of its own.
cp /etc/resolv.conf "$root/etc/resolv.conf"
apt-config dump | grep -iE '^Acquire::(http|https)::Proxy|^Acquire::Check-' >"$root/etc/apt/apt.conf.d/99host" || true
if compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null && [ ! -e "$root/usr/local/share/ca-certificates" ]; then
  mkdir -p "$root/usr/local/share"
  cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
  chroot "$root" sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends ca-certificates' >&2
fi
if [ -n "${FRESH_JDK:-}" ] && [ ! -e "$root/usr/lib/jvm/${FRESH_JDK##*/}" ]; then
  mkdir -p "$root/usr/lib/jvm"
  cp -a "$FRESH_JDK" "$root/usr/lib/jvm/"
fi
if [ -n "${FRESH_M2:-}" ] && [ ! -e "$root/root/.m2" ]; then
  mkdir -p "$root/root/.m2"
  cp -a "$FRESH_M2" "$root/root/.m2/repository"
fi

# The working tree as a clean clone would have it, with what is not committed yet.
rm -rf "$root/root/hxb"
mkdir -p "$root/root/hxb"
git -C "$source_dir" ls-files -z --cached --others --exclude-standard \
  | (cd "$source_dir" && xargs -0 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' sh) \
  | tar -C "$source_dir" --null -T - -cf - | tar -C "$root/root/hxb" -xf -

# The mounts live in a namespace of their own and go with it.
say "$suite: $*"
exec unshare --mount --propagation private sh -c '
  root=$1; shift
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mkdir -p "$root/run/netns"
  exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" \
    sh -c "cd ~/hxb && exec \"\$@\"" sh "$@"
' sh "$root" "$@"
