//! What each further server costs: start, memory, and the calls to one of them.
//!
//! Owns a bridge and its home per number of servers. Must not judge whether that is a line; the report shows it.

use crate::ask;
use crate::caller::{Caller, Tool};
use crate::fleet;
use crate::harbor::Bridge;
use crate::options::Options;
use crate::process::{self, Memory};
use crate::scale::SETTLE;
use crate::stats::median;
use crate::wire::Link;
use crate::{Outcome, say, watchdog};
use std::thread::sleep;

/// What was found with one number of servers.
#[derive(Debug)]
pub struct Size {
    /// How many servers.
    pub servers: usize,
    /// From the start of the bridge until the last server ran, in milliseconds.
    pub times: Vec<f64>,
    /// What the bridge held when all were idle.
    pub bridge: Memory,
    /// What all runners held together.
    pub runners: Memory,
    /// The same of the first processes of their namespaces, those that this user may look into.
    pub inits: Memory,
    /// Median time of a small call to one of them, in microseconds.
    pub call: f64,
}

/// Measures every number of servers.
pub fn measure(options: &Options) -> Outcome<Vec<Size>> {
    options.scale.servers.iter().map(|count| size(options, *count)).collect()
}

fn size(options: &Options, count: usize) -> Outcome<Size> {
    say(&format!("growth: {count} servers"));
    watchdog::step(format!("defining {count} servers"));
    let mut home = fleet::defined(options, count)?;
    let mut times = Vec::new();
    loop {
        watchdog::step(format!("starting {count} servers"));
        let begin = fleet::now()?;
        let (bridge, mut link) = Bridge::start_in(options, home)?;
        times.push(fleet::all_run(&mut link, count)? - begin);
        if times.len() >= options.scale.starts {
            return look(options, times, &bridge, &mut link);
        }
        drop(link);
        watchdog::step(format!("ending {count} servers"));
        home = bridge.end();
    }
}

fn look(options: &Options, times: Vec<f64>, bridge: &Bridge, link: &mut Link) -> Outcome<Size> {
    sleep(SETTLE);
    watchdog::step("looking at the memory".to_owned());
    let servers = ask::servers(link)?;
    let bridge_held = process::memory(bridge.pid())?;
    let none = Memory { pss: 0, private_dirty: 0 };
    let (mut runners, mut inits) = (none, none);
    for server in &servers {
        let (runner, init) = fleet::held_for(server)?;
        runners = runners + runner;
        inits = inits + init.unwrap_or(none);
    }
    watchdog::step("calling one of the servers".to_owned());
    let mut caller = Caller::of_server(bridge.attach()?, &fleet::name(0), Tool::Small, 1)?;
    caller.one_at_a_time(options.small_calls / 10)?;
    let call = median(caller.one_at_a_time(options.small_calls)?);
    watchdog::step("ending the servers".to_owned());
    Ok(Size { servers: servers.len(), times, bridge: bridge_held, runners, inits, call })
}
