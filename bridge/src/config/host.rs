//! The settings for permissions and calls: the values, and which of them holds for whom.
//!
//! Owns the defaults and what is inherited. Must never be out of range: `file` checks what it puts in here.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use harbor_policy::limits::CALL_TIMEOUT;
use harbor_policy::tabs::urls::Sites;

use super::catalog::CatalogConfig;
use super::pages::PagesConfig;
use super::secrets::SecretsConfig;
use super::traces::Endpoint;

/// The person at the command line or at Harbor's own pages, as an origin.
pub const OWNER: &str = "owner";

/// The settings in `config.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostConfig {
    /// The length of an `ALLOW_ONCE` if the grant does not say.
    pub once: Duration,
    /// A run that is not used for this long is purged.
    pub run_stale: Duration,
    /// True if calls are refused while the audit log cannot be written.
    pub audit_required: bool,
    /// True if results are checked against output schemas.
    pub check_output: bool,
    /// The treatment of a tool that has changed since it was first seen.
    pub changed_tools: ChangedTools,
    /// The tools that an AI client with a new name gets.
    pub first_use: FirstUse,
    /// True if metrics tell of each origin what it called. An origin is a site that the person's browser visited.
    pub metrics_of_origins: bool,
    /// The loopback address of the metrics listener.
    pub metrics_listen: Option<SocketAddr>,
    /// The collector that gets traces.
    pub traces_endpoint: Option<Endpoint>,
    /// The number of traced calls in a hundred.
    pub traces_sample: u32,
    /// True if a trace names the origin. An origin is a site that the person's browser visited.
    pub traces_of_origins: bool,
    /// The https URL of a document that says to authorization servers who Harbor is.
    pub client_document: Option<String>,
    /// The catalog of servers.
    pub catalog: CatalogConfig,
    /// The sites that no tool opens in the person's browser.
    pub sites: Sites,
    /// The groups of browser tools that are switched on.
    pub browser_groups: BTreeSet<String>,
    /// The settings for the place of secrets.
    pub secrets: SecretsConfig,
    /// The parts of the page API that web pages have.
    pub pages: PagesConfig,
    /// The limits of origins that have none of their own.
    pub every_origin: OriginLimits,
    /// The limits of servers that have none of their own.
    pub every_server: ServerLimits,
    /// The limits of origins that have some of their own, by canonical origin, already filled up.
    pub origins: BTreeMap<String, OriginLimits>,
    /// The limits of servers that have some of their own, by server id.
    pub servers: BTreeMap<String, ServerLimits>,
}

/// The treatment of a tool whose description or schema changed since it was first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedTools {
    /// Calls are refused until the person accepts the change.
    Block,
    /// Calls go on; the person is told.
    Warn,
}

/// The tools that an AI client with a new name gets. The person has put Harbor into the client's configuration: that is the
/// consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstUse {
    /// All tools, or those that its configuration names.
    All,
    /// Nothing: its calls are told which command allows them.
    Ask,
    /// Nothing, and its calls are told no more than that.
    None,
}

impl FirstUse {
    /// The word in the file and on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Ask => "ask",
            Self::None => "none",
        }
    }
}

/// The limits of one origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OriginLimits {
    /// The budget of a run that asks for none, and the most that it may ask for. `None`: no limit.
    pub max_calls_per_run: Option<u32>,
    /// Calls at the same time; 0 means no limit.
    pub concurrent: u32,
    /// Calls that may wait; 0 means that calls beyond the limits are refused at once.
    pub queue: u32,
    /// How long a call may wait, in milliseconds; 0 means not at all.
    pub queue_wait_ms: u64,
    /// Calls per minute. `None`: no limit.
    pub per_minute: Option<u32>,
    /// The time limit of a call that names none. None means the limit in its server's definition.
    pub default_timeout: Option<Duration>,
}

/// The limits of one server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerLimits {
    /// Calls of one run that may go to it. `None`: as many as the run has.
    pub max_calls_per_run: Option<u32>,
    /// Calls of one origin to it at the same time. `None`: as many as the origin may.
    pub concurrent: Option<u32>,
    /// Calls per minute, from all origins together. `None`: no limit.
    pub per_minute: Option<u32>,
    /// The time limit of a call that names none. None if nothing is set for this server.
    pub default_timeout: Option<Duration>,
}

impl Default for HostConfig {
    fn default() -> Self {
        Self {
            once: Duration::from_secs(600),
            run_stale: Duration::from_secs(600),
            audit_required: false,
            check_output: false,
            changed_tools: ChangedTools::Block,
            first_use: FirstUse::All,
            metrics_of_origins: false,
            metrics_listen: None,
            traces_endpoint: None,
            traces_sample: 100,
            traces_of_origins: false,
            client_document: None,
            catalog: CatalogConfig::default(),
            sites: Sites::default(),
            browser_groups: BTreeSet::new(),
            secrets: SecretsConfig::default(),
            pages: PagesConfig::default(),
            every_origin: OriginLimits::DEFAULT,
            every_server: ServerLimits::default(),
            origins: BTreeMap::new(),
            servers: BTreeMap::new(),
        }
    }
}

impl OriginLimits {
    const DEFAULT: Self = Self {
        max_calls_per_run: Some(5),
        concurrent: 2,
        queue: 16,
        queue_wait_ms: 10_000,
        per_minute: Some(600),
        default_timeout: Some(CALL_TIMEOUT),
    };

    /// The owner's limits: none. An owner who sets a limit gets the usual queue in front of it.
    pub(super) const NONE: Self = Self {
        max_calls_per_run: None,
        concurrent: 0,
        per_minute: None,
        default_timeout: None,
        ..Self::DEFAULT
    };
}

impl HostConfig {
    /// The limits that hold for `origin`: a canonical origin, or [`OWNER`], who inherits nothing.
    #[must_use]
    pub fn limits_of(&self, origin: &str) -> OriginLimits {
        let inherited = if origin == OWNER { OriginLimits::NONE } else { self.every_origin };
        self.origins.get(origin).copied().unwrap_or(inherited)
    }

    /// The limits that hold for the server with this id.
    #[must_use]
    pub fn server_limits(&self, server: &str) -> ServerLimits {
        self.servers.get(server).copied().unwrap_or(self.every_server)
    }
}
