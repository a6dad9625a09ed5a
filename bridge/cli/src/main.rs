//! `harbor`: the command line, a client of the bridge like any other.
//!
//! ```text
//!  args ─► Command ─► commands ─► ask ─► client ─► the bridge
//!                        │          reply, chunks ◄──┘
//!                        └─► table, content, markdown, media, diff, pretty ─► screen
//! ```
//!
//! Owns how people and scripts meet Harbor: words, tables, exit codes. Must never keep state or decide anything:
//! that is the bridge's business, all but other programs' configuration files (`commands/clients`,
//! `commands/native_host`).

mod args;
mod check;
mod client;
mod commands;
mod consent;
mod content;
mod diff;
mod inset;
mod manual;
mod markdown;
mod media;
mod money;
mod pretty;
mod reference;
mod screen;
mod table;
mod when;
mod wrap;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use harbor_client::errors::{Exit, Failure};
use harbor_client::terminal::complain;

use crate::screen::Screen;

fn main() -> ExitCode {
    if let Some(answered) = commands::completions::answer() {
        return answered.map_or(Exit::Failed, |()| Exit::Done).into();
    }
    let args: Result<Vec<String>, OsString> = env::args_os().skip(1).map(OsString::into_string).collect();
    let json = args.as_ref().is_ok_and(|args| args::wants_json(args));
    let mut screen = Screen::of_process(json);
    let ran = args
        .map_err(|word| Failure::Usage(format!("{} is not UTF-8", word.display())))
        .and_then(|args| args::parse(&args))
        .and_then(|command| commands::run(command, &mut screen))
        .and_then(|()| Ok(screen.flush()?));
    match ran {
        Ok(()) => Exit::Done.into(),
        Err(failure) => {
            tell(&failure, &mut screen);
            failure.number().into()
        }
    }
}

/// Says why it failed: on stdout to programs, on stderr to people.
fn tell(failure: &Failure, screen: &mut Screen) {
    if !screen.json {
        if let Some(message) = failure.message() {
            complain(&message);
        }
    } else if let Some(error) = failure.json() {
        // Stdout may be what failed; the exit code still says so.
        let _ = screen.json(&error).and_then(|()| screen.flush());
    }
}
