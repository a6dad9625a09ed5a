//! The catalog worker without a bridge: its link, held by a test, and a web of the test's own for it to read.
//!
//! Must never start a bridge.

pub mod driven;
pub mod registry;
pub mod web;

pub use driven::{Driven, Place, Said};
pub use registry::Registry;
pub use web::{Reply, Request, Web};
