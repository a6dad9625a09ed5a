//! Permissions and their use, as they are typed: origins, scopes, grants, changed tools, the audit log.
//!
//! Owns which of their options go together. Must never judge beyond that: the bridge decides.

use clap::{Args, value_parser};
use harbor_policy::grants::{self, GrantType};
use harbor_policy::origin::Origin;
use harbor_policy::scope::Scope;

use super::times::{DAY, since, span};
use super::values::{client_name, one_of, origin, read_by, server_or_tool, tool_pattern};
use crate::when;

/// The longest value of `--for`. For a longer time, use `--always`.
const LONGEST_GRANT: u64 = 365 * DAY;

/// The hexadecimal digits of a tool's hash.
const HASH: usize = 64;

/// The origin on whose behalf something is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    pub origin: Origin,
    pub profile: Option<String>,
}

/// The tools that are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// The tools of all servers that run.
    Running,
    Of(String),
    /// One tool of a server that runs.
    One(String, String),
    /// The tools that have changed, of one server or of all.
    Changed(Option<String>),
    /// The tools that an origin sees, of one server or of all.
    SeenBy(Asker, Option<String>),
    /// A change of the tools that an AI client gets.
    Switched(Switch),
}

/// Tools that are switched off or on for an AI client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    pub client: String,
    pub off: Vec<String>,
    pub on: Vec<String>,
}

/// The changed tool that is accepted: all of the server's when none is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accept {
    pub server: String,
    pub tool: Option<String>,
    /// The hash of the version that the person saw; only with a tool.
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
    /// The scope
    #[arg(value_parser = one_of(Scope::with_effect().map(Scope::as_str), Scope::parse))]
    pub scope: Scope,
    /// The origin's profile (default `default`)
    #[arg(long, value_name = "NAME", value_parser = profile)]
    pub profile: Option<String>,
}

/// Allow an origin something, or deny it
///
/// A denial overrides every grant. To call tools an origin needs mcp:tools.call, and mcp:tools.list to find them. With
/// mcp:server.connect its calls start a server that you have stopped; without it, such a call asks you.
///
/// Example: `harbor grant https://example.com mcp:tools.call --always --tool 'time/*'`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Grant {
    #[command(flatten)]
    pub granted: Granted,
    /// For a limited time, and at most until the bridge ends (default)
    #[arg(long, conflicts_with_all = ["always", "deny"])]
    pub once: bool,
    /// Until it is revoked
    #[arg(long, conflicts_with = "deny")]
    pub always: bool,
    /// Deny it, whatever else is granted, until it is revoked
    #[arg(long)]
    pub deny: bool,
    /// With --once: how long, such as 90s, 30m, 2h or 3d (default in config.toml: 10m)
    #[arg(long = "for", value_name = "DURATION", value_parser = length, conflicts_with_all = ["always", "deny"])]
    pub length: Option<u64>,
    /// Only this tool, SERVER/TOOL or SERVER/*; repeatable (default: all)
    #[arg(long, value_name = "PATTERN", value_parser = tool_pattern, conflicts_with_all = ["no_tools", "deny"])]
    pub tool: Vec<String>,
    /// No tool at all
    #[arg(long, conflicts_with = "deny")]
    pub no_tools: bool,
}

/// Revoke a grant or a denial
///
/// Without --once, --always and --deny it revokes all three.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Revoke {
    #[command(flatten)]
    pub granted: Granted,
    /// Only temporary grants
    #[arg(long, conflicts_with_all = ["always", "deny"])]
    pub once: bool,
    /// Only permanent grants
    #[arg(long, conflicts_with = "deny")]
    pub always: bool,
    /// Only the denial
    #[arg(long)]
    pub deny: bool,
}

/// Show the tools of your servers, or one tool
///
/// With SERVER/TOOL: its description and the schema of its arguments.
///
/// Example: `harbor tools --client cursor --off 'github/delete_repository'`
#[derive(Debug, Args)]
struct ToolsOptions {
    /// This server or tool only (default: all servers)
    #[arg(value_name = "SERVER[/TOOL]", value_parser = server_or_tool)]
    target: Option<(String, Option<String>)>,
    /// Only tools that have changed since you first saw or last accepted them
    #[arg(long, conflicts_with = "as_origin")]
    changed: bool,
    /// The tools of this AI client
    #[arg(long, value_name = "NAME", value_parser = client_name, conflicts_with_all = ["changed", "as_origin", "target"])]
    client: Option<String>,
    /// With --client: switch this tool off, SERVER/TOOL or SERVER/*; repeatable
    #[arg(long, value_name = "PATTERN", value_parser = tool_pattern, requires = "client")]
    off: Vec<String>,
    /// With --client: switch this tool on again; repeatable
    #[arg(long, value_name = "PATTERN", value_parser = tool_pattern, requires = "client")]
    on: Vec<String>,
    #[command(flatten)]
    asker: AskerOptions,
}

#[derive(Debug, Args)]
pub(super) struct AskerOptions {
    /// As this origin, with its permissions
    #[arg(long = "as", value_name = "ORIGIN", value_parser = origin)]
    as_origin: Option<Origin>,
    /// With --as: the origin's profile (default `default`)
    #[arg(long, value_name = "NAME", value_parser = profile, requires = "as_origin")]
    profile: Option<String>,
}

/// Accept a tool or a server that has changed
///
/// With SERVER alone: all its changed tools, and the new program if it is another one than you allowed.
#[derive(Debug, Args)]
struct AcceptOptions {
    /// The tool, or the server
    #[arg(value_name = "SERVER[/TOOL]", value_parser = server_or_tool)]
    target: (String, Option<String>),
    /// The hash that `harbor tools --changed` shows; accepts exactly that version (default: the current one)
    #[arg(value_parser = hash)]
    hash: Option<String>,
}

/// Show the audit log: who did what, and how it was decided
///
/// It has no arguments and no results. With --json: one JSON object per line, as in the file.
/// `harbor activity` is the short view.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Audit {
    /// Only what this origin did, or what was done for it; `owner` is you
    #[arg(long, value_parser = actor)]
    pub origin: Option<String>,
    /// From then on: 10m or 3d ago, or a time in UTC such as 2026-11-21T17:00
    #[arg(long, value_name = "WHEN", value_parser = |text: &str| since(text, when::now()))]
    pub since: Option<u64>,
    /// Number of newest lines, 1 to 10000 (default 200)
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=10_000))]
    pub limit: Option<u64>,
}

/// Show who called what, when, and how it ended
///
/// The short view of `harbor audit`, in local time. With --json: one JSON object per line, as in the log.
///
/// Example: `harbor activity --origin https://example.com -f`
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Activity {
    #[command(flatten)]
    pub audit: Audit,
    /// Follow: print new lines until Ctrl-C
    #[arg(short, long)]
    pub follow: bool,
}

/// The type of a grant, by the switch that was given.
fn grant_type(once: bool, always: bool, deny: bool) -> Option<GrantType> {
    let types = [(once, GrantType::AllowOnce), (always, GrantType::AllowAlways), (deny, GrantType::Deny)];
    types.into_iter().find(|(is_said, _)| *is_said).map(|(_, grant_type)| grant_type)
}

impl Grant {
    pub fn grant_type(&self) -> GrantType {
        grant_type(self.once, self.always, self.deny).unwrap_or(GrantType::AllowOnce)
    }

    /// The tools that it names; all when absent.
    pub fn tools(&self) -> Option<Vec<String>> {
        (self.no_tools || !self.tool.is_empty()).then(|| self.tool.clone())
    }
}

impl Revoke {
    /// The type of the grants to revoke; all types when absent.
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
        if let Some(client) = options.client {
            let ToolsOptions { off, on, .. } = options;
            if !off.is_empty() || !on.is_empty() {
                return Ok(Self::Switched(Switch { client, off, on }));
            }
            let origin = Origin::client(&client).ok_or("use 1 to 128 bytes")?;
            return Ok(Self::SeenBy(Asker { origin, profile: None }, None));
        }
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
            (None, Some(_)) => Err("a hash belongs to one tool: name the tool as SERVER/TOOL".into()),
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
    length.ok_or_else(|| "give a length of time such as 90s, 30m, 2h or 3d, at most 365d".into())
}

/// An origin, or another actor in the log that is no origin.
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
