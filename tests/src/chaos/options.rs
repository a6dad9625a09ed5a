//! What the person asked for. Must not look at anything but the arguments and the clock.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Shown by `--help`.
pub const USAGE: &str = "\
usage: chaos [--minutes N] [--kills N] [--seed S] [--keep DIR] [--shared-runner] [--without-defaults]

  --minutes N          how long processes are killed (default 2, without a limit when --kills is given)
  --kills N            stop after so many kills
  --seed S             choose as another run did; the first line of its output says it
  --keep DIR           copy the home there at the end, to look at
  --shared-runner      one runner for all servers, as HARBOR_MCP_ISOLATION=0 has it
  --without-defaults   leave out the second run, with the default number of restarts
";

/// How much chaos.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How long.
    pub time: Duration,
    /// How many kills at most.
    pub kills: u64,
    /// What all choices come from.
    pub seed: u64,
    /// Where the home goes at the end.
    pub keep: Option<PathBuf>,
    /// Whether one runner has all servers.
    pub shared: bool,
    /// Whether the second run takes place.
    pub defaults: bool,
}

impl Options {
    /// Reads the arguments; nothing when only the usage is wanted.
    pub fn from_args(mut args: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let (mut minutes, mut kills) = (None, None);
        let mut options = Self {
            time: Duration::ZERO,
            kills: u64::MAX,
            seed: any_seed(),
            keep: None,
            shared: false,
            defaults: true,
        };
        while let Some(arg) = args.next() {
            let wrong = || format!("argument {arg}: unknown, or without its value\n{USAGE}");
            let mut value = || args.next().ok_or_else(wrong);
            match arg.as_str() {
                "-h" | "--help" => return Ok(None),
                "--minutes" => minutes = Some(value()?.parse::<f64>().map_err(|_| wrong())?),
                "--kills" => kills = Some(value()?.parse().map_err(|_| wrong())?),
                "--seed" => options.seed = value()?.parse().map_err(|_| wrong())?,
                "--keep" => options.keep = Some(value()?.into()),
                "--shared-runner" => options.shared = true,
                "--without-defaults" => options.defaults = false,
                _ => return Err(wrong()),
            }
        }
        let unsaid = if kills.is_some() { 24.0 * 60.0 } else { 2.0 };
        let seconds = minutes.unwrap_or(unsaid).clamp(0.0, 24.0 * 60.0) * 60.0;
        options.time = Duration::from_secs_f64(seconds);
        options.kills = kills.unwrap_or(u64::MAX);
        Ok(Some(options))
    }
}

/// Another one for each run, and short enough to type.
fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_millis() % 1_000_000_000).try_into().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Result<Option<Options>, String> {
        Options::from_args(args.iter().map(ToString::to_string))
    }

    #[test]
    fn two_minutes_unless_kills_are_counted() {
        assert_eq!(read(&[]).unwrap().unwrap().time, Duration::from_secs(120));
        let counted = read(&["--kills", "7", "--seed", "3"]).unwrap().unwrap();
        assert_eq!((counted.kills, counted.seed), (7, 3));
        assert!(counted.time > Duration::from_secs(3600));
        let both = read(&["--minutes", "0.5", "--kills", "7"]).unwrap().unwrap();
        assert_eq!(both.time, Duration::from_secs(30));
    }

    #[test]
    fn a_wrong_argument_is_an_error_and_help_is_none() {
        assert!(read(&["--fast"]).is_err() && read(&["--seed"]).is_err() && read(&["--kills", "x"]).is_err());
        assert_eq!(read(&["--help"]), Ok(None));
    }
}
