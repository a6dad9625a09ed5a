//! Requests about the catalog.

use super::super::define_requests;

define_requests! {
    /// Any request about the catalog.
    CatalogRequest:
    /// Lists the entries of the catalog, those of the highest rank first, a page at a time.
    "catalog_get" CatalogGet -> CatalogGetResult {
        /// The `next_cursor` of the page before; all other fields must be as they were. Absent: the first page.
        cursor: Option<String>,
        /// The most entries in the reply, up to 200; absent: 50.
        limit: Option<u64>,
        /// True: only the entries that Harbor's authors chose. False: only the others. Absent: all.
        featured: Option<bool>,
        /// Only entries of this source: `registry`, `awesome` or `curated`; absent: all.
        source: Option<String>,
        /// True: also entries that their source has dropped. Absent: false.
        include_removed: Option<bool>,
    }
    /// Searches the catalog. All words must match; the last one may be the beginning of a word.
    "catalog_search" CatalogSearch -> CatalogSearchResult {
        /// The words, as a person types them; at most 1,000 bytes. Words after the 16th are ignored.
        query: String,
        /// As in `catalog_get`.
        cursor: Option<String>,
        /// As in `catalog_get`.
        limit: Option<u64>,
    }
    /// Gives everything that Harbor knows of one entry.
    "catalog_entry" CatalogEntryGet -> CatalogEntryResult {
        /// The id of the entry, or the name of an entry that is part of Harbor.
        id: String,
    }
    /// Fetches the catalog anew, and answers when that is done. A request that comes meanwhile shares the refresh. The
    /// refresh goes on even if nobody waits for it any more.
    "catalog_refresh" CatalogRefresh -> CatalogRefreshResult {
        /// True: fetch everything, even where the changes alone would do.
        full: Option<bool>,
        /// True: `progress` pushes come.
        progress: Option<bool>,
    }
    /// Looks up stars, commits and downloads of the first entries, and answers when that is done. Requests share it as in
    /// `catalog_refresh`.
    "catalog_enrich" CatalogEnrich -> CatalogEnrichResult {
        /// True: `progress` pushes come.
        progress: Option<bool>,
    }
    /// Gives the status of the catalog, its worker and its sources.
    "catalog_status" CatalogStatusGet -> CatalogStatusResult {}
}
