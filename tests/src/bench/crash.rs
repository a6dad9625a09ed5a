//! What a caller notices when a server or its runner is killed.
//!
//! ```text
//!  SIGSTOP ─► call ─► SIGKILL ──► the call's error ─► the same call again ──► its answer
//!                     │◄─── error ───────►│                                  │
//!                     │◄─── answer ─────────────────────────────────────────►│
//! ```
//!
//! The server is stopped first, so that the call stays open whatever the server can do. Owns the order of the kills;
//! the server's own start, without Harbor, takes its turn among them. Must not subtract anything; that is the report's.

use crate::ask::{Pids, ask, connect, heard, read, request, servers};
use crate::harbor::Bridge;
use crate::options::Options;
use crate::process::{hold, kill_now};
use crate::request::SERVER;
use crate::victims::Victim;
use crate::wire::{Link, excerpt};
use crate::{Outcome, say, setup, watchdog};
use harbor_ipc_proto::client::McpCallToolResult;
use harbor_ipc_proto::client::answer::Refusal;
use harbor_ipc_proto::codes::Code;
use serde_json::Value;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time for the lists of a server that has just come up, which nobody waits for.
const SETTLE: Duration = Duration::from_millis(20);

/// Time for a call to arrive at the server.
const ON_ITS_WAY: Duration = Duration::from_millis(5);

/// The times of one kill, in milliseconds since just before it.
#[derive(Debug, Clone, Copy)]
pub struct Crash {
    /// Until the open call's error had come.
    pub error: f64,
    /// Until the next call's answer had come.
    pub answer: f64,
}

/// All kills of one server.
#[derive(Debug)]
pub struct Crashes {
    /// The server.
    pub name: &'static str,
    /// Its own start without Harbor, to its first answer, in milliseconds.
    pub starts: Vec<f64>,
    /// When the server was killed.
    pub of_server: Vec<Crash>,
    /// When its runner was.
    pub of_runner: Vec<Crash>,
}

/// Kills every victim as often as it is to be.
pub fn measure(options: &Options) -> Outcome<Vec<Crashes>> {
    let victims = Victim::all(options)?;
    victims.iter().map(|victim| crashes(options, victim)).collect()
}

fn crashes(options: &Options, victim: &Victim) -> Outcome<Crashes> {
    say(&format!("crashes: {} of {} and of its runner", victim.times, victim.name));
    watchdog::step(format!("{}, its first start", victim.name));
    // The link is dropped first, and so tells the bridge to end.
    let (_bridge, mut link) = Bridge::start(options)?;
    ask(&mut link, &victim.definition()?)?;
    connect(&mut link, SERVER)?;
    let mut all =
        Crashes { name: victim.name, starts: Vec::new(), of_server: Vec::new(), of_runner: Vec::new() };
    for _ in 0..victim.times {
        watchdog::step(format!("{}, killed", victim.name));
        all.starts.push(own_start(victim)?);
        all.of_server.push(crash(victim, &mut link, |pids| pids.server)?);
        all.of_runner.push(crash(victim, &mut link, |pids| pids.runner)?);
    }
    Ok(all)
}

/// As Harbor starts it: it is known by now to be one that wants `initialize` at once.
fn own_start(victim: &Victim) -> Outcome<f64> {
    let mut command = victim.command();
    let begin = Instant::now();
    let (_own, _link) = setup::contacted(&mut command)?;
    Ok(milliseconds(begin))
}

fn crash(victim: &Victim, link: &mut Link, whom: fn(Pids) -> u32) -> Outcome<Crash> {
    sleep(SETTLE);
    let pids = Pids::of(servers(link)?.first().ok_or("no server is listed")?)?;
    let call = request(&victim.call()?);
    hold(pids.server);
    link.send(&call)?;
    sleep(ON_ITS_WAY);
    let begin = Instant::now();
    kill_now(whom(pids));
    let answer = link.receive()?;
    let error = milliseconds(begin);
    is_lost(answer)?;
    link.send(&call)?;
    let again = link.receive()?;
    let answer = milliseconds(begin);
    is_echo(again)?;
    Ok(Crash { error, answer })
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The call was open, and is over.
fn is_lost(answer: &[u8]) -> Outcome<()> {
    let refusal = heard(answer)?.refusal().and_then(Result::ok);
    let details = |refusal: &Refusal| {
        refusal.details.as_ref().map(|details| details.as_str().contains("\"sent\":true"))
    };
    match refusal {
        Some(refusal)
            if refusal.code == Code::ServerUnavailable.as_str() && details(&refusal) == Some(true) =>
        {
            Ok(())
        }
        _ => Err(format!("a call of a killed server was answered by {}", excerpt(answer)).into()),
    }
}

fn is_echo(answer: &[u8]) -> Outcome<()> {
    let result: Value = serde_json::from_str(read::<McpCallToolResult>(answer)?.result.as_str())?;
    match result["content"][0]["text"].as_str() {
        Some(text) if text.contains("ahoy") => Ok(()),
        _ => Err(format!("a call after a crash was answered by {}", excerpt(answer)).into()),
    }
}
