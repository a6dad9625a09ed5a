//! The key of the secrets in the session's keyring (Secret Service), by the program `secret-tool`.
//!
//! ```text
//!  store ─► secret-tool store   (the key on its stdin) ─► looked up again: it is there, or it failed
//!  find  ─► secret-tool lookup ─► nothing said? ─► secret-tool search ─► locked, or not there
//! ```
//!
//! Owns one child at a time, with a limit. Must never put the key into an argument, nor believe an exit code: the bridge's
//! reaper may have had it. A program and no crate: it comes with the keyring, and D-Bus would stay in the bridge's memory
//! for one item that is read once.

use std::io::{ErrorKind, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use harbor_child::own;
use harbor_ipc_proto::secret::Secret;
use harbor_policy::secret_store::{Searched, key, searched};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use zeroize::Zeroizing;

const PROGRAM: &str = "secret-tool";

/// How long the program may take if nobody waits for it: long enough for a slow machine.
pub(super) const BY_ITSELF: Duration = Duration::from_secs(15);

/// How long the program may take if a person may be asked for the keyring's password.
pub(super) const WITH_A_PERSON: Duration = Duration::from_secs(90);

/// The most bytes that it may say; more is an error.
const MOST: usize = 64 << 10;

/// Characters of its complaint that are repeated.
const REPEATED: usize = 200;

const OR_A_FILE: &str = "or set `store = \"file\"` under [secrets] in config.toml";

/// The item of one home.
#[derive(Debug, Clone)]
pub(super) struct Item {
    home: String,
}

impl Item {
    pub(super) fn of(home: &str) -> Self {
        Self { home: home.to_owned() }
    }

    /// The key. None if there is no item.
    ///
    /// # Errors
    /// The advice to the person.
    pub(super) fn find(&self, limit: Duration) -> Result<Option<Secret>, String> {
        let until = Instant::now() + limit;
        let found = run(self.command(&["lookup"]), None, until)?;
        if !found.is_empty() {
            let wrong =
                || format!("the keyring's item for {} is not a key of Harbor; remove it there", self.home);
            return key(&found).map(Some).ok_or_else(wrong);
        }
        match searched(&run(self.command(&["search"]), None, until)?) {
            Searched::Nothing => Ok(None),
            Searched::Locked => {
                Err("the keyring is locked: unlock it, then run `harbor secrets unlock`".into())
            }
            Searched::Open => Err("the keyring does not give the key; try `harbor secrets unlock`".into()),
        }
    }

    /// Stores the key, in the place of another one.
    ///
    /// # Errors
    /// The advice to the person.
    pub(super) fn store(&self, key: &Secret) -> Result<(), String> {
        let until = Instant::now() + WITH_A_PERSON;
        run(self.command(&["store", "--label=Harbor"]), Some(key), until)?;
        match self.find(until.saturating_duration_since(Instant::now()))? {
            Some(found) if found == *key => Ok(()),
            _ => Err(format!("the keyring did not keep the key; check the keyring, {OR_A_FILE}")),
        }
    }

    /// Removes it.
    ///
    /// # Errors
    /// The advice to the person.
    pub(super) fn remove(&self) -> Result<(), String> {
        run(self.command(&["clear"]), None, Instant::now() + BY_ITSELF).map(drop)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words).args(["service", "harbor", "home", &self.home]).env("LC_ALL", "C");
        command
    }
}

/// Runs the program, and returns its standard output.
fn run(mut command: Command, input: Option<&Secret>, until: Instant) -> Result<Zeroizing<Vec<u8>>, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "the program {PROGRAM} is missing: install it (Debian: libsecret-tools, Fedora: libsecret), {OR_A_FILE}"
        ),
        _ => format!("{PROGRAM} cannot be started: {error}"),
    })?;
    let _ = own::files_as_before(child.id());
    let group = KeyringGroupGuard(i32::try_from(child.id()).ok().map(Pid::from_raw));
    let (sender, pieces) = mpsc::channel();
    let started = [
        child.stdout.take().map(|stdout| listen(stdout, true, sender.clone())),
        child.stderr.take().map(|stderr| listen(stderr, false, sender)),
    ];
    let failed = |error: std::io::Error| format!("the output of {PROGRAM} cannot be read: {error}");
    started.into_iter().flatten().collect::<Result<(), _>>().map_err(failed)?;
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        // It fits into the pipe. Who does not read it says why on stderr.
        let _ = stdin.write_all(input.expose().as_bytes());
    }
    let heard = hear(&pieces, until);
    drop(group);
    let _ = child.wait();
    let (said, complaint) = heard?;
    let complaint = String::from_utf8_lossy(&complaint);
    // A search of what is locked says so there, and goes on.
    let harmless =
        |line: &str| line.is_empty() || line.contains("locked object") || line.starts_with("attribute.");
    match complaint.lines().map(str::trim).find(|line| !harmless(line)) {
        None => Ok(said),
        Some(line) => Err(explained(line)),
    }
}

fn explained(line: &str) -> String {
    let line: String = line.chars().filter(|c| !c.is_control()).take(REPEATED).collect();
    let next = if line.contains("locked collection") {
        "unlock the keyring and try again"
    } else {
        "start a Secret Service in this session, such as gnome-keyring, KWallet or KeePassXC"
    };
    format!("the keyring cannot be used ({line}): {next}, {OR_A_FILE}")
}

type Piece = (bool, Zeroizing<Vec<u8>>);
type Heard = (Zeroizing<Vec<u8>>, Vec<u8>);

/// Reads both pipes to their ends.
fn hear(pieces: &mpsc::Receiver<Piece>, until: Instant) -> Result<Heard, String> {
    // As much as it can be, so that nothing of it is left behind where it grew.
    let (mut said, mut complaint) = (Zeroizing::new(Vec::with_capacity(MOST)), Vec::new());
    loop {
        match pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok((is_said, piece)) if said.len() + complaint.len() + piece.len() <= MOST => {
                if is_said {
                    said.extend_from_slice(&piece)
                } else {
                    complaint.extend_from_slice(&piece)
                }
            }
            Ok(_) => {
                return Err(format!(
                    "the output of {PROGRAM} is too long; check that it is the right program"
                ));
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok((said, complaint)),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                return Err(format!(
                    "the keyring did not answer in time, and may be asking for its password; unlock it, then run \
                     `harbor secrets unlock`, {OR_A_FILE}"
                ));
            }
        }
    }
}

/// Passes on what comes through a pipe; ends with the pipe.
fn listen(
    mut pipe: impl Read + Send + 'static,
    is_said: bool,
    to: mpsc::Sender<Piece>,
) -> std::io::Result<()> {
    let read = move || {
        let mut buffer = Zeroizing::new([0; 4096]);
        while let Ok(read @ 1..) = pipe.read(&mut *buffer) {
            let piece = buffer.get(..read).unwrap_or_default().to_vec();
            if to.send((is_said, Zeroizing::new(piece))).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name(PROGRAM.into()).spawn(read).map(drop)
}

/// A process group that ends with this.
struct KeyringGroupGuard(Option<Pid>);

impl Drop for KeyringGroupGuard {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = killpg(group, Signal::SIGKILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Result<String, String> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        let said = run(command, Some(&Secret::new("the key".into())), Instant::now() + limit)?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }

    #[test]
    fn a_child_is_given_the_key_and_heard_to_its_end_within_a_limit() {
        let long = Duration::from_secs(60);
        assert_eq!(shell("cat", long), Ok("the key".into()));
        assert_eq!(shell("echo a; echo 'x: secret of a locked object' >&2", long), Ok("a\n".into()));
        let begun = Instant::now();
        assert!(
            shell("sleep 600", Duration::from_millis(50)).unwrap_err().contains("did not answer in time")
        );
        assert!(shell("yes", long).unwrap_err().contains("is too long"));
        let refused = shell("echo 'no such service \u{1b}[1m' >&2", long).unwrap_err();
        assert!(
            refused.starts_with("the keyring cannot be used (no such service [1m): start a Secret Service"),
            "{refused}"
        );
        assert!(begun.elapsed() < Duration::from_secs(50));
        let none = run(Command::new("/no/such/program"), None, Instant::now() + long).unwrap_err();
        assert!(none.contains("libsecret-tools") && none.contains("store = \"file\""), "{none}");
    }
}
