//! Servers compiled to WebAssembly, built of the sources in `tests/modules` by the compiler that `scripts/test` has found.
//!
//! Must never download anything.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

use crate::programs;

/// What speaks MCP in every one of them.
const MCP: &str = include_str!("../../bridge/cli/src/commands/new_server/mcp.rs.txt");

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

/// The server of the tool `time.now`.
#[must_use]
pub fn time() -> PathBuf {
    built("mcp-time", include_str!("../modules/mcp-time.rs"))
}

/// The server of tools that make trouble, in a version that it says of itself.
#[must_use]
pub fn tools(version: &str) -> PathBuf {
    built("tools", &include_str!("../modules/tools.rs").replace("VERSION", version))
}

/// Builds a module, unless one of the same source is there.
fn built(name: &str, source: &str) -> PathBuf {
    let source = format!("{source}{MCP}");
    let hash = Sha256::digest(&source).iter().take(8).map(|byte| format!("{byte:02x}")).collect::<String>();
    let dir = programs::module_dir().join(hash);
    let module = dir.join(format!("{name}.wasm"));
    if !module.is_file() {
        fs::create_dir_all(&dir).expect("the target directory can be written");
        compile(&source, &module);
    }
    module
}

/// Compiles it beside its place and then renames it: other tests may do the same now.
fn compile(source: &str, module: &Path) {
    let scratch = tempfile::tempdir_in(module.parent().expect("it is in a directory")).expect("a directory");
    let (input, output) = (scratch.path().join("server.rs"), scratch.path().join("server.wasm"));
    fs::write(&input, source).expect("the source can be written");
    let mut command = Command::new("rustc");
    command.env("PATH", path_with_rustc()).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
        .args(["--edition", "2021", "-O", "-C", "strip=symbols", "--target", target()])
        .arg("-o")
        .arg(&output)
        .arg(&input);
    let done = command.output().expect("rustc starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    fs::rename(output, module).expect("the module can be renamed");
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
