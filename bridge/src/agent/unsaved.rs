//! A session that the disk has not taken.
//!
//! Must never be a private one.

use std::rc::Rc;

use super::session::Session;

/// A session that the disk has not taken.
#[derive(Debug)]
pub(super) struct Unsaved {
    pub(super) session: Rc<Session>,
    pub(super) why: String,
}
