//! The message about a package of which files are missing.
//!
//! Must never say which: the person installs it again.

use harbor_policy::package::Package;

/// The message about a package of which files are missing.
pub const GONE: &str = "is missing or incomplete";

pub(super) fn not_installed(package: &Package) -> String {
    format!("the package {} {GONE}", package.name)
}
