//! The way from a message to its handler.
//!
//! ```text
//!  front ─ frame ─► Router::receive ─► table of open requests ─┬─► a task per request ─► handler ─┬─► reply
//!                                                              └─► a tool call ─► its server ─────┘
//! ```
//!
//! Owns who may ask what (by policy's table), and that each request is answered exactly once. Must never parse a payload;
//! handlers stay short and pass the work down.

mod agent;
mod agent_runs;
mod approvals;
mod calling;
mod catalog;
pub mod client;
pub mod clients;
mod config;
mod confirming;
mod credential_view;
mod credentials;
mod definitions;
mod dispatch;
mod engines;
mod feed;
mod flows;
mod grants;
mod install;
mod mcp;
mod mcp_client;
mod metrics;
mod model_events;
mod model_names;
mod models;
mod oauth;
mod open_questions;
mod origins;
mod own_prompts;
mod page_search;
mod pages;
mod pending_reply;
mod progress_reporter;
mod questions;
mod read_only;
mod receiving;
mod refusals;
mod reply;
pub mod sampling;
mod sandbox;
mod scripts;
mod secret_store;
mod servers;
mod session;
mod site_secrets;
mod state;
mod status;
mod steps;
mod tool_sources;
mod views;
pub mod watching;

pub use refusals::crowded;
pub(crate) use session::version_mismatch;
pub use state::Router;
