//! Objects of the catalog. Their texts are other people's: show them as plain text.

use super::define_sent;
use crate::json::Json;

define_sent! {
    /// Objects of the catalog's messages.
    CATALOG_OBJECTS:
    /// An entry of the catalog: a server that can be installed or connected.
    "CatalogEntry" CatalogEntry {
        /// Its id in the catalog: 16 hex digits.
        id: String,
        /// The source of the entry: `registry`, `awesome`, or `curated` by Harbor.
        source: String,
        /// Its name in that source.
        name: String,
        /// A name for people.
        title: Option<String>,
        /// Its own description of itself, cut at 500 characters.
        description: String,
        /// Its newest version.
        version: Option<String>,
        /// `active`, `deprecated` or `deleted`, as its author says.
        status: String,
        /// The ways to get it: `npm`, `pypi`, `oci`, …; `remote` for a remote server.
        kinds: Vec<String>,
        /// True if Harbor's authors chose it.
        featured: bool,
        /// Stars of its repository; absent when not known.
        stars: Option<u64>,
        /// Downloads of its package; absent when not known.
        downloads: Option<u64>,
        /// When it last changed, in milliseconds since 1970, as its source says.
        updated_at: Option<u64>,
        /// When its source dropped it, in milliseconds since 1970; absent while the source has it.
        removed_at: Option<u64>,
    }
    /// Everything that Harbor knows of an entry.
    "CatalogDetails" CatalogDetails {
        /// The entry; its description is not cut here.
        entry: CatalogEntry,
        /// Its packages, as in the registry's server.json.
        packages: Json,
        /// The addresses where it runs for everybody, as in the registry's server.json.
        remotes: Json,
        /// The address of its repository.
        repository: Option<String>,
        /// The address of its web page.
        website: Option<String>,
        /// Words that describe it.
        tags: Json,
        /// When it was first published, in milliseconds since 1970, as its source says.
        published_at: Option<u64>,
        /// When Harbor first saw it, in milliseconds since 1970.
        first_seen_at: u64,
        /// When its source last listed it, in milliseconds since 1970.
        last_seen_at: u64,
        /// When the last commit of its repository was made, in milliseconds since 1970.
        last_commit_at: Option<u64>,
        /// Its rank in lists: a higher number comes first.
        priority: i64,
    }
    /// A source of the catalog.
    "CatalogSource" CatalogSource {
        /// `registry`, `awesome` or `curated`.
        id: String,
        /// Its address; empty for the entries that are part of Harbor.
        url: String,
        /// True if the last attempt succeeded; false before the first attempt.
        ok: bool,
        /// How many entries it has, without removed ones.
        entries: u64,
        /// Why the last attempt failed; absent if it did not.
        error: Option<String>,
        /// When the last attempt was made, in milliseconds since 1970.
        last_attempt: Option<u64>,
        /// When an attempt last succeeded, in milliseconds since 1970.
        last_success: Option<u64>,
        /// After failures: the time before which Harbor does not try again, in milliseconds since 1970.
        not_before: Option<u64>,
    }
    /// The changes that a refresh made.
    "CatalogChanges" CatalogChanges {
        /// How many entries are new.
        added: u64,
        /// How many entries changed in their source.
        updated: u64,
        /// How many entries their source dropped.
        removed: u64,
        /// How many dropped entries came back.
        restored: u64,
    }
}
