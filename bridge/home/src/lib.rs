//! Knowledge that every program of Harbor has of the home: where its files are, how the bridge is found
//! there, what time it is.
//!
//! Owns names, modes and the search for the bridge. Must never read or write the bridge's data, nor depend on
//! the bridge: the command line is built without it.

pub mod clock;
pub mod copied;
pub mod date;
pub mod dial;
pub mod files;
pub mod instance;
pub mod lock;
pub mod mounted;
pub mod parent_directories;
mod paths;
pub mod places;

pub use self::paths::{CONFIG_FILE, PathError, Paths};
