#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Regenerates ffi-bindings/src/generated/java from native/include/pmhxb.h and DPDK's headers.
# Needs jextract (JEXTRACT_HOME/bin or PATH) and libdpdk-dev. The output is checked in and never
# edited; run this after every change of pmhxb.h or of an allow-list, and commit both together.
set -eu

usage() {
  cat <<'TEXT'
Usage: scripts/generate-bindings.sh [--check]
Regenerate the bindings from native/include/pmhxb.h and DPDK's headers; with --check elsewhere, and fail when the
checked-in files differ.
Environment:
  JEXTRACT_HOME   where jextract is, unless it is on the PATH
Example: JEXTRACT_HOME=/opt/jextract scripts/generate-bindings.sh --check
TEXT
}

case "${1:-}" in -h | --help) usage; exit ;; esac

root=$(cd "$(dirname "$0")/.." && pwd)
target=$root/ffi-bindings/src/generated/java
lists=$root/ffi-bindings/jextract
package=org.pmhxb.ffi.gen

if [ -n "${JEXTRACT_HOME:-}" ]; then
  jextract=$JEXTRACT_HOME/bin/jextract
else
  jextract=$(command -v jextract || true)
fi
if [ -z "$jextract" ] || [ ! -x "$jextract" ]; then
  echo "generate-bindings: no jextract; set JEXTRACT_HOME or put it on the PATH" >&2
  echo "generate-bindings: (see https://jdk.java.net/jextract)" >&2
  exit 1
fi
if ! pkg-config --exists libdpdk; then
  echo "generate-bindings: no libdpdk; install libdpdk-dev" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
out=$work/java

# jextract takes compiler options from compile_flags.txt in the current directory, one per line.
pkg-config --cflags libdpdk | tr ' ' '\n' | sed '/^$/d' > "$work/compile_flags.txt"
echo "-DALLOW_EXPERIMENTAL_API" >> "$work/compile_flags.txt"
# Comments are for people: jextract's argument files know none.
sed 's/#.*//; /^[[:space:]]*$/d' "$lists/dpdk.allow" > "$work/dpdk.args"
# Everything that pmhxb.h itself declares, and nothing that it includes.
{
  grep -oE 'hxb_[a-z0-9_]+\(' "$root/native/include/pmhxb.h" | tr -d '(' | sort -u |
    sed 's/^/--include-function /'
  grep -oE '^struct hxb_[a-z0-9_]+ \{' "$root/native/include/pmhxb.h" | awk '{print $2}' | sort -u |
    sed 's/^/--include-struct /'
  grep -oE '^#define HXB_[A-Z0-9_]+ ' "$root/native/include/pmhxb.h" | awk '{print $2}' | sort -u |
    sed 's/^/--include-constant /'
  grep -oE '^    HXB_LAYOUT_[A-Z0-9_]+ ' "$root/native/include/pmhxb.h" | awk '{print $1}' |
    sort -u | sed 's/^/--include-constant /'
} > "$work/pmhxb.args"

cd "$work"
"$jextract" --output "$out" --target-package "$package" --header-class-name Pmhxb \
  @"$work/pmhxb.args" "$root/native/include/pmhxb.h"
"$jextract" --output "$out" --target-package "$package" --header-class-name Dpdk \
  @"$work/dpdk.args" "$lists/dpdk.h"

if [ "${1:-}" = "--check" ]; then
  diff -r "$target" "$out"
  echo "generate-bindings: up to date"
  exit 0
fi
rm -rf "$target"
mkdir -p "$(dirname "$target")"
cp -r "$out" "$target"
echo "generate-bindings: wrote $(find "$target" -name '*.java' | wc -l) files to ${target#"$root"/}"
