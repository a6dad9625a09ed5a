//! What each further tool costs that the bridge knows of: a call, a list for an origin that may see few of them, memory.
//!
//! Owns a bridge and its home per number of tools. Must give the origin the same few tools, however many there are.

use crate::ask::{ask, count, request};
use crate::caller::{Caller, Tool};
use crate::grants;
use crate::harbor::Bridge;
use crate::home::Home;
use crate::options::Options;
use crate::process::{self, Memory};
use crate::request::SERVER;
use crate::scale::{SETTLE, connect_echo};
use crate::stats::median;
use crate::wire::Link;
use crate::{Outcome, say, watchdog};
use harbor_ipc_proto::client::HostListTools;
use std::thread::sleep;
use std::time::Instant;

/// How many of the tools the origin may see.
pub const SEEN: usize = 10;

/// What was found with one number of tools.
#[derive(Debug)]
pub struct Shelf {
    /// How many tools.
    pub tools: usize,
    /// Median time of a small call to a server beside them, in microseconds.
    pub call: f64,
    /// Median time of a list for the origin, in microseconds.
    pub list: f64,
    /// What the bridge held when nothing had been called.
    pub bridge: Memory,
}

/// Measures every number of tools.
pub fn measure(options: &Options) -> Outcome<Vec<Shelf>> {
    options.scale.tools.iter().map(|count| shelf(options, *count)).collect()
}

fn shelf(options: &Options, tools: usize) -> Outcome<Shelf> {
    say(&format!("tools: {tools}"));
    watchdog::step(format!("{tools} tools"));
    let per_server = tools / grants::SERVERS;
    let home = Home::new()?;
    grants::configure(&home)?;
    let (bridge, mut link) = Bridge::start_in(options, home)?;
    grants::add_servers(options, &mut link, per_server)?;
    drop(link);
    let home = bridge.end();
    grants::put(&home, grants::few(SEEN))?;
    let (bridge, mut link) = Bridge::start_in(options, home)?;
    grants::connect_servers(&mut link, per_server)?;
    connect_echo(options, &mut link, SERVER)?;
    sleep(SETTLE);
    let held = process::memory(bridge.pid())?;
    let mut caller = Caller::of_server(bridge.attach()?, SERVER, Tool::Small, 1)?;
    caller.one_at_a_time(options.small_calls / 10)?;
    let call = median(caller.one_at_a_time(options.small_calls)?);
    let list = median(lists(options, &mut link)?);
    drop((caller, link));
    Ok(Shelf { tools, call, list, bridge: held })
}

fn lists(options: &Options, link: &mut Link) -> Outcome<Vec<f64>> {
    let list = HostListTools { origin: Some(grants::site(0)), profile: None, tab_id: None, server_ids: None };
    let count = count(&ask(link, &list)?.tools.to_json())?;
    if count != SEEN {
        return Err(format!("{count} tools are listed instead of {SEEN}").into());
    }
    let request = request(&list);
    let mut times = Vec::with_capacity(options.lists);
    for _ in 0..options.lists {
        let begin = Instant::now();
        link.send(&request)?;
        link.receive()?;
        times.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    Ok(times)
}
