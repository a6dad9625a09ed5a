//! How long it takes from nothing to a list of tools.
//!
//! Owns the processes of one start each. Must not reuse one, except where a second start is what is measured.

use crate::ask::{self, ask, id};
use crate::harbor::{self, Bridge};
use crate::options::Options;
use crate::request::SERVER;
use crate::wire::Link;
use crate::{Outcome, say, setup, watchdog};
use harbor_ipc_proto::client::{McpDisconnect, RemoveServer};
use std::process::Command;
use std::time::Instant;

/// The times of one way to start, in milliseconds.
#[derive(Debug, Clone)]
pub struct Connects {
    /// For reports.
    pub name: &'static str,
    /// One per start.
    pub times: Vec<f64>,
}

/// Measures all ways in turn. The first is direct, the second the floor.
pub fn measure(options: &Options) -> Outcome<Vec<Connects>> {
    say(&format!("connects: {} of each", options.connects));
    watchdog::step("connecting".to_owned());
    let mut ways = vec![way("direct"), way("floor")];
    let mut harbor = None;
    if options.harbor {
        // The link is closed first: fields are dropped in order, and the bridge ends with its stdin.
        let (bridge, link) = Bridge::start(options)?;
        harbor = Some((link, bridge));
        ways.extend([
            way("Harbor, a server that it does not know"),
            way("Harbor, the same again"),
            way("Harbor, the same, its sandbox off"),
        ]);
    }
    for _ in 0..options.connects {
        watchdog::step("connecting".to_owned());
        ways[0].times.push(plain(&mut Command::new(options.program("echo-server")?))?);
        ways[1].times.push(plain(&mut setup::relays(options)?)?);
        if let Some((link, _)) = &mut harbor {
            let times = through_harbor(options, link)?;
            ways[2..].iter_mut().zip(times).for_each(|(way, time)| way.times.push(time));
        }
    }
    Ok(ways)
}

fn way(name: &'static str) -> Connects {
    Connects { name, times: Vec::new() }
}

fn plain(command: &mut Command) -> Outcome<f64> {
    let begin = Instant::now();
    let (_own, _link) = setup::listed(command)?;
    Ok(begin.elapsed().as_secs_f64() * 1e3)
}

/// Unknown, known, and known without a sandbox: the last two differ in nothing else.
fn through_harbor(options: &Options, link: &mut Link) -> Outcome<[f64; 3]> {
    let (first, again) = unknown_and_known(options, link, "standard")?;
    let (_, unconfined) = unknown_and_known(options, link, "off")?;
    Ok([first, again, unconfined])
}

fn unknown_and_known(options: &Options, link: &mut Link, level: &str) -> Outcome<(f64, f64)> {
    harbor::add_server(options, link, level)?;
    let first = connect(link, SERVER)?;
    disconnect(link, SERVER)?;
    let again = connect(link, SERVER)?;
    // It also forgets what was learned about the server, so that the next one is unknown again.
    ask(link, &RemoveServer { server_id: id(SERVER)?, data: None })?;
    Ok((first, again))
}

/// Ends a server.
pub fn disconnect(link: &mut Link, server: &str) -> Outcome<()> {
    ask(link, &McpDisconnect { server_id: id(server)? })?;
    Ok(())
}

/// The time of a start in milliseconds: the reply to `mcp_connect` carries the tools.
pub fn connect(link: &mut Link, server: &str) -> Outcome<f64> {
    let begin = Instant::now();
    let reply = ask::connect(link, server)?;
    let time = begin.elapsed().as_secs_f64() * 1e3;
    if ask::count(&reply.tools)? > 0 {
        Ok(time)
    } else {
        Err("mcp_connect was answered without tools".into())
    }
}
