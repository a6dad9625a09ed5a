//! Small calls through public programs that do a similar job, beside Harbor's own front over HTTP.
//!
//! ```text
//!  direct, floor     as for calls
//!  Harbor over HTTP  driver ─ HTTP ─ harbor mcp ── bridge ── runner ── echo-server
//!  a peer            driver ─ HTTP or pipes ─ the program ── echo-server
//! ```
//!
//! All are alive at once and take turns. Owns the order of the measurements. A peer that fails is a finding, never a
//! failure of the run; anything else that fails is one. Must not compare; that is the report's.

use crate::calls::turns;
use crate::fuse::Fuse;
use crate::grants;
use crate::harbor::{Bridge, Runners};
use crate::home::Home;
use crate::http_setup::{Dialect, Place};
use crate::options::Options;
use crate::peer::{PEERS, Peer, Running, Way, free_port, until_called};
use crate::process;
use crate::request::Workload;
use crate::setup;
use crate::stats::median;
use crate::wire::Link;
use crate::{Outcome, say, watchdog};
use std::path::Path;
use std::time::Duration;

/// How long a peer may take for one turn; less than what the watchdog allows.
const TURN: Duration = Duration::from_secs(40);

/// What the server calls itself: its memory is nobody's on the way.
const SERVER_NAME: &str = "echo-server";

/// What stands before a tool's name in Harbor.
const HARBOR_PREFIX: &str = "bench__";

/// What was found over one setup.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// Medians of a call's time in microseconds, one per repetition.
    pub times: Vec<f64>,
    /// Calls per second with many in flight, one per repetition.
    pub rates: Vec<f64>,
    /// What the processes on the way held at last without the server, in KiB.
    pub pss: u64,
}

/// One row of the report.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its version, where it has one of its own.
    pub version: String,
    /// What was found, or why nothing was.
    pub found: Result<Figures, String>,
}

/// Measures all of them. The first is direct, the second the floor, the third Harbor, unless it takes no part.
pub fn measure(options: &Options, peers: &Path) -> Outcome<Vec<Entry>> {
    watchdog::step("starting what peers are held against".to_owned());
    // Declared first to be dropped last: the links in the setups have to be closed before.
    let mut _bridge = None;
    let mut all = vec![
        own("direct", over_pipes(setup::direct(options)?)),
        own("floor", over_pipes(setup::floor(options)?)),
    ];
    if options.harbor {
        let (kept, running) = harbor_over_http(options)?;
        _bridge = Some(kept);
        all.push(own("harbor mcp --http", running));
    }
    let ours = all.len();
    all.extend(PEERS.iter().map(|peer| started(options, peers, peer)));
    for repetition in 0..options.repetitions {
        say(&format!("peers: repetition {} of {}", repetition + 1, options.repetitions));
        for which in turns(repetition, all.len()) {
            all[which].turn(options, which < ours)?;
        }
    }
    all.iter_mut().for_each(Contestant::look);
    watchdog::step("ending the peers".to_owned());
    Ok(all.into_iter().map(Contestant::ended).collect())
}

/// Who takes part, and whether it still does.
struct Contestant {
    entry: Entry,
    running: Option<Running>,
}

fn own(name: &str, running: Running) -> Contestant {
    let entry = Entry { name: name.to_owned(), version: String::new(), found: Ok(Figures::default()) };
    Contestant { entry, running: Some(running) }
}

fn started(options: &Options, peers: &Path, peer: &Peer) -> Contestant {
    watchdog::step(format!("starting {}", peer.name));
    let (running, found) = match peer.start(options, peers) {
        Ok(running) => (Some(running), Ok(Figures::default())),
        Err(error) => (None, Err(error.to_string())),
    };
    let entry = Entry { name: peer.name.to_owned(), version: peer.version(peers), found };
    Contestant { entry, running }
}

impl Contestant {
    fn turn(&mut self, options: &Options, is_ours: bool) -> Outcome<()> {
        watchdog::step(format!("{}, {}", self.entry.name, Workload::Small.title()));
        let (Some(running), Ok(figures)) = (&mut self.running, &mut self.entry.found) else { return Ok(()) };
        match sample(options, running) {
            Ok((time, rate)) => {
                figures.times.push(time);
                figures.rates.push(rate);
            }
            Err(error) if is_ours => return Err(format!("{}: {error}", self.entry.name).into()),
            Err(error) => {
                self.entry.found = Err(format!("it failed under calls: {error}"));
                self.running = None;
            }
        }
        Ok(())
    }

    fn look(&mut self) {
        if let (Some(running), Ok(figures)) = (&self.running, &mut self.entry.found) {
            figures.pss = held(&running.roots);
        }
    }

    fn ended(self) -> Entry {
        watchdog::step(format!("ending {}", self.entry.name));
        self.entry
    }
}

fn sample(options: &Options, running: &mut Running) -> Outcome<(f64, f64)> {
    let _fuses: Vec<_> = running.roots.iter().map(|pid| Fuse::lit(*pid, TURN)).collect();
    match &mut running.way {
        Way::Pipes(setup) => {
            setup.one_at_a_time(Workload::Small, options.peer_calls / 10)?;
            let time = median(setup.one_at_a_time(Workload::Small, options.peer_calls)?);
            setup.flood(setup::IN_FLIGHT)?;
            Ok((time, setup.flood(options.peer_flood)?))
        }
        Way::Http(setup) => {
            Ok((median(setup.one_at_a_time(options.peer_calls)?), setup.flood(options.peer_flood)?))
        }
    }
}

/// What these and all that come from them hold, as far as this user may know.
fn held(roots: &[u32]) -> u64 {
    let on_the_way = roots.iter().flat_map(|pid| process::tree(*pid));
    let on_the_way = on_the_way.filter(|pid| !process::is_named(*pid, SERVER_NAME));
    on_the_way.filter_map(|pid| process::memory(pid).ok()).map(|memory| memory.pss).sum()
}

fn over_pipes(setup: setup::Setup) -> Running {
    let roots = setup.hops.first().map(|(_, pid)| *pid).into_iter().collect();
    Running { way: Way::Pipes(setup), roots, _kept: (None, None) }
}

/// As an AI client with a token meets it. The link keeps the bridge: dropped first, it tells it to end.
fn harbor_over_http(options: &Options) -> Outcome<((Link, Bridge), Running)> {
    let home = Home::new()?;
    grants::configure(&home)?;
    let said = home.path.join("said");
    let (bridge, mut link) = Bridge::start_as(options, home, Runners::Each)?;
    bridge.connect_server(options, &mut link)?;
    let token = bridge.command(options, "harbor")?.args(["mcp", "token", "bench"]).output()?;
    let token = String::from_utf8(token.stdout)?.trim().to_owned();
    let port = free_port()?;
    let address = format!("127.0.0.1:{port}");
    let mut own =
        process::serve(bridge.command(options, "harbor")?.args(["mcp", "--http", &address]), &said)?;
    let place = Place { port, token: Some(token) };
    let way = Way::Http(until_called(&mut own, &place, Dialect::Mcp(HARBOR_PREFIX))?);
    let running = Running { way, roots: vec![own.pid(), bridge.pid()], _kept: (Some(own), None) };
    Ok(((link, bridge), running))
}
