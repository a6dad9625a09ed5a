//! What all threads of a run share, and how far the run is.
//!
//! ```text
//!  storm: calls and kills ─► calm: calls only ─► over: neither
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use harbor_tests::Home;

use crate::servers::{self, Subject};
use crate::tally::Tally;

/// One home and everything that happens to it.
#[derive(Debug)]
pub struct Stage {
    /// Where it all runs.
    pub home: Home,
    /// Its servers.
    pub subjects: Vec<Subject>,
    /// What happened.
    pub tally: Arc<Tally>,
    /// Whether one runner has all servers.
    pub shared: bool,
    calm: AtomicBool,
    over: AtomicBool,
}

impl Stage {
    /// A new home in which nothing runs yet.
    pub fn new(tally: Arc<Tally>, shared: bool) -> Self {
        let home = Home::new();
        let subjects = servers::all(&home);
        Self { home, subjects, tally, shared, calm: AtomicBool::new(false), over: AtomicBool::new(false) }
    }

    /// The switches for whatever may start a bridge.
    pub fn switches(&self) -> &'static [(&'static str, &'static str)] {
        if self.shared { &[("HARBOR_MCP_ISOLATION", "0")] } else { &[] }
    }

    /// No more kills.
    pub fn calm_down(&self) {
        self.calm.store(true, Ordering::SeqCst);
    }

    /// Whether there are no more kills.
    pub fn is_calm(&self) -> bool {
        self.calm.load(Ordering::SeqCst)
    }

    /// No more calls.
    pub fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    /// Whether there are no more calls.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }
}
