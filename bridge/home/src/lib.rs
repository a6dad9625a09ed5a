//! What every program of Harbor knows of the user's one home: where its files are, how the bridge is found there, what time it is.
//!
//! Owns names, modes and the search for the bridge. Must never read or write what the bridge keeps, nor depend on it: the command
//! line is built without the bridge.

pub mod above;
pub mod clock;
pub mod copied;
pub mod date;
pub mod dial;
pub mod files;
pub mod instance;
pub mod lock;
pub mod mounted;
mod paths;
pub mod places;

pub use self::paths::{CONFIG_FILE, PathError, Paths};
