//! The bridge's rooms. See ARCHITECTURE.md for who may import whom.

pub mod agent;
mod alarm;
pub mod app;
mod browser;
pub mod catalog;
pub mod check;
pub mod closing;
pub mod config;
pub mod engines;
pub mod front;
pub mod host;
pub mod install;
pub mod keeper;
pub mod link;
pub mod models;
pub mod oauth_callback;
pub mod observe;
mod pages;
pub mod router;
pub mod runtimes;
mod scripts;
pub mod store;
pub mod supervisor;
pub mod traces;
