//! The messages between the bridge and the catalog worker. Append only.
//!
//! ```text
//!   Hello ⇄ Hello,  then  ► Configure ─► Opened: catalog.db can be read        (or Failed { id: 0 }: it cannot be kept)
//!                                        Status, and again whenever it changes
//!   ► Refresh { id } ─► Progress …  ─► Done { id } | Failed { id }             exactly one of both for each id
//!   ► Enrich  { id } ─► Progress …  ─► Done { id } | Failed { id }
//!   by itself: Progress …, then Done { id: 0 }                 a refresh when it is due; an enrichment after each refresh
//!   ► Shutdown, or the end of the link ─► the process ends
//! ```
//!
//! The worker is started as `harbor-catalog-worker BRIDGE_PID` with the link as its standard input, and with the
//! environment's proxy variables (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`, both cases) and `SSL_CERT_*` at most. It
//! needs no HOME. Searches are not here: the bridge reads catalog.db, whose schema says how
//! (`catalog-worker/src/db/schema.sql`).

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

/// From the bridge to the catalog worker.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum ToWorker<'a> {
    /// First message: the bridge's link protocol and build.
    Hello {
        /// [`crate::LINK_PROTOCOL`].
        protocol: u32,
        /// [`crate::BUILD`].
        build: Cow<'a, str>,
    },
    /// Finish what is being written and exit.
    Shutdown,
    /// Sets the work from now on. May be sent again; the database of the first one stays. Entries of sources that are no
    /// longer named are removed.
    Configure(WorkerSettings<'a>),
    /// Fetch from all sources now, even from those in a pause after a failure, but not from a server that asked for a pause
    /// with Retry-After. A request during a refresh is answered when that refresh ends. Only a full one during a partial
    /// one waits and follows it.
    Refresh {
        /// The id for the answer; not 0.
        id: u32,
        /// True: fetch everything, even if an increment would do. Only this finds entries that a source no longer lists.
        full: bool,
    },
    /// Look up stars, commits and downloads of the first entries, beginning with those whose look-up is longest ago.
    Enrich {
        /// The id for the answer; not 0.
        id: u32,
    },
}

/// The settings of the worker.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct WorkerSettings<'a> {
    /// The absolute path of catalog.db; its directory exists. The worker makes the file, with mode 0600.
    pub database: Cow<'a, str>,
    /// The sources of entries, at most 16. Empty: only the entries that are part of Harbor.
    pub sources: Vec<WorkerSource<'a>>,
    /// The pause from the end of one refresh to the next, in milliseconds, before jitter (a tenth). 0: refresh only on request.
    pub interval_ms: u64,
    /// The longest that one whole request may take, in milliseconds. 0: 30 s.
    pub request_timeout_ms: u64,
    /// Where to look up more about entries. `None`: nothing is looked up.
    pub enrichment: Option<Enrichment<'a>>,
}

/// A source of entries.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct WorkerSource<'a> {
    /// Its name in catalog.db: `[a-z0-9_]`, 1 to 32 characters, not `curated`.
    pub id: Cow<'a, str>,
    /// How the worker reads it.
    pub kind: CatalogSourceKind,
    /// http or https. For a registry: its base, without `/v0.1/servers`. For a list: its Markdown file.
    pub url: Cow<'a, str>,
}

/// How a source is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum CatalogSourceKind {
    /// An MCP registry, API v0.1.
    Registry,
    /// A Markdown list of links to repositories.
    Awesome,
}

/// The services where the worker looks up more about entries.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Enrichment<'a> {
    /// The base of GitHub's API: `https://api.github.com`.
    pub github: Option<Cow<'a, str>>,
    /// A URL with `{name}` in place of the package's name. Its answer is a JSON object with the number `downloads`, or with
    /// `data` that has the number `last_week`.
    pub npm_downloads: Option<Cow<'a, str>>,
    /// The same kind of URL for PyPI.
    pub pypi_downloads: Option<Cow<'a, str>>,
}

/// From the catalog worker to the bridge.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum FromWorker<'a> {
    /// First message: the worker's link protocol and build.
    Hello {
        /// [`crate::LINK_PROTOCOL`].
        protocol: u32,
        /// [`crate::BUILD`].
        build: Cow<'a, str>,
    },
    /// catalog.db exists with the schema of this build, and can be read. A reader that had it open must open it again, as
    /// it may be another file.
    Opened {
        /// What happened to the file before, as a sentence, if it was damaged or of another version.
        set_aside: Option<Cow<'a, str>>,
    },
    /// The status of the worker; sent after `Opened` and after each change. catalog.db has more (`sources`).
    Status(WorkerStatus<'a>),
    /// The present step of a refresh or an enrichment.
    Progress(WorkerStep<'a>),
    /// A refresh or an enrichment has ended. Its results are in catalog.db.
    Done {
        /// The id of the request; 0: the worker began it by itself.
        id: u32,
        /// The changes to the entries.
        changes: Changes,
        /// The result of each source; empty after an enrichment.
        sources: Vec<SourceOutcome<'a>>,
        /// How many entries were looked up.
        enriched: u32,
        /// How many of these could not be looked up.
        not_enriched: u32,
    },
    /// The request was not carried out, and nothing has changed.
    Failed {
        /// The id of the request; 0: `Configure`, or work that the worker began by itself.
        id: u32,
        /// Why it was not carried out.
        why: WorkerFailure<'a>,
    },
}

/// The status of the worker.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct WorkerStatus<'a> {
    /// The present work.
    pub activity: Activity,
    /// How many entries there are, without removed ones.
    pub entries: u32,
    /// `YYYY-MM-DD`: the day of the entries that are part of Harbor, while they are all there is. `None` once a source was
    /// fetched.
    pub snapshot: Option<Cow<'a, str>>,
    /// When the next refresh is due, in milliseconds since 1970; `None` if it comes only on request.
    pub next_at: Option<u64>,
}

/// The work of the worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Activity {
    /// It waits.
    Idle,
    /// It fetches from its sources.
    Refreshing,
    /// It looks up stars, commits and downloads.
    Enriching,
}

/// A step of a refresh or an enrichment, in the order in which the steps come.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum WorkerStep<'a> {
    /// A refresh begins.
    Refreshing {
        /// True if everything is fetched.
        full: bool,
    },
    /// A page of a source was fetched.
    Fetching {
        /// The source.
        source: Cow<'a, str>,
        /// The page's number, from 1.
        page: u32,
        /// How many entries have come so far.
        entries: u32,
    },
    /// A source is done.
    SourceDone(SourceOutcome<'a>),
    /// Entries are looked up.
    Enriching {
        /// How many entries.
        count: u32,
    },
}

/// How many entries have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Changes {
    /// New entries.
    pub added: u32,
    /// Entries that changed in their source.
    pub updated: u32,
    /// Entries that their source dropped.
    pub removed: u32,
    /// Dropped entries that came back.
    pub restored: u32,
}

/// The result of a source in a refresh.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct SourceOutcome<'a> {
    /// The source.
    pub source: Cow<'a, str>,
    /// How many entries it has now, without removed ones.
    pub entries: u32,
    /// How many of its entries changed.
    pub changes: Changes,
    /// Why it was not fetched, as a sentence; its entries are then unchanged.
    pub error: Option<Cow<'a, str>>,
    /// After a failure: the earliest time of the next attempt, in milliseconds since 1970.
    pub not_before: Option<u64>,
}

/// Why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum WorkerFailure<'a> {
    /// There was no `Configure` yet, or it failed.
    NotConfigured,
    /// The settings cannot be used; the text says what is wrong.
    Settings(Cow<'a, str>),
    /// catalog.db could not be opened or written: operation and reason, such as a full disk or a missing right.
    Database(Cow<'a, str>),
    /// There is nothing to work with: no source, or no service to look up from.
    Nothing,
}

#[cfg(test)]
mod golden;
