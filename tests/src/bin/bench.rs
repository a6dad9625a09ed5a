//! The benchmark driver: what a call costs through Harbor, beside what it costs without; what a crash costs.
//!
//! ```text
//!  direct   driver ── pipes ── echo-server
//!  floor    driver ── relay ── relay ── echo-server        two plain byte relays: the least for Harbor's shape
//!  stdio    driver ── bridge (its stdin) ── runner ── echo-server
//!  socket   driver ── bridge (its socket) ── runner ── echo-server
//!  fronts   driver ── native host or harbor mcp ── bridge ── runner ── echo-server
//!  peers    driver ── HTTP or pipes ── harbor mcp --http, or another program ── echo-server
//!  scale    driver ══ many sockets ══ bridge ══ many runners ══ many servers
//!  scripts  driver ── bridge (its socket) ── runner ── harbor-runner-js or harbor-runner-wasm
//!  models   driver ── bridge ── harbor-model-worker ── a provider that is a thread of the driver
//! ```
//!
//! For calls, fronts and peers, all setups are alive at once and take turns within every repetition, so that a slow
//! second of the machine meets all of them. For supervision, servers and runners are killed under a caller (`crash`),
//! and many servers start with a bridge (`fleet`), whose state is asked for (`status`). For the host, a bridge has many
//! grants and many tools (`host`). For scale there is ever more of everything, until it shows what each further one
//! costs (`scale`). Prints Markdown on stdout, the missed goals last, and progress on stderr, and draws where it is told
//! to. Must do nothing on the measured path but write a prepared request and read its answer; must end by itself, in
//! whatever state the others are.

#[path = "../bench/agent.rs"]
mod agent;
#[path = "../bench/ask.rs"]
mod ask;
#[path = "../bench/beside.rs"]
mod beside;
#[path = "../bench/budget.rs"]
mod budget;
#[path = "../bench/caller.rs"]
mod caller;
#[path = "../bench/calls.rs"]
mod calls;
#[path = "../bench/connect.rs"]
mod connect;
#[path = "../bench/crash.rs"]
mod crash;
#[path = "../bench/crowd.rs"]
mod crowd;
#[path = "../bench/decisions.rs"]
mod decisions;
#[path = "../bench/fleet.rs"]
mod fleet;
#[path = "../bench/fronts.rs"]
mod fronts;
#[path = "../bench/fuse.rs"]
mod fuse;
#[path = "../bench/goal.rs"]
mod goal;
#[path = "../bench/grants.rs"]
mod grants;
#[path = "../bench/greed.rs"]
mod greed;
#[path = "../bench/growth.rs"]
mod growth;
#[path = "../bench/harbor.rs"]
mod harbor;
#[path = "../bench/home.rs"]
mod home;
#[path = "../bench/host.rs"]
mod host;
#[path = "../bench/http.rs"]
mod http;
#[path = "../bench/http_link.rs"]
mod http_link;
#[path = "../bench/http_setup.rs"]
mod http_setup;
#[path = "../bench/interpreted.rs"]
mod interpreted;
#[path = "../bench/large.rs"]
mod large;
#[path = "../bench/loud.rs"]
mod loud;
#[path = "../bench/memory.rs"]
mod memory;
#[path = "../bench/model_server.rs"]
mod model_server;
#[path = "../bench/models.rs"]
mod models;
#[path = "../bench/options.rs"]
mod options;
#[path = "../bench/path.rs"]
mod path;
#[path = "../bench/peer.rs"]
mod peer;
#[path = "../bench/peers.rs"]
mod peers;
#[path = "../bench/plot.rs"]
mod plot;
#[path = "../bench/plots.rs"]
mod plots;
#[path = "../bench/process.rs"]
mod process;
#[path = "../bench/programs.rs"]
mod programs;
#[path = "../bench/ready.rs"]
mod ready;
#[path = "../bench/report.rs"]
mod report;
#[path = "../bench/report_agent.rs"]
mod report_agent;
#[path = "../bench/report_beside.rs"]
mod report_beside;
#[path = "../bench/report_budget.rs"]
mod report_budget;
#[path = "../bench/report_fronts.rs"]
mod report_fronts;
#[path = "../bench/report_host.rs"]
mod report_host;
#[path = "../bench/report_interpreted.rs"]
mod report_interpreted;
#[path = "../bench/report_models.rs"]
mod report_models;
#[path = "../bench/report_peers.rs"]
mod report_peers;
#[path = "../bench/report_scale.rs"]
mod report_scale;
#[path = "../bench/report_supervision.rs"]
mod report_supervision;
#[path = "../bench/request.rs"]
mod request;
#[path = "../bench/scale.rs"]
mod scale;
#[path = "../bench/setup.rs"]
mod setup;
#[path = "../bench/shelf.rs"]
mod shelf;
#[path = "../bench/soak.rs"]
mod soak;
#[path = "../bench/stats.rs"]
mod stats;
#[path = "../bench/status.rs"]
mod status;
#[path = "../bench/table.rs"]
mod table;
#[path = "../bench/victims.rs"]
mod victims;
#[path = "../bench/watchdog.rs"]
mod watchdog;
#[path = "../bench/wire.rs"]
mod wire;

use options::{Options, Part};
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use table::Page;

/// What every fallible step of the driver returns; the text of the error is for the person who ran it.
type Outcome<T> = Result<T, Box<dyn Error>>;

/// The exit code for arguments that are wrong, as shells have it.
const WRONG_USAGE: u8 = 2;

fn main() -> ExitCode {
    let (result, code) = match Options::from_args(std::env::args().skip(1)) {
        Ok(Some(options)) => (run(&options), ExitCode::FAILURE),
        Ok(None) => (print(options::USAGE), ExitCode::FAILURE),
        Err(error) => (Err(error), ExitCode::from(WRONG_USAGE)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("bench: {error}"));
            code
        }
    }
}

fn run(options: &Options) -> Outcome<()> {
    watchdog::start(options.limit)?;
    plots::prepare(options)?;
    let out = &mut Page::default();
    let mut kept = Ok(());
    if options.part.has(Part::Calls) {
        let results = calls::measure(options)?;
        plots::calls(options, &results)?;
        report::calls(out, &results);
        print(&out.take())?;
    }
    if options.part.has(Part::Fronts) {
        report_fronts::fronts(out, &fronts::measure(options)?);
        print(&out.take())?;
    }
    if let Some(peers) = options.peers.as_deref().filter(|_| options.part.has(Part::Peers)) {
        report_peers::peers(out, &peers::measure(options, peers)?);
        print(&out.take())?;
    }
    if options.part.has(Part::Sandbox) {
        report::connects(out, &connect::measure(options)?);
        print(&out.take())?;
    }
    if options.part.has(Part::Sandbox) && options.harbor {
        report::greeds(out, &greed::measure(options)?);
        print(&out.take())?;
    }
    if options.part == Part::All && options.harbor {
        report::memory(out, &memory::measure(options)?, memory::of_mcp(options)?);
        print(&out.take())?;
        programs::sizes(out, options)?;
        print(&out.take())?;
    }
    if options.part.has(Part::Supervision) && options.harbor {
        report_supervision::crashes(out, &crash::measure(options)?);
        print(&out.take())?;
        report_supervision::fleet(out, &fleet::measure(options)?);
        print(&out.take())?;
        report_supervision::status(out, &status::measure(options)?);
        print(&out.take())?;
    }
    if options.part.has(Part::Host) && options.harbor {
        report_host::host(out, &host::measure(options)?);
        print(&out.take())?;
    }
    if options.part.has(Part::Interpreted) && options.harbor {
        report_interpreted::interpreted(out, &interpreted::measure(options)?);
        print(&out.take())?;
    }
    if options.part.has(Part::Models) && options.harbor {
        report_models::models(out, &models::measure(options)?);
        print(&out.take())?;
    }
    if options.part.has(Part::Agent) && options.harbor {
        report_agent::agent(out, &agent::measure(options)?);
        print(&out.take())?;
    }
    if options.part.has(Part::Budget) && options.harbor {
        let counts = budget::measure(options)?;
        report_budget::budget(out, &counts);
        print(&out.take())?;
        // What comes after it is measured all the same.
        kept = report_budget::keeps(&counts);
    }
    if options.part == Part::Beside && options.harbor {
        report_beside::beside(out, &beside::measure(options)?);
        print(&out.take())?;
        report_beside::large(out, &large::measure(options)?);
        print(&out.take())?;
    }
    if options.part.has(Part::Scale) && options.harbor {
        let figures = scale::measure(options)?;
        plots::scale(options, &figures)?;
        report_scale::scale(out, &figures);
        print(&out.take())?;
    }
    table::goals(out);
    print(&out.take())?;
    kept
}

/// Results go to stdout.
fn print(text: &str) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Progress and errors go to stderr; a closed stderr is no reason to stop.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
