//! The servers of a run, and what each is asked and has to answer.

use std::env;
use std::path::{Path, PathBuf};

use harbor_ipc_proto::client::{
    AddServer, Attempts, McpCallTool, McpCallToolResult, RestartWhen, Supervision,
};
use harbor_tests::client::{server_id, shown, tool_call, typed};
use harbor_tests::home::TEST_ID;
use harbor_tests::{Double, Fault, Home};
use serde_json::{Value, json};

/// A server.
#[derive(Debug)]
pub struct Subject {
    /// Its id.
    pub id: &'static str,
    /// Whether it is a double, with the tools of one.
    pub double: bool,
    definition: AddServer,
}

/// How all of them are supervised. `always`, since a kill may hit the first start after one of the bridge.
pub fn supervision() -> Supervision {
    Supervision {
        auto_start: Some(true),
        restart: Some(RestartWhen::Always),
        restart_attempts: Some(Attempts::Unlimited),
        restart_delays_ms: Some(vec![10]),
        hung_grace_ms: Some(300),
        queue_wait_ms: Some(10_000),
        ..Supervision::default()
    }
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
        let definition = double.supervision(&shown(&supervision())).definition(id);
        Subject { id, double: true, definition: typed(&definition) }
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
        "env": {TEST_ID: home.id()}, "supervision": shown(&supervision())});
    Some(Subject { id: "everything", double: false, definition: typed(&definition) })
}

impl Subject {
    /// What defines it.
    pub fn definition(&self) -> &AddServer {
        &self.definition
    }

    /// What `echo` is called with, to answer with this word.
    pub fn echo(&self, word: &str) -> McpCallTool {
        self.call("echo", &json!({"message": word}))
    }

    /// A call of one of its tools.
    pub fn call(&self, tool: &str, arguments: &Value) -> McpCallTool {
        tool_call(server_id(self.id), tool, arguments.to_string())
    }

    /// Whether this is the answer to [`echo`](Self::echo), and to no other call.
    pub fn is_echo(&self, answer: &McpCallToolResult, word: &str) -> bool {
        let result: Value = serde_json::from_str(answer.result.as_str()).unwrap_or_default();
        if self.double {
            return result["structuredContent"]["message"] == word;
        }
        result["content"][0]["text"].as_str().is_some_and(|text| text.ends_with(&format!(" {word}")))
    }
}
