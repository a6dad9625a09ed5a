//! Objects about the catalog. Its texts are other people's: whoever shows them shows them as text.

use super::define_sent;
use crate::json::Json;

define_sent! {
    /// Objects of the catalog's messages.
    CATALOG_OBJECTS:
    /// A server that can be had, in short.
    "CatalogEntry" CatalogEntry {
        /// Its id in the catalog: 16 hex digits.
        id: String,
        /// Where it comes from: `registry`, `awesome`, or `curated` by Harbor.
        source: String,
        /// Its name there.
        name: String,
        /// A name for people.
        title: Option<String>,
        /// What it says about itself; cut at 500 characters.
        description: String,
        /// Its newest version.
        version: Option<String>,
        /// `active`, `deprecated` or `deleted`, as its author says.
        status: String,
        /// How it can be had: `npm`, `pypi`, `oci`, …; `remote` for one that runs elsewhere.
        kinds: Vec<String>,
        /// Whether Harbor's authors have chosen it.
        featured: bool,
        /// Stars of its repository, where they are known.
        stars: Option<u64>,
        /// Downloads of its package, where they are known.
        downloads: Option<u64>,
        /// When it was changed last, as its source says, in milliseconds since 1970.
        updated_at: Option<u64>,
        /// Since when its source has it no more, in milliseconds since 1970.
        removed_at: Option<u64>,
    }
    /// All that is known of a server that can be had.
    "CatalogDetails" CatalogDetails {
        /// It in short; its description is whole here.
        entry: CatalogEntry,
        /// Its packages, as in the registry's server.json.
        packages: Json,
        /// Where it runs for whoever connects, likewise.
        remotes: Json,
        /// Its repository.
        repository: Option<String>,
        /// Its page.
        website: Option<String>,
        /// Words about it.
        tags: Json,
        /// When it was published first, as its source says, in milliseconds since 1970.
        published_at: Option<u64>,
        /// When Harbor saw it first, in milliseconds since 1970.
        first_seen_at: u64,
        /// When its source last told of it, in milliseconds since 1970.
        last_seen_at: u64,
        /// The last commit of its repository, in milliseconds since 1970.
        last_commit_at: Option<u64>,
        /// What its place in lists depends on; more comes first.
        priority: i64,
    }
    /// A source of the catalog.
    "CatalogSource" CatalogSource {
        /// `registry`, `awesome` or `curated`.
        id: String,
        /// Where it is; empty for what Harbor brings along.
        url: String,
        /// Whether the last attempt succeeded; false before the first one.
        ok: bool,
        /// Its entries that are not removed.
        entries: u64,
        /// Why the last attempt failed, if it did.
        error: Option<String>,
        /// When it was last tried, in milliseconds since 1970.
        last_attempt: Option<u64>,
        /// When that last succeeded, in milliseconds since 1970.
        last_success: Option<u64>,
        /// It is left alone until then, in milliseconds since 1970, after failures.
        not_before: Option<u64>,
    }
    /// What a refresh has changed.
    "CatalogChanges" CatalogChanges {
        /// New entries.
        added: u64,
        /// Entries of which the source says something else now.
        updated: u64,
        /// Entries that the source has no more.
        removed: u64,
        /// Entries that it had no more, and has again.
        restored: u64,
    }
}
