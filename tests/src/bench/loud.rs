//! What somebody who does not play along costs the others: a client that never reads, a server that never stops talking.
//!
//! ```text
//!  slow client   64 KB answers asked for, none read ──┐
//!                                             bridge ─┴─ runner ── echo-server ◄── the calls that are measured
//!  loud server   notifications without end ───┘
//! ```
//!
//! Owns who is there when: in each repetition the calls are measured without it and with it. Must not judge.

use crate::ask::{ask, connect, id, program};
use crate::caller::{Caller, Tool};
use crate::harbor::Bridge;
use crate::options::Options;
use crate::process::{self, Memory};
use crate::request::{FIRST_ID, SERVER};
use crate::scale::{SETTLE, connect_echo};
use crate::stats::median;
use crate::wire::Link;
use crate::{Outcome, say, watchdog};
use harbor_ipc_proto::client::RemoveServer;
use harbor_tests::faults::Fault;
use std::thread::sleep;
use std::time::Duration;

/// Answers that the slow client asks for; together half of what the bridge keeps for a client before it cuts it off.
pub const UNREAD: usize = 1_000;

/// Time to get going, and to be over again.
const CALM: Duration = Duration::from_millis(200);

/// The server that never stops talking.
const NOISY: &str = "noisy";

/// One of them.
#[derive(Debug)]
pub struct Loud {
    /// For reports.
    pub name: &'static str,
    /// Median times of a small call per repetition, in microseconds, without it.
    pub without: Vec<f64>,
    /// The same beside it.
    pub with: Vec<f64>,
    /// What the bridge held before, the most right after the calls beside it, and some time after the last of it.
    pub held: [Memory; 3],
}

/// Measures both.
pub fn measure(options: &Options) -> Outcome<[Loud; 2]> {
    Ok([
        beside(options, "a client that does not read", |bridge, _| unread(bridge), |_| Ok(()))?,
        beside(options, "a server that floods notifications", |_, stdio| talk(options, stdio), hush)?,
    ])
}

/// Measures without and with what `begin` lets begin, which goes with its value and `end`.
fn beside<T>(
    options: &Options,
    name: &'static str,
    begin: impl Fn(&Bridge, &mut Link) -> Outcome<T>,
    end: impl Fn(&mut Link) -> Outcome<()>,
) -> Outcome<Loud> {
    say(&format!("{name}: {} repetitions", options.repetitions));
    watchdog::step(name.to_owned());
    let (bridge, mut stdio) = Bridge::start(options)?;
    connect_echo(options, &mut stdio, SERVER)?;
    let mut caller = Caller::of_server(bridge.attach()?, SERVER, Tool::Small, 1)?;
    // As few as large ones, so that what a client does not read is still being answered meanwhile.
    let mut p50 = || -> Outcome<f64> {
        caller.one_at_a_time(options.large_calls / 10)?;
        Ok(median(caller.one_at_a_time(options.large_calls)?))
    };
    p50()?;
    sleep(SETTLE);
    let before = process::memory(bridge.pid())?;
    let (mut without, mut with, mut most) = (Vec::new(), Vec::new(), before);
    for _ in 0..options.repetitions {
        watchdog::step(name.to_owned());
        without.push(p50()?);
        let other = begin(&bridge, &mut stdio)?;
        with.push(p50()?);
        let held = process::memory(bridge.pid())?;
        most = if held.private_dirty > most.private_dirty { held } else { most };
        drop(other);
        end(&mut stdio)?;
        sleep(CALM);
    }
    sleep(SETTLE);
    let after = process::memory(bridge.pid())?;
    drop((caller, stdio));
    Ok(Loud { name, without, with, held: [before, most, after] })
}

/// A client that asks for much and reads none of it, as long as it is held.
fn unread(bridge: &Bridge) -> Outcome<Link> {
    let mut link = bridge.attach()?;
    link.send(Tool::Large.of_server(SERVER, UNREAD)?.stamped(FIRST_ID, UNREAD))?;
    Ok(link)
}

fn talk(options: &Options, stdio: &mut Link) -> Outcome<()> {
    let command = options.program("misbehaving-server")?;
    let args = ["--fault", Fault::FloodsStdout.as_str()].map(str::to_owned);
    ask(stdio, &program(NOISY, &command, &args)?)?;
    connect(stdio, NOISY)?;
    sleep(CALM);
    Ok(())
}

fn hush(stdio: &mut Link) -> Outcome<()> {
    ask(stdio, &RemoveServer { server_id: id(NOISY)?, data: None })?;
    Ok(())
}
