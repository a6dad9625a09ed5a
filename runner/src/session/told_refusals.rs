//! The refusals that the bridge was told of one start: each once.
//!
//! Must never believe a word: they lead only to a hint to the person.

use std::cell::RefCell;
use std::collections::BTreeSet;

use harbor_ipc_proto::link::runner::FromRunner;
use harbor_policy::sandbox::hint::{HintReader, PathRefusal, Said, refused_host};

use crate::to_bridge::Up;

/// The most different refusals that are told of one start.
pub(super) const MOST: usize = 64;

/// The state of one start: how far stderr is read, and what the bridge was told.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// Reads its stderr.
    pub(super) reader: RefCell<HintReader>,
    pub(super) told: RefCell<BTreeSet<Said>>,
}

impl Refusals {
    /// Takes a line of its egress proxy. True if the bridge knows of the refused host in it; false if the line belongs in
    /// the log.
    pub(super) fn of_proxy(&self, up: &Up, server: u32, line: &str) -> bool {
        let Some(host) = refused_host(line).map(Said::Lacks) else { return false };
        let is_known = self.told.borrow().contains(&host);
        if !is_known && self.told.borrow().len() >= MOST {
            return false;
        }
        self.tell(up, server, host);
        true
    }

    pub(super) fn tell(&self, up: &Up, server: u32, said: Said) {
        if !self.told.borrow_mut().insert(said.clone()) {
            return;
        }
        up.send(&match said {
            Said::Refused(PathRefusal { path, write, missing }) => {
                FromRunner::Denied { server, path: path.into(), write, missing }
            }
            Said::Lacks(what) => FromRunner::Lacks { server, what },
        });
    }
}
