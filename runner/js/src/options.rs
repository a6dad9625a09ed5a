//! The command line.
//!
//! Owns the limits' defaults and ranges.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::fetching::Way;

/// How the program is called.
pub(crate) const USAGE: &str = "usage: harbor-runner-js [--memory MIB] [--busy SECONDS] [--fetch-time SECONDS] FILE; `harbor add NAME --js FILE` adds a script to Harbor";

const MEMORY: std::ops::RangeInclusive<u32> = 4..=4096;
const SECONDS: std::ops::RangeInclusive<f64> = 0.05..=600.0;

/// The script and its limits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Options {
    /// The script's file.
    pub(crate) file: PathBuf,
    /// MiB that it may use.
    pub(crate) memory: u32,
    /// The longest time from one event until its work is done.
    pub(crate) busy: Duration,
    /// The longest time of one request.
    pub(crate) fetch_time: Duration,
    /// How it fetches, if it may: `--fetcher PROGRAM --proxy ADDRESS`, which the bridge adds.
    pub(crate) fetch: Option<Way>,
}

impl Options {
    /// Reads the words of a command line, the program's name not among them.
    ///
    /// # Errors
    /// How it is used.
    pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut options = Self {
            file: PathBuf::new(),
            memory: 64,
            busy: Duration::from_secs(5),
            fetch_time: Duration::from_secs(30),
            fetch: None,
        };
        let (mut fetcher, mut proxy) = (None, None);
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().and_then(|value| value.into_string().ok()).unwrap_or_default();
            match word.to_str() {
                Some("--memory") => options.memory = memory(&value())?,
                Some("--busy") => options.busy = seconds("--busy", &value())?,
                Some("--fetch-time") => options.fetch_time = seconds("--fetch-time", &value())?,
                Some("--fetcher") => fetcher = Some(value()),
                Some("--proxy") => proxy = Some(value()),
                Some(option) if option.starts_with("--") => {
                    return Err(format!("there is no option {option:.40}; {USAGE}"));
                }
                _ if options.file.as_os_str().is_empty() => options.file = word.into(),
                _ => return Err(format!("there is one FILE; {USAGE}")),
            }
        }
        options.fetch = fetcher.zip(proxy).map(|(program, proxy)| Way { program: program.into(), proxy });
        match options.file.as_os_str().is_empty() {
            true => Err(USAGE.into()),
            false => Ok(options),
        }
    }
}

fn memory(word: &str) -> Result<u32, String> {
    let mib = word.parse().ok().filter(|mib| MEMORY.contains(mib));
    mib.ok_or_else(|| format!("--memory: use MiB from {} to {}", MEMORY.start(), MEMORY.end()))
}

fn seconds(option: &str, word: &str) -> Result<Duration, String> {
    let seconds = word.parse().ok().filter(|seconds| SECONDS.contains(seconds));
    let wrong = || format!("{option}: use seconds from {} to {}", SECONDS.start(), SECONDS.end());
    Ok(Duration::from_secs_f64(seconds.ok_or_else(wrong)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        Options::read(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn limits_stand_before_or_behind_the_file() {
        let usual = Options {
            file: "a.js".into(),
            memory: 64,
            busy: Duration::from_secs(5),
            fetch_time: Duration::from_secs(30),
            fetch: None,
        };
        assert_eq!(read("a.js"), Ok(usual.clone()));
        let wanted =
            Options { file: "/a.js".into(), memory: 16, busy: Duration::from_millis(200), ..usual.clone() };
        assert_eq!(read("--memory 16 /a.js --busy 0.2"), Ok(wanted));
        let fetch = Some(Way { program: "/f".into(), proxy: "p:1".into() });
        let wanted = Options { fetch_time: Duration::from_secs(2), fetch, ..usual };
        assert_eq!(read("a.js --fetch-time 2 --fetcher /f --proxy p:1"), Ok(wanted));
    }

    #[test]
    fn a_wrong_line_says_what_is_right() {
        for (line, said) in [
            ("", "usage: "),
            ("a.js b.js", "one FILE"),
            ("--memory 1 a.js", "from 4 to 4096"),
            ("--memory", "from 4 to 4096"),
            ("--busy x a.js", "from 0.05 to 600"),
            ("--busy NaN a.js", "from 0.05 to 600"),
            ("--fetch-time 0 a.js", "--fetch-time: use seconds from 0.05 to 600"),
            ("--fast a.js", "no option --fast"),
        ] {
            assert!(read(line).unwrap_err().contains(said), "{line}");
        }
    }
}
