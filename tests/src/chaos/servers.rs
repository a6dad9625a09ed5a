//! The servers of a run, and what each is asked and has to answer.

use std::env;
use std::path::{Path, PathBuf};

use harbor_tests::home::TEST_ID;
use harbor_tests::{Answer, Double, Fault, Home};
use serde_json::{Value, json};

/// A server.
#[derive(Debug)]
pub struct Subject {
    /// Its id.
    pub id: &'static str,
    /// Whether it is a double, with the tools of one.
    pub double: bool,
    definition: Value,
}

/// How all of them are supervised. `always`, since a kill may hit the first start after one of the bridge.
fn supervision() -> Value {
    json!({"auto_start": true, "restart": "always", "restart_attempts": "unlimited", "restart_delays_ms": [10],
        "hung_grace_ms": 300, "queue_wait_ms": 10_000})
}

/// Every server of a run. The real one takes part where it is installed.
pub fn all(home: &Home) -> Vec<Subject> {
    let doubles = [
        ("legacy", Double::sound(home)),
        ("modern", Double::sound(home).modern()),
        ("wrapped", Double::new(home, Fault::WrappedGrandchild)),
        ("detached", Double::new(home, Fault::DetachedGrandchild)),
        ("mortal", Double::new(home, Fault::DiesOnTwentiethCall)),
    ];
    let doubles = doubles.map(|(id, double)| {
        let definition = double.supervision(&supervision()).definition(id);
        Subject { id, double: true, definition }
    });
    doubles.into_iter().chain(everything(home)).collect()
}

/// The reference server with a bit of everything.
fn everything(home: &Home) -> Option<Subject> {
    let dir = env::var_os("HARBOR_TEST_SERVERS").filter(|dir| !dir.is_empty()).map(PathBuf::from)?;
    let dir = std::path::absolute(dir).expect("a directory");
    let script = dir.join("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    assert!(Path::new(&script).exists(), "{} is missing: run scripts/servers", script.display());
    let definition = json!({"server_id": "everything", "command": "node", "args": [script, "stdio"],
        "env": {TEST_ID: home.id()}, "supervision": supervision()});
    Some(Subject { id: "everything", double: false, definition })
}

impl Subject {
    /// The fields of `add_server`.
    pub fn definition(&self) -> &Value {
        &self.definition
    }

    /// What `echo` is called with, to answer with this word.
    pub fn echo(&self, word: &str) -> Value {
        json!({"server_id": self.id, "tool_name": "echo", "arguments": {"message": word}})
    }

    /// Whether this is the answer to [`echo`](Self::echo), and to no other call.
    pub fn is_echo(&self, answer: &Answer, word: &str) -> bool {
        let result = &answer["result"];
        if self.double {
            return result["structuredContent"]["message"] == word;
        }
        result["content"][0]["text"].as_str().is_some_and(|text| text.ends_with(&format!(" {word}")))
    }
}
