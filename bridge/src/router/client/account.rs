//! The credit of a stream.
//!
//! Owns that form: its stream and its open request share it.

use std::cell::RefCell;

use harbor_policy::credit::Credit;
use tokio::sync::Notify;

/// The part that a stream and its open request share.
#[derive(Debug)]
pub(super) struct Account {
    pub credit: RefCell<Credit>,
    pub more: Notify,
}
