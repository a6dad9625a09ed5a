//! Who may use what, as it is typed: origins, scopes, grants, changed tools, the audit log.
//!
//! Owns which of their options go together. Must never judge beyond that: the bridge decides.

use clap::{Args, value_parser};
use harbor_policy::grants::{self, GrantType};
use harbor_policy::origin::Origin;
use harbor_policy::scope::Scope;

use super::times::{DAY, since, span};
use super::values::{one_of, origin, read_by, server_or_tool, tool_pattern};
use crate::when;

/// More is meant as `--always`.
const LONGEST_GRANT: u64 = 365 * DAY;

/// The hexadecimal digits of a tool's hash.
const HASH: usize = 64;

/// On whose behalf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    pub origin: Origin,
    pub profile: Option<String>,
}

/// Which tools are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// Those of all servers that run.
    Running,
    Of(String),
    /// One tool of a server that runs.
    One(String, String),
    /// Those that have changed, of one server or of all.
    Changed(Option<String>),
    /// Those that an origin sees, of one server or of all.
    SeenBy(Asker, Option<String>),
}

/// Which change of a tool is accepted: all of the server's when none is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accept {
    pub server: String,
    pub tool: Option<String>,
    /// What was looked at; only with a tool.
    pub hash: Option<String>,
}

read_by! {
    Listing: ToolsOptions;
    Accept: AcceptOptions;
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Granted {
    /// https://HOST[:PORT] of a web page, or client://NAME of an AI client
    #[arg(value_parser = origin)]
    pub origin: Origin,
    /// What for
    #[arg(value_parser = one_of(Scope::ALL.iter().map(|scope| scope.as_str()), Scope::parse))]
    pub scope: Scope,
    /// Which of the origin's profiles; `default` if absent
    #[arg(long, value_name = "NAME", value_parser = profile)]
    pub profile: Option<String>,
}

/// Allow an origin something, or forbid it
///
/// A denial wins over whatever else is granted. An origin that calls tools needs mcp:tools.call, and mcp:tools.list to find them.
///
/// Example: `harbor grant https://example.com mcp:tools.call --always --tool 'time/*'`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Grant {
    #[command(flatten)]
    pub granted: Granted,
    /// For a while, and at most as long as this bridge runs; if nothing is said
    #[arg(long, conflicts_with_all = ["always", "deny"])]
    pub once: bool,
    /// Until it is revoked
    #[arg(long, conflicts_with = "deny")]
    pub always: bool,
    /// Never, whatever else is granted, until it is revoked
    #[arg(long)]
    pub deny: bool,
    /// With --once: how long, such as 90s, 30m, 2h or 3d; if absent, config.toml says
    #[arg(long = "for", value_name = "DURATION", value_parser = length, conflicts_with_all = ["always", "deny"])]
    pub length: Option<u64>,
    /// Only this tool, SERVER/TOOL or SERVER/*; repeat for more; all if absent
    #[arg(long, value_name = "PATTERN", value_parser = tool_pattern, conflicts_with_all = ["no_tools", "deny"])]
    pub tool: Vec<String>,
    /// No tool at all
    #[arg(long, conflicts_with = "deny")]
    pub no_tools: bool,
}

/// Take back what was granted or denied
///
/// Without --once, --always and --deny: all three.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Revoke {
    #[command(flatten)]
    pub granted: Granted,
    /// Only what was granted for a while
    #[arg(long, conflicts_with_all = ["always", "deny"])]
    pub once: bool,
    /// Only what was granted for good
    #[arg(long, conflicts_with = "deny")]
    pub always: bool,
    /// Only the denial
    #[arg(long)]
    pub deny: bool,
}

/// Show tools of running servers, or one
///
/// With SERVER/TOOL: all that it says of itself, and the schema of its arguments.
#[derive(Debug, Args)]
struct ToolsOptions {
    /// Of this server, or this tool; of all running servers if absent
    #[arg(value_name = "SERVER[/TOOL]", value_parser = server_or_tool)]
    target: Option<(String, Option<String>)>,
    /// Those that are not what they were when you first saw or last accepted them
    #[arg(long, conflicts_with = "as_origin")]
    changed: bool,
    #[command(flatten)]
    asker: AskerOptions,
}

#[derive(Debug, Args)]
pub(super) struct AskerOptions {
    /// On behalf of this origin, with its permissions
    #[arg(long = "as", value_name = "ORIGIN", value_parser = origin)]
    as_origin: Option<Origin>,
    /// With --as: which of the origin's profiles; `default` if absent
    #[arg(long, value_name = "NAME", value_parser = profile, requires = "as_origin")]
    profile: Option<String>,
}

/// Accept a tool, or a server, that has changed
///
/// With SERVER alone: all its changed tools, and that it is another program than the one that was allowed.
#[derive(Debug, Args)]
struct AcceptOptions {
    /// The tool, or the server
    #[arg(value_name = "SERVER[/TOOL]", value_parser = server_or_tool)]
    target: (String, Option<String>),
    /// What `harbor tools --changed` showed: nothing else is accepted; the tool as it is now if absent
    #[arg(value_parser = hash)]
    hash: Option<String>,
}

/// Show who did what, and what was decided
///
/// Arguments and results are not in it. With --json: one JSON object per line, as in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Audit {
    /// Only what was done on behalf of an origin, or by it; `owner` is you
    #[arg(long, value_parser = actor)]
    pub origin: Option<String>,
    /// How long ago, such as 10m or 3d, or when in UTC, such as 2026-11-21T17:00
    #[arg(long, value_name = "WHEN", value_parser = |text: &str| since(text, when::now()))]
    pub since: Option<u64>,
    /// How many of the newest lines: 1 to 10000; 200 if absent
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=10_000))]
    pub limit: Option<u64>,
}

/// What a grant says, by the switch that was given.
fn grant_type(once: bool, always: bool, deny: bool) -> Option<GrantType> {
    let types = [(once, GrantType::AllowOnce), (always, GrantType::AllowAlways), (deny, GrantType::Deny)];
    types.into_iter().find(|(is_said, _)| *is_said).map(|(_, grant_type)| grant_type)
}

impl Grant {
    pub fn grant_type(&self) -> GrantType {
        grant_type(self.once, self.always, self.deny).unwrap_or(GrantType::AllowOnce)
    }

    /// All when absent.
    pub fn tools(&self) -> Option<Vec<String>> {
        (self.no_tools || !self.tool.is_empty()).then(|| self.tool.clone())
    }
}

impl Revoke {
    /// Only grants of this type.
    pub fn grant_type(&self) -> Option<GrantType> {
        grant_type(self.once, self.always, self.deny)
    }
}

impl AskerOptions {
    pub(super) fn read(self) -> Option<Asker> {
        self.as_origin.map(|origin| Asker { origin, profile: self.profile })
    }
}

impl Listing {
    fn read(options: ToolsOptions) -> Result<Self, String> {
        let (server, tool) = options.target.map_or((None, None), |(server, tool)| (Some(server), tool));
        Ok(match (server, tool, options.changed, options.asker.read()) {
            (Some(server), Some(tool), false, None) => Self::One(server, tool),
            (_, Some(tool), true, _) => {
                return Err(format!("--changed goes with a server: leave /{tool} out"));
            }
            (_, Some(tool), ..) => return Err(format!("--as goes with a server: leave /{tool} out")),
            (server, None, true, _) => Self::Changed(server),
            (server, None, false, Some(asker)) => Self::SeenBy(asker, server),
            (Some(server), None, false, None) => Self::Of(server),
            (None, ..) => Self::Running,
        })
    }
}

impl Accept {
    fn read(options: AcceptOptions) -> Result<Self, String> {
        let (server, tool) = options.target;
        match (&tool, options.hash) {
            (None, Some(_)) => Err("a hash is that of one tool: name it as SERVER/TOOL".into()),
            (_, hash) => Ok(Self { server, tool, hash }),
        }
    }
}

fn profile(text: &str) -> Result<String, String> {
    let wrong = || "use 1 to 128 bytes without control characters".to_owned();
    grants::profile(text).map(|_| text.to_owned()).ok_or_else(wrong)
}

/// The value of `--for`, in milliseconds.
fn length(text: &str) -> Result<u64, String> {
    let length = span(text).filter(|length| (1..=LONGEST_GRANT).contains(length));
    length.ok_or_else(|| "use how long, such as 90s, 30m, 2h or 3d, up to 365d".into())
}

/// An origin, or one of those who are no origins but stand in the log as well.
fn actor(text: &str) -> Result<String, String> {
    match matches!(text, "owner" | "harbor") || text.starts_with("extension:") {
        true => Ok(text.to_owned()),
        false => origin(text).map(|origin| origin.to_string()),
    }
}

fn hash(text: &str) -> Result<String, String> {
    match text.len() == HASH && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(format!("a hash has {HASH} hexadecimal digits; `harbor tools --changed` shows it")),
    }
}
