//! The audit log and what is not in it: who did what is on disk, arguments and results are nowhere.

mod canary;
mod failing;
mod flood;
mod lines;

use std::fs;
use std::path::PathBuf;

use harbor_tests::{Client, Home, PROMPT, programs, wait_until};
use serde_json::{Value, json};

pub(crate) const SITE: &str = "https://site.example";

pub(crate) fn path(home: &Home) -> PathBuf {
    home.path().join("logs/audit.jsonl")
}

/// The lines of the file as they are now.
pub(crate) fn lines(home: &Home) -> Vec<Value> {
    let text = fs::read_to_string(path(home)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Waits for a line that is as wanted. It may take 100 ms, and longer on a machine that is busy.
pub(crate) fn wait_for_line(home: &Home, mut wanted: impl FnMut(&Value) -> bool) -> Value {
    let mut found = None;
    wait_until("a line of the audit log", PROMPT, || {
        found = lines(home).into_iter().rfind(&mut wanted);
        found.is_some()
    });
    found.unwrap()
}

/// Defines the server `p`, which repeats what it is told, and starts it.
pub(crate) fn connect_parrot(client: &Client, home: &Home, greeting: &str) {
    let command = programs::double("parrot-server");
    let env = json!({harbor_tests::home::TEST_ID: home.id()});
    let definition = json!({"server_id": "p", "command": command, "args": [greeting], "env": env});
    client.call("add_server", &definition).unwrap();
    client.connect("p");
}
