//! What the person asked for. Must not look at anything but the arguments.

use crate::Outcome;
use crate::scale::Amounts;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Shown by `--help`.
pub const USAGE: &str = "\
usage: bench [--quick] [--calls-only | --fronts-only | --peers-only | --supervision-only | --host-only | --sandbox-only |
             --scale-only | --beside-only | --budget-only | --interpreted | --models | --agent] [--repetitions N] [--soak N]
             [--plot DIR] [--bin-dir DIR] [--servers DIR] [--peers DIR] [--without-harbor] [--seconds N]

  --quick            few repetitions of few calls: shows that everything works, not how fast it is
  --calls-only       only calls
  --fronts-only      only small calls through every front of Harbor, and with less around the server
  --peers-only       only small calls through public programs that do a similar job; needs --peers
  --supervision-only only what happens when servers die, and many of them
  --host-only        only what permissions cost
  --sandbox-only     only starts with and without a sandbox, and servers that take too much
  --budget-only      only counts for one call, by valgrind and strace; fails where one is over its budget
  --scale-only       only floods, many servers, clients and tools, and a soak
  --beside-only      of these only what a flood, or one large message, costs those beside
  --interpreted      only servers that are scripts or modules of WebAssembly
  --models           only answers of a language model
  --agent            only turns of a language model with tools
  --soak N           calls of the soak, 1 to 1000000000 (default 1000000, with --quick 20000)
  --plot DIR         draws bench-calls.svg and bench-scale.svg there, each when it was measured
  --repetitions N    how often each measurement of calls is repeated, 1 to 1000 (default 25, with --quick 3)
  --servers DIR      where real servers are installed (scripts/servers); one of them is killed, too
  --peers DIR        where such programs are installed (scripts/peers); without it they are left out
  --bin-dir DIR      where echo-server, relay and harbor-bridge are (default: beside this program)
  --without-harbor   only the setups that need no Harbor; not with a part that is of Harbor alone
  --seconds N        give up after so long, 1 to 86400 (default 1800)
";

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Everything.
    All,
    /// Calls.
    Calls,
    /// Fronts of Harbor.
    Fronts,
    /// Programs that do a similar job.
    Peers,
    /// Deaths of servers, and many servers.
    Supervision,
    /// Permissions: many grants, many tools.
    Host,
    /// Sandboxes.
    Sandbox,
    /// Counts that do not depend on the machine's load.
    Budget,
    /// Much of everything.
    Scale,
    /// Of that, a flood and large messages beside.
    Beside,
    /// Servers that are scripts or modules.
    Interpreted,
    /// Answers of a language model.
    Models,
    /// Turns of a model with tools.
    Agent,
}

/// The most that the options may be that are numbers; scripts/bench refuses more before it builds.
const MOST_REPETITIONS: usize = 1_000;
const MOST_SOAK: usize = 1_000_000_000;
const MOST_SECONDS: usize = 86_400;

/// The options that name what alone is measured.
const ONLY: [(&str, Part); 12] = [
    ("--calls-only", Part::Calls),
    ("--fronts-only", Part::Fronts),
    ("--peers-only", Part::Peers),
    ("--supervision-only", Part::Supervision),
    ("--host-only", Part::Host),
    ("--sandbox-only", Part::Sandbox),
    ("--budget-only", Part::Budget),
    ("--scale-only", Part::Scale),
    ("--beside-only", Part::Beside),
    ("--interpreted", Part::Interpreted),
    ("--models", Part::Models),
    ("--agent", Part::Agent),
];

impl Part {
    /// Whether this one is measured.
    pub fn has(self, part: Self) -> bool {
        self == Self::All || self == part
    }

    /// Whether nothing of it is left without Harbor.
    fn is_of_harbor(self) -> bool {
        matches!(
            self,
            Self::Supervision
                | Self::Host
                | Self::Budget
                | Self::Scale
                | Self::Beside
                | Self::Interpreted
                | Self::Models
                | Self::Agent
        )
    }

    /// Becomes the part that an option names, unless another one was named before.
    fn narrow(&mut self, option: &str, part: Self) -> Outcome<()> {
        if *self != Self::All && *self != part {
            return Err(format!("{option}: another part was named before; name one, or none for all").into());
        }
        *self = part;
        Ok(())
    }
}

/// How much of everything to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the programs are.
    pub bin_dir: PathBuf,
    /// Whether Harbor takes part.
    pub harbor: bool,
    /// What is measured.
    pub part: Part,
    /// Where real servers are, if any.
    pub servers: Option<PathBuf>,
    /// Where programs that do a similar job are, if any.
    pub peers: Option<PathBuf>,
    /// How often each measurement of calls is repeated.
    pub repetitions: usize,
    /// Small calls per repetition, one at a time.
    pub small_calls: usize,
    /// Large calls per repetition, one at a time.
    pub large_calls: usize,
    /// Small calls per repetition, many in flight.
    pub flood_calls: usize,
    /// Small calls per repetition over what is slow, one at a time.
    pub peer_calls: usize,
    /// The same with many in flight.
    pub peer_flood: usize,
    /// How often a server is started and asked for its tools.
    pub connects: usize,
    /// How often a small server is killed, and how often its runner.
    pub crashes: usize,
    /// The same of a real server, which starts slowly.
    pub real_crashes: usize,
    /// How often a bridge starts with many servers.
    pub fleets: usize,
    /// How often a bridge starts with many grants.
    pub grant_starts: usize,
    /// How often an origin's permission is asked for.
    pub checks: usize,
    /// How often an origin's tools are.
    pub lists: usize,
    /// How often a server takes too much memory.
    pub greeds: usize,
    /// How much of everything is a measurement of scale.
    pub scale: Amounts,
    /// Where plots are drawn, if they are wanted.
    pub plot: Option<PathBuf>,
    /// The whole run must be over after this.
    pub limit: Duration,
}

impl Options {
    /// Reads the arguments; nothing when only the usage is wanted.
    pub fn from_args(args: impl Iterator<Item = String>) -> Outcome<Option<Self>> {
        let mut args = args;
        let mut options = Self::full(PathBuf::new());
        let mut bin_dir = None;
        let mut repetitions = None;
        let mut soak = None;
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "-h" | "--help" => return Ok(None),
                "--quick" => options = options.quick(),
                "--soak" => soak = Some(number(&arg, &value()?, MOST_SOAK)?),
                "--plot" => options.plot = Some(PathBuf::from(value()?)),
                "--without-harbor" => options.harbor = false,
                "--bin-dir" => bin_dir = Some(value()?),
                "--servers" => options.servers = Some(std::path::absolute(value()?)?),
                "--peers" => options.peers = Some(std::path::absolute(value()?)?),
                "--repetitions" => repetitions = Some(number(&arg, &value()?, MOST_REPETITIONS)?),
                "--seconds" => {
                    options.limit = Duration::from_secs(number(&arg, &value()?, MOST_SECONDS)? as u64)
                }
                _ => match ONLY.iter().find(|(option, _)| *option == arg) {
                    Some((_, part)) => options.part.narrow(&arg, *part)?,
                    None => return Err(format!("unknown argument '{arg}'\n{USAGE}").into()),
                },
            }
        }
        if options.part == Part::Peers && options.peers.is_none() {
            return Err("--peers-only needs --peers DIR".into());
        }
        if let Some((only, _)) = ONLY.iter().find(|(_, part)| *part == options.part)
            && options.part.is_of_harbor()
            && !options.harbor
        {
            return Err(format!(
                "--without-harbor leaves nothing of {only} to measure; leave out one of them"
            )
            .into());
        }
        options.repetitions = repetitions.unwrap_or(options.repetitions);
        options.scale.soak = soak.unwrap_or(options.scale.soak);
        options.bin_dir = match bin_dir {
            Some(dir) if !Path::new(&dir).is_dir() => {
                return Err(format!("--bin-dir: no directory {dir}").into());
            }
            Some(dir) => dir.into(),
            None => std::env::current_exe()?.parent().ok_or("this program is nowhere")?.to_owned(),
        };
        Ok(Some(options))
    }

    /// The path of a program that takes part; one that is not among the others stands beside the driver.
    pub fn program(&self, name: &str) -> Outcome<PathBuf> {
        let beside = std::env::current_exe()?.with_file_name(name);
        let path = [self.bin_dir.join(name), beside].into_iter().find(|path| path.is_file());
        let missing = || format!("{} is missing; build it first", self.bin_dir.join(name).display());
        Ok(path.ok_or_else(missing)?)
    }

    fn full(bin_dir: PathBuf) -> Self {
        Self {
            bin_dir,
            harbor: true,
            part: Part::All,
            servers: None,
            peers: None,
            repetitions: 25,
            small_calls: 2_000,
            large_calls: 300,
            flood_calls: 20_000,
            peer_calls: 300,
            peer_flood: 1_000,
            connects: 40,
            crashes: 200,
            real_crashes: 30,
            fleets: 10,
            grant_starts: 10,
            checks: 20_000,
            lists: 1_000,
            greeds: 10,
            scale: Amounts::FULL,
            plot: None,
            limit: Duration::from_secs(1800),
        }
    }

    fn quick(self) -> Self {
        let calls = Self { repetitions: 3, small_calls: 300, large_calls: 50, flood_calls: 2_000, ..self };
        let supervision = Self { connects: 3, crashes: 20, real_crashes: 3, fleets: 2, ..calls };
        let host = Self { grant_starts: 2, checks: 1_000, lists: 20, greeds: 2, ..supervision };
        Self { peer_calls: 50, peer_flood: 256, scale: Amounts::QUICK, ..host }
    }
}

fn number(option: &str, text: &str, most: usize) -> Outcome<usize> {
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    Ok(number.ok_or_else(|| format!("{option} needs a whole number from 1 to {most}, not '{text}'"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &[&str]) -> Outcome<Option<Options>> {
        Options::from_args(args.iter().map(ToString::to_string))
    }

    #[test]
    fn what_was_asked_for_survives_a_later_quick() {
        let options =
            read(&["--repetitions", "7", "--without-harbor", "--seconds", "9", "--quick"]).unwrap().unwrap();
        assert_eq!((options.repetitions, options.harbor, options.limit.as_secs()), (7, false, 9));
        assert_eq!((options.small_calls, options.scale.soak), (300, 20_000));
        let options = read(&["--soak", "5", "--quick"]).unwrap().unwrap();
        assert_eq!(options.scale.soak, 5);
    }

    #[test]
    fn a_wrong_argument_is_an_error_and_help_is_none() {
        assert!(read(&["--fast"]).is_err());
        assert!(read(&["--repetitions"]).is_err());
        assert!(read(&["--bin-dir", "/nowhere"]).is_err());
        assert!(read(&["--peers-only"]).is_err() && read(&["--peers-only", "--peers", "d"]).is_ok());
        assert!(read(&["--help"]).unwrap().is_none());
    }

    #[test]
    fn a_number_out_of_range_is_refused_and_not_bent() {
        for (option, most) in
            [("--repetitions", MOST_REPETITIONS), ("--soak", MOST_SOAK), ("--seconds", MOST_SECONDS)]
        {
            assert!(read(&[option, "1"]).is_ok() && read(&[option, &most.to_string()]).is_ok());
            let over = (most + 1).to_string();
            for wrong in ["0", "-1", "", "few", "99999999999999999999999", &over] {
                let error = read(&[option, wrong]).unwrap_err().to_string();
                assert_eq!(error, format!("{option} needs a whole number from 1 to {most}, not '{wrong}'"));
            }
            // The script has bounds of its own, to refuse before it builds.
            let script = include_str!("../../../scripts/bench");
            assert!(script.contains(&format!("{option}) most={most} ;;")), "{option}");
        }
    }

    #[test]
    fn a_part_of_which_nothing_is_left_is_refused() {
        let error = read(&["--without-harbor", "--budget-only"]).unwrap_err().to_string();
        assert_eq!(
            error,
            "--without-harbor leaves nothing of --budget-only to measure; leave out one of them"
        );
        let refused = ONLY.map(|(only, _)| read(&[only, "--without-harbor", "--peers", "d"]).is_err());
        assert_eq!(refused, ONLY.map(|(_, part)| part.is_of_harbor()));
        assert!(read(&["--without-harbor"]).is_ok());
    }

    #[test]
    fn two_parts_are_not_silently_one() {
        let part = |args: &[&str]| read(args).unwrap().unwrap().part;
        assert_eq!(part(&["--host-only", "--quick", "--host-only"]), Part::Host);
        let error = read(&["--calls-only", "--fronts-only"]).unwrap_err().to_string();
        assert_eq!(error, "--fronts-only: another part was named before; name one, or none for all");
    }
}
