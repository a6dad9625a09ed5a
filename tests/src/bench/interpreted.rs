//! The cost of servers that Harbor interprets, compared with a native server: a start, a call, memory, many servers.
//!
//! ```text
//!  native       driver ── socket ── bridge ── runner ── echo-server
//!  JavaScript   driver ── socket ── bridge ── runner ── harbor-runner-js: a script
//!  WebAssembly  driver ── socket ── bridge ── runner ── harbor-runner-wasm: a module
//! ```
//!
//! All three are servers of one bridge, have the tool `echo`, and take turns within each repetition. Owns their definitions,
//! which are those of `harbor add`. Must not judge; the goals are the report's.

use crate::ask::{Pids, ask, program, servers};
use crate::caller::{Caller, Tool};
use crate::connect::{connect, disconnect};
use crate::fleet::{self, SERVERS};
use crate::harbor::Bridge;
use crate::options::Options;
use crate::process::{self, Memory};
use crate::scale::SETTLE;
use crate::stats::median;
use crate::wire::{Framing, Link};
use crate::{Outcome, say, watchdog};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_ipc_proto::client::{AddServer, NetworkKind, SandboxSettings};
use harbor_ipc_proto::field::JsonObject;
use harbor_policy::program::{JS_RUNNER, WASM_RUNNER};
use harbor_tests::wasm;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;

const SCRIPT: &str = r#"import { serve } from "harbor:mcp";
serve({ name: "echo", tools: { echo: { input: { properties: { text: { type: "string" } } }, run: ({ text }) => text } } });
"#;

/// The names of the servers, the one that is not interpreted first; also their ids.
pub const NAMES: [&str; 3] = ["native", "JavaScript", "WebAssembly"];

/// Figures of one server.
#[derive(Debug)]
pub struct Way {
    /// Which of [`NAMES`].
    pub name: &'static str,
    /// From a start to the list of its tools, in milliseconds; one for each start.
    pub starts: Vec<f64>,
    /// A small call, the median of each repetition, in microseconds.
    pub calls: Vec<f64>,
    /// The memory of its process, at each look.
    pub held: Vec<Memory>,
}

/// All figures.
#[derive(Debug)]
pub struct Figures {
    /// In the order of [`NAMES`].
    pub ways: [Way; 3],
    /// The memory of QuickJS without a script, at each look.
    pub empty: Vec<Memory>,
    /// Scripts that start with a bridge.
    pub fleet: Fleet,
}

/// Many scripts.
#[derive(Debug)]
pub struct Fleet {
    /// From the start of the bridge until the last one ran, in milliseconds.
    pub times: Vec<f64>,
    /// The memory of each runner. Its init is counted in if this user may look into it.
    pub runners: Vec<Memory>,
    /// How many inits are in these figures.
    pub inits: usize,
    /// The memory of each interpreter.
    pub interpreters: Vec<Memory>,
}

/// Measures everything.
pub fn measure(options: &Options) -> Outcome<Figures> {
    say(&format!("interpreted servers: {} starts, {} repetitions", options.connects, options.repetitions));
    watchdog::step("building a module".to_owned());
    let definitions =
        [program(NAMES[0], &options.program("echo-server")?, &[])?, script(NAMES[1])?, module(NAMES[2])?];
    let mut ways = NAMES.map(|name| Way { name, starts: Vec::new(), calls: Vec::new(), held: Vec::new() });
    let (bridge, _stdio) = Bridge::start(options)?;
    let mut link = bridge.attach()?;
    for (definition, name) in definitions.iter().zip(NAMES) {
        ask(&mut link, definition)?;
        // The bridge is to know the server before its starts are measured.
        connect(&mut link, name)?;
        disconnect(&mut link, name)?;
    }
    for _ in 0..options.connects {
        watchdog::step("starting interpreted servers".to_owned());
        for way in &mut ways {
            way.starts.push(connect(&mut link, way.name)?);
            disconnect(&mut link, way.name)?;
        }
    }
    let empty: Outcome<Vec<_>> = (0..options.fleets).map(|_| look(options, &mut link, &mut ways)).collect();
    let empty = empty?;
    calls(options, &bridge, &mut link, &mut ways)?;
    drop(link);
    Ok(Figures { ways, empty, fleet: fleet(options)? })
}

/// A server that Harbor interprets, as `harbor add` defines it: without a network.
fn interpreted(server: &str, interpreter: &str, file: &str) -> Outcome<AddServer> {
    let sandbox = SandboxSettings { network: Some(NetworkKind::None), ..SandboxSettings::default() };
    let definition = program(server, Path::new(interpreter), &[file.to_owned()])?;
    Ok(AddServer { sandbox: Some(JsonObject::written(&sandbox)), ..definition })
}

fn script(server: &str) -> Outcome<AddServer> {
    Ok(AddServer { script: Some(SCRIPT.to_owned()), ..interpreted(server, JS_RUNNER, "/bench/echo.js")? })
}

fn module(server: &str) -> Outcome<AddServer> {
    let bytes = std::fs::read(wasm::echo())?;
    say(&format!("the module has {} KiB", bytes.len() / 1024));
    let module = Some(STANDARD.encode(bytes));
    Ok(AddServer { module, ..interpreted(server, WASM_RUNNER, "/bench/echo.wasm")? })
}

/// Starts all three and an interpreter without a script, whose memory is given, and looks at all of them.
fn look(options: &Options, link: &mut Link, ways: &mut [Way]) -> Outcome<Memory> {
    watchdog::step("memory of interpreted servers".to_owned());
    // The link is closed first: the process ends with its stdin.
    let mut empty = Command::new(options.program("empty-interpreter")?);
    let (empty, _stdin) = process::start(&mut empty, Framing::Line)?;
    ways.iter().try_for_each(|way| connect(link, way.name).map(drop))?;
    sleep(SETTLE);
    let running = servers(link)?;
    for way in ways {
        let server = running.iter().find(|server| server.server_id == way.name);
        way.held.push(process::memory(Pids::of(server.ok_or("a server is not listed")?)?.server)?);
        disconnect(link, way.name)?;
    }
    process::memory(empty.pid())
}

fn calls(options: &Options, bridge: &Bridge, link: &mut Link, ways: &mut [Way]) -> Outcome<()> {
    let mut callers = Vec::new();
    for name in NAMES {
        connect(link, name)?;
        let mut caller = Caller::of_server(bridge.attach()?, name, Tool::Small, 1)?;
        caller.one_at_a_time(options.small_calls / 10)?;
        callers.push(caller);
    }
    for _ in 0..options.repetitions {
        watchdog::step("calling interpreted servers".to_owned());
        for (way, caller) in ways.iter_mut().zip(&mut callers) {
            way.calls.push(median(caller.one_at_a_time(options.small_calls)?));
        }
    }
    Ok(())
}

fn fleet(options: &Options) -> Outcome<Fleet> {
    say(&format!("{SERVERS} scripts: {} starts", options.fleets));
    watchdog::step(format!("defining {SERVERS} scripts"));
    fleet::starts(options, fleet::defined_as(options, SERVERS, script)?, |times, _, link| {
        sleep(SETTLE);
        let mut fleet = Fleet { times, runners: Vec::new(), inits: 0, interpreters: Vec::new() };
        for server in servers(link)? {
            let (runner, init) = fleet::held_for(&server)?;
            fleet.inits += usize::from(init.is_some());
            fleet.runners.push(init.map_or(runner, |init| runner + init));
            fleet.interpreters.push(process::memory(Pids::of(&server)?.server)?);
        }
        Ok(fleet)
    })
}
