# What all scripts share: where things are, how a step is announced and timed, how a script gives up.
# Sourced, never run. Must not change directory or start anything by itself.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
# Tools and servers that tests need, kept between runs; git ignores it.
kept=$root/.harbor-test
node_least=20

say() { printf '%s\n' "$*"; }

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# A script that has to clean up defines `at_exit`; one that says something at its end, however it ends, `at_end CODE`; one
# that ends with words of its own also where it fails, `at_failure STEP`.
#
# step NAME COMMAND…: announces, runs and times one step; the first that fails ends the script.
step() {
  step_name=$1 step_start=$SECONDS
  shift
  say "== $step_name"
  # Not in an `if`: that would switch `set -e` off inside functions that are steps.
  "$@"
  step_passed
}

step_passed() {
  say "== $step_name: ok, $((SECONDS - step_start)) s"
  step_note "$step_name" "ok" "$((SECONDS - step_start))"
  step_name=
}

# What ran until now: a line for each step.
step_table=
step_note() { step_table+=$(printf '%-20s %-8s %5s s' "$@")$'\n'; }

# Steps that run beside others, by name: their processes, and the files that hold what they printed.
declare -A beside_pid=() beside_log=()

# beside NAME COMMAND…: starts a step that runs beside the next ones. What it prints is shown by `joined NAME`.
beside() {
  local name=$1
  shift
  beside_log[$name]=$(mktemp)
  # In a process group of its own, which can be ended as a whole.
  set -m
  (
    begun=$SECONDS
    trap 'echo $((SECONDS - begun)) >"${beside_log[$name]}.seconds"' EXIT
    "$@"
  ) >"${beside_log[$name]}" 2>&1 </dev/null &
  beside_pid[$name]=$!
  set +m
}

# joined NAME: waits for a step that `beside` started, and ends the script if it failed.
joined() {
  local code=0 log=${beside_log[$1]}
  step_name=$1 step_start=$SECONDS
  wait "${beside_pid[$1]}" || code=$?
  unset "beside_pid[$1]"
  step_start=$((SECONDS - $(cat "$log.seconds" 2>/dev/null || echo 0)))
  say "== $1 (ran beside others)"
  cat "$log"
  rm -f "$log" "$log.seconds"
  [ "$code" -eq 0 ] || exit "$code"
  step_passed
}

step_name=
ended() {
  local code=$? pid log
  for pid in ${beside_pid[@]+"${beside_pid[@]}"}; do kill -- "-$pid" 2>/dev/null || true; done
  for log in ${beside_log[@]+"${beside_log[@]}"}; do rm -f "$log" "$log.seconds"; done
  # A signal ends the script with the code of the last command, in the middle of a step.
  if [ "$code" -eq 0 ] && [ -n "$step_name" ]; then code=143; fi
  if [ "$code" -ne 0 ] && [ -n "$step_name" ]; then
    say "== $step_name: FAILED after $((SECONDS - step_start)) s" >&2
    step_note "$step_name" "FAILED" "$((SECONDS - step_start))"
  fi
  if declare -F at_end >/dev/null; then at_end "$code"; fi
  if declare -F at_exit >/dev/null; then at_exit; fi
  # May choose the exit code.
  if [ "$code" -ne 0 ] && declare -F at_failure >/dev/null; then at_failure "${step_name:-between two steps}"; fi
}
trap ended EXIT

# need PROGRAM WHAT-FOR: a missing tool is named together with its use.
need() {
  command -v "$1" >/dev/null 2>&1 || die "$1 is missing; it is needed $2"
}

# The profile that the installed programs are built with, and where cargo puts them.
profile=${HARBOR_PROFILE:-release}
case $profile in
  dev) built=$target/debug ;;
  *) built=$target/$profile ;;
esac

need_rust() {
  need cargo "to build Harbor; install Rust from https://rustup.rs"
  need cc "to link Harbor and to build SQLite; install a C compiler, e.g. the package build-essential"
  # Run inside the repository, where rustup obeys rust-toolchain.toml and fetches what it names.
  (cd "$root" && cargo --version >/dev/null) ||
    die "cargo does not work here; rust-toolchain.toml names the version that Harbor needs"
}

need_servers_tools() {
  need node "to run the MCP servers from npm; install Node $node_least or newer"
  need npm "to install the MCP servers from npm; it comes with Node, in some systems as the package npm"
  need python3 "to run the MCP servers from PyPI; install Python 3.10 or newer"
  local node_major
  node_major=$(node -p 'process.versions.node.split(".")[0]') || die "node does not start"
  [ "$node_major" -ge "$node_least" ] || die "Node $node_least or newer is needed, this is $(node --version)"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    die "Python 3.10 or newer is needed, this is $(python3 --version)"
  python3 -c 'import venv, ensurepip' 2>/dev/null ||
    die "Python's venv and ensurepip are missing; in Debian and Ubuntu they are the package python3-venv"
}

# Both ends of a link compare the build id, so it has to be the same for all binaries that are installed. Those of tests have
# one that never changes: they would be compiled anew for each commit.
export_build_id() {
  local commit version
  [ "$profile" != dev ] || return 0
  [ -z "${HARBOR_BUILD:-}" ] || return 0
  commit=$(git -C "$root" describe --always --dirty --abbrev=12 2>/dev/null) || return 0
  version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
  export HARBOR_BUILD=$version+$commit
}

# npm writes its own note last; `npm ci` would take all away and install it once more.
extension_packages_are_here() {
  local note=$root/extension/node_modules/.package-lock.json
  [ "$note" -nt "$root/extension/package-lock.json" ] && [ "$note" -nt "$root/extension/package.json" ]
}

# Only what has to be fetched is quiet.
build_extensions() {
  local log
  log=$(mktemp)
  if ! extension_packages_are_here && ! npm ci --prefix "$root/extension" >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    rm -f "$log"
    die "the extensions' packages could not be installed"
  fi
  rm -f "$log"
  npm run --silent --prefix "$root/extension" build
}
