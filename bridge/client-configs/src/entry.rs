//! Harbor's own entry in a client's configuration.
//!
//! Owns what it says, and how it is recognised.

use std::path::Path;

use serde_json::{Map, Value, json};

/// The word under which a server of ours is started.
const WORD: &str = "mcp";

/// The content of an entry to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name among the servers.
    pub name: String,
    /// True if the client wants to be told that the server is a program on pipes.
    pub typed: bool,
    /// The program's whole path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment.
    pub env: Vec<(String, String)>,
    /// Lists of the client's own, by name: tools that it may not use.
    pub lists: Vec<(String, Vec<String>)>,
}

impl Entry {
    /// The entry as it would be read.
    #[must_use]
    pub fn value(&self) -> Value {
        let env: Map<_, _> =
            self.env.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let mut value = json!({"command": self.command, "args": self.args, "env": env});
        if self.typed {
            value["type"] = "stdio".into();
        }
        for (name, list) in &self.lists {
            value[name] = list.clone().into();
        }
        value
    }

    /// True if an existing entry says the same. Members that the client or the person has added do not count.
    #[must_use]
    pub fn fits(&self, old: &Value) -> bool {
        self.stale(old).is_empty()
    }

    /// The members that it has to say otherwise.
    pub(super) fn stale(&self, old: &Value) -> Vec<&str> {
        let new = self.value();
        let own = new["env"].as_object().into_iter().flatten();
        let env_fits = own.into_iter().all(|(name, value)| old["env"].get(name) == Some(value));
        let lists = self.lists.iter().map(|(name, _)| name.as_str());
        let mut stale: Vec<_> = ["type", "command", "args"]
            .into_iter()
            .chain(lists)
            .filter(|key| new.get(key).is_some_and(|new| old.get(key) != Some(new)))
            .collect();
        stale.extend((!env_fits).then_some("env"));
        stale
    }

    /// An existing entry of ours, with the values that have to change.
    pub(super) fn renewed(&self, old: &Value) -> Value {
        let (mut value, new) = (old.clone(), self.value());
        for key in self.stale(old) {
            value[key] = new[key].clone();
        }
        value
    }
}

/// True if Harbor made an entry: `harbor mcp …`, or a program of any name that gets Harbor's home.
#[must_use]
pub fn is_ours(entry: &Value) -> bool {
    let command = entry["command"].as_str().map(Path::new).and_then(Path::file_name);
    let named = command.is_some_and(|name| name == "harbor") || entry["env"]["HARBOR_HOME"].is_string();
    named && entry["args"][0] == WORD
}
