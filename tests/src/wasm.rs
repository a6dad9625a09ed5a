//! Servers compiled to WebAssembly, built of the sources in `tests/modules` by the compiler that `scripts/test` has found.
//!
//! Must never download anything.

mod compiler;

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::programs;

pub use compiler::path_with_rustc;

/// The part of each source that speaks MCP.
const MCP: &str = include_str!("../../bridge/cli/src/commands/new_server/mcp.rs.txt");

/// The server of the tool `time.now`.
#[must_use]
pub fn time() -> PathBuf {
    built("mcp-time", include_str!("../modules/mcp-time.rs"))
}

/// The server of the tool `echo`.
#[must_use]
pub fn echo() -> PathBuf {
    built("echo", include_str!("../modules/echo.rs"))
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
    compiler::compile(&input, &output);
    fs::rename(output, module).expect("the module can be renamed");
}
