//! The catalog worker: all network fetches of the server catalog, and the only writer of catalog.db.
//!
//! ```text
//!  program ─ link ─► worker ─ timer ─► agenda (what next) ──► refresh, enrich ──► net (HTTP) ─► registry, awesome (pages → entries)
//!                                    schedule (when)              └──────────► db (one transaction a source; the score)
//! ```
//!
//! Pure: `agenda`, `awesome`, `entry`, `packages`, `paging`, `registry`, `schedule`, `score`, `text`, `time`. Everything runs on one
//! thread. A process of its own, so that parsers of the world's bytes, TLS and the memory for both are away from the bridge.

pub mod agenda;
pub mod awesome;
pub mod clock;
pub mod db;
pub mod enrich;
pub mod entry;
pub mod net;
pub mod packages;
pub mod paging;
pub mod program;
pub mod refresh;
pub mod registry;
pub mod schedule;
pub mod score;
pub mod settings;
pub mod text;
pub mod time;
pub mod to_bridge;
pub mod worker;
