//! Secrets of servers: kept for this user alone, given to their server alone, shown to nobody.

mod hiding;
mod keeping;
mod keyring;
mod locked;
mod typing;

use std::fs;
use std::path::{Path, PathBuf};

use harbor_tests::{Bridge, Double, Home};
use serde_json::{Value, json};

/// A value that stands nowhere else.
pub const VALUE: &str = "sk-live/4711+abc=XYZ";

/// The file.
pub fn file(home: &Home) -> PathBuf {
    home.path().join("secrets/credentials.json")
}

/// The files of the home that have this text in them.
pub fn files_with(home: &Home, text: &str) -> Vec<PathBuf> {
    fn look(directory: &Path, text: &[u8], found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                look(&path, text, found);
            } else if kind.is_file() {
                // One may go meanwhile.
                let bytes = fs::read(&path).unwrap_or_default();
                if bytes.windows(text.len()).any(|window| window == text) {
                    found.push(path);
                }
            }
        }
    }
    let mut found = Vec::new();
    look(&home.path(), text.as_bytes(), &mut found);
    found
}

/// A sound server, before which this script of the shell runs.
pub fn scripted(home: &Home, id: &str, script: &str) -> Value {
    let mut definition = Double::sound(home).definition(id);
    let mut args =
        vec![json!("-c"), json!(format!("{script}; exec \"$0\" \"$@\"")), definition["command"].take()];
    args.extend(definition["args"].as_array().unwrap().clone());
    (definition["command"], definition["args"]) = (json!("/bin/sh"), json!(args));
    definition
}

/// Stores a secret; gives what is told of it.
pub fn set(bridge: &Bridge, server: &str, key: &str, value: &str) -> Value {
    let answer =
        bridge.call("set_credential", &json!({"server_id": server, "key": key, "value": value})).unwrap();
    answer["credential"].clone()
}

/// The environment of a running server.
pub fn environment(bridge: &Bridge, server: &str) -> Value {
    serde_json::from_str(&bridge.tool_text(server, "env", &json!({}))).unwrap()
}
