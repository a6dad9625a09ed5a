//! Harbor's own entry in a client's configuration.
//!
//! Owns what it says, and how it is recognised.

use std::path::Path;

use serde_json::{Map, Value, json};

/// The word under which a server of ours is started.
const WORD: &str = "mcp";

/// An entry as it is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name among the servers.
    pub name: String,
    /// Whether the client wants to be told that it is a program on pipes.
    pub typed: bool,
    /// The program's whole path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment.
    pub env: Vec<(String, String)>,
}

impl Entry {
    /// As it is read back.
    #[must_use]
    pub fn value(&self) -> Value {
        let env: Map<_, _> =
            self.env.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let mut value = json!({"command": self.command, "args": self.args, "env": env});
        if self.typed {
            value["type"] = "stdio".into();
        }
        value
    }
}

/// Whether an entry is one of Harbor's: `harbor mcp …`, whatever the program is called if it is told its home.
#[must_use]
pub fn is_ours(entry: &Value) -> bool {
    let command = entry["command"].as_str().map(Path::new).and_then(Path::file_name);
    let named = command.is_some_and(|name| name == "harbor") || entry["env"]["HARBOR_HOME"].is_string();
    named && entry["args"][0] == WORD
}
