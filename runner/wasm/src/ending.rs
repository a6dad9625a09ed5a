//! How a module ends, and what its process says of it.
//!
//! Owns the exit codes and the last line on stderr, which Harbor shows with a crash. Must never hold words of a message.

use std::time::Duration;

/// Why a module cannot be run: a sentence for its author that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unusable(pub(crate) String);

/// The end of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It returned, or ended itself with this exit code.
    Exit(i32),
    /// The command line is wrong, or the file is no program: what to do about it.
    Unusable(Unusable),
    /// It did what no module may: the name of that.
    Trap(String),
    /// A stretch was longer than this.
    TooLong(Duration),
    /// It needed more than this many MiB.
    OutOfMemory(u32),
}

impl From<Unusable> for Ending {
    fn from(why: Unusable) -> Self {
        Self::Unusable(why)
    }
}

impl Ending {
    /// The exit code. A module's own passes on unless it would mean something else here.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Exit(own @ (0 | 3..=123)) => u8::try_from(*own).unwrap_or(1),
            Self::Exit(_) | Self::Trap(_) => 1,
            Self::Unusable(_) => 2,
            // As of timeout(1).
            Self::TooLong(_) => 124,
            Self::OutOfMemory(_) => 125,
        }
    }

    /// The last words on stderr; None at an orderly end.
    pub(crate) fn words(&self) -> Option<String> {
        match self {
            Self::Exit(0) => None,
            Self::Exit(own) => Some(format!("the module ended itself with exit code {own}")),
            Self::Unusable(Unusable(why)) => Some(why.clone()),
            Self::Trap(what) => Some(format!("trap: {what}")),
            Self::TooLong(limit) => Some(format!(
                "the module computed for more than {} s without a pause, and was ended; `--busy SECONDS` allows more",
                limit.as_secs_f64()
            )),
            // Not the words of other runtimes: those mean the sandbox's limit, which is another one.
            Self::OutOfMemory(mib) => Some(format!(
                "the module needed more than {mib} MiB, and was ended; `--memory MIB` allows more"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_a_code_and_a_cause_of_its_own() {
        let ends = [
            Ending::Unusable(Unusable("x".into())),
            Ending::Trap("x".into()),
            Ending::TooLong(Duration::from_millis(1500)),
            Ending::OutOfMemory(64),
        ];
        let codes: std::collections::BTreeSet<_> = ends.iter().map(Ending::code).collect();
        assert_eq!(codes.len(), ends.len());
        assert!(!codes.contains(&0));
        assert!(ends.iter().all(|end| end.words().is_some()));
        assert!(ends[2].words().unwrap().contains("1.5 s"));
        assert_eq!((Ending::Exit(0).code(), Ending::Exit(0).words()), (0, None));
    }

    #[test]
    fn a_modules_own_code_is_never_taken_for_one_of_these() {
        for (own, code) in
            [(3, 3), (42, 42), (123, 123), (1, 1), (2, 1), (124, 1), (125, 1), (256, 1), (-1, 1)]
        {
            let end = Ending::Exit(own);
            assert_eq!(end.code(), code, "{own}");
            assert!(end.words().unwrap().ends_with(&format!("exit code {own}")));
        }
    }
}
