//! Servers one at a time, the status, the logs and the configuration, as they are asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueHint, value_parser};
use harbor_ipc_proto::client::Supervision;

use super::supervision::{SupervisionOptions, setting};
use super::values::{Unrepeated, on_or_off, read_by, server_id, server_or_client, variable};

/// How a server is supervised from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Set {
    pub server: String,
    pub changes: Supervision,
    pub label: Option<String>,
    /// Settings that go back to their default.
    pub reset: Vec<String>,
    /// Its arguments, where they were typed.
    pub args: Option<Vec<String>>,
    pub env: BTreeMap<String, String>,
    /// Variables that it loses.
    pub unset: Vec<String>,
    /// For an AI client, as the only setting: true if its guard is on.
    pub guard: Option<bool>,
}

read_by! { Set: SetOptions; }

/// Remove a server
///
/// Stops it and deletes its package, its secrets and the grants for its tools. At a terminal Harbor asks
/// first, and whether to delete its data directory too; in scripts the directory stays, and a new server of
/// this name gets it only with --keep-data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Removal {
    /// The server's name
    #[arg(value_parser = server_id)]
    pub server: String,
    /// Delete its data directory too, or one that was kept earlier
    #[arg(long, conflicts_with = "keep_data")]
    pub data: bool,
    /// Keep its data directory and do not ask
    #[arg(long)]
    pub keep_data: bool,
}

/// Show or change a server's settings: its start, arguments, variables and calls
///
/// Without options: shows the settings. Nothing is restarted; some settings take effect at the next start,
/// and Harbor says which. A server starts when it is used; with --manual only `harbor start` starts it.
///
/// The words after `--` replace all of the server's own arguments.
///
/// For an AI client only --guard can be set. With it on, Harbor asks you before private data that the client
/// got from one source goes to another source that could tell somebody. It asks once for each such pair, as
/// long as the client is connected.
///
/// Example: `harbor set time --manual`
///
/// Example: `harbor set client://claude-code --guard on`
///
/// Example: `harbor set time --env TZ=UTC -- --local-timezone UTC`
#[derive(Debug, Args)]
struct SetOptions {
    /// The server's name, or client://NAME of an AI client
    #[arg(value_name = "SERVER|CLIENT", value_parser = server_or_client)]
    server: String,
    /// Ask before something private leaves by this AI client
    #[arg(long, value_name = "on|off", value_parser = on_or_off)]
    guard: Option<bool>,
    /// A display name
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Do not start it with the bridge (default)
    #[arg(long, conflicts_with = "auto_start")]
    no_auto_start: bool,
    /// Start it when it is used (default)
    #[arg(long, conflicts_with = "manual")]
    no_manual: bool,
    /// Reset an option to its default; repeatable
    #[arg(long, value_name = "SETTING", value_parser = setting())]
    reset: Vec<String>,
    /// An environment variable for the server, new or with another value; repeatable. Not for keys: see `harbor secrets set`
    #[arg(long, value_name = "KEY=VALUE", value_parser = Unrepeated(variable))]
    env: Vec<(String, String)>,
    /// Remove an environment variable; repeatable
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    unset: Vec<String>,
    /// Start it without arguments
    #[arg(long, conflicts_with = "args")]
    no_args: bool,
    /// The server's new arguments, which replace all present ones
    #[arg(last = true)]
    args: Vec<String>,
    #[command(flatten)]
    supervision: SupervisionOptions,
}

impl Set {
    fn read(options: SetOptions) -> Result<Self, String> {
        let mut changes = options.supervision.read();
        changes.auto_start = changes.auto_start.or(options.no_auto_start.then_some(false));
        changes.lazy = changes.lazy.or(options.no_manual.then_some(true));
        let env: BTreeMap<_, _> = options.env.into_iter().collect();
        if let Some(name) = options.unset.iter().find(|name| env.contains_key(*name)) {
            return Err(format!("--env and --unset both name {name}"));
        }
        let set = Self {
            server: options.server,
            changes,
            label: options.label,
            reset: options.reset,
            args: (options.no_args || !options.args.is_empty()).then_some(options.args),
            env,
            unset: options.unset,
            guard: options.guard,
        };
        let only_guard = Self { guard: set.guard, ..Self::of(&set.server) };
        match set.is_of_client() {
            true if set != only_guard => Err("for an AI client only --guard can be set".into()),
            false if set.guard.is_some() => {
                Err("--guard is for AI clients: `harbor set client://NAME --guard on`".into())
            }
            _ => Ok(set),
        }
    }

    fn of(server: &str) -> Self {
        Self { server: server.to_owned(), ..Self::default() }
    }

    /// True if it is about an AI client.
    pub fn is_of_client(&self) -> bool {
        self.server.contains("://")
    }

    /// True if anything changes that takes effect only at a start.
    pub fn changes_start(&self) -> bool {
        self.args.is_some() || !self.env.is_empty() || !self.unset.is_empty()
    }

    /// True if anything is to be changed.
    pub fn changes_something(&self) -> bool {
        *self != Self::of(&self.server)
    }
}

/// Show what a server wrote to stderr
///
/// With --follow and --json: one JSON object per line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Logs {
    /// The server's name
    #[arg(value_parser = server_id)]
    pub server: String,
    /// Number of newest lines, 1 to 1000 (default 200)
    #[arg(short = 'n', long, value_name = "N", value_parser = value_parser!(u64).range(1..=1000))]
    pub lines: Option<u64>,
    /// Follow: print new lines until Ctrl-C
    #[arg(short, long)]
    pub follow: bool,
    /// Also lines of the installation
    #[arg(long)]
    pub all: bool,
    /// Only lines of the installation
    #[arg(long, conflicts_with = "all")]
    pub install: bool,
}

/// Show the bridge, the servers and their numbers
///
/// With SERVER: its state, its package, and why it cannot start. Measured numbers show their age. With --json: the object of
/// docs/status.schema.json; with --follow one JSON object per line, the first one the whole status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct StatusWanted {
    /// This server only, and whether it can start
    #[arg(value_parser = server_id, conflicts_with_all = ["fresh", "follow"])]
    pub server: Option<String>,
    /// Measure memory, processor time and open files first
    #[arg(long, conflicts_with = "follow")]
    pub fresh: bool,
    /// Follow: print changes, and numbers every 10 s, until Ctrl-C
    #[arg(short, long)]
    pub follow: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Config {
    /// Print the configuration in force, as a config.toml
    Show,
    /// Check a file; exit code 1 if something is wrong
    Check {
        /// The file (default: that of HARBOR_HOME)
        #[arg(value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
    },
}
