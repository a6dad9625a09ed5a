//! A process of ours at the other end of a link: a runner, or the catalog worker.
//!
//! Owns that it ends: one that nobody holds any more has a grace, and is killed then. Must be used from the bridge's main
//! thread only: the parent-death signal of these processes is tied to it.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use harbor_child::link::{self, Ends};
use harbor_child::own;
use harbor_child::reaper::{ChildGroup, Exit, Reaper, send};
use harbor_child::signal::Signal;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// A program to start, and how long it may take to end once it is no longer needed.
#[derive(Debug)]
pub(super) struct ChildProgram<'a> {
    pub executable: &'a File,
    pub name: &'static str,
    pub grace: Duration,
}

/// The process.
#[derive(Debug)]
pub(super) struct Process {
    pid: u32,
    alive: Rc<Cell<bool>>,
    released: Rc<Notify>,
}

impl Process {
    /// Starts it with a link as its standard input and output, the bridge's pid as its first argument and an empty
    /// environment; `adjust` says the rest. Returns our ends of the link, and the task that waits for its end.
    ///
    /// # Errors
    /// When the system is out of processes or file descriptors.
    pub(super) fn start(
        program: &ChildProgram<'_>,
        reaper: &Reaper,
        adjust: impl FnOnce(&mut Command),
    ) -> io::Result<(Self, Ends, JoinHandle<Option<Exit>>)> {
        let (mine, [stdin, stdout]) = link::pair()?;
        let mut command = Command::new(format!("/proc/self/fd/{}", program.executable.as_raw_fd()));
        command.arg0(program.name).arg(std::process::id().to_string()).env_clear();
        command.process_group(0).stdin(stdin).stdout(stdout);
        adjust(&mut command);
        let pid = command.spawn()?.id();
        // It starts nothing before it is told to. One that has ended already is seen below.
        let _ = own::files_as_before(pid);
        let exited = reaper.watch(pid, ChildGroup::Own);
        let (alive, released) = (Rc::new(Cell::new(true)), Rc::<Notify>::default());
        let process = Self { pid, alive: alive.clone(), released: released.clone() };
        let grace = program.grace;
        let ended = tokio::task::spawn_local(async move {
            let mut exited = exited;
            let in_time = async {
                released.notified().await;
                tokio::time::sleep(grace).await;
            };
            let exit = tokio::select! {
                exit = &mut exited => exit,
                () = in_time => {
                    kill(pid, &alive);
                    exited.await
                }
            };
            alive.set(false);
            exit.ok()
        });
        Ok((process, mine, ended))
    }

    /// Its process id.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// The signal that the process is no longer needed. Dropping the process gives it, too.
    pub(super) fn released(&self) -> Rc<Notify> {
        self.released.clone()
    }

    /// Ends it at once.
    pub(super) fn kill(&self) {
        kill(self.pid, &self.alive);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.released.notify_one();
    }
}

fn kill(pid: u32, alive: &Cell<bool>) {
    if alive.get() {
        // It may have ended since: then there is nothing to do.
        let _ = send(pid, Signal::SIGKILL);
    }
}
