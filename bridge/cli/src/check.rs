//! Asks the bridge's program what is wrong with the bridge's own files, whether a bridge runs or not.
//!
//! Owns the start of `harbor-bridge check --json` and the reading of its answer. Must never look into those files itself.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use harbor_home::Paths;
use harbor_home::dial::{Role, bridge_program};
use harbor_ipc_proto::check::{CheckPart, Checked, ConfigCheck, MODE};

use harbor_client::errors::Failure;

/// The findings about these parts.
pub fn ask(paths: &Paths, parts: &[CheckPart]) -> Result<Checked, Failure> {
    let words = parts.iter().map(|part| part.as_str());
    run(paths, |command| command.args(words))
}

/// The findings about `config.toml`, or about another file.
pub fn config(paths: &Paths, file: Option<&Path>) -> Result<ConfigCheck, Failure> {
    let checked = run(paths, |command| {
        if let Some(file) = file {
            command.arg("--config").arg(file);
        }
        command.arg(CheckPart::Config.as_str())
    })?;
    checked.config.ok_or_else(|| failed("it said nothing about the configuration"))
}

fn run(paths: &Paths, args: impl FnOnce(&mut Command) -> &mut Command) -> Result<Checked, Failure> {
    let mut command = Command::new(bridge_program(&Role::Cli)?);
    command.args([MODE, "--json"]).env("HARBOR_HOME", paths.home()).stdin(Stdio::null());
    let output = args(&mut command).output().map_err(|error| Failure::Io(ASKING, error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or_default();
        return Err(failed(&format!("{}: {said}", output.status)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(&error.to_string()))
}

const ASKING: &str = "ask harbor-bridge what is wrong";

fn failed(why: &str) -> Failure {
    Failure::Io(ASKING, io::Error::other(why.to_owned()))
}
