//! The steps that a check has left.
//!
//! Must never give any back.

use serde_json::Value;

/// It would take too many steps.
#[derive(Debug)]
pub(in crate::mcp::schema) struct TooMuch;

pub(super) type Counted = Result<(), TooMuch>;

/// The steps that are left.
pub(in crate::mcp::schema) struct Work<'s> {
    pub(super) root: &'s Value,
    pub(super) left: u32,
    /// True if copies for errors are counted, not only steps.
    pub(super) copying: bool,
    /// How many enclosing branches keep their errors beside the reported one, with copies of the value.
    pub(super) kept: u32,
}
