//! Many servers that start with the bridge: how long that takes, and what each holds when idle.
//!
//! Owns the home in which one bridge after the other finds them. Must not ask the bridge more often than it has to:
//! it tells since when each server runs, so that a late question finds out as much.

use crate::ask::{self, Pids, ask, program};
use crate::harbor::Bridge;
use crate::home::Home;
use crate::memory;
use crate::options::Options;
use crate::process::{self, Memory};
use crate::wire::Link;
use crate::{Outcome, say, watchdog};
use harbor_ipc_proto::client::{AddServer, ServerView, Supervision};
use harbor_ipc_proto::field::JsonObject;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How many servers.
pub const SERVERS: usize = 50;

/// Between two questions.
const PAUSE: Duration = Duration::from_millis(50);

/// Time to give buffers back before a look at the memory.
const SETTLE: Duration = Duration::from_secs(1);

/// What was found.
#[derive(Debug)]
pub struct Fleet {
    /// From the start of the bridge until the last server ran, in milliseconds.
    pub times: Vec<f64>,
    /// What the bridge held at last.
    pub bridge: Memory,
    /// What each runner held.
    pub runners: Vec<Memory>,
    /// What the first process of each runner's namespace held, where there is one and this user may look into it.
    pub inits: Vec<Memory>,
}

/// Starts bridges, one after the other; looks at the memory of the last one's.
pub fn measure(options: &Options) -> Outcome<Fleet> {
    say(&format!("{SERVERS} servers: {} starts", options.fleets));
    watchdog::step(format!("defining {SERVERS} servers"));
    starts(options, defined(options, SERVERS)?, look)
}

/// Starts bridges where [`SERVERS`] are defined, one after the other; looks at the last one, and gives the time that each
/// took.
pub fn starts<T>(
    options: &Options,
    home: Home,
    look: impl FnOnce(Vec<f64>, &Bridge, &mut Link) -> Outcome<T>,
) -> Outcome<T> {
    let mut home = home;
    let mut times = Vec::new();
    loop {
        watchdog::step(format!("starting {SERVERS} servers"));
        let begin = now()?;
        let (bridge, mut link) = Bridge::start_in(options, home)?;
        times.push(all_run(&mut link, SERVERS)? - begin);
        if times.len() >= options.fleets {
            return look(times, &bridge, &mut link);
        }
        drop(link);
        home = bridge.end();
    }
}

/// The time in milliseconds since 1970, as the bridge tells since when a server runs.
pub fn now() -> Outcome<f64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3)
}

/// The server with this number.
pub fn name(number: usize) -> String {
    format!("bench-{number}")
}

/// A home in which so many are defined, and do not run.
pub fn defined(options: &Options, count: usize) -> Outcome<Home> {
    let command = options.program("echo-server")?;
    defined_as(options, count, |name| program(name, &command, &[]))
}

/// The same, each of them what is made for its name.
pub fn defined_as(
    options: &Options,
    count: usize,
    definition: impl Fn(&str) -> Outcome<AddServer>,
) -> Outcome<Home> {
    let (bridge, mut link) = Bridge::start(options)?;
    let supervision = Supervision { auto_start: Some(true), ..Supervision::default() };
    for number in 0..count {
        let definition = definition(&name(number))?;
        ask(&mut link, &AddServer { supervision: Some(JsonObject::written(&supervision)), ..definition })?;
    }
    drop(link);
    Ok(bridge.end())
}

/// Waits until all of them run; tells since when, as [`now`].
pub fn all_run(link: &mut Link, count: usize) -> Outcome<f64> {
    loop {
        let servers = ask::servers(link)?;
        if let Some(failed) = servers.iter().find(|server| server.state == "failed") {
            return Err(
                format!("a server has failed: {}", failed.last_error.as_deref().unwrap_or_default()).into()
            );
        }
        let running = || servers.iter().filter(|server| server.state == "running");
        if running().count() == count {
            // Milliseconds of this age are exact.
            let since = running().map(|server| server.since as f64).max_by(f64::total_cmp);
            return since.ok_or_else(|| "no server runs".into());
        }
        sleep(PAUSE);
    }
}

fn look(times: Vec<f64>, bridge: &Bridge, link: &mut Link) -> Outcome<Fleet> {
    sleep(SETTLE);
    let runners: Outcome<Vec<_>> = ask::servers(link)?.iter().map(held_for).collect();
    let (runners, inits): (Vec<_>, Vec<_>) = runners?.into_iter().unzip();
    let inits = inits.into_iter().flatten().collect();
    Ok(Fleet { times, bridge: process::memory(bridge.pid())?, runners, inits })
}

/// What the runner of a listed server holds, and the first process of its namespace.
pub fn held_for(server: &ServerView) -> Outcome<(Memory, Option<Memory>)> {
    memory::of_runner(Pids::of(server)?.runner)
}
