//! A terminal with a program in it: what is typed goes in, what would be seen comes out.
//!
//! ```text
//!  test ── "key 71", "size 80 24", "signal 15", "unplug" ──► python3 ── pty ──► the program
//!    └── Screen ◄── what it writes ───────────────────┘
//! ```
//!
//! Owns reading as much of a terminal's language as the program under test writes. Must never be used with one that writes
//! more: what is not understood is left out. Python makes the pseudo-terminal, which takes calls without safe wrappers here.

use std::io::{Read, Write};
use std::process::{ChildStdin, Command};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use harbor_ipc_proto::hex::hex;
use nix::sys::signal::Signal;

use crate::attacker::PYTHON;
use crate::{LIMIT, Program, wait_until};

/// Tells at its end how the program ended, and whether the terminal is as it was: `ended -15 True`.
const SCRIPT: &str = r#"
import fcntl, os, pty, select, signal, struct, subprocess, sys, termios
ours, theirs = pty.openpty()
def resize(columns, lines):
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
def begin():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
resize(80, 24)
before = termios.tcgetattr(theirs)
watched = [0, ours]
program = subprocess.Popen(sys.argv[1:], stdin=theirs, stdout=theirs, preexec_fn=begin)
orders = b""
while program.poll() is None:
    for ready in select.select(watched, [], [], 0.02)[0]:
        got = os.read(ready, 65536)
        if ready == ours:
            os.write(1, got)
            continue
        if not got:
            program.kill()
        *lines, orders = (orders + got).split(b"\n")
        for line in lines:
            word, *rest = line.decode().split()
            if word == "key": os.write(ours, bytes.fromhex(rest[0]))
            if word == "size": resize(int(rest[0]), int(rest[1]))
            if word == "signal": program.send_signal(int(rest[0]))
            if word == "unplug":
                watched = [0]
                os.close(ours)
                os.close(theirs)
while ours in watched and select.select([ours], [], [], 0)[0]:
    os.write(1, os.read(ours, 65536))
same = ours in watched and termios.tcgetattr(theirs) == before
print("ended", program.returncode, same, file=sys.stderr, flush=True)
"#;

/// The terminal; 80 by 24 at first.
#[derive(Debug)]
pub struct Terminal {
    program: Program,
    orders: ChildStdin,
    screen: Arc<Mutex<Screen>>,
}

impl Terminal {
    /// Starts a program in it.
    ///
    /// # Panics
    /// When that cannot be done.
    #[must_use]
    pub fn start(command: &Command) -> Self {
        let mut python = Command::new(PYTHON);
        python.args(["-c", SCRIPT]).arg(command.get_program()).args(command.get_args());
        python.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => python.env(name, value),
                None => python.env_remove(name),
            };
        }
        let mut program = Program::start(&mut python);
        let (orders, mut output) = program.pipes();
        let screen = Arc::new(Mutex::new(Screen::default()));
        let shown = Arc::clone(&screen);
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut piece) {
                shown.lock().unwrap_or_else(PoisonError::into_inner).write(&piece[..n]);
            }
        });
        Self { program, orders, screen }
    }

    /// Types this.
    pub fn press(&mut self, keys: &str) {
        self.order(&format!("key {}", hex(keys.as_bytes())));
    }

    /// Makes it this large.
    pub fn resize(&mut self, columns: u16, lines: u16) {
        self.order(&format!("size {columns} {lines}"));
    }

    /// Sends the program a signal.
    pub fn signal(&mut self, signal: Signal) {
        self.order(&format!("signal {}", signal as i32));
    }

    /// Takes the terminal away, as a closed window does.
    pub fn unplug(&mut self) {
        self.order("unplug");
    }

    fn order(&mut self, order: &str) {
        writeln!(self.orders, "{order}").expect("the terminal takes orders while its program runs");
    }

    /// What is seen.
    #[must_use]
    pub fn text(&self) -> String {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).text()
    }

    /// Waits until this is seen.
    ///
    /// # Panics
    /// When it is not.
    pub fn wait_for(&self, wanted: &str) {
        let last = std::cell::RefCell::default();
        let seen = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait_until(wanted, LIMIT, || {
                *last.borrow_mut() = self.text();
                last.borrow().contains(wanted)
            });
        }));
        assert!(seen.is_ok(), "`{wanted}` is not on the screen:\n{}", last.borrow());
    }

    /// How the program ended: minus the signal, or its exit code; and whether the terminal is as it was before.
    ///
    /// # Panics
    /// When it does not end.
    #[must_use]
    pub fn end(&mut self) -> (i32, bool) {
        let told = self.told_at_the_end();
        let words: Vec<_> = told.lines().last().unwrap_or_default().split(' ').collect();
        (words[1].parse().expect("a number"), words[2] == "True")
    }

    /// What the program wrote to its stderr until it ended.
    ///
    /// # Panics
    /// When it does not end.
    #[must_use]
    pub fn last_words(&mut self) -> String {
        let told = self.told_at_the_end();
        told.rsplit_once("ended ").expect("the terminal says so").0.to_owned()
    }

    fn told_at_the_end(&mut self) -> String {
        assert!(self.program.wait(LIMIT).is_some(), "it does not end; the screen:\n{}", self.text());
        self.program.stderr()
    }

    /// Whether the program has a screen of its own and no cursor.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        let screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        screen.alternate && screen.hidden
    }

    /// Whether it has neither.
    #[must_use]
    pub fn is_given_back(&self) -> bool {
        let screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        !screen.alternate && !screen.hidden
    }
}

/// What was written, by line and column.
#[derive(Debug, Default)]
struct Screen {
    lines: Vec<Vec<char>>,
    at: (usize, usize),
    alternate: bool,
    hidden: bool,
    /// The begin of what is not complete yet.
    rest: Vec<u8>,
}

impl Screen {
    fn write(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        let mut left = text.as_str();
        while let Some(c) = left.chars().next() {
            let length = match c {
                '\x1b' => match sequence(left) {
                    Some(length) => length,
                    None => break,
                },
                c => c.len_utf8(),
            };
            let (token, behind) = left.split_at(length);
            self.obey(token, c);
            left = behind;
        }
        let done = whole - left.len();
        self.rest.drain(..done);
    }

    fn obey(&mut self, token: &str, first: char) {
        let number = |at: usize| {
            let inner = token.trim_start_matches("\x1b[").trim_end_matches(|c: char| c.is_alphabetic());
            inner.split(';').nth(at).and_then(|word| word.parse::<usize>().ok()).unwrap_or(1)
        };
        match token {
            "\x1b[?1049h" => self.alternate = true,
            "\x1b[?1049l" => self.alternate = false,
            "\x1b[?25l" => self.hidden = true,
            "\x1b[?25h" => self.hidden = false,
            "\x1b[2J" => self.lines.clear(),
            _ if first == '\x1b' && token.ends_with('H') => self.at = (number(0) - 1, number(1) - 1),
            "\x1b[K" => {
                let (line, column) = self.at;
                self.lines.iter_mut().skip(line).take(1).for_each(|cells| cells.truncate(column));
            }
            _ if first == '\x1b' => {}
            "\r" => self.at.1 = 0,
            "\n" => self.at.0 += 1,
            _ => self.put(first),
        }
    }

    fn put(&mut self, c: char) {
        let (line, column) = self.at;
        if self.lines.len() <= line {
            self.lines.resize(line + 1, Vec::new());
        }
        let cells = &mut self.lines[line];
        if cells.len() <= column {
            cells.resize(column + 1, ' ');
        }
        cells[column] = c;
        self.at.1 += 1;
    }

    fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// The length of the sequence that `text` begins with; `None` while it has no end.
fn sequence(text: &str) -> Option<usize> {
    match text.as_bytes().get(1)? {
        b'[' => text[2..].find(|c: char| ('@'..='~').contains(&c)).map(|end| end + 3),
        _ => Some(2),
    }
}
