//! Packages that are kept for the next try.
//!
//! Owns that form.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use harbor_ipc_proto::server_id::ServerId;

use crate::store::locks::Lock;

/// Packages that are installed and whole, but have no server. Their server lacked something that only its person can give.
pub(super) type KeptPackages = RefCell<BTreeMap<ServerId, KeptPackage>>;

/// One of these packages.
#[derive(Debug, Clone)]
pub(super) struct KeptPackage {
    pub lock: Rc<Lock>,
    /// The variables that its installer was given: with others it may have made something else of the same files.
    pub install_env: BTreeMap<String, String>,
}
