//! The catalog, as it is typed: looked through, searched, one of it shown, refreshed.
//!
//! Must never judge what is looked for.

use clap::{Args, Subcommand, value_parser};

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum CatalogWanted {
    /// List all servers, page by page
    List(ListWanted),
    /// Search servers by words; the last one may be incomplete
    Search {
        /// Words to search for
        #[arg(required = true)]
        words: Vec<String>,
        #[command(flatten)]
        page: PageWanted,
    },
    /// Show one server and how to install it
    Show {
        /// Its id, as lists show it
        id: String,
    },
    /// Fetch the catalog again
    Refresh {
        /// Fetch everything, not only what has changed
        #[arg(long)]
        full: bool,
    },
    /// Show the age and the errors of the catalog
    Status,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct ListWanted {
    #[command(flatten)]
    pub page: PageWanted,
    /// Only this source: registry, awesome or curated
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Only featured servers, chosen by Harbor's authors
    #[arg(long)]
    pub featured: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct PageWanted {
    /// Servers per page, 1 to 200 (default 20)
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=200))]
    pub limit: Option<u64>,
    /// Continue after this page
    #[arg(long)]
    pub cursor: Option<String>,
}
