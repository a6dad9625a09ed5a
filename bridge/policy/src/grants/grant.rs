//! One grant: its key, its type, its lifetime.
//!
//! Owns which combinations exist. Must never decide anything alone: only the collection of all grants knows whether a DENY stands
//! beside it.

use std::fmt;
use std::sync::Arc;

use harbor_ipc_proto::source_id::{SourceId, SourceKind};

use crate::lifecycle::Millis;
use crate::origin::Origin;
use crate::scope::Scope;
use crate::tool_name::Allowlist;

/// The profile of whoever does not name one.
pub const DEFAULT_PROFILE: &str = "default";

/// The longest name of a profile, in bytes.
pub const MAX_PROFILE: usize = 128;

/// A profile's name, checked. None if it is empty, over [`MAX_PROFILE`], or has control characters.
#[must_use]
pub fn profile(name: &str) -> Option<Arc<str>> {
    let fits = (1..=MAX_PROFILE).contains(&name.len()) && !name.contains(char::is_control);
    fits.then(|| name.into())
}

/// The key of a grant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The origin that asks.
    pub origin: Origin,
    /// The profile of the browser, by [`profile`].
    pub profile: Arc<str>,
    /// The scope that is asked for.
    pub scope: Scope,
}

/// The type of a grant, in the order in which grants are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GrantType {
    /// No, whatever else is granted.
    Deny,
    /// Yes, until it is revoked.
    AllowAlways,
    /// Yes, for a while.
    AllowOnce,
}

impl GrantType {
    /// The word on the wire and on disk.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "DENY",
            Self::AllowAlways => "ALLOW_ALWAYS",
            Self::AllowOnce => "ALLOW_ONCE",
        }
    }

    /// The type with this name, letter by letter.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Deny, Self::AllowAlways, Self::AllowOnce].into_iter().find(|known| known.as_str() == text)
    }
}

/// One tab of one run of a browser. Browsers count their tabs anew at each start.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tab {
    /// The browser session.
    pub session: Arc<str>,
    /// The browser's number for the tab.
    pub tab: u64,
}

/// A grant to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// The grant's type.
    pub grant_type: GrantType,
    /// The tools that it covers: those of all servers when absent, none when empty.
    pub tools: Option<Allowlist>,
    /// The only tab that it covers; all when absent.
    pub tab: Option<Tab>,
    /// How long it lasts, in milliseconds: for an ALLOW_ONCE, and only for that.
    pub lifetime_ms: Option<u64>,
}

impl NewGrant {
    /// The grant that begins at this time.
    pub(super) fn make(self, wall_now: u64, now: Millis) -> Result<Grant, InvalidGrantReason> {
        self.check()?;
        let after = |start: u64| self.lifetime_ms.map(|lifetime| start.saturating_add(lifetime));
        let (expires_at, deadline) = (after(wall_now), after(now));
        let Self { grant_type, tools, tab, .. } = self;
        Ok(Grant { grant_type, created_at: wall_now, expires_at, tab, tools, deadline })
    }

    /// Checks that such a grant may exist.
    ///
    /// # Errors
    /// The reason why it may not.
    pub fn check(&self) -> Result<(), InvalidGrantReason> {
        match (self.grant_type, self.lifetime_ms) {
            (GrantType::AllowOnce, None | Some(0)) => Err(InvalidGrantReason::NoLifetime),
            (GrantType::AllowOnce, Some(_)) => Ok(()),
            (_, lifetime) if lifetime.is_some() || self.tab.is_some() => Err(InvalidGrantReason::Lasting),
            (GrantType::Deny, _) if self.tools.is_some() => Err(InvalidGrantReason::DenySome),
            _ => Ok(()),
        }
    }
}

/// A grant that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The grant's type.
    pub grant_type: GrantType,
    /// The time when it was made, in milliseconds since 1970, for people.
    pub created_at: u64,
    /// The time of its end, likewise.
    pub expires_at: Option<u64>,
    /// The only tab that it covers; all when absent.
    pub tab: Option<Tab>,
    /// The tools that it covers: those of all servers when absent, none when empty.
    pub tools: Option<Allowlist>,
    /// The time of its end by the deciding clock.
    pub(super) deadline: Option<Millis>,
}

impl Grant {
    /// True if it covers calls from this tab.
    pub(super) fn is_for(&self, tab: Option<&Tab>) -> bool {
        self.tab.is_none() || self.tab.as_ref() == tab
    }

    /// True if it covers this tool. A grant without a list is for all servers, and for no source of another kind.
    pub(super) fn covers(&self, (source, tool): (&SourceId, &str)) -> bool {
        match &self.tools {
            None => source.kind() == SourceKind::Server,
            Some(tools) => tools.covers(source, tool),
        }
    }

    /// A grant replaces the one at its place, and a key's grants are sorted by it.
    pub(super) fn place(&self) -> (GrantType, Option<&Tab>) {
        (self.grant_type, self.tab.as_ref())
    }
}

/// The reason why a grant cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidGrantReason {
    /// An ALLOW_ONCE without an end.
    NoLifetime,
    /// Another type with an end.
    Lasting,
    /// A DENY for some tools.
    DenySome,
    /// An ALLOW_ONCE from an earlier run of the bridge.
    Outlived,
}

impl fmt::Display for InvalidGrantReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoLifetime => "ALLOW_ONCE needs a lifetime of at least one millisecond",
            Self::Lasting => {
                "only ALLOW_ONCE can be limited to a tab or a time: leave both out, or use ALLOW_ONCE"
            }
            Self::DenySome => {
                "DENY applies to all tools: leave the list out, or allow the other tools by a list"
            }
            Self::Outlived => "ALLOW_ONCE ended with the bridge that gave it: grant it again",
        })
    }
}

impl std::error::Error for InvalidGrantReason {}
