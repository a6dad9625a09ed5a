//! The state of metrics over HTTP.
//!
//! Must never serve them.

use std::net::SocketAddr;

/// The state of metrics over HTTP.
#[derive(Debug, Default)]
pub struct Exporting {
    /// The address.
    pub at: Option<SocketAddr>,
    /// The reason why metrics are not served although they should be.
    pub refused: Option<String>,
}
