# shellcheck shell=bash
# What the launchers have in common: hxb of a checkout, and bin/hxb of an installation (hxb dist). Sourced, when
# HXB_HOME, CLI_JAR, NATIVE_DIR and AOT_CACHE say where things are.
# Standard output belongs to the command (hxb ... --json); everything that a launcher says is on standard error.

# 2 MB pages to have free. The demo's eight nodes take about 20 each, the thirty of --shape 5x3x2 about 26, DPDK a few.
HUGEPAGES_WANTED="${HXB_HUGEPAGES:-1024}"
HUGEPAGES_MOST=1048576
# Set: what ends a launcher is an object on standard output too, as the command line's own failures are.
JSON=
# What one launcher tells the command line and the other does not.
PROPERTIES=()

# In the locale C, which a service, a container or cron has, and who names one that is not installed, as ssh from another
# machine may, Java reads no path and writes no text beyond ASCII; this one differs from it in nothing else.
case "$(locale charmap 2>&1 || echo "${LC_ALL:-${LC_CTYPE:-${LANG:-C}}}")" in
  *ANSI_X3.4-1968 | *"Cannot set"* | C | POSIX)
    export LC_ALL=C.UTF-8 # not LC_CTYPE alone: Java takes none of a locale of which a part is not there
    ;;
esac

# tc and others lie there, which the PATH of an ordinary user of Debian, and of who became root by su, does not name.
for folder in /usr/sbin /sbin; do
  case ":$PATH:" in
    *":$folder:"*) ;;
    *) PATH="$PATH:$folder" ;;
  esac
done

say() { printf 'hxb: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# What stands between the quotes of a JSON string.
json_text() {
  local text="${1//\\/\\\\}"
  text="${text//\"/\\\"}"
  text="${text//$'\t'/\\t}"
  text="${text//$'\n'/\\n}"
  printf '%s' "${text//[[:cntrl:]]/?}"
}

# Sets JSON where the words ask for it; what follows -- is a program's.
look_for_json() {
  local word
  for word in "$@"; do
    case "$word" in
      --) break ;;
      --json) JSON=1 ;;
    esac
  done
}

# stop CODE MESSAGE...
stop() {
  say "${@:2}"
  [ -z "$JSON" ] || printf '{"ok":false,"error":"%s"}\n' "$(json_text "${*:2}")"
  exit "$1"
}
die() { stop 1 "$@"; }

# wrong_words COMMAND MESSAGE: the two lines that the command line's own commands answer with.
wrong_words() {
  (stop 2 "$2") || true
  printf 'See: hxb %s --help\n' "$1" >&2
  exit 2
}

# Before anything relies on HUGEPAGES_WANTED.
check_hugepages_wanted() {
  case "$HUGEPAGES_WANTED" in
    *[!0-9]* | ????????*) ;;
    *)
      HUGEPAGES_WANTED="$((10#$HUGEPAGES_WANTED))"
      [ "$HUGEPAGES_WANTED" -gt "$HUGEPAGES_MOST" ] || return 0
      ;;
  esac
  stop 2 "HXB_HUGEPAGES is $HUGEPAGES_WANTED; must be in 0..$HUGEPAGES_MOST: pages of 2 MB to have free, 0 to leave" \
    "them alone"
}

# Before a JVM reads it, which would take another word, or none, for DEBUG.
check_log_level() {
  [ -n "${HXB_LOG:-}" ] || unset HXB_LOG
  local level="${HXB_LOG:-WARN}"
  case "${level^^}" in
    OFF | ERROR | WARN | INFO | DEBUG | TRACE) ;;
    *) stop 2 "HXB_LOG is $HXB_LOG; must be one of OFF, ERROR, WARN, INFO, DEBUG, TRACE" ;;
  esac
}

# These take no words.
no_words() {
  [ "$#" -le 1 ] || wrong_words "$1" "$1 takes no arguments, not: ${*:2}"
}

# Whether the words are of a command that builds a pool, and do not ask for its help; what follows -- is a program's.
# Arguments are not looked at: a JVM more for that would cost each start more than pages do, which the next command needs.
needs_pool() {
  local word
  for word in "$@"; do
    case "$word" in
      --) break ;;
      --help | -h | --version | -V) return 1 ;;
    esac
  done
  case "${1:-}" in
    demo | up | mpirun | mpirank | logp | node | soak | rehearse) return 0 ;;
    bench)
      case "${2:-}" in
        grid | compare) ;; # one is simulated, one reads files
        *) return 0 ;;
      esac
      ;;
  esac
  return 1
}

java_command() {
  check_hugepages_wanted
  check_log_level
  JAVA=("${JDK:-$("$HXB_HOME/scripts/find-jdk")}/bin/java" "@$HXB_HOME/scripts/jvm.args" "-Dhxb.home=$HXB_HOME" "-Dhxb.native.path=$NATIVE_DIR"
    "-Dhxb.hugepages=$HUGEPAGES_WANTED" "${PROPERTIES[@]}")
  if [ -t 2 ]; then JAVA+=("-Dhxb.stderr.terminal=true"); fi
}

# Whether the words are of a command whose own JVM carries no frames: what the second compiler makes of its code, it would
# hardly live to use. The nodes that it starts have both (NodeJvm).
carries_no_frames() {
  case "${1:-}" in
    up | status | down | doctor | --help | -h | --version | -V) return 0 ;;
  esac
  return 1
}

# With the archive of classes that the build makes (hxb-cli/pom.xml), starting takes half the time. Where the JVM
# cannot use it, it goes on without, and hxb doctor says so.
run_cli() {
  export MPJ_HOME="${MPJ_HOME:-/usr/share/mpj}" # MPJ reads its configuration there
  java_command
  if carries_no_frames "$@"; then JAVA+=("-XX:TieredStopAtLevel=1"); fi
  exec "${JAVA[@]}" "-XX:AOTCache=$AOT_CACHE" -Xlog:cds=off,aot=off -Xlog:cds=off,aot=off:stderr -jar "$CLI_JAR" "$@"
}

# The commands of the command line, a line each.
list_commands() { run_cli --help | sed -n '/^Commands:/,/^$/p' | sed 1d; }
