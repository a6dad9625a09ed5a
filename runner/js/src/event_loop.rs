//! The event loop: an event, the script's work for it, the next event.
//!
//! ```text
//!        ┌───────────────────────────────────────────────────────────────┐
//!        ▼                                                               │
//!  timer | line | answer | end of input ─► script ─► its promises ─► over? ─► Ending
//! ```
//!
//! Owns the order of events and the end of the script. One thread: while the script works, nothing else happens. Must never wait
//! while anything is due, and must never spin.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Function, Promise, Result, Value};

use crate::ending::Ending;
use crate::engine::{Rejections, number};
use crate::fetch_calls;
use crate::fetching::Fetched;
use crate::globals::{Host, log};
use crate::input::{Line, Lines, MAX_LINE};

/// The engine's words for an error when memory is used up.
const NO_MEMORY: &str = "InternalError: out of memory";

/// The functions of `js/core.js` that are called from here.
pub(crate) struct Hooks<'js> {
    /// Calls a timer's function.
    pub(crate) fire: Function<'js>,
    /// Gives a line to who waits for one.
    pub(crate) line: Function<'js>,
    /// Gives the end of a request to who made it.
    pub(crate) fetched: Function<'js>,
    /// Shows an error.
    pub(crate) shown: Function<'js>,
    /// MiB that the script may use.
    pub(crate) memory: u32,
}

/// An event that the script works for.
enum Event {
    Timer(u32),
    Line(Line),
    Fetched(Fetched),
    EndOfInput,
    /// Nothing can happen any more.
    Nothing,
}

/// Runs the loop until the script ends. `main`: the promise of the script itself.
pub(crate) fn run<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    hooks: &Hooks<'js>,
    main: &Promise<'js>,
    rejections: &Rejections,
) -> Ending {
    let mut input = match io::stdin().as_fd().try_clone_to_owned() {
        Ok(input) => Input::new(File::from(input)),
        Err(error) => return Ending::Unusable(format!("there is no standard input: {error}")),
    };
    let mut failed = None;
    loop {
        while !host.is_over() && ctx.execute_pending_job() {}
        if let Some(ending) = over(host) {
            return ending;
        }
        if main.state() == PromiseState::Rejected {
            let _ = main.result::<Value<'_>>();
            return thrown(host, hooks, &ctx.catch());
        }
        failed = unhandled(ctx, host, hooks, main, rejections).or(failed);
        host.stretch.end();
        let event = match input.next(host) {
            Ok(Event::Nothing) => return failed.map_or(Ending::Done, Ending::Uncaught),
            Ok(event) => event,
            Err(error) => return Ending::Unusable(format!("standard input cannot be read: {error}")),
        };
        host.stretch.begin();
        if take(ctx, host, hooks, event).is_err() && !host.is_over() {
            log(&host.stretch, format!("uncaught {}", shown(hooks, &ctx.catch())));
        }
    }
}

/// The end of a script whose error nobody caught.
pub(crate) fn thrown<'js>(host: &Host, hooks: &Hooks<'js>, error: &Value<'js>) -> Ending {
    over(host).unwrap_or_else(|| match shown(hooks, error) {
        // The engine throws null where memory does not suffice for an error.
        text if error.is_null() || text.starts_with(NO_MEMORY) => Ending::OutOfMemory(hooks.memory),
        text => Ending::Uncaught(text),
    })
}

fn over(host: &Host) -> Option<Ending> {
    match (host.unread.get(), host.stretch.is_too_long()) {
        (true, _) => Some(Ending::Unread),
        (_, true) => {
            // The watch need not come any more.
            host.stretch.end();
            Some(Ending::TooLong(host.stretch.limit()))
        }
        _ => None,
    }
}

fn shown<'js>(hooks: &Hooks<'js>, error: &Value<'js>) -> String {
    let text = hooks.shown.call::<_, String>((error.clone(),));
    text.map(|text| text.trim_end().to_owned()).unwrap_or_else(|_| "an error that cannot be shown".into())
}

/// Logs the rejections that nobody has handled in this turn. Returns the last one.
fn unhandled<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    hooks: &Hooks<'js>,
    main: &Promise<'js>,
    rejections: &Rejections,
) -> Option<String> {
    let own = number(main.as_value());
    let mut last = None;
    for (promise, reason) in rejections.take() {
        let reason = reason.restore(ctx).ok().filter(|_| promise != own);
        if let Some(text) = reason.map(|reason| format!("(in a promise) {}", shown(hooks, &reason))) {
            log(&host.stretch, format!("uncaught {text}"));
            last = Some(text);
        }
    }
    last
}

fn take<'js>(ctx: &Ctx<'js>, host: &Host, hooks: &Hooks<'js>, event: Event) -> Result<()> {
    match event {
        Event::Fetched(ended) => fetch_calls::give(ctx, &hooks.fetched, ended),
        Event::Timer(id) => hooks.fire.call((id,)),
        Event::Line(Line::Text(text)) => answer(host, || hooks.line.call((text,))),
        Event::Line(Line::NotText) => answer(host, || hooks.line.call(((), "the line is not UTF-8"))),
        Event::Line(Line::TooLong) => {
            let why = format!("the line is longer than {} MiB", MAX_LINE >> 20);
            answer(host, || hooks.line.call(((), why)))
        }
        Event::EndOfInput => answer(host, || hooks.line.call((rquickjs::Null,))),
        Event::Nothing => Ok(()),
    }
}

/// Answers one reader.
fn answer(host: &Host, give: impl FnOnce() -> Result<()>) -> Result<()> {
    host.wanted.set(host.wanted.get().saturating_sub(1));
    give()
}

struct Input {
    file: File,
    lines: Lines,
    /// True if the last event was a timer. Then what has come goes first, so that timers alone cannot keep it waiting.
    was_timer: bool,
    /// True if the last event was an answer. Then a line goes first.
    was_answer: bool,
}

impl Input {
    fn new(file: File) -> Self {
        Self { file, lines: Lines::default(), was_timer: false, was_answer: false }
    }

    fn next(&mut self, host: &Host) -> io::Result<Event> {
        loop {
            if std::mem::take(&mut self.was_timer) {
                self.look(host, Some(0))?;
                if let Some(event) = self.arrived(host) {
                    return Ok(event);
                }
            }
            if let Some(id) = host.timers.borrow_mut().take_due(host.now()) {
                self.was_timer = true;
                return Ok(Event::Timer(id));
            }
            if let Some(event) = self.arrived(host) {
                return Ok(event);
            }
            let next = host.timers.borrow().next();
            if host.wanted.get() > 0 && self.lines.has_ended() {
                return Ok(Event::EndOfInput);
            }
            if host.wanted.get() == 0 && next.is_none() && host.fetching.borrow().source().is_none() {
                return Ok(Event::Nothing);
            }
            self.look(host, next.map(|at| at.saturating_sub(host.now())))?;
        }
    }

    /// Input that has been read already and is waited for: a line and an answer take turns.
    fn arrived(&mut self, host: &Host) -> Option<Event> {
        let line = |input: &mut Self| input.line().map(Event::Line);
        let first = if self.was_answer && host.wanted.get() > 0 { line(self) } else { None };
        if first.is_some() {
            self.was_answer = false;
            return first;
        }
        if let Some(fetched) = host.fetching.borrow_mut().next() {
            self.was_answer = true;
            return Some(Event::Fetched(fetched));
        }
        if host.wanted.get() > 0 { line(self) } else { None }
    }

    fn line(&mut self) -> Option<Line> {
        self.lines.next().or_else(|| self.lines.skips_from_now().then_some(Line::TooLong))
    }

    /// Waits for what the script waits for, at most so many milliseconds, and takes what there is.
    fn look(&mut self, host: &Host, most: Option<u64>) -> io::Result<()> {
        let timeout =
            most.map_or(PollTimeout::NONE, |most| PollTimeout::try_from(most).unwrap_or(PollTimeout::MAX));
        let (has_line, has_answer) = {
            let fetching = host.fetching.borrow();
            let lines = (host.wanted.get() > 0 && !self.lines.has_ended()).then(|| self.file.as_fd());
            let answers = fetching.source();
            let mut wanted: Vec<_> =
                lines.iter().chain(&answers).map(|from| PollFd::new(*from, PollFlags::POLLIN)).collect();
            match poll(&mut wanted, timeout) {
                Ok(_) => {}
                Err(Errno::EINTR) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            let mut has = wanted.iter().map(|from| from.any().unwrap_or_default());
            (lines.is_some() && has.next() == Some(true), answers.is_some() && has.next() == Some(true))
        };
        if has_answer {
            host.fetching.borrow_mut().fill()?;
        }
        if has_line { self.lines.fill(&mut self.file) } else { Ok(()) }
    }
}
