//! The code that Harbor's programs for HTTP share: the HTTP runner, the catalog worker, the model worker.
//!
//! ```text
//!  URL ─► address: may it be connected to? ─► client ─► answer ─┬─► redirect: where it may send on to
//!                     public: names of redirect targets         ├─► body: bounded, never packed
//!                                                               └─► sse: a stream of events, bounded
//!  confine: what such a process may still do;  trouble: what went wrong, in words
//! ```
//!
//! Must never start a process, keep a cookie, or put a header's value, a payload or more of a URL than host and port into a text.

pub mod address;
pub mod body;
pub mod client;
pub mod confine;
pub mod public;
pub mod redirect;
pub mod sse;
pub mod trouble;

/// Has TLS done by ring. A provider that is there already is as good.
pub fn use_ring() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
