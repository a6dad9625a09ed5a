//! The fuzz targets: each parser of bytes from outside as a plain function over bytes, with its corpus.
//!
//! ```text
//!  corpus ─► mutate ─► Target::run ─ panics ─► drive: what it said, the seed, the shrunken input
//!                          └─ also wrapped for cargo-fuzz, see tests/fuzz
//! ```
//!
//! Owns what must hold for any bytes at all: no panic, bounded memory, and where a simple model of the parser can
//! be written, the same as that model. The one part of this crate that reaches into the product's code, and there
//! into parsers only: through processes it would see hundreds of inputs a second instead of many thousands.
//! A target must never do I/O, or keep anything from one input to the next.

mod archives;
mod browsers;
mod catalog;
mod client;
mod config;
mod consent;
mod contact;
mod drive;
mod events;
mod foreign;
mod frames;
mod grant_row;
mod hosts;
mod ids;
mod images;
mod input;
mod journal;
mod json;
mod lines;
mod link;
mod messages;
mod metrics;
mod models;
mod mutate;
mod oauth;
mod pages;
mod permissions;
mod recipes;
mod rounds;
mod sandbox;
mod secret_store;
mod supervision;
mod text_calls;
mod tools;
mod traces;
mod via;
mod writes;

pub use drive::{Failure, Plan, Ran, drive};
pub use mutate::mutate;

/// One parser, and what must hold for it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name: that of its test, and of its file under `tests/fuzz/fuzz_targets`.
    pub name: &'static str,
    /// Panics when something that must hold does not.
    pub run: fn(&[u8]),
    /// Where mutation starts, and every input that ever failed.
    pub corpus: &'static [&'static [u8]],
}

/// All of them.
pub const TARGETS: &[Target] = &[
    frames::FRAMES,
    client::ENVELOPE,
    client::ADDRESSEE,
    json::CONTAINED,
    json::FIELDS,
    link::TO_RUNNER,
    link::FROM_RUNNER,
    link::WORKER,
    link::MODEL,
    ids::SERVER_ID,
    ids::EXTENSION_ID,
    lines::LINES,
    events::EVENTS,
    models::MODEL_STREAM,
    oauth::CHALLENGE,
    oauth::DOCUMENTS,
    oauth::REDIRECT,
    messages::MESSAGE,
    messages::LINE_ENDS,
    contact::CONTACT,
    pages::PAGES,
    via::PASSED_ON,
    rounds::ROUNDS,
    writes::REQUESTS,
    writes::ANSWERS,
    supervision::SUPERVISION,
    supervision::LOG_RECORD,
    supervision::PACKAGE,
    supervision::PACKAGE_JSON,
    supervision::README,
    images::IMAGE,
    archives::ARCHIVE,
    recipes::SOURCE,
    recipes::SERVER_JSON,
    recipes::SERVER_MANIFEST,
    config::CONFIG,
    foreign::FOREIGN,
    browsers::NATIVE_MANIFEST,
    permissions::ORIGIN,
    permissions::TOOL_NAME,
    permissions::ALLOWLIST,
    consent::CONSENT,
    grant_row::GRANT_ROW,
    journal::DEFINITIONS_JOURNAL,
    text_calls::TEXT_CALLS,
    tools::TOOL,
    tools::SCHEMA,
    hosts::HOST_RULES,
    hosts::PROXY_HEAD,
    metrics::METRICS_HEAD,
    traces::COLLECTOR_ANSWER,
    sandbox::DENIED,
    sandbox::SANDBOX_SETTINGS,
    sandbox::LOWERED,
    secret_store::SECRET_STORE,
    catalog::REGISTRY_PAGE,
    catalog::AWESOME_LIST,
];

/// The target with this name.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| panic!("no fuzz target `{name}`"))
}
