//! What all threads of a run share, and how far the run is.
//!
//! ```text
//!  storm: calls and kills ─► calm: calls only ─► over: neither
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harbor_tests::Home;

use crate::desk::Desk;
use crate::login::Login;
use crate::mounts::Mounts;
use crate::servers::{self, Subject};
use crate::tally::Tally;

/// One home and everything that happens to it.
#[derive(Debug)]
pub struct Stage {
    /// What is mounted for it; it goes first.
    pub mounts: Option<Mounts>,
    /// Where it all runs.
    pub home: Home,
    /// Its servers.
    pub subjects: Vec<Subject>,
    /// The remote server that wants the person.
    pub login: Login,
    /// What conversations need.
    pub desk: Desk,
    /// What happened.
    pub tally: Arc<Tally>,
    /// Whether one runner has all servers.
    pub shared: bool,
    spares: Mutex<bool>,
    calm: AtomicBool,
    over: AtomicBool,
}

impl Stage {
    /// A new home in which nothing runs yet.
    pub fn new(tally: Arc<Tally>, shared: bool) -> Self {
        let home = Home::new();
        let mounts = Mounts::set_up(&home);
        let subjects = servers::all(&home);
        let login = Login::start(&home);
        Self {
            mounts,
            home,
            subjects,
            login,
            desk: Desk::start(),
            tally,
            shared,
            spares: Mutex::default(),
            calm: AtomicBool::new(false),
            over: AtomicBool::new(false),
        }
    }

    /// The switches for whatever may start a bridge.
    pub fn switches(&self) -> &'static [(&'static str, &'static str)] {
        if self.shared { &[("HARBOR_MCP_ISOLATION", "0")] } else { &[] }
    }

    /// From now on no bridge is killed, or they are again.
    pub fn spare(&self, spares: bool) {
        *self.spares() = spares;
    }

    /// Whether no bridge may be killed; as long as this is held, that does not change.
    pub fn spares(&self) -> MutexGuard<'_, bool> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
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
