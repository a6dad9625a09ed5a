//! Kills processes of every kind at random while calls flow, and looks at what is left of Harbor.
//!
//! ```text
//!  5 callers (relays, sockets) + harbor ── calls ──► bridge ──► runners ──► 6 servers with wrappers and grandchildren
//!  a login, conversations ────── calls, turns ──────►  ▲           ▲           ▲     2 servers and a model of this program's
//!  killer ── SIGKILL, SIGTERM, SIGSTOP (SIGCONT) ──────┴───────────┴───────────┘
//!  the home's disk is filled and emptied; another one is unmounted while servers run
//! ```
//!
//! Every request must have one answer, which is its own; a login holds, what was answered in a conversation stays, no call of a
//! turn is made twice; after the last kill everything must run again by itself; after the shutdown nothing. Prints the seed first. Must never signal a process that is not of its own home.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "test support"
)]

#[path = "../chaos/caller.rs"]
mod caller;
#[path = "../chaos/cli.rs"]
mod cli;
#[path = "../chaos/defaults.rs"]
mod defaults;
#[path = "../chaos/desk.rs"]
mod desk;
#[path = "../chaos/dice.rs"]
mod dice;
#[path = "../chaos/files.rs"]
mod files;
#[path = "../chaos/kept.rs"]
mod kept;
#[path = "../chaos/killer.rs"]
mod killer;
#[path = "../chaos/link.rs"]
mod link;
#[path = "../chaos/login.rs"]
mod login;
#[path = "../chaos/midst.rs"]
mod midst;
#[path = "../chaos/mounts.rs"]
mod mounts;
#[path = "../chaos/options.rs"]
mod options;
#[path = "../chaos/recovery.rs"]
mod recovery;
#[path = "../chaos/servers.rs"]
mod servers;
#[path = "../chaos/stage.rs"]
mod stage;
#[path = "../chaos/storm.rs"]
mod storm;
#[path = "../chaos/table.rs"]
mod table;
#[path = "../chaos/talk.rs"]
mod talk;
#[path = "../chaos/tally.rs"]
mod tally;
#[path = "../chaos/victims.rs"]
mod victims;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{ExitCode, exit};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use self::options::{Options, USAGE};
use self::tally::Tally;

/// What everything but the storm may take, before somebody is taken to hang.
const REST: Duration = Duration::from_secs(400);

fn main() -> ExitCode {
    match Options::from_args(std::env::args().skip(1)) {
        Ok(Some(options)) => run(&options),
        Ok(None) => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("chaos: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> ExitCode {
    println!("seed {}", options.seed);
    let tally = Arc::new(Tally::default());
    limit(options.time + REST);
    guarded(&tally, "the storm", || storm::run(options, &tally));
    println!("{}", tally.summary());
    if options.defaults {
        guarded(&tally, "the run with the defaults", defaults::run);
    }
    let broken = tally.broken();
    if broken.is_empty() {
        println!("nothing broke (seed {})", options.seed);
        return ExitCode::SUCCESS;
    }
    println!("broken (seed {}):", options.seed);
    broken.iter().for_each(|what| println!("- {what}"));
    ExitCode::FAILURE
}

/// A driver that hangs would be no result. What it leaves is for the script to end.
fn limit(time: Duration) {
    thread::spawn(move || {
        thread::sleep(time);
        println!("no end in sight after {time:?}");
        exit(3)
    });
}

/// Takes a panic for something that broke.
fn guarded<T>(tally: &Tally, what: &str, work: impl FnOnce() -> T) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.map_err(|panic| tally.broke(format!("{what}: {}", panic_text(panic.as_ref())))).ok()
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}
