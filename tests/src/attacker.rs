//! The malicious server (`tests/attacker`) as a test sees it: its one file, and what a call of an attack gave.
//!
//! It is in Python, which has most system calls at hand and reaches the others by number. Must never be started from
//! where its sources are: a sandbox is to grant the one file that a definition names, and nothing beside it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use harbor_ipc_proto::client::McpCallTool;
use harbor_ipc_proto::field::Message as _;
use serde_json::{Value, json};

use crate::client::{Client, ErrorValue};
use crate::{Home, LIMIT};

/// Where every system has it; other users cannot reach a Python of the tester's own.
pub const PYTHON: &str = "/usr/bin/python3";

/// How long an attack may take. Some make thousands of files, and a busy disk may take milliseconds for each.
const TIMEOUT: Duration = Duration::from_secs(180);

/// The malicious server as one file.
#[derive(Debug, Clone)]
pub struct Attacker(PathBuf);

/// What became of an attack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Whether it succeeded, with evidence.
    pub done: bool,
    /// The evidence, or what stood in the way.
    pub detail: String,
}

impl Attacker {
    /// Packs it into the home's directory.
    ///
    /// # Panics
    /// Without Python.
    #[must_use]
    pub fn pack(home: &Home) -> Self {
        let path = home.scratch("attacker.pyz");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("attacker");
        // Its cache of compiled files belongs to no one.
        let packed = Command::new(PYTHON)
            .args(["-I", "-B", "-m", "zipapp", "--output"])
            .arg(&path)
            .arg(sources)
            .status();
        assert!(packed.is_ok_and(|status| status.success()), "{PYTHON} is needed for the attacks");
        Self(path)
    }

    /// What starts it.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(PYTHON);
        command.arg("-I").arg(&self.0);
        command
    }

    /// Its one file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.0
    }

    /// The fields of `add_server`: with this secret in its environment, and these settings of its sandbox.
    #[must_use]
    pub fn definition(&self, id: &str, secret: &str, sandbox: &Value) -> Value {
        json!({
            "server_id": id,
            "command": PYTHON,
            "args": ["-I", self.0],
            "env": {"ATTACKER_SECRET": secret},
            "sandbox": sandbox,
            // What ends a server is to be seen, and the next attack starts it again.
            "supervision": {"restart": "never"},
        })
    }
}

impl Attempt {
    /// Has a running server try one.
    ///
    /// # Errors
    /// When the call fails: the server has ended.
    ///
    /// # Panics
    /// When the answer is none of the attacker's, or there is none in time.
    pub fn by(client: &Client, server: &str, name: &str, arguments: &Value) -> Result<Self, ErrorValue> {
        let call = json!({
            "server_id": server, "tool_name": "attack", "timeout_ms": TIMEOUT.as_millis(),
            "arguments": {"name": name, "arguments": arguments},
        });
        let answer = client.request(McpCallTool::TAG, &call).wait(TIMEOUT + LIMIT).inspect_err(|error| {
            assert_ne!(
                error.code, "ERR_TOOL_TIMEOUT",
                "{name}: neither refused nor done, and still under way"
            );
        })?;
        let said: Value = serde_json::from_str(answer.content_text()).expect("an object");
        let done = said["done"].as_bool().unwrap_or_else(|| panic!("{name}: {said}"));
        let errno = said["errno"].as_str().unwrap_or_default();
        let detail = format!("{errno} {}", said["detail"].as_str().unwrap_or_default());
        Ok(Self { done, detail: detail.trim().to_owned() })
    }
}

/// What an attacker knows of itself: its process, the address of its secret, its environment.
///
/// # Panics
/// When it does not answer.
#[must_use]
pub fn facts(client: &Client, server: &str) -> Value {
    serde_json::from_str(&client.tool_text(server, "facts", &json!({}))).expect("an object")
}
