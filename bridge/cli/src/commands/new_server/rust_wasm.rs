//! A module of WebAssembly from the template in Rust.
//!
//! ```text
//!  rustc? its target? ─► template, tool and MCP ─► rustc in a directory of its own ─► source and module
//! ```
//!
//! Owns the compiler's command line, and what to say where the compiler or its target is missing. Must never write into the
//! person's directory.

use std::env;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harbor_client::errors::Failure;

/// The tool, which the person changes.
const TOOL: &str = include_str!("template.rs.txt");

/// The part of the source that speaks MCP.
const MCP: &str = include_str!("mcp.rs.txt");

/// The target's name, and the one that it had until Rust 1.78.
const TARGETS: [&str; 2] = ["wasm32-wasip1", "wasm32-wasi"];

/// A source and what became of it.
#[derive(Debug)]
pub(super) struct Built {
    pub source: String,
    pub module: Vec<u8>,
    /// The command that builds it again, in the directory of the source.
    pub command: String,
}

/// Builds the module of a new server.
///
/// # Errors
/// The missing part and the command that gets it, or the compiler's words.
pub(super) fn build(name: &str) -> Result<Built, Failure> {
    let target = target()?;
    let words = words(name, target);
    let command = format!("rustc {}", words.join(" "));
    let source = format!("{}{MCP}", TOOL.replace("BUILD", &command).replace("NAME", name));
    let scratch = Scratch::new().map_err(|error| cannot(&error))?;
    std::fs::write(scratch.0.join(format!("{name}.rs")), &source).map_err(|error| cannot(&error))?;
    // Where the person is, a file may choose the toolchain; there the target was looked for.
    let compiled =
        rustc().args(absolute(&words, name, &scratch.0)).output().map_err(|error| cannot(&error))?;
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr);
        return Err(Failure::Usage(format!("rustc could not build the template: {}", said.trim())));
    }
    let module = std::fs::read(scratch.0.join(format!("{name}.wasm"))).map_err(|error| cannot(&error))?;
    Ok(Built { source, module, command })
}

/// A directory of this process alone, for as long as this is held.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Self> {
        let dir = env::temp_dir().join(format!("harbor-new-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&dir)?;
        Ok(Self(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn cannot(error: &dyn std::fmt::Display) -> Failure {
    Failure::Usage(format!("the template cannot be built: {error}"))
}

fn rustc() -> Command {
    let mut command = Command::new("rustc");
    command.stdin(Stdio::null());
    command
}

/// The compiler's words; a server's name is not always one of a crate.
fn words(name: &str, target: &str) -> Vec<String> {
    let fixed = [
        "--edition",
        "2021",
        "--crate-name",
        "server",
        "-O",
        "-C",
        "strip=symbols",
        "--target",
        target,
        "-o",
    ];
    fixed.into_iter().map(str::to_owned).chain([format!("{name}.wasm"), format!("{name}.rs")]).collect()
}

/// These words with the files in another directory.
fn absolute(words: &[String], name: &str, dir: &Path) -> Vec<String> {
    let files = [format!("{name}.wasm"), format!("{name}.rs")];
    let placed = |word: &String| match files.contains(word) {
        true => dir.join(word).to_string_lossy().into_owned(),
        false => word.clone(),
    };
    words.iter().map(placed).collect()
}

/// The target that the compiler has.
fn target() -> Result<&'static str, Failure> {
    let mut known = None;
    for target in TARGETS {
        let asked = rustc().args(["--print", "target-libdir", "--target", target]).output();
        let Ok(asked) = asked else {
            return Err(Failure::Usage(
                "rustc is needed, and is not in PATH; https://rustup.rs says how to get it".into(),
            ));
        };
        let libraries = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
        if asked.status.success() {
            known = known.or(Some(target));
            if Path::new(&libraries).is_dir() {
                return Ok(target);
            }
        }
    }
    let command = missing(known.unwrap_or(TARGETS[0]), in_path("rustup"), in_path("apt"));
    Err(Failure::Usage(format!("Rust's target for WebAssembly is missing; get it: {command}")))
}

fn in_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// The one command that gets a target.
fn missing(target: &str, has_rustup: bool, has_apt: bool) -> String {
    match (has_rustup, has_apt) {
        (false, true) => "`sudo apt install libstd-rust-dev-wasm32 lld`".to_owned(),
        _ => format!("`rustup target add {target}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_one_that_this_machine_has() {
        assert_eq!(missing("wasm32-wasip1", true, true), "`rustup target add wasm32-wasip1`");
        assert_eq!(missing("wasm32-wasi", false, true), "`sudo apt install libstd-rust-dev-wasm32 lld`");
        assert_eq!(missing("wasm32-wasip1", false, false), "`rustup target add wasm32-wasip1`");
    }

    #[test]
    fn the_files_stand_in_the_scratch_directory_and_the_command_is_short() {
        let words = words("my-server", "wasm32-wasip1");
        assert!(words.join(" ").ends_with("--target wasm32-wasip1 -o my-server.wasm my-server.rs"));
        let placed = absolute(&words, "my-server", Path::new("/tmp/x"));
        assert_eq!(placed[10..], ["/tmp/x/my-server.wasm", "/tmp/x/my-server.rs"]);
    }
}
