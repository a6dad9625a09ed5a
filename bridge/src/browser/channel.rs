//! The way to the extension.
//!
//! Must never be asked whether it may.

use std::fmt::Debug;
use std::sync::Arc;

use harbor_ipc_proto::client::{SourceCall, SourceCancel, SourceSessionEnded};

/// The way to the extension.
pub trait ExtensionChannel: Debug {
    /// The number of its connection.
    fn connection(&self) -> u64;

    /// The browser session that it belongs to. Another session has other tabs, even if their numbers are the
    /// same.
    fn browser_session(&self) -> Arc<str>;

    /// Calls a tool.
    fn call(&self, call: &SourceCall);

    /// Tells the browser that a call's answer is no longer needed.
    fn cancel(&self, cancel: &SourceCancel);

    /// Tells that a session is over.
    fn ended(&self, ended: &SourceSessionEnded);
}
