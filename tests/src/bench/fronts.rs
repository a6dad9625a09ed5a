//! What a small call costs through every front of Harbor, and through the socket with less around the server.
//!
//! ```text
//!  socket       driver ─────────────── bridge ── runner ── echo-server      as the owner
//!  native host  driver ── native host ── bridge ── …                        for a page, as a browser
//!  harbor mcp   driver ── harbor mcp ─── bridge ── …                        for an AI client
//! ```
//!
//! The fronts share a bridge; each way to have less around the server (one runner for all, no sandbox) has a bridge
//! and a home of its own. All are alive at once. Owns the order of the measurements. Must not compare them; that is
//! the report's.

use harbor_client_configs::extensions::HARBOR;

use crate::ask::ask;
use crate::calls::{per_call, turns};
use crate::grants;
use crate::harbor::{Bridge, Runners, hello};
use crate::home::Home;
use crate::options::Options;
use crate::process;
use crate::request::{Manner, ORIGIN, Workload};
use crate::setup::{self, Hop, Setup};
use crate::stats::median;
use crate::wire::{Framing, Link};
use crate::{Outcome, say, watchdog};
use harbor_ipc_proto::client::HostGrantPermission;
use harbor_policy::grants::GrantType;
use harbor_policy::scope::Scope;

/// The socket with everything: what the goal is for.
pub const SOCKET: &str = "socket";

/// What else a bridge can be, by the socket: its name, its runners, its server's sandbox.
const LESS: [(&str, Runners, &str); 3] = [
    ("socket, one runner for all", Runners::One, "standard"),
    ("socket, no sandbox", Runners::Each, "off"),
    ("socket, neither", Runners::One, "off"),
];

/// Small calls by one way, one at a time: a figure for each repetition.
#[derive(Debug, Clone)]
pub struct Front {
    /// The way's name.
    pub name: &'static str,
    /// Medians of a call's time, in microseconds.
    pub times: Vec<f64>,
    /// What the processes on the way are.
    pub hops: Vec<&'static str>,
    /// Processor time of each of them per call, in microseconds.
    pub cpu: Vec<Vec<f64>>,
}

impl Front {
    /// One that was not measured yet.
    pub fn of(setup: &Setup) -> Self {
        let hops = setup.hops.iter().map(|(what, _)| *what).collect();
        Self { name: setup.name, times: Vec::new(), hops, cpu: Vec::new() }
    }

    /// Measures it once more.
    pub fn sample(&mut self, options: &Options, setup: &mut Setup) -> Outcome<()> {
        watchdog::step(format!("{}, {}", self.name, Workload::Small.title()));
        setup.one_at_a_time(Workload::Small, options.small_calls / 10)?;
        let before = setup.cpu()?;
        self.times.push(median(setup.one_at_a_time(Workload::Small, options.small_calls)?));
        self.cpu.push(per_call(&before, &setup.cpu()?, options.small_calls));
        Ok(())
    }
}

/// Measures all ways. The first is direct, the second the floor.
pub fn measure(options: &Options) -> Outcome<Vec<Front>> {
    watchdog::step("starting the fronts".to_owned());
    // Declared first to be dropped last: the links in the setups have to be closed before.
    let mut bridges = Vec::new();
    let mut setups = vec![setup::direct(options)?, setup::floor(options)?];
    if options.harbor {
        setups.extend(of_one_bridge(options, &mut bridges)?);
        for (name, runners, level) in LESS {
            setups.push(with_less(options, &mut bridges, name, runners, level)?);
        }
    }
    let mut fronts: Vec<_> = setups.iter().map(Front::of).collect();
    for repetition in 0..options.repetitions {
        say(&format!("fronts: repetition {} of {}", repetition + 1, options.repetitions));
        for which in turns(repetition, setups.len()) {
            fronts[which].sample(options, &mut setups[which])?;
        }
    }
    watchdog::step("ending the fronts".to_owned());
    Ok(fronts)
}

/// A running bridge, and the link that keeps it: dropped first, it tells the bridge to end.
type Kept = (Link, Bridge);

/// The fronts of one bridge.
fn of_one_bridge(options: &Options, bridges: &mut Vec<Kept>) -> Outcome<[Setup; 3]> {
    let (bridge, mut link) = start(options, Runners::Each)?;
    let hops = bridge.connect_server(options, &mut link)?;
    let setups = [
        Setup::open(SOCKET, Manner::Owner, bridge.attach()?, None, hops.clone())?,
        native_host(options, &bridge, &mut link, &hops)?,
        harbor_mcp(options, &bridge, &hops)?,
    ];
    bridges.push((link, bridge));
    Ok(setups)
}

/// As a browser starts it, for a page that has a grant.
fn native_host(options: &Options, bridge: &Bridge, owner: &mut Link, hops: &[Hop]) -> Outcome<Setup> {
    let grant = HostGrantPermission {
        origin: ORIGIN.to_owned(),
        profile: None,
        scope: Scope::McpToolsCall.as_str().to_owned(),
        grant_type: Some(GrantType::AllowAlways.as_str().to_owned()),
        tab_id: None,
        expires_at: None,
        allowed_tools: None,
    };
    ask(owner, &grant)?;
    let mut command = bridge.command(options, "harbor-bridge")?;
    command.arg(format!("chrome-extension://{}/", HARBOR.chromium()));
    let (own, mut link) = process::start(&mut command, Framing::Length)?;
    hello(&mut link)?;
    let hops = before("native host", own.pid(), hops);
    Setup::open("native host", Manner::Origin, link, Some(own), hops)
}

/// As an AI client starts it; that it does is the grant.
pub fn harbor_mcp(options: &Options, bridge: &Bridge, hops: &[Hop]) -> Outcome<Setup> {
    let mut command = bridge.command(options, "harbor")?;
    let (own, link) = setup::listed(command.args(["mcp", "--client", "bench"]))?;
    let hops = before("harbor mcp", own.pid(), hops);
    Setup::open("harbor mcp", Manner::Client, link, Some(own), hops)
}

fn before(what: &'static str, pid: u32, hops: &[Hop]) -> Vec<Hop> {
    [&[(what, pid)], hops].concat()
}

/// Another bridge, by its socket.
fn with_less(
    options: &Options,
    bridges: &mut Vec<Kept>,
    name: &'static str,
    runners: Runners,
    level: &str,
) -> Outcome<Setup> {
    let (bridge, mut link) = start(options, runners)?;
    let hops = bridge.connect_confined(options, &mut link, level)?;
    let setup = Setup::open(name, Manner::Owner, bridge.attach()?, None, hops)?;
    bridges.push((link, bridge));
    Ok(setup)
}

/// A bridge in a home of its own, which counts calls but never says that they are too many.
pub fn start(options: &Options, runners: Runners) -> Outcome<(Bridge, Link)> {
    let home = Home::new()?;
    grants::configure(&home)?;
    Bridge::start_as(options, home, runners)
}
