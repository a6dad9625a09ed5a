//! The servers that are killed: how each is started, through Harbor and without, and what it is called with.
//!
//! Must start nothing by itself.

use crate::Outcome;
use crate::ask::program;
use crate::options::Options;
use crate::request::{SERVER, owners_call};
use harbor_ipc_proto::client::{AddServer, Attempts, McpCallTool, Supervision};
use harbor_ipc_proto::field::JsonObject;
use serde_json::json;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// How long a killed server stays down.
pub const DELAY_MS: u64 = 100;

/// The entry point of the real server, below the directory of real servers. `npx` would stay beside it.
const EVERYTHING: &str = "npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js";

/// A server that is killed again and again.
#[derive(Debug)]
pub struct Victim {
    /// For reports.
    pub name: &'static str,
    /// How often it is killed, and how often its runner.
    pub times: usize,
    program: PathBuf,
    args: Vec<PathBuf>,
    echo: &'static str,
}

impl Victim {
    /// All of them; the real one where it is installed.
    pub fn all(options: &Options) -> Outcome<Vec<Self>> {
        let program = options.program("echo-server")?;
        let small =
            Self { name: "echo-server", times: options.crashes, program, args: Vec::new(), echo: "text" };
        let mut all = vec![small];
        if let Some(dir) = &options.servers {
            let script = dir.join(EVERYTHING);
            if !script.is_file() {
                return Err(format!("{} is missing: run scripts/servers", script.display()).into());
            }
            all.push(Self {
                name: "server-everything (node)",
                times: options.real_crashes,
                program: "node".into(),
                args: vec![script, "stdio".into()],
                echo: "message",
            });
        }
        Ok(all)
    }

    /// Started without Harbor. What it says on stderr is of no interest.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).stderr(Stdio::null());
        command
    }

    /// The fields of `add_server`. However often it is killed, it comes back.
    pub fn definition(&self) -> Outcome<AddServer> {
        let supervision = Supervision {
            restart_attempts: Some(Attempts::Unlimited),
            restart_delays_ms: Some(vec![DELAY_MS]),
            ..Supervision::default()
        };
        let args: Option<Vec<_>> = self.args.iter().map(|arg| arg.to_str().map(str::to_owned)).collect();
        let definition = program(SERVER, &self.program, &args.ok_or("a path that is no text")?)?;
        Ok(AddServer { supervision: Some(JsonObject::written(&supervision)), ..definition })
    }

    /// The fields of a call that it answers at once.
    pub fn call(&self) -> Outcome<McpCallTool> {
        let arguments = json!({ self.echo: "ahoy" }).to_string();
        owners_call(SERVER, "echo", &arguments)
    }
}
