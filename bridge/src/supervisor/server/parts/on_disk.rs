//! The state of a server on the disk before it is made: whether its package, or its image, is installed.
//!
//! Owns that look. Must never take it on the loop once somebody is served: a slow disk would hold up everybody.

use harbor_home::Paths;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::container::Pinned;
use harbor_policy::package::Package;

use super::package::{pinned, used};
use crate::store::definitions::Stored;
use crate::store::locks::Lock;
use crate::store::{images, packages};
use crate::supervisor::shared::SupervisorParts;

/// A definition, and the state of its server on the disk.
#[derive(Debug)]
pub struct ServerOnDisk {
    pub(in super::super) stored: Stored,
    /// The image that it runs, once it was found.
    pub(in super::super) image: Option<Pinned>,
    /// True if its image, or its package in its locked version, is still to be installed.
    pub(in super::super) missing: bool,
}

impl ServerOnDisk {
    /// Looks on the disk, which may take it a while: only before the bridge serves anybody.
    pub(in crate::supervisor) fn at_once(stored: Stored, shared: &SupervisorParts) -> Self {
        let (package, lock) = used(&stored.definition, &stored.server_id, &shared.locks);
        let package = package.map(|package| (package, lock.as_deref()));
        let (image, missing) = found(&stored, package, &shared.paths);
        Self { stored, image, missing }
    }

    /// Looks at the disk on another thread.
    pub(in crate::supervisor) async fn at(stored: Stored, shared: &SupervisorParts) -> Self {
        let (package, lock) = used(&stored.definition, &stored.server_id, &shared.locks);
        let (asked, paths) = (stored.clone(), shared.paths.clone());
        let lock = lock.map(|lock| Lock::clone(&lock));
        let looked = tokio::task::spawn_blocking(move || {
            found(&asked, package.map(|package| (package, lock.as_ref())), &paths)
        });
        // Only a panic keeps it from an answer; then the start itself finds out.
        let (image, missing) = looked.await.unwrap_or_default();
        Self { stored, image, missing }
    }
}

/// The image that a server runs, once it was found, and whether what it runs is missing.
fn found(
    stored: &Stored,
    package: Option<(Package, Option<&Lock>)>,
    paths: &Paths,
) -> (Option<Pinned>, bool) {
    let id = &stored.server_id;
    if let Some(image) = &stored.definition.image {
        let found = images::pinned(image, &paths.server_image(id.as_str()));
        let is_missing = found.is_none();
        return (found, is_missing);
    }
    let is_there = |(package, lock): (Package, Option<&Lock>)| {
        lock.is_some_and(|lock| is_installed(&package, lock, id, paths))
    };
    (None, package.is_some_and(|used| !is_there(used)))
}

/// True if a package is there in its locked version.
fn is_installed(package: &Package, lock: &Lock, id: &ServerId, paths: &Paths) -> bool {
    let dir = paths.server_package(id.as_str()).join(lock.place.to_string());
    packages::is_installed(&pinned(package, lock), &dir)
}
