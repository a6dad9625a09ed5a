//! Directories for short work: each is made for one piece of it, and removed behind it.
//!
//! Owns them, and how many there are at once. Their names are few and come again: what a program could write is noted by its place.
//! Must never leave one behind, also where its work is given up.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use harbor_home::files::private_directory;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;

use super::removal::remove_tree;

/// The numbers that are taken.
type Taken = Arc<Mutex<BTreeSet<u32>>>;

/// The places of one kind of work.
#[derive(Debug)]
pub struct Workplaces {
    /// The directory that they are in.
    all: PathBuf,
    /// The beginning of each name.
    kind: &'static str,
    most: u32,
    taken: Taken,
}

/// A place for one piece of work. It is removed with all that is in it.
#[derive(Debug)]
pub struct Workplace {
    /// Its name, which no other one has at the same time.
    pub name: String,
    /// The directory.
    pub root: PathBuf,
    /// None once its directory is being removed.
    number: Option<TakenNumber>,
}

/// A number that is free again behind this.
#[derive(Debug)]
struct TakenNumber(u32, Taken);

impl Drop for TakenNumber {
    fn drop(&mut self) {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // Its number is free once it is gone.
        let (root, number) = (std::mem::take(&mut self.root), self.number.take());
        tokio::task::spawn_blocking(move || {
            // What cannot be removed now is removed before the next one.
            let _ = remove_tree(&root);
            drop(number);
        });
    }
}

impl Workplaces {
    /// Places below `all`, at most so many at once.
    #[must_use]
    pub fn new(all: PathBuf, kind: &'static str, most: u32) -> Self {
        Self { all, kind, most, taken: Taken::default() }
    }

    /// Makes one. `busy` says what is done in all of them, and what to wait for.
    ///
    /// # Errors
    /// When there are as many as may be, or the disk refuses.
    pub async fn take(&self, busy: &str) -> Result<Workplace, ErrorBody> {
        let Some((number, is_alone)) = self.number() else {
            return Err(ErrorBody::new(Code::RateLimited, format!("{} {busy}", self.most)));
        };
        let name = format!("{}-{}", self.kind, number.0);
        let place = Workplace { root: self.all.join(&name), name, number: Some(number) };
        let (all, root) = (self.all.clone(), place.root.clone());
        let prepared = tokio::task::spawn_blocking(move || {
            // A bridge that was killed has left something.
            let _ = remove_tree(if is_alone { &all } else { &root });
            [all, root].iter().try_for_each(|directory| private_directory(directory))
        });
        match prepared.await {
            Ok(Ok(())) => Ok(place),
            Ok(Err(error)) => Err(ErrorBody::new(Code::Internal, format!("could not {error}"))),
            Err(_) => Err(ErrorBody::new(Code::Internal, "the work on the disk was given up")),
        }
    }

    /// The least number that is free; true if none was taken.
    fn number(&self) -> Option<(TakenNumber, bool)> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let is_alone = taken.is_empty();
        let free = (1..=self.most).find(|number| !taken.contains(number))?;
        taken.insert(free);
        Some((TakenNumber(free, self.taken.clone()), is_alone))
    }
}
