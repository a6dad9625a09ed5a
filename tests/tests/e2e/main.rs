//! What Harbor promises, seen from outside: real processes, one module for each theme.
//!
//! `cargo nextest run` gives each test a process of its own, so nothing may be kept in a `static` for the next test, and
//! a lock inside the process keeps nobody out: what must not run beside others is in a group of `.config/nextest.toml`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "test support"
)]

mod agent;
mod asks;
mod attacks;
mod audit;
mod browser;
mod browser_files;
mod browser_meaning;
mod browser_scripts;
mod browser_secrets;
mod browser_sharing;
mod calls;
mod catalog;
mod catalog_worker;
mod command_line;
mod command_line_calls;
mod command_line_completions;
mod command_line_following;
mod config;
mod conformance;
mod consent;
mod contact;
mod containers;
mod database;
mod disk_room;
mod doctor;
mod doubles;
mod downloads;
mod endings;
mod exits;
mod first_grants;
mod frames;
mod frozen;
mod fuzz;
mod harness;
mod host;
mod host_manifests;
mod importing;
mod install;
mod installing;
mod instances;
mod js_fetch;
mod js_servers;
mod leftovers;
mod limits;
mod liveness;
mod logs;
mod mcp_clients;
mod mcp_http;
mod mcp_offers;
mod mcp_sdks;
mod mcp_server;
mod metrics;
mod models;
mod namespace;
mod oauth;
mod odd_lists;
mod open_files;
mod page_sources;
mod permissions;
mod plain_words;
mod planning;
mod popular;
mod principals;
mod pythons;
mod real_servers;
mod registry;
mod relay;
mod remote;
mod repositories;
mod resources;
mod restarts;
mod rmcp;
mod runtimes;
mod sampling;
mod scripts;
mod secrets;
mod service;
mod shutdown;
mod socket;
mod sources;
mod starts;
mod status;
mod tool_sources;
mod top;
mod traces;
mod unread;
mod upgrading;
mod waiting;
mod wasm_servers;
