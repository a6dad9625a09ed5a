//! How a script ends, and what its process says of it.
//!
//! Owns the exit codes and the last line on stderr, which Harbor shows with a crash. Must never hold words of a message.

use std::io::{self, Write as _};
use std::time::Duration;

/// The end of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Nothing is left to do.
    Done,
    /// The command line is wrong, or the file is no script: what to do about it.
    Unusable(String),
    /// An error that nothing caught: its words and stack.
    Uncaught(String),
    /// A stretch was longer than this.
    TooLong(Duration),
    /// The script needed more than this many MiB.
    OutOfMemory(u32),
    /// Nobody reads its output any more.
    Unread,
}

impl Ending {
    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Uncaught(_) | Self::Unread => 1,
            Self::Unusable(_) => 2,
            // As of timeout(1).
            Self::TooLong(_) => 124,
            Self::OutOfMemory(_) => 125,
        }
    }

    /// Says the last words, if there are any.
    pub(crate) fn tell(&self) {
        if let Some(words) = self.words() {
            // Nobody can be told that the log is gone.
            let _ = writeln!(io::stderr(), "harbor-runner-js: {words}");
        }
    }

    /// Ends the process from any thread, whatever the script is doing.
    pub(crate) fn at_once(&self) {
        self.tell();
        std::process::exit(self.code().into());
    }

    /// The last words on stderr; None at an orderly end.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            Self::Done => None,
            Self::Unusable(why) => Some(why.clone()),
            Self::Uncaught(error) => Some(format!("uncaught {error}")),
            Self::TooLong(limit) => Some(format!(
                "the script computed for more than {} s without a pause, and was ended; `--busy SECONDS` allows more",
                limit.as_secs_f64()
            )),
            // Not the words of other runtimes: those mean the sandbox's limit, which is another one.
            Self::OutOfMemory(mib) => Some(format!(
                "the script needed more than {mib} MiB, and was ended; `--memory MIB` allows more"
            )),
            Self::Unread => Some("nobody reads the script's output any more".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_a_code_and_a_cause_of_its_own() {
        let ends = [
            Ending::Unusable("x".into()),
            Ending::Uncaught("Error: x".into()),
            Ending::TooLong(Duration::from_millis(1500)),
            Ending::OutOfMemory(64),
        ];
        let codes: std::collections::BTreeSet<_> = ends.iter().map(Ending::code).collect();
        assert_eq!(codes.len(), ends.len());
        assert!(!codes.contains(&0));
        assert!(ends.iter().all(|end| end.words().is_some()));
        assert!(ends[2].words().unwrap().contains("1.5 s"));
        assert_eq!((Ending::Done.code(), Ending::Done.words()), (0, None));
    }
}
