//! The model worker: the person's language models, each in its own format, behind one message model.
//!
//! ```text
//!  program ─ link ─► worker ─ a task for each request ─┬─► chat: asking, clock, credit ─►  way (HTTP) ─► provider
//!                                                      ├─► catalog: which models               │
//!                                                      ├─► check, detect, count, transcribe    ▼
//!    Event ◄── answer: calls, thoughts, end ◄── dialect: one file a format ◄── stream: bytes cut anywhere
//! ```
//!
//! Pure: `answer`, `dialect`, `errors`, `halves`, `names`, `pictures`, `places`, `retry`, `schema`, `settings`, `stream`, `thoughts`,
//! `turns`. A process of its own, so that
//! parsers of providers' bytes, TLS and keys in use are away from the bridge. Must never write a payload or a key into a text
//! for a log, follow a redirect, or keep anything of a request after its end.

pub mod answer;
mod asking;
mod catalog;
mod chat;
mod check;
mod clock;
mod count;
mod credit;
mod defuse;
mod detect;
pub mod dialect;
mod errors;
mod failure;
mod halves;
mod loading;
mod names;
mod open;
mod pictures;
mod places;
pub mod program;
mod provider_http;
mod retry;
mod schema;
mod settings;
pub mod stream;
mod thoughts;
mod to_bridge;
mod transcribe;
mod turns;
mod worker;
