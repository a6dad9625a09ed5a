//! The two servers of the conformance suite as one program for WebAssembly: `tools` or `protocol`, by its argument. What each
//! does stands in ../conformance/cases.txt.
//!
//! Owns what both have in common: lines, messages, versions, and which calls are open. There is one thread, so a tool that
//! waits leaves its call open and returns; a later message answers or cancels it. Must never need a crate, or a Rust newer
//! than 1.63.

#[path = "conformance/client.rs"]
mod client;
#[path = "conformance/json.rs"]
mod json;
#[path = "conformance/protocol.rs"]
mod protocol;
#[path = "conformance/tools.rs"]
mod tools;

use std::io::{self, BufRead as _};

use client::{Call, Client, Refusal, Said};
use json::{number, object, text, Json};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const MODERN: &str = "2026-07-28";
/// The versions that begin with initialize, newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What the two parts do in their own ways.
trait Server {
    fn capabilities(&self) -> Json;

    /// Takes a request that has nothing to do with versions.
    fn take(&mut self, method: &str, call: &Call, client: &mut Client) -> Said;

    /// Takes the client's answer to a question of this server.
    fn answered(&mut self, _id: &str, _answer: &Json, _client: &mut Client) {}
}

fn main() {
    let mut server: Box<dyn Server> = match std::env::args().nth(1).as_deref() {
        Some("tools") => Box::new(tools::Tools::default()),
        Some("protocol") => Box::new(protocol::Protocol::default()),
        _ => {
            eprintln!("say which part: tools or protocol");
            std::process::exit(2)
        }
    };
    let (mut client, mut input, mut line) = (Client::new(), io::stdin().lock(), Vec::new());
    while matches!(input.read_until(b'\n', &mut line), Ok(1..)) {
        if let Err(refusal) = hear(&line, server.as_mut(), &mut client) {
            client.refuse(Json::Null, refusal);
        }
        line.clear();
    }
}

/// Takes a line. The error is of one that is no message.
fn hear(line: &[u8], server: &mut dyn Server, client: &mut Client) -> Result<(), Refusal> {
    let line = std::str::from_utf8(line).map_err(|_| Refusal::new(-32700, "the line is not UTF-8"))?;
    let line = line.trim_matches(|end| matches!(end, ' ' | '\t' | '\r' | '\n'));
    if line.is_empty() {
        return Ok(());
    }
    let mut message = Json::read(line).ok_or_else(|| Refusal::new(-32700, "the line is not JSON"))?;
    let method = message.take("method");
    match (&message, method) {
        (Json::Object(_), Some(Json::Text(method))) => asked(&method, message, server, client),
        (Json::Object(_), None) => {
            let id = message.get("id").map(Json::written).unwrap_or_default();
            server.answered(&id, &message, client);
        }
        _ => return Err(Refusal::new(-32600, "the line is no message")),
    }
    Ok(())
}

fn asked(method: &str, mut message: Json, server: &mut dyn Server, client: &mut Client) {
    let params = message.take("params").unwrap_or_else(|| object([]));
    let id = match message.take("id") {
        Some(id) => id,
        None if method == "notifications/cancelled" => return client.close(params.get("requestId")),
        None => return,
    };
    let version = params.get("_meta").and_then(|meta| meta.get(VERSION)).cloned();
    let call = Call { id, params, is_modern: version.is_some() };
    client.open(&call);
    let said = match version {
        Some(version) if version != text(MODERN) => Err(other_version(version)),
        _ => common(method, &call, server).unwrap_or_else(|| server.take(method, &call, client)),
    };
    match said {
        Ok(Some(result)) => client.answer(&call.id, result),
        Ok(None) => {}
        Err(refusal) => {
            client.close(Some(&call.id));
            client.refuse(call.id, refusal);
        }
    }
}

fn other_version(requested: Json) -> Refusal {
    let data = object([("supported", Json::List(vec![text(MODERN)])), ("requested", requested)]);
    Refusal { data: Some(data), ..Refusal::new(-32022, "this version is not spoken") }
}

/// What both parts say to the same methods; None to another method.
fn common(method: &str, call: &Call, server: &dyn Server) -> Option<Said> {
    let name = object([("name", text("conformance")), ("version", text("1.0"))]);
    let result = match method {
        "ping" => object([]),
        "initialize" => {
            let wanted = call.params.text("protocolVersion");
            let version = LEGACY.iter().find(|version| wanted == Some(**version)).unwrap_or(&LEGACY[0]);
            object([
                ("protocolVersion", text(version)),
                ("capabilities", server.capabilities()),
                ("serverInfo", name),
                ("instructions", text("Be kind.")),
            ])
        }
        "server/discover" => object([
            ("supportedVersions", Json::List(vec![text(MODERN)])),
            ("capabilities", server.capabilities()),
            ("instructions", text("Be kind.")),
            ("ttlMs", number(0)),
            ("cacheScope", text("private")),
            ("_meta", object([("io.modelcontextprotocol/serverInfo", name)])),
        ]),
        _ => return None,
    };
    Some(Ok(Some(result)))
}
