//! The state of a file that is written again and again.
//!
//! Owns that it is written by one at a time, and once more where it is out of date again.

use std::cell::Cell;

/// The state of the file.
#[derive(Debug, Default)]
pub(super) struct Writing {
    busy: Cell<bool>,
    stale: Cell<bool>,
}

impl Writing {
    /// Notes that the file is out of date. True if the caller must write it, as long as [`Self::goes_on`].
    pub fn begin(&self) -> bool {
        self.stale.set(true);
        !self.busy.replace(true)
    }

    /// True if the file is out of date again, so that the caller writes it now. Otherwise another caller may begin.
    pub fn goes_on(&self) -> bool {
        let is_stale = self.stale.take();
        self.busy.set(is_stale);
        is_stale
    }
}
