//! Who may use what, as it is typed: origins, scopes, grants, changed tools, the audit log.
//!
//! Owns which of their options go together. Must never judge beyond that: the bridge decides.

use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::grants::{self, GrantType};
use harbor_policy::origin::Origin;
use harbor_policy::scope::Scope;
use harbor_policy::suggest::closest;
use harbor_policy::tool_name::{self, WrongToolName};

use super::Words;
use super::times::{DAY, since, span};
use super::values::checked_id;

/// More is meant as `--always`.
const LONGEST_GRANT: u64 = 365 * DAY;

/// As many as the bridge gives.
const MAX_AUDIT: u64 = 10_000;

/// The hexadecimal digits of a tool's hash.
const HASH: usize = 64;

/// The switches that say what a grant says.
const TYPES: [(&str, GrantType); 3] =
    [("--once", GrantType::AllowOnce), ("--always", GrantType::AllowAlways), ("--deny", GrantType::Deny)];

/// On whose behalf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    pub origin: Origin,
    pub profile: Option<String>,
}

/// What is allowed or forbidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub asker: Asker,
    pub scope: Scope,
    pub grant_type: GrantType,
    /// In milliseconds since 1970.
    pub expires_at: Option<u64>,
    /// All when absent.
    pub tools: Option<Vec<String>>,
}

/// What is taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoke {
    pub asker: Asker,
    pub scope: Scope,
    /// Only grants of this type.
    pub grant_type: Option<GrantType>,
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

/// Which lines of the audit log are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audit {
    /// `owner`, `harbor`, an extension, or an origin.
    pub origin: Option<String>,
    /// In milliseconds since 1970.
    pub since: Option<u64>,
    pub limit: Option<u64>,
}

impl Words {
    pub(super) fn grant(&self) -> Result<Grant, String> {
        let (asker, scope) = self.asker_and_scope()?;
        let grant_type = self.grant_type()?.unwrap_or(GrantType::AllowOnce);
        let (expires_at, tools) = (self.expires_at()?, self.tools()?);
        match grant_type {
            GrantType::AllowOnce => {}
            _ if expires_at.is_some() => return Err("--for goes with --once only".into()),
            GrantType::Deny if tools.is_some() => {
                return Err("--deny is for all tools: leave --tool and --no-tools out".into());
            }
            _ => {}
        }
        Ok(Grant { asker, scope, grant_type, expires_at, tools })
    }

    pub(super) fn revoke(&self) -> Result<Revoke, String> {
        let (asker, scope) = self.asker_and_scope()?;
        Ok(Revoke { asker, scope, grant_type: self.grant_type()? })
    }

    /// The only plain word, if there is one, which names an origin.
    pub(super) fn some_origin(&self) -> Result<Option<Origin>, String> {
        self.at_most(1)?;
        self.plain.first().map(|text| checked_origin(text)).transpose()
    }

    pub(super) fn listing(&self) -> Result<Listing, String> {
        if let Some((server, tool)) = self.plain.first().and_then(|word| word.split_once('/')) {
            self.at_most(1)?;
            return match self.options.first() {
                _ if tool.is_empty() => Err(format!("{server}/: a tool is named as SERVER/TOOL")),
                Some((option, _)) => Err(format!("{option} goes with a server: leave /{tool} out")),
                None => Ok(Listing::One(checked_id(server)?, tool.to_owned())),
            };
        }
        let server = if self.plain.is_empty() { None } else { Some(self.server()?) };
        Ok(match (self.has("--changed"), self.on_behalf()?) {
            (true, Some(_)) => return Err("--changed and --as exclude each other".into()),
            (true, None) => Listing::Changed(server),
            (false, Some(asker)) => Listing::SeenBy(asker, server),
            (false, None) => server.map_or(Listing::Running, Listing::Of),
        })
    }

    pub(super) fn accept(&self) -> Result<Accept, String> {
        self.at_most(2)?;
        let target =
            self.plain.first().ok_or("which tool? Name it as SERVER/TOOL, or SERVER for all of it")?;
        let (server, tool) = match target.split_once('/') {
            Some((server, tool)) => (server, Some(tool.to_owned())),
            None => (target.as_str(), None),
        };
        if tool.as_ref().is_some_and(String::is_empty) {
            return Err(format!("{target}: a tool is named as SERVER/TOOL"));
        }
        let hash = self.plain.get(1).map(|text| checked_hash(text)).transpose()?;
        match (&tool, &hash) {
            (None, Some(_)) => Err("a hash is that of one tool: name it as SERVER/TOOL".into()),
            _ => Ok(Accept { server: checked_id(server)?, tool, hash }),
        }
    }

    pub(super) fn audit(&self) -> Result<Audit, String> {
        self.at_most(0)?;
        let origin = match self.option("--origin") {
            // Not origins, but they stand in the log as well.
            Some(name) if matches!(name, "owner" | "harbor") || name.starts_with("extension:") => {
                Some(name.to_owned())
            }
            Some(text) => Some(checked_origin(text)?.to_string()),
            None => None,
        };
        let since = self.option("--since").map(|text| since(text, self.now)).transpose()?;
        Ok(Audit { origin, since, limit: self.whole("--limit", MAX_AUDIT)? })
    }

    /// The value of `--as`, with that of `--profile`.
    pub(super) fn on_behalf(&self) -> Result<Option<Asker>, String> {
        match (self.option("--as"), self.profile()?) {
            (Some(origin), profile) => Ok(Some(Asker { origin: checked_origin(origin)?, profile })),
            (None, Some(_)) => Err("--profile goes with --as only".into()),
            (None, None) => Ok(None),
        }
    }

    fn asker_and_scope(&self) -> Result<(Asker, Scope), String> {
        self.at_most(2)?;
        let origin = self.plain.first().ok_or("whose? Name an origin such as https://example.com")?;
        let scope = self.plain.get(1).ok_or("what for? Name a scope such as mcp:tools.call")?;
        let asker = Asker { origin: checked_origin(origin)?, profile: self.profile()? };
        Ok((asker, checked_scope(scope)?))
    }

    fn profile(&self) -> Result<Option<String>, String> {
        let Some(name) = self.option("--profile") else { return Ok(None) };
        match grants::profile(name) {
            Some(_) => Ok(Some(name.to_owned())),
            None => Err("--profile: use 1 to 128 bytes without control characters".into()),
        }
    }

    fn grant_type(&self) -> Result<Option<GrantType>, String> {
        let given: Vec<_> = TYPES.iter().filter(|(name, _)| self.has(name)).collect();
        match given[..] {
            [(first, _), (second, _), ..] => Err(format!("{first} and {second} exclude each other")),
            [(_, grant_type)] => Ok(Some(*grant_type)),
            _ => Ok(None),
        }
    }

    fn expires_at(&self) -> Result<Option<u64>, String> {
        let Some(text) = self.option("--for") else { return Ok(None) };
        let length = span(text).filter(|length| (1..=LONGEST_GRANT).contains(length));
        let length = length
            .ok_or_else(|| format!("--for {text}: use how long, such as 90s, 30m, 2h or 3d, up to 365d"));
        Ok(Some(self.now.saturating_add(length?)))
    }

    fn tools(&self) -> Result<Option<Vec<String>>, String> {
        let patterns: Vec<_> = self.all("--tool").map(str::to_owned).collect();
        if self.has("--no-tools") {
            return match patterns.is_empty() {
                true => Ok(Some(patterns)),
                false => Err("--tool and --no-tools exclude each other".into()),
            };
        }
        for pattern in &patterns {
            checked_pattern("--tool", pattern)?;
        }
        Ok(Some(patterns).filter(|patterns| !patterns.is_empty()))
    }
}

fn checked_origin(text: &str) -> Result<Origin, String> {
    Origin::parse(text).map_err(|wrong| format!("{text}: {wrong}"))
}

fn checked_scope(text: &str) -> Result<Scope, String> {
    Scope::parse(text).ok_or_else(|| match closest(text, Scope::ALL.iter().map(|scope| scope.as_str())) {
        Some(meant) => format!("unknown scope {text}; did you mean {meant}?"),
        None => format!("unknown scope {text}; `harbor help grant` lists them"),
    })
}

pub(super) fn checked_pattern(option: &str, text: &str) -> Result<(), String> {
    let Err(wrong) = tool_name::split(text) else { return Ok(()) };
    // Only a server: probably all of its tools are meant.
    let every = (wrong == WrongToolName::NoSlash && ServerId::parse(text).is_some())
        .then(|| format!("; did you mean {text}/*?"));
    Err(format!("{option} {text}: {wrong}{}", every.unwrap_or_default()))
}

fn checked_hash(text: &str) -> Result<String, String> {
    let is_hash = text.len() == HASH && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_hash {
        true => Ok(text.to_ascii_lowercase()),
        false => {
            Err(format!("{text}: a hash has {HASH} hexadecimal digits; `harbor tools --changed` shows it"))
        }
    }
}

#[cfg(test)]
mod tests;
