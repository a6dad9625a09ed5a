//! Whether memory stays flat over very many calls.
//!
//! Owns the calls and the looks at the memory between them. Must look only while no call is open, so that what is on the
//! way does not count.

use crate::ask::{Pids, servers};
use crate::caller::{Caller, Tool};
use crate::harbor::Bridge;
use crate::options::Options;
use crate::process;
use crate::request::SERVER;
use crate::scale::connect_echo;
use crate::setup::IN_FLIGHT;
use crate::{Outcome, say, watchdog};
use std::time::Instant;

/// Looks at the memory, evenly spread.
const LOOKS: usize = 20;

/// What one look found.
#[derive(Debug)]
pub struct Look {
    /// Calls so far.
    pub calls: usize,
    /// Calls per second since the look before.
    pub rate: f64,
    /// Private dirty memory of the bridge, in KiB.
    pub bridge: u64,
    /// The same of the runner.
    pub runner: u64,
}

/// Calls as often as it was asked for.
pub fn measure(options: &Options) -> Outcome<Vec<Look>> {
    let count = options.scale.soak;
    say(&format!("soak: {count} calls"));
    watchdog::step("soak: starting".to_owned());
    let (bridge, mut stdio) = Bridge::start(options)?;
    connect_echo(options, &mut stdio, SERVER)?;
    let runner = Pids::of(servers(&mut stdio)?.first().ok_or("no server is listed")?)?.runner;
    let mut caller = Caller::of_server(bridge.attach()?, SERVER, Tool::Small, IN_FLIGHT)?;
    let (mut looks, mut calls): (Vec<Look>, _) = (Vec::new(), 0);
    for number in 1..=LOOKS {
        watchdog::step(format!("soak: {calls} of {count} calls"));
        let (begin, wanted) = (Instant::now(), (count * number / LOOKS).saturating_sub(calls));
        let answered = caller.flood(|sent| sent < wanted)?;
        let rate = answered as f64 / begin.elapsed().as_secs_f64();
        calls += answered;
        let held = |pid| process::memory(pid).map(|memory| memory.private_dirty);
        looks.push(Look { calls, rate, bridge: held(bridge.pid())?, runner: held(runner)? });
    }
    drop((caller, stdio));
    Ok(looks)
}
