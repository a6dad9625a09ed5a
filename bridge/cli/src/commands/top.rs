//! `harbor top`: everything that runs, live, with keys to act on it.
//!
//! ```text
//!  keys, sizes ─► thread ─┐                  ┌─► the terminal
//!  signals ─────► thread ─┼─► the model ─────┤
//!  the bridge ──► thread ─┘                  └─► the bridge
//! ```
//!
//! Owns the threads and the order of things. Must never wait for the bridge while it could draw, or draw more often than a
//! person can see.

mod act;
mod bridge_requests;
mod detail;
mod draw;
mod event;
mod facts;
mod flow;
mod history;
mod key;
mod keys;
mod link;
mod model;
mod order;
mod page;
mod requests;
mod row;
mod scroll;
mod terminal;
mod words;

use std::env;
use std::io::{self, IsTerminal};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use harbor_client::errors::Failure;
use harbor_home::Paths;
use nix::sys::signal::Signal;
use ratatui::crossterm::event::{Event as Typed, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use self::draw::{Pen, draw};
use self::event::Event;
use self::key::Key;
use self::link::Connection;
use self::model::{Model, Out};
use self::terminal::TerminalGuard;
use super::signals::Signals;
use crate::screen::Screen;
use crate::when;

/// The number of events that may wait.
const QUEUE: usize = 256;

/// The pause after which the screen is drawn without an event, since ages grow.
const TICK: Duration = Duration::from_secs(1);

/// Events within this time are drawn together.
const FRAME: Duration = Duration::from_millis(50);

/// Shows it until the person has seen enough.
pub fn run(paths: &Paths, screen: &Screen) -> Result<(), Failure> {
    check(screen)?;
    // Before anything is held back: a bridge that is started here is to hear its signals.
    let bridge = link::find(paths)?;
    let signals = Signals::hold_back().map_err(|errno| Failure::Io("hold signals back", errno.into()))?;
    let ended = show(paths, bridge, signals);
    match ended.map_err(|error| Failure::Io("use the terminal", error))? {
        Some(signal) => signals.obey(signal).map_err(|errno| Failure::Io("end by the signal", errno.into())),
        None => Ok(()),
    }
}

/// Shows the screen until it ends. Returns the signal that ended it, if one did. The terminal is then as before.
fn show(paths: &Paths, bridge: UnixStream, signals: Signals) -> io::Result<Option<Signal>> {
    let (events, heard) = sync_channel(QUEUE);
    let mut taken = TerminalGuard::take()?;
    spawn_keys(events.clone());
    spawn_signals(signals, events.clone());
    let size = taken.screen.size()?;
    let model = Model::new((size.width, size.height), when::now());
    let mut driver = Driver { model, paths, events, bridge: None, connections: 0, ended: None };
    driver.connect(bridge);
    driver.run(&mut taken, &heard)
}

/// Fails if there is no terminal that can show it.
fn check(screen: &Screen) -> Result<(), Failure> {
    let dumb = env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    let why = match (screen.json, io::stdin().is_terminal() && io::stdout().is_terminal()) {
        (true, _) => "`top` is for people and has no --json",
        (_, false) => "`top` needs a terminal on stdin and stdout",
        _ if dumb => "`top` needs a terminal that can move its cursor, but TERM says that this one cannot",
        _ => return Ok(()),
    };
    Err(Failure::Usage(format!("{why}; programs use `harbor status -f --json`")))
}

struct Driver<'a> {
    model: Model,
    paths: &'a Paths,
    events: SyncSender<Event>,
    bridge: Option<Connection>,
    connections: u64,
    ended: Option<Ended>,
}

/// Why it is over.
#[derive(Debug, Clone, Copy)]
enum Ended {
    Wanted,
    By(Signal),
}

impl Driver<'_> {
    fn run(&mut self, taken: &mut TerminalGuard, heard: &Receiver<Event>) -> io::Result<Option<Signal>> {
        let colour = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        loop {
            let now = when::now();
            self.model.on_time(now);
            let drawn = Instant::now();
            taken.screen.draw(|frame| draw(&mut Pen::new(frame.buffer_mut(), colour), &self.model, now))?;
            self.hear(taken, heard, TICK)?;
            while self.ended.is_none() && self.hear(taken, heard, FRAME.saturating_sub(drawn.elapsed()))? {}
            match self.ended {
                Some(Ended::Wanted) => return Ok(None),
                Some(Ended::By(signal)) => return Ok(Some(signal)),
                None => {}
            }
        }
    }

    /// Takes the next event, if one comes in this time; whether one did.
    fn hear(
        &mut self,
        taken: &mut TerminalGuard,
        heard: &Receiver<Event>,
        limit: Duration,
    ) -> io::Result<bool> {
        match heard.recv_timeout(limit) {
            Ok(event) => self.on_event(event, taken)?,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(false),
        }
        while let Some(out) = self.model.take_out() {
            self.perform(out);
        }
        Ok(true)
    }

    fn on_event(&mut self, event: Event, taken: &mut TerminalGuard) -> io::Result<()> {
        let now = when::now();
        let current = |number| self.bridge.as_ref().is_some_and(|bridge| bridge.is(number));
        match event {
            Event::Key(key) => self.model.on_key(key, now),
            Event::Resized(width, height) => self.model.on_resize((width, height)),
            Event::Unplugged(error) => return Err(error),
            Event::Suspend | Event::Signal(Signal::SIGTSTP) => taken.suspend()?,
            Event::Signal(Signal::SIGCONT) => taken.retake()?,
            Event::Signal(signal) => self.ended = Some(Ended::By(signal)),
            Event::Frame(number, frame) if current(number) => self.model.on_frame(&frame, now),
            Event::Lost(number) if current(number) => self.lose(),
            Event::Frame(..) | Event::Lost(_) => {}
            Event::Looked(Ok(Some(stream))) => self.connect(stream),
            Event::Looked(Ok(None)) => self.model.on_no_bridge(None),
            Event::Looked(Err(error)) => self.model.on_no_bridge(Some(error.to_string())),
        }
        Ok(())
    }

    fn perform(&mut self, out: Out) {
        match out {
            Out::Quit => self.ended = Some(Ended::Wanted),
            Out::Dial(pause) => link::look_again(self.paths, pause, &self.events),
            Out::Frame(frame) => {
                let sent = self.bridge.as_mut().map(|bridge| bridge.send(&frame));
                if sent.is_some_and(|sent| sent.is_err()) {
                    self.lose();
                }
            }
        }
    }

    fn connect(&mut self, stream: UnixStream) {
        self.connections += 1;
        match Connection::begin(stream, self.connections, &self.events) {
            Ok(bridge) => {
                self.bridge = Some(bridge);
                self.model.on_connected(when::now());
                while let Some(out) = self.model.take_out() {
                    self.perform(out);
                }
            }
            Err(error) => self.model.on_no_bridge(Some(error.to_string())),
        }
    }

    fn lose(&mut self) {
        self.bridge = None;
        self.model.on_lost(when::now());
    }
}

fn spawn_keys(events: SyncSender<Event>) {
    thread::spawn(move || {
        loop {
            let typed = ratatui::crossterm::event::read();
            let is_last = typed.is_err();
            let heard = typed.map_or_else(|error| vec![Event::Unplugged(error)], of_typed);
            if heard.into_iter().any(|event| events.send(event).is_err()) || is_last {
                return;
            }
        }
    });
}

fn of_typed(typed: Typed) -> Vec<Event> {
    match typed {
        Typed::Key(key) if key.kind != KeyEventKind::Release => of_keys(key),
        Typed::Resize(width, height) => vec![Event::Resized(width, height)],
        _ => Vec::new(),
    }
}

/// Keys as events. A terminal takes Esc with a key right behind it for that key with Alt. Alt means nothing
/// here, so it becomes Esc and the key.
fn of_keys(key: KeyEvent) -> Vec<Event> {
    let plain = matches!(key.code, KeyCode::Char(_) | KeyCode::Enter | KeyCode::Tab | KeyCode::Backspace);
    let esc = (plain && key.modifiers.contains(KeyModifiers::ALT)).then_some(Event::Key(Key::Esc));
    esc.into_iter().chain(of_key(key)).collect()
}

fn of_key(key: KeyEvent) -> Option<Event> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(Event::Key(match key.code {
        KeyCode::Char('c') if control => Key::Interrupt,
        KeyCode::Char('z') if control => return Some(Event::Suspend),
        KeyCode::Char(_) if control => return None,
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        _ => return None,
    }))
}

fn spawn_signals(signals: Signals, events: SyncSender<Event>) {
    thread::spawn(move || {
        while let Ok(signal) = signals.wait() {
            if events.send(Event::Signal(signal)).is_err() {
                return;
            }
        }
    });
}
