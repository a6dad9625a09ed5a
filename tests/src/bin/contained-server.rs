//! A server that says what it finds around itself: to be run in a container, which has nothing but it.
//!
//! ```text
//!  env NAME, read PATH, write PATH TEXT, connect HOST:PORT, user, version ─► a line of text
//!  eat MIB ─► dies of it where that is more than it may have;  exit CODE ─► no answer
//! ```
//!
//! With `--deaf` it outlives the end of its input and SIGTERM. Legacy only. Must never be used to test what Harbor does with
//! odd servers.
#![allow(clippy::expect_used, reason = "test support")]

use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

const TOOLS: &[&str] = &["env", "read", "write", "connect", "user", "version", "eat", "exit"];

fn main() -> io::Result<()> {
    let deaf = std::env::args().any(|arg| arg == "--deaf");
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?).unwrap_or_default();
        if message["id"].is_null() {
            continue;
        }
        let mut answer = json!({"jsonrpc": "2.0", "id": message["id"]});
        match result(message["method"].as_str().unwrap_or_default(), &message["params"]) {
            Some(result) => answer["result"] = result,
            None => answer["error"] = json!({"code": -32601, "message": "no such method"}),
        }
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    if deaf {
        // The first process of a container gets no signal that it does not ask for, but the last one.
        loop {
            std::thread::sleep(Duration::from_secs(3600));
        }
    }
    Ok(())
}

fn result(method: &str, params: &Value) -> Option<Value> {
    let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
    Some(match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "contained-server", "version": "1.0.0"},
        }),
        "ping" => json!({}),
        "tools/list" => json!({"tools": TOOLS.iter().map(tool).collect::<Vec<_>>()}),
        "tools/call" => {
            let text = call(params["name"].as_str()?, &params["arguments"]);
            json!({"content": [{"type": "text", "text": text.unwrap_or_else(|error| format!("failed: {error}"))}]})
        }
        _ => return None,
    })
}

fn call(tool: &str, arguments: &Value) -> io::Result<String> {
    let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
    let number = |name: &str| arguments[name].as_u64().unwrap_or_default();
    match tool {
        "env" => Ok(std::env::var(text("name")).unwrap_or_else(|_| "not set".into())),
        "read" => fs::read_to_string(text("path")),
        "write" => fs::write(text("path"), text("text")).map(|()| "written".into()),
        "connect" => TcpStream::connect(text("to")).map(|_| "connected".into()),
        "user" => {
            let status = fs::read_to_string("/proc/self/status")?;
            let lines = status
                .lines()
                .filter(|line| ["Uid:", "CapEff:", "NoNewPrivs:"].iter().any(|name| line.starts_with(name)));
            Ok(lines.collect::<Vec<_>>().join(" ").replace('\t', " "))
        }
        "version" => fs::read_to_string("/version"),
        "eat" => {
            let size = usize::try_from(number("mib")).unwrap_or_default() << 20;
            let eaten = vec![1_u8; size];
            Ok(format!("{}", eaten.iter().step_by(4096).map(|byte| u64::from(*byte)).sum::<u64>()))
        }
        "exit" => std::process::exit(i32::try_from(number("code")).unwrap_or(1)),
        _ => Ok("no such tool".into()),
    }
}
