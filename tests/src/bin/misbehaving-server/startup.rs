//! The faults that are there before the first message: exits, wrappers, grandchildren, deaf ears.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio, exit};
use std::thread;
use std::time::Duration;

use harbor_tests::faults::{EXIT_AT_ONCE, Fault, LAST_WORDS, Settings};
use nix::sys::signal::{SigSet, Signal};

use crate::floods;
use crate::server::Server;
use crate::wire::Journal;

/// The first argument of a child that is no server.
pub const LINGERS: &str = "lingers";

/// Nothing of a double stays longer than this.
pub const LIFETIME: Duration = Duration::from_secs(120);

/// Does what the fault says, before stdin is read.
pub fn before_reading(server: &Server) {
    match server.settings.fault {
        Fault::ExitsAtOnce => {
            eprintln!("{LAST_WORDS}");
            exit(EXIT_AT_ONCE);
        }
        Fault::IgnoresShutdown => ignore_signals(),
        Fault::FloodsStderr => floods::begin_on_stderr(),
        Fault::Wrapper => wrap(&server.settings, Fault::None),
        Fault::WrappedGrandchild => wrap(&server.settings, Fault::Grandchild),
        Fault::Grandchild => have_child(server, "attached"),
        Fault::DetachedGrandchild => have_child(server, "detached"),
        Fault::Grandchildren => have_child(server, "parent"),
        Fault::Daemon => have_daemon(server, |_| ()),
        Fault::NamelessDaemon => have_daemon(server, |command| {
            command.env_clear();
        }),
        Fault::EndsSlowly | Fault::LeavesFlood => be_large(),
        _ => {}
    }
}

/// Stays, unless it is killed.
pub fn linger() -> ! {
    thread::sleep(LIFETIME);
    exit(9)
}

fn be_large() {
    for _ in 0..4 {
        thread::spawn(|| {
            let _in_use = vec![1_u8; 16 << 20];
            linger()
        });
    }
}

/// A blocked signal stays pending for ever; that needs no handler, and so no unsafe code.
fn ignore_signals() {
    let signals: SigSet = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect();
    signals.thread_block().expect("signals can be blocked");
}

/// Runs the real server as a child on the same pipes, and waits for it.
fn wrap(settings: &Settings, fault: Fault) -> ! {
    let inner = Settings { fault, ..settings.clone() };
    let own = env::current_exe().expect("the path of this executable");
    let status = Command::new(own).args(inner.to_args()).status().expect("the real server starts");
    exit(status.code().unwrap_or(1))
}

fn have_child(server: &Server, how: &str) {
    start_child(how, server.settings.journal.clone().unwrap_or_default().as_os_str());
}

/// The one in between leads the session and is gone when this returns.
fn have_daemon(server: &Server, prepare: impl FnOnce(&mut Command)) {
    let mut command = child("forks", server.settings.journal.clone().unwrap_or_default().as_os_str());
    prepare(&mut command);
    command.status().expect("the daemon's parent starts");
}

#[allow(clippy::zombie_processes, reason = "it outlives its parent: that is the fault")]
fn start_child(how: &str, journal: &OsStr) {
    child(how, journal).spawn().expect("the child starts");
}

/// It inherits stdout and stderr, so that these do not end with the server.
fn child(how: &str, journal: &OsStr) -> Command {
    let mut command = Command::new(env::current_exe().expect("the path of this executable"));
    command.arg(LINGERS).arg(how).arg(journal).stdin(Stdio::null());
    command
}

/// What a child of a server does all its life.
pub fn linger_as_child(how: &str, journal: &OsStr) -> ! {
    ignore_signals();
    if matches!(how, "detached" | "forks") {
        nix::unistd::setsid().expect("a child can lead a session");
    }
    if matches!(how, "parent" | "forks") {
        start_child("attached", journal);
    }
    if how == "forks" {
        exit(0);
    }
    let writer = Journal::new(Some(journal.into()).filter(|path: &PathBuf| !path.as_os_str().is_empty()));
    writer.write(&format!("grandchild {}", std::process::id()));
    linger()
}
