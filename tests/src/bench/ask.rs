//! The messages to a bridge that prepare a measurement, and what they are answered.
//!
//! Must not be on a measured path; a request that is made here and sent there may.

use crate::Outcome;
use crate::wire::{Framing, Link, excerpt};
use serde_json::{Value, json};

/// Sends a request and demands its result.
pub fn ask(link: &mut Link, kind: &str, fields: &Value) -> Outcome<Value> {
    let request = request(link.framing(), kind, fields);
    link.send(&request)?;
    let answer = link.receive()?;
    let reply = read(answer)?;
    if reply["type"] == json!(format!("{kind}_result")) && reply["request_id"] == json!(kind) {
        Ok(reply)
    } else {
        Err(format!("{kind} was answered by {}", excerpt(answer)).into())
    }
}

/// A request as it goes over the wire; its id is its kind.
pub fn request(framing: Framing, kind: &str, fields: &Value) -> Vec<u8> {
    let mut message = json!({ "type": kind, "request_id": kind });
    if let (Some(message), Some(fields)) = (message.as_object_mut(), fields.as_object()) {
        message.extend(fields.clone());
    }
    framing.wrap(&message.to_string())
}

/// A message of the bridge, as it came.
pub fn read(message: &[u8]) -> Outcome<Value> {
    Ok(serde_json::from_slice(&message[Framing::Length.json_at()..])?)
}

/// The processes of one running server.
#[derive(Debug, Clone, Copy)]
pub struct Pids {
    /// Its runner.
    pub runner: u32,
    /// The server itself.
    pub server: u32,
}

impl Pids {
    /// As a server of `list_servers` names them.
    pub fn of(server: &Value) -> Outcome<Self> {
        let pid = |member: &str| {
            let pid = server[member].as_u64().and_then(|pid| u32::try_from(pid).ok());
            pid.ok_or_else(|| format!("the server has no {member}"))
        };
        Ok(Self { runner: pid("runner_pid")?, server: pid("pid")? })
    }
}

/// What `list_servers` shows.
pub fn servers(link: &mut Link) -> Outcome<Vec<Value>> {
    let mut reply = ask(link, "list_servers", &json!({}))?;
    match reply["servers"].take() {
        Value::Array(servers) => Ok(servers),
        _ => Err("list_servers was answered without servers".into()),
    }
}
