//! Whether memory stays flat over very many calls.
//!
//! Owns the calls and the looks at the memory between them. Must look only while no call is open, and once more
//! after a rest: what is on its way to the disk goes by itself.

use crate::ask::{Pids, servers};
use crate::caller::{Caller, Tool};
use crate::harbor::Bridge;
use crate::options::Options;
use crate::process;
use crate::request::SERVER;
use crate::scale::{SETTLE, connect_echo};
use crate::setup::IN_FLIGHT;
use crate::{Outcome, say, watchdog};
use std::thread::sleep;
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
    /// Private dirty memory of the bridge when the last of these calls was answered, in KiB.
    pub at_once: u64,
    /// The same after a rest.
    pub bridge: u64,
    /// The same of the runner after it.
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
        let at_once = held(bridge.pid())?;
        sleep(SETTLE);
        looks.push(Look { calls, rate, at_once, bridge: held(bridge.pid())?, runner: held(runner)? });
    }
    drop((caller, stdio));
    Ok(looks)
}
