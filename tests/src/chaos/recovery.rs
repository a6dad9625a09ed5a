//! After the kills: everything comes back by itself, nothing else is there, and at the end nothing at all.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::{ListServers, McpCallTool, Shutdown};
use harbor_tests::processes::{descendants, describe, outlive};
use harbor_tests::{DOWN_LIMIT, Process};
use nix::sys::signal::Signal;

use crate::link::{Link, Way};
use crate::servers::Subject;
use crate::stage::Stage;
use crate::victims::{self, Kind};

/// A start that hangs, the end of that process, and another start on a busy machine.
pub const BACK: Duration = Duration::from_secs(45);

/// The grandchildren of sound servers: one behind the wrapper, one detached.
const GRANDCHILDREN: usize = 2;

const PAUSE: Duration = Duration::from_millis(50);

/// Waits until every server runs and has answered a call; tells how long that took.
pub fn await_all(stage: &Stage) {
    let begun = Instant::now();
    let mut missing: BTreeSet<&str> = stage.subjects.iter().map(|subject| subject.id).collect();
    while !missing.is_empty() && begun.elapsed() < BACK {
        let Some(link) = Link::demand(stage, Way::Relay) else { break };
        while !missing.is_empty() && begun.elapsed() < BACK && ask(stage, &link, &mut missing) {
            thread::sleep(PAUSE);
        }
        if begun.elapsed() >= BACK {
            missing.iter().for_each(|id| stage.tally.broke(describe_server(&link, id)));
        }
        link.finish(stage);
    }
    let (all, missing) = (stage.subjects.len(), missing.len());
    println!("calm: {} of {all} servers answer {:?} after the last kill", all - missing, begun.elapsed());
}

/// Takes out of `missing` what runs and answers; false when the connection ended.
fn ask(stage: &Stage, link: &Link, missing: &mut BTreeSet<&str>) -> bool {
    let Some(running) = running(link) else { return false };
    for subject in stage.subjects.iter().filter(|subject| running.contains(subject.id)) {
        if missing.contains(subject.id) && answers(link, subject) {
            missing.remove(subject.id);
        }
    }
    true
}

fn running(link: &Link) -> Option<BTreeSet<String>> {
    let servers = link.reply(&ListServers {}).ok()?.servers;
    let running = servers.into_iter().filter(|server| server.state == "running");
    Some(running.map(|server| server.server_id).collect())
}

fn answers(link: &Link, subject: &Subject) -> bool {
    let word = format!("again-{}", subject.id);
    let ask = McpCallTool { timeout_ms: Some(1000), ..subject.echo(&word) };
    link.reply(&ask).is_ok_and(|answer| subject.is_echo(&answer, &word))
}

fn describe_server(link: &Link, id: &str) -> String {
    let servers = link.reply(&ListServers {}).map(|answer| answer.servers).unwrap_or_default();
    let server = servers.into_iter().find(|server| server.server_id == id);
    format!("{id} does not run and answer within {BACK:?} after the last kill: {server:?}")
}

/// Demands that nobody but the one bridge and what belongs to it is left of the storm. No client may be connected.
pub fn nothing_astray(stage: &Stage) {
    let until = Instant::now() + DOWN_LIMIT;
    let mut astray = astray(stage);
    while astray.is_some() && Instant::now() < until {
        thread::sleep(PAUSE);
        astray = self::astray(stage);
    }
    if let Some(astray) = astray {
        stage.tally.broke(format!("{DOWN_LIMIT:?} after the storm: {astray}"));
    }
}

fn astray(stage: &Stage) -> Option<String> {
    let all = victims::all(&stage.home);
    let bridges: Vec<_> = all.iter().filter(|(kind, _)| *kind == Kind::Bridge).map(|(_, one)| *one).collect();
    let [bridge] = bridges[..] else { return Some(format!("{} bridges run", bridges.len())) };
    let below = descendants(bridge.pid);
    let lost: Vec<Process> =
        all.iter().map(|(_, one)| *one).filter(|one| *one != bridge && !below.contains(one)).collect();
    if !lost.is_empty() {
        return Some(format!("these belong to no bridge:{}", describe(&lost)));
    }
    if stage.shared {
        // A shared runner cannot tell whose they are; it ends them after its last server.
        return None;
    }
    let children: Vec<_> = below.into_iter().filter(|one| one.command_line().contains(" lingers ")).collect();
    (children.len() > GRANDCHILDREN).then(|| format!("grandchildren of dead servers:{}", describe(&children)))
}

/// Ends the bridge, and demands that everything goes with it. What does not is named and killed.
pub fn end_all(stage: &Stage, link: Link) {
    let _ = stage.home.processes();
    if let Err(error) = link.reply(&Shutdown {}) {
        stage.tally.broke(format!("shutdown: {error:?}"));
    }
    if !link.wait_closed(DOWN_LIMIT) {
        stage.tally.broke(format!("the bridge is there {DOWN_LIMIT:?} after a shutdown"));
    }
    link.finish(stage);
    let left = outlive(&stage.home.processes(), DOWN_LIMIT);
    if !left.is_empty() {
        stage.tally.broke(format!("left running {DOWN_LIMIT:?} after the end:{}", describe(&left)));
        left.iter().for_each(|process| process.signal(Signal::SIGKILL));
    }
}
