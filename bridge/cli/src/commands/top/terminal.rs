//! The terminal while it is ours: keys as they are typed, a screen of its own, no cursor.
//!
//! Owns giving it back, however we end: by return, by error, by signal, by panic. Must never draw anything itself.

use std::io::{self, Stdout};
use std::mem::ManuallyDrop;
use std::panic;

use nix::sys::signal::{Signal, raise};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::{Position, Rect};

/// The terminal, taken until this is dropped.
#[derive(Debug)]
pub struct TerminalGuard {
    /// Never dropped: it would show the cursor, which we do, and complain on stderr when the terminal has gone.
    pub screen: ManuallyDrop<ratatui::Terminal<CrosstermBackend<Stdout>>>,
}

impl TerminalGuard {
    pub fn take() -> io::Result<Self> {
        let screen = ratatui::Terminal::new(CrosstermBackend::new(io::stdout()))?;
        // From here on it is given back, also if taking it fails half-way.
        let taken = Self { screen: ManuallyDrop::new(screen) };
        // The release aborts on a panic, which drops nothing.
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            give_back();
            tell(panic);
        }));
        enter()?;
        Ok(taken)
    }

    /// Gives the terminal back while we are stopped, and takes it again.
    pub fn suspend(&mut self) -> io::Result<()> {
        give_back();
        raise(Signal::SIGSTOP)?;
        self.retake()
    }

    /// Takes it again after somebody else had it.
    pub fn retake(&mut self) -> io::Result<()> {
        // What was set before may be set no more, so it is unset first.
        disable_raw_mode()?;
        enter()?;
        // `clear` would ask the terminal where its cursor is, and the answer would come to the thread that reads keys.
        let size = self.screen.size()?;
        self.screen.resize(Rect::from((Position::ORIGIN, size)))
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        give_back();
        drop(panic::take_hook());
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Hide)
}

/// Gives the terminal back. Errors are ignored: a terminal that takes no output needs nothing back.
fn give_back() {
    let _ = execute!(io::stdout(), Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}
