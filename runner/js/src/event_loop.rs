//! The event loop: an event, the script's work for it, the next event.
//!
//! ```text
//!        ┌──────────────────────────────────────────────────────────────┐
//!        ▼                                                              │
//!  timer | line | end of input ─► script ─► its promises ─► is it over? ┴─► Ending
//! ```
//!
//! Owns the order of events and the end of the script. One thread: while the script works, nothing else happens. Must never wait
//! while anything is due, and must never spin.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Function, Promise, Result, Value};

use crate::ending::Ending;
use crate::engine::{Rejections, number};
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
    /// Shows an error.
    pub(crate) shown: Function<'js>,
    /// MiB that the script may use.
    pub(crate) memory: u32,
}

/// An event that the script works for.
enum Event {
    Timer(u32),
    Line(Line),
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
        Ok(input) => Input { file: File::from(input), lines: Lines::default(), was_timer: false },
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
        if take(host, hooks, event).is_err() && !host.is_over() {
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
        (_, true) => Some(Ending::TooLong(host.stretch.limit())),
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

fn take(host: &Host, hooks: &Hooks<'_>, event: Event) -> Result<()> {
    match event {
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
    /// True if the last event was a timer. Then a line goes first, so that timers alone cannot keep lines waiting.
    was_timer: bool,
}

impl Input {
    fn next(&mut self, host: &Host) -> io::Result<Event> {
        loop {
            let is_wanted = host.wanted.get() > 0;
            if self.was_timer && is_wanted && !self.lines.has_ended() {
                self.was_timer = false;
                self.look(Some(0))?;
                if let Some(line) = self.line() {
                    return Ok(Event::Line(line));
                }
            }
            if let Some(id) = host.timers.borrow_mut().take_due(host.now()) {
                self.was_timer = true;
                return Ok(Event::Timer(id));
            }
            let next = host.timers.borrow().next();
            if !is_wanted {
                let Some(at) = next else { return Ok(Event::Nothing) };
                std::thread::sleep(Duration::from_millis(at.saturating_sub(host.now())));
                continue;
            }
            if let Some(line) = self.line() {
                return Ok(Event::Line(line));
            }
            if self.lines.has_ended() {
                return Ok(Event::EndOfInput);
            }
            self.look(next.map(|at| at.saturating_sub(host.now())))?;
        }
    }

    fn line(&mut self) -> Option<Line> {
        self.lines.next().or_else(|| self.lines.skips_from_now().then_some(Line::TooLong))
    }

    /// Waits for input, at most so many milliseconds, and takes what there is.
    fn look(&mut self, most: Option<u64>) -> io::Result<()> {
        let timeout =
            most.map_or(PollTimeout::NONE, |most| PollTimeout::try_from(most).unwrap_or(PollTimeout::MAX));
        let mut wanted = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
        match poll(&mut wanted, timeout) {
            Ok(0) | Err(Errno::EINTR) => Ok(()),
            Ok(_) => self.lines.fill(&mut self.file),
            Err(error) => Err(error.into()),
        }
    }
}
