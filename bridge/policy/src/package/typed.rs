//! A package as a person types it.
//!
//! Owns its quotes for a shell. Must never read typed text: `source` does.

use super::Package;

/// The source of a package, as a person types it.
#[must_use]
pub fn source_of(package: &Package) -> String {
    let source = package.source();
    let is_plain = source.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"@/._-+=:".contains(&byte));
    if is_plain { source } else { format!("'{source}'") }
}
