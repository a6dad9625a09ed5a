//! Decisions of the bridge: state, event and time in, actions out.
//!
//! Owns every rule that could be argued about: which principal may send what, how many at once, when a server starts and stops,
//! which part of the environment it may see. Must never wait, read a clock, touch a disk or a process.

pub mod access;
pub mod agent_tools;
pub mod apis;
pub mod backlog;
pub mod browser_start;
pub mod browser_tools;
pub mod budget;
pub mod consent;
pub mod container;
pub mod credentials;
pub mod credit;
pub mod curated;
pub mod environment;
pub mod flood;
pub mod grants;
pub mod handover;
pub mod health;
pub mod history;
pub mod lifecycle;
pub mod limiter;
pub mod limits;
pub mod listeners;
pub mod liveness;
pub mod models;
pub mod nodes;
pub mod oauth;
pub mod origin;
pub mod package;
pub mod program;
pub mod progress;
pub mod pythons;
pub mod recipe;
pub mod redaction;
pub mod remote;
pub mod runs;
pub mod runtimes;
pub mod sandbox;
pub mod scope;
pub mod search;
pub mod secret_store;
pub mod server_directories;
pub mod settings;
pub mod slots;
pub mod standing;
pub mod stats;
pub mod suggest;
pub mod tabs;
pub mod telltale;
pub mod timeout_advice;
pub mod tool_name;
pub mod turn;
pub mod unreachable_places;
pub mod untrusted;
