//! The faults that a server can have, by name: the one list that tests and the misbehaving server share.
//!
//! Must never hold behaviour; `bin/misbehaving-server` does what the words here say.

use std::ffi::OsString;
use std::path::PathBuf;

macro_rules! faults {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        /// What is wrong with a server. Everything else about it is right.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Fault { $($(#[doc = $doc])* $name,)* }

        impl Fault {
            /// Every fault.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word on the command line.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

faults! {
    /// Nothing.
    None = "none",
    /// Writes a line to stderr and exits with code 3.
    ExitsAtOnce = "exits-at-once",
    /// Exits with code 4 as soon as contact is made.
    ExitsAfterContact = "exits-after-contact",
    /// Exits with code 1 on any request before `initialize`, as many servers do.
    ExitsOnProbe = "exits-on-probe",
    /// Ignores every request before `initialize`.
    SilentOnProbe = "silent-on-probe",
    /// Answers nothing once it was asked anything before `initialize`, and exits with code 1 at the next line, as MCP's
    /// Python SDK up to 1.8.
    HangsOnProbe = "hangs-on-probe",
    /// Answers `initialize` with 2026-07-28, and does all else as of 2025-11-25.
    ModernInitialize = "modern-initialize",
    /// Puts calls, resources and prompts off by a state three times each before it answers, and the tool `hang` for ever; modern.
    PutsOff = "puts-off",
    /// Never answers `initialize` (nor `server/discover`, when modern).
    NeverAnswersInitialize = "never-answers-initialize",
    /// Answers `initialize` with an error.
    RefusesInitialize = "refuses-initialize",
    /// Answers `initialize` with something that is no MCP.
    MalformedInitialize = "malformed-initialize",
    /// Speaks only the revision 1999-01-01.
    UnknownVersion = "unknown-version",
    /// Prints a banner and other text that is no message on stdout, around every message.
    GarbageOnStdout = "garbage-on-stdout",
    /// Answers tool calls with a result that is no object.
    MalformedResult = "malformed-result",
    /// Answers tool calls over several lines, as JSON is printed for people.
    PrintedAnswers = "printed-answers",
    /// Answers tool calls with bytes that are no UTF-8.
    InvalidUtf8 = "invalid-utf8",
    /// Answers the first tool call without a newline behind it, and exits.
    NoFinalNewline = "no-final-newline",
    /// Sends answers to ids that nobody used, and every answer twice.
    UnknownIds = "unknown-ids",
    /// Sends every answer twice; the second one is another.
    AnswersTwice = "answers-twice",
    /// Keeps calls of `echo` until three of them are open, and answers the last one first.
    AnswersOutOfOrder = "answers-out-of-order",
    /// Answers no tool call, but everything else.
    NeverAnswersCalls = "never-answers-calls",
    /// Answers nothing at all any more from the first tool call on, but reads on.
    Hangs = "hangs",
    /// The same, and writes a line to stdout that does not end.
    EndlessLine = "endless-line",
    /// Exits with code 7 on each tool call.
    DiesOnEachCall = "dies-on-each-call",
    /// Exits with code 7 on the twentieth tool call.
    DiesOnTwentiethCall = "dies-on-twentieth-call",
    /// Writes messages and garbage to stdout without end once contact is made; answers come in between.
    FloodsStdout = "floods-stdout",
    /// Writes to stderr without end.
    FloodsStderr = "floods-stderr",
    /// Answers `echo` with a line over 64 MiB whose id stands at its end.
    HugeLine = "huge-line",
    /// Ignores the end of its stdin, and SIGTERM.
    IgnoresShutdown = "ignores-shutdown",
    /// Is a wrapper that runs the real server as its child, as `npx` is.
    Wrapper = "wrapper",
    /// Is a wrapper whose real server is a [`Fault::Grandchild`].
    WrappedGrandchild = "wrapped-grandchild",
    /// Has a child that ignores SIGTERM and holds stdout and stderr open.
    Grandchild = "grandchild",
    /// Has such a child in a session of its own.
    DetachedGrandchild = "detached-grandchild",
    /// Has such a child, which has such a child.
    Grandchildren = "grandchildren",
    /// Has a daemon: forks, the child leads a session, forks and exits; the last one ignores SIGTERM.
    Daemon = "daemon",
    /// Has such a daemon, whose environment is empty.
    NamelessDaemon = "nameless-daemon",
    /// Says that its lists have changed as soon as contact is made, and takes a while for its prompts.
    RestlessLists = "restless-lists",
    /// Has one tool more each time that its tools were listed, and says so at once.
    EndlessLists = "endless-lists",
    /// Closes stdout on the first tool call, but lives on.
    ClosesStdout = "closes-stdout",
    /// Closes stdin once the first tool call is answered, but lives on.
    ClosesStdin = "closes-stdin",
    /// Reads nothing any more from the first tool call on.
    StopsReading = "stops-reading",
    /// Has threads that wait and 64 MiB in use, so that the kernel takes a while to end it, as one of Node.
    EndsSlowly = "ends-slowly",
    /// The same; and each tool call has it exit with code 7 and leave a process behind, in a session of its own, that
    /// writes to stdout without end.
    LeavesFlood = "leaves-flood",
}

/// A tool result over the longest line that a runner reads, in bytes.
pub const OVER_THE_BOUND: usize = 64 * 1024 * 1024 + 1;

/// The exit code of [`Fault::ExitsAtOnce`].
pub const EXIT_AT_ONCE: i32 = 3;

/// The exit code of [`Fault::ExitsAfterContact`].
pub const EXIT_AFTER_CONTACT: i32 = 4;

/// The exit code of the tool `die`, and of the faults that die on calls.
pub const EXIT_IN_CALL: i32 = 7;

/// How many calls [`Fault::AnswersOutOfOrder`] waits for.
pub const KEPT_CALLS: usize = 3;

/// The call that [`Fault::DiesOnTwentiethCall`] dies on.
pub const LAST_CALL: usize = 20;

/// What [`Fault::ExitsAtOnce`] says on stderr.
pub const LAST_WORDS: &str = "cannot go on: the double was told to exit at once";

/// What [`Fault::RefusesInitialize`] says.
pub const REFUSAL: &str = "the licence has run out";

/// What [`Fault::UnknownVersion`] speaks.
pub const OLD_VERSION: &str = "1999-01-01";

/// The first line of [`Fault::GarbageOnStdout`].
pub const BANNER: &str = "*** Welcome to the misbehaving server! ***";

/// What every line of [`Fault::FloodsStderr`] says.
pub const FLOOD: &str = "more and more and more of the same, and no end to it";

/// How the misbehaving server is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What is wrong with it.
    pub fault: Fault,
    /// Whether it speaks 2026-07-28 instead of 2025-11-25.
    pub modern: bool,
    /// Whether its lists come in three pages.
    pub paged: bool,
    /// How long it waits before it reads stdin, in milliseconds.
    pub delay_ms: u64,
    /// Where it writes what happened to it.
    pub journal: Option<PathBuf>,
    /// A JSON array of tools, read for each `tools/list`, that it offers instead of its own.
    pub tools: Option<PathBuf>,
}

impl Settings {
    /// With this fault only.
    #[must_use]
    pub fn new(fault: Fault) -> Self {
        Self { fault, modern: false, paged: false, delay_ms: 0, journal: None, tools: None }
    }

    /// The command line.
    #[must_use]
    pub fn to_args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec!["--fault".into(), self.fault.as_str().into()];
        let flags = [(self.modern, "--modern"), (self.paged, "--paged")];
        args.extend(flags.iter().filter(|(on, _)| *on).map(|(_, flag)| flag.into()));
        if self.delay_ms > 0 {
            args.extend(["--delay-ms".into(), self.delay_ms.to_string().into()]);
        }
        if let Some(journal) = &self.journal {
            args.extend(["--journal".into(), journal.into()]);
        }
        if let Some(tools) = &self.tools {
            args.extend(["--tools".into(), tools.into()]);
        }
        args
    }

    /// Reads a command line.
    ///
    /// # Errors
    /// Says which argument is wrong.
    pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut settings = Self::new(Fault::None);
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let wrong = || format!("argument {arg:?}: unknown, or without its value");
            let mut text = || args.next().and_then(|value| value.into_string().ok()).ok_or_else(wrong);
            match arg.to_str().unwrap_or_default() {
                "--modern" => settings.modern = true,
                "--paged" => settings.paged = true,
                "--journal" => settings.journal = Some(text()?.into()),
                "--tools" => settings.tools = Some(text()?.into()),
                "--delay-ms" => settings.delay_ms = text()?.parse().map_err(|_| wrong())?,
                "--fault" => {
                    let name = text()?;
                    let fault = Fault::ALL.iter().copied().find(|fault| fault.as_str() == name);
                    settings.fault = fault.ok_or_else(|| format!("unknown fault {name}"))?;
                }
                _ => return Err(wrong()),
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_says_what_was_set() {
        for &fault in Fault::ALL {
            for journal in [None, Some("/tmp/x y".into())] {
                let (paged, tools) = (journal.is_none(), journal.clone());
                let settings = Settings { fault, modern: true, paged, delay_ms: 7, journal, tools };
                assert_eq!(Settings::parse(settings.to_args()), Ok(settings));
            }
        }
        assert!(Settings::parse(["--fault".into()]).is_err());
        assert!(Settings::parse(["--fault".into(), "x".into()]).is_err());
        assert!(Settings::parse(["x".into()]).is_err());
    }
}
