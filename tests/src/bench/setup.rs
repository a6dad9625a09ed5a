//! One way from the driver to the echo server, and the measured loops over it.
//!
//! Owns the connection, the prepared requests and the processes on the way. Must not decide how often or in which
//! order anything is measured.

use crate::Outcome;
use crate::options::Options;
use crate::process::{self, Started};
use crate::request::{FIRST_ID, Manner, Request, Workload};
use crate::wire::{Framing, Link, excerpt};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Instant;

/// How many calls are open at once in a flood. All of them together fit into what pipes and sockets hold, so that
/// writing before reading cannot block for ever.
pub const IN_FLIGHT: usize = 64;

/// A reply to a call for an origin tells how many milliseconds it took, in more digits or fewer.
const SLACK: usize = 4;

/// A process on the way, by what it is there.
pub type Hop = (&'static str, u32);

/// A way to the echo server, ready to be measured.
#[derive(Debug)]
pub struct Setup {
    /// For reports.
    pub name: &'static str,
    /// The processes on the way, in order.
    pub hops: Vec<Hop>,
    manner: Manner,
    calls: Vec<Call>,
    next_id: u64,
    // In this order: closing the connection is what ends the process.
    link: Link,
    _own: Option<Started>,
}

#[derive(Debug)]
struct Call {
    request: Request,
    answer: usize,
}

impl Setup {
    /// Tries every workload once and remembers how long its answers are.
    pub fn open(
        name: &'static str,
        manner: Manner,
        link: Link,
        own: Option<Started>,
        hops: Vec<Hop>,
    ) -> Outcome<Self> {
        let mut setup = Self { name, hops, manner, calls: Vec::new(), next_id: FIRST_ID, link, _own: own };
        for workload in Workload::ALL {
            let copies = if workload == Workload::Small { IN_FLIGHT } else { 1 };
            let mut request = Request::call(manner, workload, copies)?;
            setup.link.send(request.stamped(setup.next_id, 1))?;
            let json_at = setup.link.framing().json_at();
            let answer = setup.link.receive()?;
            workload.check(&answer[json_at..], setup.next_id)?;
            let answer = answer.len();
            setup.next_id += 1;
            setup.calls.push(Call { request, answer });
        }
        Ok(setup)
    }

    /// Calls one after the other; the time of each in microseconds.
    pub fn one_at_a_time(&mut self, workload: Workload, count: usize) -> Outcome<Vec<f64>> {
        let call = &mut self.calls[workload as usize];
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let request = call.request.stamped(self.next_id, 1);
            let begin = Instant::now();
            self.link.send(request)?;
            let answer = self.link.receive()?;
            times.push(begin.elapsed().as_secs_f64() * 1e6);
            if answer.len().abs_diff(call.answer) > SLACK {
                return Err(format!("an answer of another length came: {}", excerpt(answer)).into());
            }
            self.next_id += 1;
        }
        Ok(times)
    }

    /// Small calls, always [`IN_FLIGHT`] of them open until the last ones; calls per second.
    pub fn flood(&mut self, count: usize) -> Outcome<f64> {
        let call = &mut self.calls[Workload::Small as usize];
        self.link.clear();
        let (mut sent, mut answered) = (0, 0);
        let begin = Instant::now();
        while answered < count {
            let room = (IN_FLIGHT - (sent - answered)).min(count - sent);
            if room > 0 {
                self.link.send(call.request.stamped(self.next_id, room))?;
                self.next_id += room as u64;
                sent += room;
            }
            answered += self.link.receive_some(call.answer)?;
        }
        Ok(count as f64 / begin.elapsed().as_secs_f64())
    }

    /// One call whose answer is text of so many bytes.
    pub fn large_result(&mut self, bytes: usize) -> Outcome<()> {
        let mut request = Request::of_tool(self.manner, "text", &json!({ "n": bytes }), 1)?;
        self.link.send(request.stamped(self.next_id, 1))?;
        self.next_id += 1;
        let answer = self.link.receive()?;
        if answer.len() > bytes { Ok(()) } else { Err(format!("too short: {}", excerpt(answer)).into()) }
    }

    /// Processor time of every hop so far, in nanoseconds.
    pub fn cpu(&self) -> Outcome<Vec<u64>> {
        self.hops.iter().map(|(_, pid)| process::cpu_ns(*pid)).collect()
    }
}

/// The driver at the echo server itself, contact made, tools listed.
pub fn direct(options: &Options) -> Outcome<Setup> {
    let (own, link) = listed(&mut Command::new(options.program("echo-server")?))?;
    let hops = vec![("server", own.pid())];
    Setup::open("direct", Manner::Plain, link, Some(own), hops)
}

/// Two byte relays in between, contact made, tools listed.
pub fn floor(options: &Options) -> Outcome<Setup> {
    let (own, link) = listed(&mut relays(options)?)?;
    let first = own.pid();
    let second = process::only_child(first)?;
    let hops =
        vec![("first relay", first), ("second relay", second), ("server", process::only_child(second)?)];
    Setup::open("floor", Manner::Plain, link, Some(own), hops)
}

/// The command that puts two relays before the echo server.
pub fn relays(options: &Options) -> Outcome<Command> {
    let relay = options.program("relay")?;
    let mut command = Command::new(&relay);
    command.arg(&relay).arg(options.program("echo-server")?);
    Ok(command)
}

/// Starts an MCP server, makes contact and lists its tools, as any plain client would.
pub fn listed(command: &mut Command) -> Outcome<(Started, Link)> {
    let (own, mut link) = contacted(command)?;
    list(&mut link)?;
    Ok((own, link))
}

/// Lists the tools of a server that contact was made with.
pub fn list(link: &mut Link) -> Outcome<()> {
    link.send(&Framing::Line.wrap(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#))?;
    link.send(&Framing::Line.wrap(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#))?;
    answered(link.receive()?, "tools")
}

/// Starts an MCP server of the older generation and waits until it has answered for the first time.
pub fn contacted(command: &mut Command) -> Outcome<(Started, Link)> {
    let (own, mut link) = process::start(command, Framing::Line)?;
    contact(&mut link)?;
    Ok((own, link))
}

/// Makes contact with a server that has just been started.
pub fn contact(link: &mut Link) -> Outcome<()> {
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}"#;
    link.send(&Framing::Line.wrap(initialize))?;
    answered(link.receive()?, "capabilities")
}

fn answered(line: &[u8], member: &str) -> Outcome<()> {
    let value: Value = serde_json::from_slice(line)?;
    match value["result"].get(member) {
        Some(_) => Ok(()),
        None => Err(format!("no {member} in {}", excerpt(line)).into()),
    }
}
