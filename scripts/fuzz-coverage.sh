#!/usr/bin/env bash
# Coverage-guided fuzzing of everything that reads a frame, by Jazzer from Maven Central. hxb fuzz knows the frames'
# structure and judges every one; this knows nothing of it and follows the branches: a second opinion.
set -euo pipefail

JAZZER=0.30.0
HOME_DIR="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"
OUT="$HOME_DIR/hxb-cli/target/jazzer"

usage() {
  cat <<'TEXT'
Usage: scripts/fuzz-coverage.sh [SECONDS] [JAZZER OPTIONS]
Run Jazzer against a node with all sessions up for SECONDS (default 60). Inputs that reach new branches are kept in
hxb-cli/target/jazzer/inputs. Ends with non-zero when an input is a finding.
Example: scripts/fuzz-coverage.sh 600
TEXT
}

case "${1:-}" in -h | --help) usage; exit ;; esac
seconds="${1:-60}"
[[ "$seconds" =~ ^[0-9]+$ ]] || { usage >&2; exit 2; }

"$HOME_DIR/hxb" build
JAVA_HOME="$("$HOME_DIR/scripts/find-jdk")"
export JAVA_HOME # mvn's
mkdir -p "$OUT/inputs" "$OUT/lib"
for artifact in jazzer jazzer-api; do
  mvn -q -f "$HOME_DIR/pom.xml" --non-recursive dependency:copy \
    "-Dartifact=com.code-intelligence:$artifact:$JAZZER" "-DoutputDirectory=$OUT/lib" >&2
done
mvn -q -f "$HOME_DIR/pom.xml" -pl hxb-cli -am test-compile -Dhxb.native.skip=true >&2
exec "$JAVA_HOME/bin/java" "@$HOME_DIR/scripts/jvm.args" \
  -cp "$OUT/lib/*:$HOME_DIR/hxb-cli/target/test-classes:$HOME_DIR/hxb-cli/target/hxb-cli.jar:$HOME_DIR/hxb-cli/target/lib/*" \
  com.code_intelligence.jazzer.Jazzer --target_class=org.pmhxb.cli.fuzz.JazzerTarget \
  --instrumentation_includes='org.pmhxb.pm.**:org.pmhxb.router.**' --custom_hook_includes='none.**' \
  "$OUT/inputs" "-max_total_time=$seconds" -max_len=1024 -print_final_stats=1 "${@:2}"
