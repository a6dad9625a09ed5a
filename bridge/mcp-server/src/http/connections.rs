//! The connections that there are, and which of them goes for one more.
//!
//! ```text
//!  accepted ─► unknown ─ a valid token ─► known ─ a request is served ─► busy ─► known …
//!               │ too many of these: the oldest goes     │ too many in all: the oldest that is not busy goes
//! ```
//!
//! Owns that choice, and their tasks. Whoever has no token can only push out others that have shown none. Must never end
//! a connection whose request is being served.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::task::{AbortHandle, JoinSet};

/// The most connections at once.
const IN_ALL: usize = 256;

/// The most connections that have not shown a valid token yet.
const UNKNOWN: usize = 128;

/// The state of a connection.
#[derive(Debug, Default)]
pub struct Standing {
    is_known: AtomicBool,
    /// The number of its requests that are served.
    serving: AtomicUsize,
}

impl Standing {
    /// It has shown a valid token, and is served until the guard is dropped.
    pub fn serve(self: &Arc<Self>) -> ServingGuard {
        self.is_known.store(true, Ordering::Relaxed);
        self.serving.fetch_add(1, Ordering::Relaxed);
        ServingGuard(Arc::clone(self))
    }

    fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    fn is_busy(&self) -> bool {
        self.serving.load(Ordering::Relaxed) > 0
    }
}

/// Counts one of a connection's requests while it is served.
#[derive(Debug)]
pub struct ServingGuard(Arc<Standing>);

impl Drop for ServingGuard {
    fn drop(&mut self) {
        self.0.serving.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The connections, by age.
#[derive(Debug, Default)]
pub struct Connections {
    tasks: JoinSet<()>,
    by_age: VecDeque<(Arc<Standing>, AbortHandle)>,
}

impl Connections {
    /// Serves one more connection, if necessary in place of another one. If all are busy, closes the new one.
    pub fn admit<F>(&mut self, serve: impl FnOnce(Arc<Standing>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.forget_ended();
        if !self.make_room() {
            return;
        }
        let standing = Arc::<Standing>::default();
        let task = self.tasks.spawn(serve(Arc::clone(&standing)));
        self.by_age.push_back((standing, task));
    }

    /// Forgets connections that have ended.
    pub fn forget_ended(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        self.by_age.retain(|(_, task)| !task.is_finished());
    }

    fn make_room(&mut self) -> bool {
        let unknown = self.by_age.iter().filter(|(standing, _)| !standing.is_known()).count();
        let leaves = match (unknown >= UNKNOWN, self.by_age.len() >= IN_ALL) {
            (true, _) => self.by_age.iter().position(|(standing, _)| !standing.is_known()),
            (false, true) => self.by_age.iter().position(|(standing, _)| !standing.is_busy()),
            (false, false) => return true,
        };
        let leaves = leaves.and_then(|at| self.by_age.remove(at));
        leaves.map(|(_, task)| task.abort()).is_some()
    }

    /// Comes back when all have ended.
    pub async fn ended(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use std::sync::Mutex;

    /// Admits connections that never end by themselves. Returns their standings.
    fn admit(connections: &mut Connections, count: usize) -> Vec<Arc<Standing>> {
        let admitted = Mutex::new(Vec::new());
        for _ in 0..count {
            connections.admit(|standing| {
                admitted.lock().unwrap().push(Arc::clone(&standing));
                async move {
                    let _standing = standing;
                    pending::<()>().await;
                }
            });
        }
        admitted.into_inner().unwrap()
    }

    fn has(connections: &Connections, standing: &Arc<Standing>) -> bool {
        connections.by_age.iter().any(|(there, _)| Arc::ptr_eq(there, standing))
    }

    fn in_runtime(test: impl FnOnce()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async { test() });
    }

    #[test]
    fn those_without_a_token_only_push_out_each_other() {
        in_runtime(|| {
            let mut connections = Connections::default();
            let known = admit(&mut connections, 1).remove(0);
            drop(known.serve());
            let unknown = admit(&mut connections, UNKNOWN);
            let more = admit(&mut connections, 2 * IN_ALL);
            assert!(has(&connections, &known) && !has(&connections, &unknown[0]));
            assert!(has(&connections, more.last().unwrap()), "the newest is there");
            assert_eq!(connections.by_age.len(), UNKNOWN + 1);
        });
    }

    #[test]
    fn one_that_is_served_stays_and_where_all_are_nobody_comes() {
        in_runtime(|| {
            let mut connections = Connections::default();
            let mut served = Vec::new();
            let all: Vec<_> = (0..IN_ALL)
                .map(|_| {
                    let standing = admit(&mut connections, 1).remove(0);
                    served.push(standing.serve());
                    standing
                })
                .collect();
            assert!(admit(&mut connections, 1).is_empty());
            drop(served.remove(7));
            assert_eq!(admit(&mut connections, 1).len(), 1);
            let gone: Vec<_> = (0..IN_ALL).filter(|at| !has(&connections, &all[*at])).collect();
            assert_eq!(gone, [7], "the one that waited for its next request");
        });
    }
}
