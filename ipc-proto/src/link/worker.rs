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
    /// What to do from now on. May be sent again; the database of the first one stays. What a source that is no longer
    /// named has brought is removed.
    Configure(WorkerSettings<'a>),
    /// Fetch from all sources now, also from those that are left alone for a while after a failure, but for what a server
    /// has asked for with Retry-After. One that comes while a refresh runs is answered with that one's end, unless only
    /// it is full: then it follows.
    Refresh {
        /// Comes back in the answer; not 0.
        id: u32,
        /// Everything, even where an increment would do: what is not told of any more is found by that only.
        full: bool,
    },
    /// Look up stars, commits and downloads of the entries that come first and have been looked at least recently.
    Enrich {
        /// Comes back in the answer; not 0.
        id: u32,
    },
}

/// What the worker is to do.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct WorkerSettings<'a> {
    /// The absolute path of catalog.db; its directory exists. The worker makes the file, with mode 0600.
    pub database: Cow<'a, str>,
    /// Where entries come from, at most 16. None: only what Harbor brings along.
    pub sources: Vec<WorkerSource<'a>>,
    /// From the end of one refresh to the next, before jitter (a tenth). 0: only when asked to.
    pub interval_ms: u64,
    /// The longest that one request may take, all of it. 0: 30 s.
    pub request_timeout_ms: u64,
    /// None: nothing is looked up.
    pub enrichment: Option<Enrichment<'a>>,
}

/// One source.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct WorkerSource<'a> {
    /// Its name in catalog.db: `[a-z0-9_]`, 1 to 32 characters, not `curated`.
    pub id: Cow<'a, str>,
    /// How it is read.
    pub kind: SourceKind,
    /// http or https. A registry's is its base, without `/v0.1/servers`; a list's is its Markdown file.
    pub url: Cow<'a, str>,
}

/// How a source is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum SourceKind {
    /// An MCP registry, API v0.1.
    Registry,
    /// A Markdown list of links to repositories.
    Awesome,
}

/// Where more is looked up about entries.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Enrichment<'a> {
    /// The base of GitHub's API: `https://api.github.com`.
    pub github: Option<Cow<'a, str>>,
    /// A URL with `{name}` for the package's; its answer is a JSON object with the number `downloads`, or one in `data` with
    /// `last_week`.
    pub npm_downloads: Option<Cow<'a, str>>,
    /// The same for PyPI.
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
    /// catalog.db is there with the schema of this build, and can be read. Whoever had it open opens it again, as it may be
    /// another file.
    Opened {
        /// What happened to the file before, in a sentence, if it was damaged or of another version.
        set_aside: Option<Cow<'a, str>>,
    },
    /// How things are; sent behind `Opened` and whenever it has changed. More is in catalog.db (`sources`).
    Status(WorkerStatus<'a>),
    /// What a refresh or an enrichment does right now.
    Progress(WorkerStep<'a>),
    /// A refresh or an enrichment has ended; what it found is in catalog.db.
    Done {
        /// That of the request; 0: nobody asked.
        id: u32,
        /// What has changed.
        changes: Changes,
        /// How each source did; empty after an enrichment.
        sources: Vec<SourceOutcome<'a>>,
        /// How many entries were looked up, and how many of them could not be.
        enriched: u32,
        /// Of these, how many failed.
        not_enriched: u32,
    },
    /// The request was not carried out, and nothing has changed.
    Failed {
        /// That of the request; 0: `Configure`, or what nobody asked for.
        id: u32,
        /// Why.
        why: WorkerFailure<'a>,
    },
}

/// How things are.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct WorkerStatus<'a> {
    /// What it does.
    pub activity: Activity,
    /// Entries that are not removed.
    pub entries: u32,
    /// `YYYY-MM-DD`: all there is are the entries that Harbor brought along, of that day. None once a source was fetched.
    pub snapshot: Option<Cow<'a, str>>,
    /// When the next refresh is due, in milliseconds since 1970; none when only on request.
    pub next_at: Option<u64>,
}

/// What the worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, BorrowDecode)]
pub enum Activity {
    /// Waits.
    Idle,
    /// Fetches from its sources.
    Refreshing,
    /// Looks up stars, commits and downloads.
    Enriching,
}

/// A step of a refresh or an enrichment, in the order in which they come.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum WorkerStep<'a> {
    /// A refresh begins.
    Refreshing {
        /// Whether everything is fetched.
        full: bool,
    },
    /// A page of a source has come.
    Fetching {
        /// Which.
        source: Cow<'a, str>,
        /// Its number, from 1.
        page: u32,
        /// Entries so far.
        entries: u32,
    },
    /// A source is done.
    SourceDone(SourceOutcome<'a>),
    /// Entries are looked up.
    Enriching {
        /// So many.
        count: u32,
    },
}

/// What became of entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Changes {
    /// New ones.
    pub added: u32,
    /// Ones of which the source says something else now.
    pub updated: u32,
    /// Ones that the source has no more.
    pub removed: u32,
    /// Ones that it had no more, and has again.
    pub restored: u32,
}

/// How a source did.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct SourceOutcome<'a> {
    /// Which.
    pub source: Cow<'a, str>,
    /// Its entries now that are not removed.
    pub entries: u32,
    /// What changed.
    pub changes: Changes,
    /// Why it was not fetched, in a sentence; its entries are as they were then.
    pub error: Option<Cow<'a, str>>,
    /// When it is tried again at the earliest, in milliseconds since 1970, after a failure.
    pub not_before: Option<u64>,
}

/// Why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum WorkerFailure<'a> {
    /// There was no `Configure` yet, or it failed.
    NotConfigured,
    /// The settings cannot be followed: what is wrong.
    Settings(Cow<'a, str>),
    /// catalog.db could not be opened or written: operation and reason. A full disk, a missing right.
    Database(Cow<'a, str>),
    /// There is nothing to do it with: no source, or nowhere to look up.
    Nothing,
}

#[cfg(test)]
mod golden;
