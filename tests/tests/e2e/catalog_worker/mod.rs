//! The catalog worker as the bridge runs it: the real program over its link, with a web of the test's own.
//!
//! ```text
//!  Driven (the bridge's end of the link) ──► harbor-catalog-worker ──► Web (127.0.0.1: registry, list, GitHub, npm)
//!     └─ reads catalog.db, as the bridge does ◄──────┘
//! ```

mod crash;
mod enrichment;
mod failures;
mod sources;
mod starts;
