//! The messages to a bridge that prepare a measurement, and what they are answered.
//!
//! Must not be on a measured path; a request that is made here and sent there may.

use crate::Outcome;
use crate::wire::{Framing, Link, excerpt};
use harbor_ipc_proto::client::answer::{Heard, request_frame};
use harbor_ipc_proto::client::{AddServer, ListServers, McpConnect, McpConnectResult, ServerView};
use harbor_ipc_proto::field::{Ask, FieldError, Message};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::server_id::ServerId;
use serde_json::Value;
use std::path::Path;

/// Sends a request and demands its result.
pub fn ask<A: Ask>(link: &mut Link, ask: &A) -> Outcome<A::Reply> {
    link.send(&request(ask))?;
    let answer = link.receive()?;
    let heard = heard(answer)?;
    if heard.answers::<A>() && heard.request_id == A::TAG {
        Ok(heard.read().map_err(unreadable)?)
    } else {
        Err(format!("{} was answered by {}", A::TAG, excerpt(answer)).into())
    }
}

/// A request as it goes over the wire; its id is its type.
pub fn request<A: Ask>(ask: &A) -> Vec<u8> {
    request_frame(A::TAG, ask).to_vec()
}

/// A message of the bridge, as it came.
pub fn read<M: Message>(message: &[u8]) -> Outcome<M> {
    Ok(heard(message)?.read().map_err(unreadable)?)
}

/// The head of such a message.
pub fn heard(message: &[u8]) -> Outcome<Heard<'_>> {
    let json = message.get(Framing::Length.json_at()..).unwrap_or_default();
    Ok(Heard::parse(json).map_err(|error| format!("{} at byte {}", error.what, error.at))?)
}

fn unreadable(error: FieldError) -> String {
    format!("the field {} is {}, not {}", error.field, error.found, error.expected)
}

/// The id of a server, as requests have it.
pub fn id(text: &str) -> Outcome<ServerId> {
    Ok(ServerId::parse(text).ok_or_else(|| format!("{text:?} is no server's id"))?)
}

/// A program as a server, with nothing said but what it is.
pub fn program(server: &str, command: &Path, args: &[String]) -> Outcome<AddServer> {
    let command = command.to_str().ok_or("a path that is no text")?;
    Ok(AddServer {
        server_id: id(server)?,
        command: Some(command.to_owned()),
        image: None,
        engine: None,
        args: Some(args.to_vec()),
        env: None,
        cwd: None,
        label: None,
        roots: None,
        supervision: None,
        as_is: None,
        sandbox: None,
        secrets: None,
        keep_data: None,
        script: None,
        module: None,
        keep_env: None,
    })
}

/// Starts a server.
pub fn connect(link: &mut Link, server: &str) -> Outcome<McpConnectResult> {
    ask(link, &McpConnect { server_id: id(server)?, progress: None })
}

/// How many elements the array has that a server wrote.
pub fn count(list: &Json) -> Outcome<usize> {
    Ok(serde_json::from_str::<Vec<Value>>(list.as_str())?.len())
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
    pub fn of(server: &ServerView) -> Outcome<Self> {
        let pid = |pid: Option<u32>, of: &str| pid.ok_or_else(|| format!("the server has no {of}"));
        Ok(Self { runner: pid(server.runner_pid, "runner")?, server: pid(server.pid, "process")? })
    }
}

/// What `list_servers` shows.
pub fn servers(link: &mut Link) -> Outcome<Vec<ServerView>> {
    Ok(ask(link, &ListServers {})?.servers)
}
