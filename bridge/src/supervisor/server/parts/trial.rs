//! A server that is tried out before it is anybody's.
//!
//! Owns the form of a trial: what is tried, and what of the person's it may have. Must never change while the trial lasts.

use std::rc::Rc;

use harbor_policy::credentials::Credentials;
use harbor_policy::package::Package;
use harbor_policy::package::older::UnfitVersion;

use crate::store::locks::Lock;

/// The thing that is tried out.
#[derive(Debug, Clone, Default)]
pub struct TrialOf {
    /// The package in the version that is wanted; `None` for an image, and for a remote server.
    pub package: Option<Package>,
    /// The lock that was planned: exactly that is installed.
    pub planned: Option<Rc<Lock>>,
    /// The facts about the newest version that were found out with it.
    pub unfit: UnfitVersion,
    /// The lock that an earlier try has installed. `try_out` finds that out.
    pub kept: Option<Rc<Lock>>,
    /// True if only its versions are wanted.
    pub plan_only: bool,
    /// True if only its repository's description is wanted.
    pub look_only: bool,
    /// True if code of it may run to find out what it needs.
    pub may_build: bool,
    /// True if it is started without anything of the person's: no secrets, no variables, no grants.
    pub alone: bool,
    /// Secrets that are not stored yet.
    pub secrets: Credentials,
    /// True if it is tried with a copy of the home that its server will have.
    pub with_data: bool,
    /// True if it runs in the server's own directories, unused so far: a tool that names one stays the same. Set by `try_out`.
    pub in_its_place: bool,
}

impl TrialOf {
    /// True if its package should be installed, not only planned or looked at.
    pub(in super::super) fn installs(&self) -> bool {
        !self.plan_only && !self.look_only
    }
}
