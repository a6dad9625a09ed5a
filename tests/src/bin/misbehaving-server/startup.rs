//! The faults that are there before the first message: exits, wrappers, grandchildren, deaf ears.

use std::env;
use std::ffi::OsString;
use std::process::{Command, Stdio, exit};
use std::thread;
use std::time::Duration;

use harbor_tests::faults::{EXIT_AT_ONCE, Fault, LAST_WORDS, Settings};
use nix::sys::signal::{SigSet, Signal};

use crate::server::Server;
use crate::wire::Journal;

/// The first argument of a grandchild.
pub const LINGERS: &str = "lingers";

/// Nothing of a double stays longer than this.
const LIFETIME: Duration = Duration::from_secs(120);

/// Does what the fault says, before stdin is read.
pub fn before_reading(server: &Server) {
    match server.settings.fault {
        Fault::ExitsAtOnce => {
            eprintln!("{LAST_WORDS}");
            exit(EXIT_AT_ONCE);
        }
        Fault::IgnoresShutdown => ignore_signals(),
        Fault::Wrapper => wrap(&server.settings),
        Fault::Grandchild => have_grandchild(server, "attached"),
        Fault::DetachedGrandchild => have_grandchild(server, "detached"),
        _ => {}
    }
}

/// Stays, unless it is killed.
pub fn linger() -> ! {
    thread::sleep(LIFETIME);
    exit(9)
}

/// A blocked signal stays pending for ever; that needs no handler, and so no unsafe code.
fn ignore_signals() {
    let signals: SigSet = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect();
    signals.thread_block().expect("signals can be blocked");
}

/// Runs the real server as a child on the same pipes, and waits for it.
fn wrap(settings: &Settings) -> ! {
    let inner = Settings { fault: Fault::None, ..settings.clone() };
    let own = env::current_exe().expect("the path of this executable");
    let status = Command::new(own).args(inner.to_args()).status().expect("the real server starts");
    exit(status.code().unwrap_or(1))
}

#[allow(clippy::zombie_processes, reason = "it outlives its parent: that is the fault")]
fn have_grandchild(server: &Server, how: &str) {
    let own = env::current_exe().expect("the path of this executable");
    let journal = server.settings.journal.clone().unwrap_or_default();
    let mut command = Command::new(own);
    // It inherits stdout and stderr, so that these do not end with the server.
    command.arg(LINGERS).arg(how).arg(journal).stdin(Stdio::null());
    command.spawn().expect("the grandchild starts");
}

/// What a grandchild does all its life.
pub fn linger_as_grandchild(how: Option<OsString>, journal: Option<OsString>) -> ! {
    ignore_signals();
    if how.is_some_and(|how| how == "detached") {
        nix::unistd::setsid().expect("a child can lead a session");
    }
    let journal = Journal::new(journal.filter(|path| !path.is_empty()).map(Into::into));
    journal.write(&format!("grandchild {}", std::process::id()));
    linger()
}
