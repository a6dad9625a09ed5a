//! The compiler of servers in WebAssembly, which `scripts/test` has found.
//!
//! The tests of the runtime include it by path, so it needs nothing but the standard library. Must never download anything.

use std::env;
use std::path::Path;
use std::process::Command;

/// The target's name, and the one that it had until Rust 1.78.
const TARGETS: [&str; 2] = ["wasm32-wasip1", "wasm32-wasi"];

/// The PATH of a command that finds the compiler.
///
/// # Panics
/// When there is no PATH.
#[must_use]
pub fn path_with_rustc() -> String {
    let path = env::var("PATH").expect("PATH is set");
    match env::var("HARBOR_TEST_RUSTC").ok().filter(|dir| !dir.is_empty()) {
        Some(dir) => format!("{dir}:{path}"),
        None => path,
    }
}

/// Compiles the program whose main file is `source`.
///
/// # Panics
/// When it does not compile, with what the compiler says.
pub fn compile(source: &Path, module: &Path) {
    let mut command = Command::new("rustc");
    command.env("PATH", path_with_rustc()).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
        .args(["--edition", "2021", "-O", "-C", "strip=symbols", "--target", target()])
        .arg("-o")
        .arg(module)
        .arg(source);
    let done = command.output().expect("rustc starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn target() -> &'static str {
    let has = |target: &&str| {
        let mut command = Command::new("rustc");
        command.env("PATH", path_with_rustc()).current_dir(env!("CARGO_MANIFEST_DIR"));
        let asked =
            command.args(["--print", "target-libdir", "--target", target]).output().expect("rustc starts");
        asked.status.success() && Path::new(String::from_utf8_lossy(&asked.stdout).trim()).is_dir()
    };
    TARGETS
        .into_iter()
        .find(has)
        .expect("the target wasm32-wasip1 is there: run scripts/test, which installs it")
}
