//! A way to the echo server over HTTP, and the measured loops over it.
//!
//! ```text
//!  initialize ─► a session ─► notifications/initialized ─► tools/call, each on a connection that has no other
//! ```
//!
//! Owns the session and the prepared request. Each loop has connections of its own, since servers close idle ones.
//! Must not decide how often or in which order anything is measured.

use crate::Outcome;
use crate::http::{Extent, find, header, message};
use crate::http_link::HttpLink;
use crate::request::{FIRST_ID, Manner, Request, SERVER, Workload};
use crate::setup::IN_FLIGHT;
use crate::wire::excerpt;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};
use std::os::fd::AsFd;
use std::time::Instant;

/// The revision that is spoken: one that all of them know.
const REVISION: &str = "2025-06-18";

/// What a server wants to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// MCP's Streamable HTTP; a tool's name there is this before its own.
    Mcp(&'static str),
    /// A way of mcp-hub's own to call a tool, without sessions.
    Rest,
}

impl Dialect {
    /// The path at which it is spoken.
    pub fn path(self) -> &'static str {
        match self {
            Self::Mcp(_) => "/mcp",
            Self::Rest => "/api/servers/tools",
        }
    }
}

/// Where a server is.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its port on this machine.
    pub port: u16,
    /// What lets a caller in, if anything is needed.
    pub token: Option<String>,
}

/// A way to the echo server, ready to be measured.
#[derive(Debug)]
pub struct HttpSetup {
    place: Place,
    call: Request,
    /// What has to be in an answer.
    text: String,
    next_id: u64,
}

impl HttpSetup {
    /// Makes contact and calls once.
    pub fn open(place: Place, dialect: Dialect) -> Outcome<Self> {
        let path = dialect.path();
        let session = match dialect {
            Dialect::Mcp(_) => contact(&place, path)?,
            Dialect::Rest => None,
        };
        let (tool, arguments) = Workload::Small.call();
        let call = call(dialect, tool, &arguments);
        let call = Request::posted(&head(&place, path, session.as_deref(), call.len()), &call)?;
        let text = arguments["text"].as_str().unwrap_or_default().to_owned();
        let mut setup = Self { place, call, text, next_id: FIRST_ID };
        setup.check(dialect)?;
        Ok(setup)
    }

    /// Calls one after the other; the time of each in microseconds.
    pub fn one_at_a_time(&mut self, count: usize) -> Outcome<Vec<f64>> {
        let mut link = HttpLink::open(self.place.port)?;
        // What is new about a connection, and what the turn of another setup has cooled down.
        self.on_one(&mut link, count / 10)?;
        self.on_one(&mut link, count)
    }

    /// Calls on [`IN_FLIGHT`] connections, one open call on each until the last ones; calls per second.
    pub fn flood(&mut self, count: usize) -> Outcome<f64> {
        let links: Outcome<Vec<_>> = (0..IN_FLIGHT).map(|_| HttpLink::open(self.place.port)).collect();
        let mut links = links?;
        self.on_all(&mut links, IN_FLIGHT)?;
        let begin = Instant::now();
        self.on_all(&mut links, count)?;
        Ok(count as f64 / begin.elapsed().as_secs_f64())
    }

    fn on_one(&mut self, link: &mut HttpLink, count: usize) -> Outcome<Vec<f64>> {
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let request = self.call.stamped(self.next_id, 1);
            let begin = Instant::now();
            link.send(request)?;
            let extent = link.receive()?;
            times.push(begin.elapsed().as_secs_f64() * 1e6);
            is_answer(link, &extent, &self.text)?;
            self.next_id += 1;
        }
        Ok(times)
    }

    fn on_all(&mut self, links: &mut [HttpLink], count: usize) -> Outcome<()> {
        links.iter_mut().take(count).try_for_each(|link| self.send(link))?;
        let (mut sent, mut answered) = (links.len().min(count), 0);
        while answered < count {
            for place in readable(links)? {
                let Some(extent) = links[place].receive_some()? else { continue };
                is_answer(&links[place], &extent, &self.text)?;
                answered += 1;
                if sent < count {
                    self.send(&mut links[place])?;
                    sent += 1;
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, link: &mut HttpLink) -> Outcome<()> {
        link.send(self.call.stamped(self.next_id, 1))?;
        self.next_id += 1;
        Ok(())
    }

    fn check(&mut self, dialect: Dialect) -> Outcome<()> {
        let mut link = HttpLink::open(self.place.port)?;
        let id = self.next_id;
        self.send(&mut link)?;
        let extent = link.receive()?;
        is_answer(&link, &extent, &self.text)?;
        let answer = message(link.bytes(), &extent)?;
        let is_of_call = dialect == Dialect::Rest || answer["id"] == json!(id);
        let result = &answer["result"];
        if is_of_call && result["content"][0]["text"] == json!(self.text) && result["isError"] != json!(true)
        {
            Ok(())
        } else {
            Err(format!("a call was answered by {}", excerpt(link.bytes())).into())
        }
    }
}

/// The places of the links that have something to read.
fn readable(links: &[HttpLink]) -> Outcome<Vec<usize>> {
    let mut polled: Vec<_> = links.iter().map(|link| PollFd::new(link.as_fd(), PollFlags::POLLIN)).collect();
    poll(&mut polled, PollTimeout::NONE)?;
    Ok((0..links.len()).filter(|place| polled[*place].any() == Some(true)).collect())
}

fn is_answer(link: &HttpLink, extent: &Extent, text: &str) -> Outcome<()> {
    let body = &link.bytes()[extent.head..];
    if extent.status == 200 && find(body, text.as_bytes()).is_some() {
        Ok(())
    } else {
        Err(format!("a call was answered by {}", excerpt(link.bytes())).into())
    }
}

fn call(dialect: Dialect, tool: &str, arguments: &Value) -> String {
    match dialect {
        Dialect::Mcp(prefix) => Manner::Plain.json(&format!("{prefix}{tool}"), arguments),
        // It ignores the id.
        Dialect::Rest => {
            format!(r#"{{"id":{FIRST_ID},"server_name":"{SERVER}","tool":"{tool}","arguments":{arguments}}}"#)
        }
    }
}

fn head(place: &Place, path: &str, session: Option<&str>, length: usize) -> String {
    let Place { port, token } = place;
    let session = session.map_or_else(String::new, |session| {
        format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: {REVISION}\r\n")
    });
    let token = token.as_ref().map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{token}{session}Content-Length: {length}\r\n\r\n"
    )
}

/// Begins a session, where the server has such a thing; its id.
fn contact(place: &Place, path: &str) -> Outcome<Option<String>> {
    let mut link = HttpLink::open(place.port)?;
    let client = json!({ "name": "bench", "version": "0" });
    let params = json!({ "protocolVersion": REVISION, "capabilities": {}, "clientInfo": client });
    let initialize =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string();
    let extent = post(&mut link, head(place, path, None, initialize.len()), &initialize)?;
    let answer = message(link.bytes(), &extent)?;
    if answer["result"]["capabilities"].is_null() {
        return Err(format!("initialize was answered by {}", excerpt(link.bytes())).into());
    }
    let answered = std::str::from_utf8(&link.bytes()[..extent.head])?;
    let session = header(answered, "mcp-session-id").map(str::to_owned);
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    post(&mut link, head(place, path, session.as_deref(), initialized.len()), initialized)?;
    Ok(session)
}

fn post(link: &mut HttpLink, head: String, json: &str) -> Outcome<Extent> {
    link.send((head + json).as_bytes())?;
    let extent = link.receive()?;
    if (200..300).contains(&extent.status) {
        Ok(extent)
    } else {
        Err(format!("it was refused: {}", excerpt(link.bytes())).into())
    }
}
