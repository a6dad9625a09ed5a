//! The bridge's rooms. See ARCHITECTURE.md for who may import whom.

pub mod config;
