//! Starts a bridge that outlives us, and waits until it listens.
//!
//! Owns the contract with `harbor-bridge serve --detached`. On its stdout the bridge says `ready` once it
//! listens, or why it cannot: its log may be on the disk that is full. Exit code 75 means that another bridge
//! holds the lock. Everything else is in its log. The new bridge must never inherit anything of ours but the
//! environment, and from that not the variable that says whose server we are.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use harbor_policy::environment::INSTANCE_MARK;

use crate::files::own_directory;
use crate::parent_directories::home_directory;

use super::{Dial, DialError, RETRY, Role, is_ours, is_timeout};

/// The exit code of a bridge that found the lock held.
pub const EXIT_LOCKED: i32 = 75;

/// The line of a bridge that listens.
const READY: &[u8] = b"ready\n";

/// No sane bridge says more on its stdout, in bytes.
const MAX_GREETING: usize = 4096;

/// A log that is longer when a bridge is started is put aside, in bytes.
const MAX_LOG: u64 = 1024 * 1024;

/// The bytes of the log's end that an error quotes.
const TAIL_BYTES: u64 = 4096;
const TAIL_LINES: usize = 8;

impl Dial {
    /// Starts a bridge and waits until it listens. False: another one holds the lock.
    pub(super) fn start_bridge(&self) -> Result<bool, DialError> {
        let failed = |error| DialError::Io("start", self.program.clone(), error);
        let log = self.open_log()?;
        let logged = log.metadata().map_or(0, |metadata| metadata.len());
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let mut child = self.spawn(log, theirs).map_err(failed)?;
        let said = self.hear(&ours).map_err(failed)?;
        if said.starts_with(READY) {
            if matches!(self.role, Role::Mcp { .. }) {
                // This program may outlive that bridge, which would stay in the table of processes until then.
                thread::spawn(move || child.wait());
            }
            return Ok(true);
        }
        match self.wait_for_exit(&mut child).map_err(failed)? {
            Some(status) if status.code() == Some(EXIT_LOCKED) => Ok(false),
            Some(status) => {
                let mut tail = read_tail(&self.log, logged);
                if tail.is_empty() {
                    tail = String::from_utf8_lossy(said.trim_ascii()).into_owned();
                }
                Err(DialError::Ended { status, log: self.log.clone(), tail })
            }
            // It goes on: on a slow machine it may still come up, and the next program then finds it.
            None => Err(self.slow("the bridge to be ready")),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["serve", "--detached"])
            // A relative HARBOR_HOME would mean another place there, since the bridge runs in `/`.
            .env("HARBOR_HOME", &self.home)
            // A server may have started us. The new bridge is no part of it, and must not be ended with it.
            .env_remove(INSTANCE_MARK)
            // Nor is it the service that we may be: it must not say that this one is ready.
            .env_remove("NOTIFY_SOCKET")
            .current_dir("/");
        command
    }

    fn spawn(&self, log: File, stdout: UnixStream) -> io::Result<Child> {
        self.command()
            .stdin(Stdio::null())
            // A socket pair and no pipe, since it takes a time limit; to the child they look the same.
            .stdout(OwnedFd::from(stdout))
            .stderr(log)
            .spawn()
    }

    /// The home is looked at first, as the bridge will: nothing is made where a link of somebody else's leads.
    fn open_log(&self) -> Result<File, DialError> {
        let failed = |error| DialError::Io("open", self.log.clone(), error);
        home_directory(&self.home).map_err(DialError::Home)?;
        // The log of a read-only home lies in a directory whose name others can guess.
        let work = self.log.parent().and_then(Path::parent).filter(|work| *work != self.home);
        work.map_or(Ok(()), own_directory).map_err(DialError::Home)?;
        if let Some(dir) = self.log.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
            is_ours(dir)?;
        }
        self.put_long_log_aside();
        OpenOptions::new().append(true).create(true).mode(0o600).open(&self.log).map_err(failed)
    }

    /// Sets a long log aside. That is impossible while a bridge writes, so it is done before the start. The
    /// bridge is started even if it fails.
    fn put_long_log_aside(&self) {
        let is_long = |log: fs::Metadata| log.is_file() && log.len() > MAX_LOG;
        if fs::symlink_metadata(&self.log).is_ok_and(is_long) {
            let _ = fs::rename(&self.log, self.log.with_extension("log.1"));
        }
    }

    /// Reads stdout until the bridge is ready, closes it, or the time is up.
    fn hear(&self, mut stdout: &UnixStream) -> io::Result<Vec<u8>> {
        let (mut said, mut piece) = (Vec::new(), [0; 64]);
        while !said.starts_with(READY) && said.len() < MAX_GREETING {
            stdout.set_read_timeout(Some(self.left()))?;
            match stdout.read(&mut piece) {
                Ok(0) => break,
                Ok(n) => said.extend_from_slice(&piece[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(said)
    }

    fn wait_for_exit(&self, child: &mut Child) -> io::Result<Option<ExitStatus>> {
        loop {
            match child.try_wait()? {
                None if self.left() > RETRY => thread::sleep(Duration::from_millis(5)),
                status => return Ok(status),
            }
        }
    }
}

/// The last lines that were logged behind byte `from`.
fn read_tail(path: &Path, from: u64) -> String {
    let read = || -> io::Result<String> {
        let mut log = File::open(path)?;
        let start = log.metadata()?.len().saturating_sub(TAIL_BYTES).max(from);
        log.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        log.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
    use std::time::Instant;

    fn dial(home: &Path) -> Dial {
        Dial {
            home: home.to_owned(),
            run_dir: home.join("run"),
            socket: home.join("run/bridge.sock"),
            token: home.join("run/token"),
            lock: home.join("run/bridge.lock"),
            log: home.join("logs/bridge.log"),
            program: home.join("harbor-bridge"),
            role: Role::Cli,
            until: Instant::now(),
        }
    }

    #[test]
    fn a_bridge_that_a_server_starts_does_not_bear_its_mark() {
        let home = tempfile::tempdir().unwrap();
        let command = dial(home.path()).command();
        assert!(command.get_envs().any(|variable| variable == (OsStr::new("HARBOR_INSTANCE"), None)));
    }

    #[test]
    fn a_bridge_that_cannot_log_is_heard() {
        let home = tempfile::tempdir().unwrap();
        let dial = Dial { until: Instant::now() + Duration::from_secs(10), ..dial(home.path()) };
        let start = |script: &str| {
            let program = format!("#!/bin/sh\n{script}\n");
            fs::write(&dial.program, program).unwrap();
            fs::set_permissions(&dial.program, fs::Permissions::from_mode(0o700)).unwrap();
            dial.start_bridge().map_err(|error| error.to_string())
        };
        assert_eq!(start("echo ready; exec sleep 0"), Ok(true));
        assert_eq!(start("echo why not; exit 75"), Ok(false));
        let ended = |said: &str| {
            let log = dial.log.display();
            Err(format!("the bridge ended while it started (exit status: 1):\n{said}\nIts log: {log}"))
        };
        assert_eq!(start("echo the disk; echo is full; exit 1"), ended("the disk\nis full"));
        assert_eq!(start("echo on stdout; echo logged >&2; exit 1"), ended("logged"));
        assert_eq!(start("exit 1"), ended("it logged nothing"));
    }

    #[test]
    fn nothing_is_made_where_a_home_is_not_ones_own() {
        let place = tempfile::tempdir().unwrap();
        let open = place.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        let refused = dial(&open).start_bridge().unwrap_err();
        assert!(matches!(refused, DialError::Home(_)), "{refused}");
        assert!(refused.to_string().ends_with("set HARBOR_HOME to a directory that you own"), "{refused}");
        assert!(!open.join("logs").exists());
        let (docs, link) = (place.path().join("docs"), place.path().join("link"));
        fs::create_dir(&docs).unwrap();
        symlink(&docs, &link).unwrap();
        // Only root makes a link another user's.
        if lchown(&link, Some(12_345), None).is_ok() {
            let refused = dial(&link).start_bridge().unwrap_err().to_string();
            assert!(refused.contains("it is another user's (12345)"), "{refused}");
            assert!(!docs.join("logs").exists());
        }
    }

    #[test]
    fn a_long_log_is_put_aside_before_a_bridge_is_started() {
        let home = tempfile::tempdir().unwrap();
        let dial = dial(home.path());
        let length = || dial.open_log().unwrap().metadata().unwrap().len();
        let aside = home.path().join("logs/bridge.log.1");
        assert_eq!(length(), 0);
        File::options().write(true).open(&dial.log).unwrap().set_len(MAX_LOG).unwrap();
        assert_eq!((length(), aside.exists()), (MAX_LOG, false));
        File::options().write(true).open(&dial.log).unwrap().set_len(MAX_LOG + 1).unwrap();
        assert_eq!((length(), aside.metadata().unwrap().len()), (0, MAX_LOG + 1));
    }
}
