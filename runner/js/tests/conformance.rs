//! The conformance suite of all runtimes, against scripts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

#[path = "../../../tests/conformance/suite.rs"]
mod suite;

use std::path::{Path, PathBuf};
use std::process::Command;

use suite::Part;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance").join(name)
}

fn interpreted(file: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harbor-runner-js"));
    command.arg(file).env_clear();
    command
}

#[test]
fn scripts_do_what_every_runtime_does() {
    let outcome = suite::run(&|part| {
        interpreted(&script(match part {
            Part::Tools => "tools.js",
            Part::Protocol => "protocol.js",
        }))
    });
    assert_eq!(outcome.failed, Vec::<String>::new());
    assert!(outcome.cases >= 40, "{}", outcome.cases);
}

#[test]
fn a_server_that_does_otherwise_is_told_case_by_case() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("wrong.js");
    std::fs::write(
        &file,
        "for (let line; (line = await MCP.readLine()) !== null; ) {
            let id = null;
            try { id = JSON.parse(line).id; } catch {}
            if (id !== undefined) MCP.writeLine(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
        }",
    )
    .unwrap();
    let outcome = suite::run(&|_| interpreted(&file));
    assert!(outcome.failed.len() > 40, "{:?}", outcome.failed);
    assert!(
        outcome.failed.iter().any(|why| why.starts_with("initialize as 2025-11-25 (Tools Fresh): it says {"))
    );
}
