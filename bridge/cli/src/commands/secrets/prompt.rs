//! Questions on the terminal whose answers are not shown.
//!
//! ```text
//!  echo off ─► question ─► a line ─► echo as it was        signal ─► echo as it was ─► the signal
//! ```
//!
//! Owns that the terminal is as it was, however we end: by return, by error, by signal; and while we are suspended. Must never
//! keep more of the line than the value.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use harbor_client::errors::Failure;
use harbor_ipc_proto::secret::Secret;
use nix::sys::signal::{Signal, raise};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::super::signals::Signals;
use crate::table::flatten;

/// A terminal hands over no longer line, in bytes.
const LONGEST: usize = 4095;

/// The number of tries after wrong answers.
const MOST_TRIES: usize = 3;

/// Asks for secrets, one after the other.
pub fn ask(questions: &[String]) -> Result<Vec<Secret>, Failure> {
    ask_until(questions, &|_, _| None)
}

/// Asks for secrets, each again while `wrong` says what is expected instead.
pub fn ask_until(
    questions: &[String],
    wrong: &dyn Fn(usize, &Secret) -> Option<String>,
) -> Result<Vec<Secret>, Failure> {
    // Before there is anything to be given back.
    let signals = Signals::hold_back().map_err(|errno| failed(errno.into()))?;
    let hidden = Hidden::begin().map_err(failed)?;
    let echo = hidden.0.clone();
    thread::spawn(move || obey(signals, &echo));
    let asked = |(at, question): (usize, &String)| {
        let mut expected = String::new();
        for _ in 0..MOST_TRIES {
            let value = ask_one(&format!("{expected}{question}"))?;
            match wrong(at, &value) {
                Some(other) => expected = format!("expected {}\n", flatten(&other)),
                None => return Ok(value),
            }
        }
        Err(Failure::Usage(expected.trim_end().to_owned()))
    };
    questions.iter().enumerate().map(asked).collect()
}

/// Asks for one secret. To get several, ask for all at once, since signals stay held back until we end.
pub fn ask_for(question: &str) -> Result<Secret, Failure> {
    let mut answers = ask(&[question.to_owned()])?;
    Ok(answers.pop().unwrap_or_else(|| Secret::new(String::new())))
}

fn ask_one(question: &str) -> Result<Secret, Failure> {
    say(question).map_err(failed)?;
    let mut line = Zeroizing::new(String::with_capacity(LONGEST + 1));
    let read = io::stdin().read_line(&mut line);
    // The newline was typed, and not shown.
    say("\n").map_err(failed)?;
    read.map_err(failed)?;
    if line.len() >= LONGEST {
        return Err(Failure::Usage("that is too long for a terminal; pass it on stdin".into()));
    }
    Ok(Secret::new(line.trim_end_matches(['\n', '\r']).to_owned()))
}

fn failed(error: io::Error) -> Failure {
    Failure::Io("ask for the value", error)
}

/// Writes to the terminal itself, wherever our output goes.
fn say(text: &str) -> io::Result<()> {
    match OpenOptions::new().write(true).open("/dev/tty") {
        Ok(mut terminal) => terminal.write_all(text.as_bytes()),
        Err(_) => io::stderr().write_all(text.as_bytes()),
    }
}

/// The terminal without its echo, until this is dropped.
struct Hidden(Arc<Echo>);

/// The terminal's former settings; nothing once they are restored for good.
struct Echo(Mutex<Option<Termios>>);

impl Hidden {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let hidden = Self(Arc::new(Echo(Mutex::new(Some(before)))));
        hidden.0.hide()?;
        Ok(hidden)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        self.0.give_back();
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Echo {
    fn hide(&self) -> io::Result<()> {
        let before = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut hidden) = before.clone() else { return Ok(()) };
        hidden.local_flags.remove(LocalFlags::ECHO | LocalFlags::ECHONL);
        // What was typed ahead was shown already, and is not meant.
        Ok(tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &hidden)?)
    }

    fn give_back(&self) {
        if let Some(before) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            // A terminal that has gone has nothing to be given back.
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
        }
    }
}

/// Gives the terminal back before each signal has its effect. Runs as long as the program.
fn obey(signals: Signals, echo: &Echo) {
    while let Ok(signal) = signals.wait() {
        match signal {
            Signal::SIGCONT => {}
            Signal::SIGTSTP => {
                echo.give_back();
                let _ = raise(Signal::SIGSTOP);
                // Whoever continues us wants to go on typing.
                let _ = echo.hide();
            }
            signal => {
                echo.give_back();
                let _ = signals.obey(signal);
            }
        }
    }
}
