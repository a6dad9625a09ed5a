//! The Node.js that installs and runs a package of npm which does not admit the usual one.
//!
//! Owns the order: first the usual one, then each one that a newer version requires. If none will do, the
//! usual one's result counts, and the lack is reported.

use std::path::Path;
use std::rc::Rc;

use harbor_policy::nodes::{Range, to_try};
use harbor_policy::package::older::UnfitVersion;
use harbor_policy::package::{Ecosystem, Package, npm};
use harbor_policy::pythons::Python;

use super::Server;
use super::explaining::Ended;
use super::resolving::ResolutionTask;
use crate::runtimes::nodes;
use crate::runtimes::pythons;
use crate::store::packages::lock::{forget_lock, write_lock};
use crate::store::packages::resolved::Resolved;

impl Server {
    pub(super) async fn with_fitting_node(
        self: &Rc<Self>,
        job: &ResolutionTask<'_>,
        usual: Resolved,
    ) -> Ended<Resolved> {
        let of_newest = self.package.take_requirement();
        let engines = of_newest.clone().or_else(|| npm::engines(&usual.tree, &job.package.name));
        let Some(range) = engines.as_deref().and_then(Range::read) else { return Ok(usual) };
        let all = self.installed_runtimes().await;
        // The first one is the usual one.
        let first = all.first().cloned();
        if first.as_ref().is_none_or(|first| range.admits(first.version)) {
            return Ok(usual);
        }
        let newest = self.package.take_newest();
        for node in to_try(all, &range, first.as_ref().map(|first| first.path.as_str())) {
            self.package.set_runtime(Some(node.chosen(range.as_str())));
            self.on_the_disk(job.package, job.dir, |_, dir| forget_lock(dir)).await?;
            match self.try_this_one(job, self.may_build()).await.found {
                Ok(found) if self.package.newest().is_none() => return Ok(found),
                Err(stopped) if stopped.cause == "stopped" => return Err(stopped),
                Ok(_) => {
                    tracing::debug!(server = %self.id(), node = node.path, "tried: newer versions do not fit it either")
                }
                Err(report) => {
                    tracing::debug!(server = %self.id(), node = node.path, why = report.message, tail = report.stderr_tail, "tried: it does not work")
                }
            }
        }
        self.package.set_runtime(None);
        let tree = usual.tree.clone();
        let write = move |package: &Package, dir: &Path| write_lock(package, dir, None, &tree);
        self.on_the_disk(job.package, job.dir, write).await?;
        self.package.set_unfit(UnfitVersion { newest, requires: of_newest });
        Ok(usual)
    }

    /// The installed runtimes of the kind that its package runs with.
    pub(super) async fn installed_runtimes(&self) -> Vec<Python> {
        let runtimes = self.runners().shared.runtimes.clone();
        let is_node = self.package.wanted().is_some_and(|package| package.ecosystem == Ecosystem::Npm);
        let looked = tokio::task::spawn_blocking(move || {
            let looked = runtimes.look();
            if is_node { nodes::installed(&looked) } else { pythons::installed(&looked) }
        });
        looked.await.unwrap_or_default()
    }
}
