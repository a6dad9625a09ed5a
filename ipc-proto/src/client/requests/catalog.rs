//! Requests about servers that can be had.

use super::super::define_requests;

define_requests! {
    /// Any request about servers that can be had.
    CatalogRequest:
    /// Gives the servers that can be had, the first ones first, a page at a time.
    "catalog_get" CatalogGet -> CatalogGetResult {
        /// Where to go on: the `next_cursor` of the page before, with everything else as it was.
        cursor: Option<String>,
        /// At most so many; 50 when absent, 200 at most.
        limit: Option<u64>,
        /// Only those that Harbor's authors have chosen, or only the others.
        featured: Option<bool>,
        /// Only of this source: `registry`, `awesome` or `curated`.
        source: Option<String>,
        /// Also those that their source has no more; false when absent.
        include_removed: Option<bool>,
    }
    /// Finds servers that can be had by words of theirs: all of them, the last one as far as it is typed.
    "catalog_search" CatalogSearch -> CatalogSearchResult {
        /// The words, as a person types them; at most 1,000 bytes, of which the first 16 words count.
        query: String,
        /// As in `catalog_get`.
        cursor: Option<String>,
        /// As in `catalog_get`.
        limit: Option<u64>,
    }
    /// Gives all that is known of one of them.
    "catalog_entry" CatalogEntryGet -> CatalogEntryResult {
        /// Its id in the catalog, or the name of one that Harbor brings along.
        id: String,
    }
    /// Fetches the catalog anew, and answers when that is done. Whoever asks while that is being done shares it, and it is
    /// done also when nobody waits for it any more.
    "catalog_refresh" CatalogRefresh -> CatalogRefreshResult {
        /// Everything, even where what has changed would do.
        full: Option<bool>,
        /// Whether `progress` pushes are wanted.
        progress: Option<bool>,
    }
    /// Looks up stars, commits and downloads of those that come first, and answers when that is done. Shared likewise.
    "catalog_enrich" CatalogEnrich -> CatalogEnrichResult {
        /// Whether `progress` pushes are wanted.
        progress: Option<bool>,
    }
    /// Says how the catalog, its worker and its sources are.
    "catalog_status" CatalogStatusGet -> CatalogStatusResult {}
}
