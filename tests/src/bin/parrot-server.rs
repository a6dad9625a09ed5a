//! An MCP server that repeats what it is told, in whatever place of an answer it is asked to: `parrot-server GREETING`.
//!
//! ```text
//!  say {as, text}    result | content | is_error | rpc_error | progress | wrong_kind | neither | twice | nobody | wrong_type | die
//! ```
//!
//! For tests of what becomes of payloads, and of tools that change: the greeting is part of the tool's description.
//! Legacy only, one thread. Must never write what it is told to stderr, nor to stdout outside of a message: that would
//! be the server's own log.
#![allow(clippy::expect_used, clippy::print_stdout, reason = "test support")]

use std::io;

use serde_json::{Value, json};

fn main() {
    let greeting = std::env::args().nth(1).unwrap_or_default();
    for line in io::stdin().lines() {
        let message: Value = serde_json::from_str(&line.expect("stdin is text")).expect("Harbor sends JSON");
        let id = &message["id"];
        if id.is_null() {
            continue;
        }
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => answer(id, &initialized()),
            "tools/list" => answer(id, &json!({"tools": [tool(&greeting)]})),
            "tools/call" => say(id, &message["params"]),
            "ping" => answer(id, &json!({})),
            _ => refuse(id, -32601, "Method not found", &Value::Null),
        }
    }
}

fn initialized() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
        "serverInfo": {"name": "parrot-server", "version": "1.0.0"}})
}

fn tool(greeting: &str) -> Value {
    json!({
        "name": "say",
        "description": format!("Repeats what it is told. {greeting}"),
        "inputSchema": {
            "type": "object",
            "properties": {"as": {"type": "string"}, "text": {"type": "string", "maxLength": 1000}},
            "required": ["as", "text"],
            "additionalProperties": false,
        },
        "outputSchema": {"type": "object", "properties": {"number": {"type": "integer"}}},
    })
}

fn say(id: &Value, params: &Value) {
    let text = &params["arguments"]["text"];
    let content = json!([{"type": "text", "text": text}]);
    let result =
        json!({"content": content, "structuredContent": {"said": text, text.as_str().unwrap_or(""): 1}});
    match params["arguments"]["as"].as_str().unwrap_or_default() {
        "result" => answer(id, &result),
        "is_error" => answer(id, &json!({"content": content, "isError": true})),
        "rpc_error" => refuse(id, -32050, text.as_str().unwrap_or(""), &json!({"said": text})),
        "progress" => {
            let token = &params["_meta"]["progressToken"];
            let progress = json!({"progressToken": token, "progress": 1, "message": text});
            print(&json!({"method": "notifications/progress", "params": progress}));
            answer(id, &result);
        }
        "wrong_kind" => answer(id, text),
        "content" => {
            let content: Value = serde_json::from_str(text.as_str().unwrap_or_default()).unwrap_or_default();
            answer(id, &json!({"content": content}));
        }
        "neither" => print(&json!({"id": id, "said": text})),
        "twice" => {
            answer(id, &result);
            answer(id, &result);
        }
        "nobody" => {
            answer(&json!(987_654_321), &result);
            answer(id, &result);
        }
        "wrong_type" => answer(id, &json!({"content": [], "structuredContent": {"number": text}})),
        _ => std::process::exit(7),
    }
}

fn answer(id: &Value, result: &Value) {
    print(&json!({"id": id, "result": result}));
}

fn refuse(id: &Value, code: i64, message: &str, data: &Value) {
    print(&json!({"id": id, "error": {"code": code, "message": message, "data": data}}));
}

fn print(message: &Value) {
    let mut message = message.clone();
    message["jsonrpc"] = json!("2.0");
    println!("{message}");
}
