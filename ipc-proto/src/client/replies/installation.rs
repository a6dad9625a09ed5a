//! The bridge's replies about the catalog and installations.

use super::super::{
    CatalogChanges, CatalogDetails, CatalogEntry, CatalogSource, CatalogStatus, InstalledView, ResolvedView,
    RuntimesView, ServerView, UpgradeView, define_sent,
};

define_sent! {
    /// Replies about the catalog and installations, by the type of their request.
    INSTALLATION_REPLIES:
    /// A page of the catalog.
    "catalog_get" CatalogGetResult {
        /// The entries, those of the highest rank first.
        entries: Vec<CatalogEntry>,
        /// The cursor of the next page; absent on the last page.
        next_cursor: Option<String>,
        /// How many entries there are on all pages.
        total: u64,
        /// `YYYY-MM-DD`: the day of the entries that are part of Harbor. Present only while no source was reached yet and
        /// they are all there is.
        snapshot: Option<String>,
        /// When a source was last fetched, in milliseconds since 1970; absent when none was.
        last_refresh: Option<u64>,
    }
    /// A page of search results.
    "catalog_search" CatalogSearchResult {
        /// The entries, the best match first.
        entries: Vec<CatalogEntry>,
        /// As in `catalog_get`.
        next_cursor: Option<String>,
        /// How many entries match; absent if more than 500 do.
        total: Option<u64>,
        /// As in `catalog_get`.
        snapshot: Option<String>,
        /// As in `catalog_get`.
        last_refresh: Option<u64>,
    }
    /// An entry of the catalog.
    "catalog_entry" CatalogEntryResult {
        /// Everything that Harbor knows of the entry.
        details: CatalogDetails,
    }
    /// The refresh has ended. `sources` says which sources failed; their entries are unchanged.
    "catalog_refresh" CatalogRefreshResult {
        /// The changes in the catalog.
        changes: CatalogChanges,
        /// The result of each source.
        sources: Vec<CatalogSource>,
        /// How many entries there are now.
        entries: u64,
        /// As in `catalog_get`.
        snapshot: Option<String>,
    }
    /// The look-up has ended.
    "catalog_enrich" CatalogEnrichResult {
        /// How many entries were looked up.
        enriched: u64,
        /// How many of them could not be looked up.
        failed: u64,
    }
    /// The status of the catalog.
    "catalog_status" CatalogStatusResult {
        /// The catalog, as in `status`.
        catalog: CatalogStatus,
        /// The sources in the catalog's file, sorted by name. They may differ from the configured ones.
        sources: Vec<CatalogSource>,
    }
    /// The server is installed; for a plan, the reply says what would be.
    "install_server" InstallServerResult {
        /// The package and its server.
        installed: InstalledView,
    }
    /// The description of the server.
    "resolve_server" ResolveServerResult {
        /// The server.
        server: ResolvedView,
    }
    /// The servers that are part of Harbor.
    "get_curated_list" GetCuratedListResult {
        /// The servers.
        servers: Vec<ResolvedView>,
    }
    /// The differences between the versions.
    "upgrade_server" UpgradeServerResult {
        /// The versions and their tools.
        upgrade: UpgradeView,
    }
    /// The earlier version is in use.
    "undo_upgrade" UndoUpgradeResult {
        /// The package and its server.
        installed: InstalledView,
    }
    /// The server is removed, as by `remove_server`.
    "uninstall_server" UninstallServerResult {
        /// As in `remove_server`.
        removed: bool,
        /// As in `remove_server`.
        data: Option<String>,
    }
    /// The arguments are changed.
    "update_server_args" UpdateServerArgsResult {
        /// The server as `list_servers` shows it.
        server: ServerView,
    }
    /// The servers with a package, by id.
    "list_installed" ListInstalledResult {
        /// The servers' packages.
        servers: Vec<InstalledView>,
    }
    /// The programs that servers and installers need.
    "check_runtimes" CheckRuntimesResult {
        /// The programs and their places.
        runtimes: RuntimesView,
    }
}
