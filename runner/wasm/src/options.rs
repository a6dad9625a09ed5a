//! The command line.
//!
//! Owns the limits' defaults and ranges.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::ending::Unusable;

/// How the program is called.
pub(crate) const USAGE: &str = "usage: harbor-runner-wasm FILE [--memory MIB] [--busy SECONDS] [--read DIR]… [--write DIR]… [-- ARGUMENT…]; \
                                `harbor add NAME --wasm FILE` adds a module to Harbor";

const MEMORY: std::ops::RangeInclusive<u32> = 1..=4096;
const BUSY: std::ops::RangeInclusive<f64> = 0.05..=600.0;

/// The module, its limits, and what it is given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Options {
    /// The module's file.
    pub(crate) file: PathBuf,
    /// MiB that it may use.
    pub(crate) memory: u32,
    /// The longest time that it computes between two waits.
    pub(crate) busy: Duration,
    /// Directories that it may read.
    pub(crate) read: Vec<String>,
    /// Directories that it may also change.
    pub(crate) write: Vec<String>,
    /// Its own arguments.
    pub(crate) arguments: Vec<String>,
}

impl Options {
    /// Reads the words of a command line, the program's name not among them.
    ///
    /// # Errors
    /// How it is used.
    pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> Result<Self, Unusable> {
        let mut options = Self {
            file: PathBuf::new(),
            memory: 64,
            busy: Duration::from_secs(5),
            read: Vec::new(),
            write: Vec::new(),
            arguments: Vec::new(),
        };
        let mut words = words.into_iter().map(|word| word.into_string());
        while let Some(word) = words.next().transpose().map_err(not_utf8)? {
            match word.as_str() {
                "--" => {
                    options.arguments = words.by_ref().collect::<Result<_, _>>().map_err(not_utf8)?;
                }
                option if option.starts_with("--") => {
                    let value = words.next().transpose().map_err(not_utf8)?;
                    options.take(option, value.unwrap_or_default())?;
                }
                _ if options.file.as_os_str().is_empty() => options.file = word.into(),
                _ => {
                    let why = "there is one FILE; the module's own arguments stand behind `--`";
                    return Err(Unusable(format!("{why}; {USAGE}")));
                }
            }
        }
        match options.file.as_os_str().is_empty() {
            true => Err(Unusable(USAGE.into())),
            false => Ok(options),
        }
    }

    fn take(&mut self, option: &str, value: String) -> Result<(), Unusable> {
        match option {
            "--memory" => self.memory = memory(&value)?,
            "--busy" => self.busy = busy(&value)?,
            "--read" => self.read.push(directory(option, value)?),
            "--write" => self.write.push(directory(option, value)?),
            _ => {
                let why = format!("there is no option {option:.40}; the module's own stand behind `--`");
                return Err(Unusable(format!("{why}; {USAGE}")));
            }
        }
        Ok(())
    }
}

fn not_utf8(_: OsString) -> Unusable {
    Unusable(format!("the words are not UTF-8; {USAGE}"))
}

fn memory(word: &str) -> Result<u32, Unusable> {
    let mib = word.parse().ok().filter(|mib| MEMORY.contains(mib));
    let why = || Unusable(format!("--memory: use MiB from {} to {}", MEMORY.start(), MEMORY.end()));
    mib.ok_or_else(why)
}

fn busy(word: &str) -> Result<Duration, Unusable> {
    let seconds = word.parse().ok().filter(|seconds| BUSY.contains(seconds));
    let why = || Unusable(format!("--busy: use seconds from {} to {}", BUSY.start(), BUSY.end()));
    seconds.map(Duration::from_secs_f64).ok_or_else(why)
}

fn directory(option: &str, word: String) -> Result<String, Unusable> {
    match word.starts_with('/') {
        true => Ok(word),
        false => Err(Unusable(format!("{option}: use the absolute path of a directory"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, Unusable> {
        Options::read(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn limits_stand_before_or_behind_the_file() {
        let wanted = Options {
            file: "/a.wasm".into(),
            memory: 16,
            busy: Duration::from_millis(200),
            read: vec!["/r".into()],
            write: vec!["/w".into(), "/v".into()],
            arguments: vec!["--utc".into(), "--".into(), "b".into()],
        };
        let line = "--memory 16 /a.wasm --busy 0.2 --write /w --read /r --write /v -- --utc -- b";
        assert_eq!(read(line), Ok(wanted));
        assert_eq!(
            read("a.wasm").map(|options| (options.memory, options.busy)),
            Ok((64, Duration::from_secs(5)))
        );
    }

    #[test]
    fn a_wrong_line_says_what_is_right() {
        for (line, said) in [
            ("", "usage: "),
            ("a.wasm b", "arguments stand behind `--`"),
            ("--memory 0 a.wasm", "from 1 to 4096"),
            ("--memory", "from 1 to 4096"),
            ("--busy x a.wasm", "from 0.05 to 600"),
            ("--busy NaN a.wasm", "from 0.05 to 600"),
            ("--read data a.wasm", "--read: use the absolute path"),
            ("--fast a.wasm", "no option --fast"),
        ] {
            assert!(read(line).unwrap_err().0.contains(said), "{line}");
        }
    }
}
