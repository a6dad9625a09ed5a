//! A model's search in a page for what a caller means, as the source of the page asks for it.
//!
//! Owns these types. Must never hold more of the page than was read for the caller.

use std::pin::Pin;
use std::rc::Rc;

use harbor_policy::page_search::UnreadReason;

/// What is looked for, and where.
#[derive(Debug, Clone)]
pub struct WantedPlaces {
    /// What the caller means, in its words.
    pub meaning: String,
    /// The origin of the page.
    pub from: String,
    /// The page's snapshot.
    pub page: String,
}

/// The places that a model has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPlaces {
    /// Refs of the page.
    pub refs: Vec<String>,
    /// True if the model has read all that it was to read.
    pub is_whole: bool,
}

/// The work on a search. Dropping it ends the request to the model.
pub type PageSearchWork = Pin<Box<dyn Future<Output = Result<FoundPlaces, UnreadReason>>>>;

/// Has a model look, where the maker of the call may use one.
pub type PageSearch = Rc<dyn Fn(WantedPlaces, std::time::Instant) -> PageSearchWork>;
