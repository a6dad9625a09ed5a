//! Ctrl-C: the first one stops the turn and keeps what has come, the next one ends us.
//!
//! Owns signals while there may be a turn, and that the terminal is as it was when one of them ends us. Must
//! never stop a turn that nobody waits for, nor leave a private conversation behind.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use harbor_client::errors::Failure;
use harbor_home::Paths;
use harbor_ipc_proto::client::{ChatDeleteSession, ChatStop};
use nix::sys::signal::{Signal, raise};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};

use super::super::signals::Signals;
use crate::client::{Canceller, Client};

/// The time that the bridge has to say that a private session is gone. A person waits for the program to end
/// meanwhile.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The session whose turn the next Ctrl-C stops, and the private session that ends with us.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<Mutex<StopTargets>>);

#[derive(Debug, Default)]
struct StopTargets {
    turn: Option<String>,
    private: Option<String>,
}

impl Stopper {
    /// Handles signals from now on, until the program ends.
    pub fn obey_signals(client: &Client, paths: &Paths) -> Result<Self, Failure> {
        let failed = |error| Failure::Io("hold signals back", error);
        let canceller = client.canceller().map_err(failed)?;
        let signals = Signals::hold_back().map_err(|errno| failed(errno.into()))?;
        let (stopper, before) = (Self::default(), tcgetattr(io::stdin()).ok());
        let (theirs, paths) = (stopper.clone(), paths.clone());
        thread::spawn(move || theirs.obey(signals, canceller, &paths, before.as_ref()));
        Ok(stopper)
    }

    pub fn arm(&self, session: &str) {
        self.set(Some(session.to_owned()));
    }

    pub fn disarm(&self) {
        self.set(None);
    }

    /// This session goes when a signal ends us.
    pub fn goes_with_us(&self, session: &str) {
        self.held().private = Some(session.to_owned());
    }

    fn set(&self, session: Option<String>) -> Option<String> {
        std::mem::replace(&mut self.held().turn, session)
    }

    fn held(&self) -> MutexGuard<'_, StopTargets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs as long as the program.
    fn obey(&self, signals: Signals, mut canceller: Canceller, paths: &Paths, before: Option<&Termios>) {
        while let Ok(signal) = signals.wait() {
            match signal {
                Signal::SIGCONT => {}
                Signal::SIGTSTP => {
                    let _ = raise(Signal::SIGSTOP);
                }
                signal => {
                    let session = if signal == Signal::SIGINT { self.set(None) } else { None };
                    // Where the bridge is gone, so is the turn, and who waits for it hears of it.
                    match session.map(|session_id| canceller.say(&ChatStop { session_id })) {
                        Some(Ok(())) => {}
                        // Held to the end: the turn ends with its session, and must not end the program in another way.
                        Some(Err(_)) | None => {
                            let mut held = self.held();
                            held.private.take().into_iter().for_each(|session| forget(paths, session));
                            end(signals, signal, before);
                        }
                    }
                }
            }
        }
    }
}

/// Deletes a session, and waits until it is gone: a request ends with its connection. Another thread may wait
/// for an answer on ours, so this opens its own connection. If the bridge is gone, so is the session.
fn forget(paths: &Paths, session_id: String) {
    if let Ok(Some(mut client)) = Client::connect_running(paths) {
        let _ = client.ask(&ChatDeleteSession { session_id }, LAST_WORDS);
    }
}

/// Ends us as the signal would have. A line that is being edited has the terminal in its own mode.
fn end(signals: Signals, signal: Signal, before: Option<&Termios>) {
    if let Some(before) = before {
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
    }
    let _ = signals.obey(signal);
}
