//! `config.toml`: what a person may write there, and what it means.
//!
//! ```text
//!  file ─► ours alone? small? text? ─► TOML ─► each table: keys known? values in range? ─► HostConfig
//! ```
//!
//! Owns the names and ranges of the keys, in the tables below. Must never guess: a file that is wrong anywhere
//! configures nothing, since it decides about permissions.

mod show;
mod table;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use harbor_ipc_proto::server_id::{RULE, ServerId};
use harbor_policy::browser_tools::{GROUP_RULE, GROUPS};
use harbor_policy::origin::Origin;
use harbor_policy::secret_store::Choice;
use harbor_policy::tabs::uploads::{DIRECTORY_RULE, UploadDirectories};
use harbor_policy::tabs::urls::{ENTRY_RULE, Hosts};
use nix::fcntl::OFlag;
use nix::unistd::geteuid;
use toml::de::DeTable;

pub use self::show::show;
use self::table::{Key, Table};
use super::catalog::{
    CatalogConfig, DOCUMENT_RULE, TEMPLATE_RULE, URL_RULE, is_document, set_template, set_url,
};
use super::error::ConfigError;
use super::host::{ChangedTools, FirstUse, HostConfig, OWNER, OriginLimits, ServerLimits};
use super::metrics::{LISTEN_RULE, listen_address};
use super::pages::{Feature, PagesConfig};
use super::secrets::{FILE_RULE, SecretsConfig, passphrase_file};
use super::traces::{ENDPOINT_RULE, Endpoint};

/// The most bytes of the file: more than anybody writes by hand.
const MAX_SIZE: u64 = 1024 * 1024;

const GRANTS: &[Key<HostConfig>] =
    &[Key::number("onceSeconds", 1..=86_400, |host, n| host.once = seconds(n))];

const HOST: &[Key<HostConfig>] = &[
    Key::flag("auditRequired", |host, on| host.audit_required = on),
    Key::flag("checkOutput", |host, on| host.check_output = on),
    Key::word(
        "changedTools",
        &[
            ("block", |host| host.changed_tools = ChangedTools::Block),
            ("warn", |host| host.changed_tools = ChangedTools::Warn),
        ],
    ),
];

const MCP: &[Key<HostConfig>] = &[Key::word(
    "firstUse",
    &[
        ("all", |host| host.first_use = FirstUse::All),
        ("ask", |host| host.first_use = FirstUse::Ask),
        ("none", |host| host.first_use = FirstUse::None),
    ],
)];

const PAGES: &[Key<PagesConfig>] = &[
    Key::flag("textGeneration", |pages, on| pages.set(Feature::TextGeneration, on)),
    Key::flag("toolAccess", |pages, on| pages.set(Feature::ToolAccess, on)),
    Key::flag("toolCalling", |pages, on| pages.set(Feature::ToolCalling, on)),
    Key::flag("agentRuns", |pages, on| pages.set(Feature::AgentRuns, on)),
    Key::flag("browserInteraction", |pages, on| pages.set(Feature::BrowserInteraction, on)),
    Key::flag("screenshots", |pages, on| pages.set(Feature::Screenshots, on)),
    Key::flag("browserControl", |pages, on| pages.set(Feature::BrowserControl, on)),
];

const METRICS: &[Key<HostConfig>] = &[
    Key::flag("origins", |host, on| host.metrics_of_origins = on),
    Key::text("listen", LISTEN_RULE, |host, text| {
        host.metrics_listen = listen_address(text);
        host.metrics_listen.is_some()
    }),
];

const TRACES: &[Key<HostConfig>] = &[
    Key::text("endpoint", ENDPOINT_RULE, |host, text| {
        host.traces_endpoint = Endpoint::of_collector(text);
        host.traces_endpoint.is_some()
    }),
    Key::number("sample", 1..=100, |host, n| host.traces_sample = n),
    Key::flag("origins", |host, on| host.traces_of_origins = on),
];

const SECRETS: &[Key<SecretsConfig>] = &[
    Key::word(
        "store",
        &[
            ("file", |secrets| secrets.store = Choice::File),
            ("keyring", |secrets| secrets.store = Choice::Keyring),
        ],
    ),
    Key::text("passphraseFile", FILE_RULE, |secrets, text| {
        secrets.passphrase_file = passphrase_file(text);
        secrets.passphrase_file.is_some()
    }),
];

const CATALOG: &[Key<CatalogConfig>] = &[
    Key::flag("enabled", |catalog, on| catalog.enabled = on),
    Key::number("intervalMinutes", 5..=10_080, |catalog, n| catalog.interval = 60 * seconds(n)),
    Key::text("registryUrl", URL_RULE, |catalog, text| set_url(&mut catalog.registry, text)),
    Key::text("awesomeUrl", URL_RULE, |catalog, text| set_url(&mut catalog.awesome, text)),
    Key::text("githubApiUrl", URL_RULE, |catalog, text| set_url(&mut catalog.github_api, text)),
    Key::text("npmDownloadsUrl", TEMPLATE_RULE, |catalog, text| {
        set_template(&mut catalog.npm_downloads, text)
    }),
    Key::text("pypiDownloadsUrl", TEMPLATE_RULE, |catalog, text| {
        set_template(&mut catalog.pypi_downloads, text)
    }),
];

const OAUTH: &[Key<HostConfig>] = &[Key::text("clientMetadataUrl", DOCUMENT_RULE, |host, text| {
    host.client_document = Some(text.to_owned()).filter(|text| is_document(text));
    host.client_document.is_some()
})];

const BROWSER: &[Key<HostConfig>] = &[
    Key::texts("blocked", ENTRY_RULE, |host, texts| {
        Hosts::parse(texts.iter().copied()).map(|hosts| host.sites.blocked = hosts).is_some()
    }),
    Key::texts("askFirst", ENTRY_RULE, |host, texts| {
        Hosts::parse(texts.iter().copied()).map(|hosts| host.sites.ask_first = hosts).is_some()
    }),
    Key::texts("uploads", DIRECTORY_RULE, |host, texts| {
        let parsed = UploadDirectories::parse(texts.iter().copied());
        parsed.map(|directories| host.sites.uploads = directories).is_some()
    }),
    Key::texts("groups", GROUP_RULE, |host, texts| {
        host.browser_groups = texts.iter().map(ToString::to_string).collect();
        texts.iter().all(|group| GROUPS.contains(group))
    }),
];

const RUNS: &[Key<HostConfig>] =
    &[Key::number("runStaleSeconds", 1..=86_400, |host, n| host.run_stale = seconds(n))];

const PER_ORIGIN: &[Key<OriginLimits>] = &[
    Key::number("maxCallsPerRun", 1..=1000, |limits, n| limits.max_calls_per_run = Some(n)),
    Key::number("maxConcurrentPerOrigin", 1..=1000, |limits, n| limits.concurrent = n),
    Key::number("defaultTimeoutMs", 1..=3_600_000, |limits, n| limits.default_timeout = Some(millis(n))),
    Key::number("queueLength", 0..=1024, |limits, n| limits.queue = n),
    Key::number("queueWaitMs", 0..=600_000, |limits, n| limits.queue_wait_ms = n.into()),
    Key::number("callsPerMinutePerOrigin", 0..=1_000_000, |limits, n| limits.per_minute = per_minute(n)),
];

const OF_ALL_TOGETHER: Key<ServerLimits> =
    Key::number("callsPerMinutePerServer", 0..=1_000_000, |limits, n| limits.per_minute = per_minute(n));

const PER_SERVER: &[Key<ServerLimits>] = &[
    Key::number("maxCallsPerRun", 1..=1000, |limits, n| limits.max_calls_per_run = Some(n)),
    Key::number("maxConcurrentPerOrigin", 1..=1000, |limits, n| limits.concurrent = Some(n)),
    Key::number("defaultTimeoutMs", 1..=3_600_000, |limits, n| limits.default_timeout = Some(millis(n))),
    OF_ALL_TOGETHER,
];

fn seconds(n: u32) -> Duration {
    Duration::from_secs(n.into())
}

fn millis(n: u32) -> Duration {
    Duration::from_millis(n.into())
}

/// 0 is how the file says that there is no limit.
fn per_minute(n: u32) -> Option<u32> {
    (n > 0).then_some(n)
}

/// The settings in the file at `path`. The defaults when there is no file.
///
/// # Errors
/// When others could have written it, it cannot be read, or something in it is wrong.
pub fn read(path: &Path) -> Result<HostConfig, ConfigError> {
    Ok(read_there(path)?.unwrap_or_default())
}

/// The settings in the file at `path`. None when there is no file.
///
/// # Errors
/// As of [`read`].
pub fn read_there(path: &Path) -> Result<Option<HostConfig>, ConfigError> {
    let failed = |why: &dyn Display| ConfigError(format!("cannot use {}: {why}", path.display()));
    // Not blocking: a named pipe in its place would hold the start for ever.
    let opened = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path);
    let file = match opened {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| failed(&error))?,
    };
    let mut bytes = Vec::new();
    check(&file).map_err(|why| failed(&why))?;
    // It may grow while it is read.
    file.take(MAX_SIZE + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() as u64 > MAX_SIZE {
        return Err(failed(&"it is larger than 1 MiB"));
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => parse(text).map(Some),
        Err(error) => Err(table::not_text(&bytes[..error.valid_up_to()])),
    }
}

/// Checks who may write the file: a writer decides what origins may do.
fn check(file: &File) -> Result<(), String> {
    let found = file.metadata().map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is not a regular file".into());
    }
    if found.uid() != geteuid().as_raw() {
        return Err("it belongs to another user; replace it with your own copy".into());
    }
    if found.mode() & 0o022 != 0 {
        return Err("other users can write to it; run `chmod go-w` on it".into());
    }
    Ok(())
}

/// The settings in this text; see [`read`].
///
/// # Errors
/// Names the line, the key and what is expected there.
pub fn parse(text: &str) -> Result<HostConfig, ConfigError> {
    let document = DeTable::parse(text).map_err(|error| table::no_toml(text, &error))?;
    let file = Table::whole(text, document.get_ref());
    file.knows([
        "grants", "limits", "host", "mcp", "pages", "metrics", "traces", "catalog", "oauth", "secrets",
        "browser",
    ])?;
    let mut host = HostConfig::default();
    file.table("grants")?.read_only(GRANTS, &mut host)?;
    file.table("host")?.read_only(HOST, &mut host)?;
    file.table("mcp")?.read_only(MCP, &mut host)?;
    file.table("pages")?.read_only(PAGES, &mut host.pages)?;
    file.table("metrics")?.read_only(METRICS, &mut host)?;
    file.table("traces")?.read_only(TRACES, &mut host)?;
    file.table("catalog")?.read_only(CATALOG, &mut host.catalog)?;
    file.table("oauth")?.read_only(OAUTH, &mut host)?;
    file.table("browser")?.read_only(BROWSER, &mut host)?;
    file.table("secrets")?.read_only(SECRETS, &mut host.secrets)?;
    let limits = file.table("limits")?;
    let names = PER_ORIGIN.iter().map(|key| key.name).chain([OF_ALL_TOGETHER.name]);
    limits.knows(names.chain(RUNS.iter().map(|key| key.name)).chain(["origin", "server"]))?;
    limits.read(PER_ORIGIN, &mut host.every_origin)?;
    limits.read(&[OF_ALL_TOGETHER], &mut host.every_server)?;
    limits.read(RUNS, &mut host)?;
    host.origins = origins(&limits.table("origin")?, host.every_origin)?;
    host.servers = servers(&limits.table("server")?, host.every_server)?;
    Ok(host)
}

fn origins(table: &Table<'_>, every: OriginLimits) -> Result<BTreeMap<String, OriginLimits>, ConfigError> {
    let (mut origins, mut seen) = (BTreeMap::new(), BTreeMap::new());
    for (name, table) in table.tables()? {
        let (origin, mut limits) = match name {
            OWNER => (OWNER.to_owned(), OriginLimits::NONE),
            name => match Origin::parse(name) {
                Ok(origin) => (origin.to_string(), every),
                Err(why) => return Err(table.misnamed(&format!("expected an origin or {OWNER}: {why}"))),
            },
        };
        table.read_only(PER_ORIGIN, &mut limits)?;
        if let Some(other) = seen.insert(origin.clone(), table.start()) {
            let line = table.line_at(other);
            return Err(table.misnamed(&format!("the same origin as in line {line}")));
        }
        origins.insert(origin, limits);
    }
    Ok(origins)
}

fn servers(table: &Table<'_>, every: ServerLimits) -> Result<BTreeMap<String, ServerLimits>, ConfigError> {
    let mut servers = BTreeMap::new();
    for (name, table) in table.tables()? {
        if ServerId::parse(name).is_none() {
            return Err(table.misnamed(&format!("expected a server's name: {RULE}")));
        }
        let mut limits = every;
        table.read_only(PER_SERVER, &mut limits)?;
        servers.insert(name.to_owned(), limits);
    }
    Ok(servers)
}
