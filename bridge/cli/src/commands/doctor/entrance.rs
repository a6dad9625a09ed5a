//! The entrance to a bridge that runs: its token and its socket are there, or it cannot be reached.
//!
//! Owns the end of a bridge that cannot be reached. Must never end a bridge that makes them anew by itself,
//! as each bridge does in a few seconds.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use harbor_home::Paths;
use harbor_home::lock::holder;

use super::super::bridge::{end_by_signal, is_gone_by};
use super::findings::{Finding, State};

/// The time that a bridge has to make them anew; it looks every three seconds.
const PATIENCE: Duration = Duration::from_secs(8);

/// The time that it has to end.
const END: Duration = Duration::from_secs(10);

const PAUSE: Duration = Duration::from_millis(50);

pub(super) fn look(paths: &Paths, fix: bool) -> Option<Finding> {
    let socket = paths.socket().ok()?;
    let token = paths.token();
    let gone = |path: &Path| path.symlink_metadata().is_err();
    let missing: Vec<_> =
        [("token", &*token), ("socket", &*socket)].into_iter().filter(|(_, path)| gone(path)).collect();
    let pid = holder(&paths.lock()).filter(|_| !missing.is_empty())?.pid;
    let names = missing.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" and ");
    let process = pid.map_or_else(|| "a bridge".into(), |pid| format!("a bridge (process {pid})"));
    let what = format!(
        "{process} runs, but its {names} {} missing: no program can reach it",
        if missing.len() == 1 { "is" } else { "are" }
    );
    if !fix {
        let next = "the bridge makes it again within seconds; if not, `harbor doctor --fix` ends the bridge";
        return Some(Finding::wrong(State::Warning, "socket", what, next));
    }
    let until = Instant::now() + PATIENCE;
    while missing.iter().any(|(_, path)| gone(path)) {
        if Instant::now() >= until {
            return Some(ended(paths, what));
        }
        thread::sleep(PAUSE);
    }
    Some(Finding::wrong(State::Fixed, "socket", what, "done: the bridge has made it again"))
}

fn ended(paths: &Paths, what: String) -> Finding {
    let pid = end_by_signal(paths);
    match pid.is_some() && is_gone_by(Instant::now() + END, pid) {
        true => Finding::wrong(
            State::Fixed,
            "socket",
            what,
            "done: the bridge has ended; the next command starts a new one",
        ),
        false => Finding::wrong(State::Broken, "socket", what, "the bridge does not end; see its log"),
    }
}
