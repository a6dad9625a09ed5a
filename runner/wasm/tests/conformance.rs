//! The conformance suite of all runtimes, against modules.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

#[path = "../../../tests/src/wasm/compiler.rs"]
mod compiler;
#[path = "../../../tests/conformance/suite.rs"]
mod suite;

use std::path::Path;
use std::process::Command;

use suite::Part;

#[test]
fn modules_do_what_every_runtime_does() {
    let home = tempfile::tempdir().unwrap();
    let module = home.path().join("conformance.wasm");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/modules/conformance.rs");
    compiler::compile(&source, &module);
    let outcome = suite::run(&|part| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_harbor-runner-wasm"));
        command.arg(&module).arg("--").arg(match part {
            Part::Tools => "tools",
            Part::Protocol => "protocol",
        });
        command.env_clear();
        command
    });
    assert_eq!(outcome.failed, Vec::<String>::new());
    assert!(outcome.cases >= 40, "{}", outcome.cases);
}
