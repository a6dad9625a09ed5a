//! What each further client costs that calls at the same time as all the others.
//!
//! Owns the clients: a thread and a connection each, with one call open. Must let all of them begin together, and count
//! until the last one is done.

use crate::caller::{Caller, Tool};
use crate::harbor::Bridge;
use crate::options::Options;
use crate::process::{self, Memory};
use crate::request::SERVER;
use crate::scale::{SETTLE, connect_echo};
use crate::stats::median;
use crate::{Outcome, say, watchdog};
use std::sync::Barrier;
use std::thread::{self, sleep};
use std::time::Instant;

/// How often each number of clients is measured.
const ROUNDS: usize = 5;

/// What was found with one number of clients.
#[derive(Debug)]
pub struct Crowd {
    /// How many clients.
    pub clients: usize,
    /// Calls of all together per second, per round.
    pub rates: Vec<f64>,
    /// Median time of a call in microseconds, of the client in the middle, per round.
    pub times: Vec<f64>,
    /// The same of the client that waits longest.
    pub slowest: Vec<f64>,
    /// Processor time of the bridge per call in microseconds, all threads, per round.
    pub cpu: Vec<f64>,
    /// What the bridge held afterwards, all of them still connected.
    pub bridge: Memory,
}

/// Measures every number of clients, the smallest first: those that are there stay.
pub fn measure(options: &Options) -> Outcome<Vec<Crowd>> {
    watchdog::step("clients: starting".to_owned());
    let (bridge, mut stdio) = Bridge::start(options)?;
    connect_echo(options, &mut stdio, SERVER)?;
    let mut callers = Vec::new();
    let mut found = Vec::new();
    for clients in options.scale.clients.iter().copied() {
        say(&format!("clients: {clients}"));
        while callers.len() < clients {
            callers.push(Caller::of_server(bridge.attach()?, SERVER, Tool::Small, 1)?);
        }
        let mut crowd = none(clients, process::memory(bridge.pid())?);
        let calls = options.flood_calls / clients;
        for _ in 0..ROUNDS {
            watchdog::step(format!("{clients} clients"));
            let before = process::cpu_ns(bridge.pid())?;
            let (rate, each) = together(&mut callers, calls)?;
            let used = process::cpu_ns(bridge.pid())?.saturating_sub(before);
            crowd.rates.push(rate);
            crowd.slowest.push(each.iter().copied().fold(0.0, f64::max));
            crowd.times.push(median(each));
            crowd.cpu.push(used as f64 / 1e3 / (calls * clients) as f64);
        }
        sleep(SETTLE);
        found.push(Crowd { bridge: process::memory(bridge.pid())?, ..crowd });
    }
    drop((callers, stdio));
    Ok(found)
}

fn none(clients: usize, bridge: Memory) -> Crowd {
    Crowd { clients, rates: Vec::new(), times: Vec::new(), slowest: Vec::new(), cpu: Vec::new(), bridge }
}

/// Has all of them call so often; calls per second, and the median time of a call of each.
fn together(callers: &mut [Caller], calls: usize) -> Outcome<(f64, Vec<f64>)> {
    let gate = Barrier::new(callers.len() + 1);
    let count = callers.len() * calls;
    thread::scope(|scope| {
        let one = |caller| {
            gate.wait();
            Caller::one_at_a_time(caller, calls).map_err(|error| error.to_string())
        };
        let threads: Vec<_> = callers.iter_mut().map(|caller| scope.spawn(move || one(caller))).collect();
        gate.wait();
        let begin = Instant::now();
        let ended: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
        let rate = count as f64 / begin.elapsed().as_secs_f64();
        let mut times = Vec::new();
        for times_of_one in ended {
            times.push(median(times_of_one.map_err(|_| "a client broke off")??));
        }
        Ok((rate, times))
    })
}
