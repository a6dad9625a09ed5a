//! The catalog, as it is typed: looked through, searched, one of it shown, refreshed.
//!
//! Must never judge what is looked for.

use clap::{Args, Subcommand, value_parser};

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum CatalogWanted {
    /// Show a page of all servers
    List(ListWanted),
    /// Find servers by words; the last one may be the beginning of one
    Search {
        /// The words
        #[arg(required = true)]
        words: Vec<String>,
        #[command(flatten)]
        page: PageWanted,
    },
    /// Show one server, and how it is installed
    Show {
        /// The id that a list shows
        id: String,
    },
    /// Fetch the catalog anew
    Refresh {
        /// Fetch everything, even where what has changed would do
        #[arg(long)]
        full: bool,
    },
    /// Show how old the catalog is, and what went wrong
    Status,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct ListWanted {
    #[command(flatten)]
    pub page: PageWanted,
    /// Only of registry, awesome or curated
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Only those that Harbor's authors have chosen
    #[arg(long)]
    pub featured: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct PageWanted {
    /// How many on a page: 1 to 200; 20 if absent
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=200))]
    pub limit: Option<u64>,
    /// Go on where the page before ended
    #[arg(long)]
    pub cursor: Option<String>,
}
