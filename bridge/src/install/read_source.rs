//! The words of a repository or a manifest.
//!
//! Owns the promise that what was read is what is installed: the commit goes with it.

use harbor_policy::package::Package;
use harbor_policy::recipe::repository::FoundManifest;

/// A repository or a manifest that was read.
#[derive(Debug, Clone)]
pub(super) struct ReadSource {
    /// The source that the person named.
    pub source: String,
    /// A repository's package, at the commit that was read.
    pub package: Option<Package>,
    /// The declarations in it.
    pub found: FoundManifest,
}

impl ReadSource {
    /// The package in the chosen version. A package that is the repository itself has its commit.
    pub(super) fn exactly(&self, wanted: &Package) -> Package {
        let itself = self.package.as_ref().filter(|_| wanted.source() == self.source);
        let as_wanted =
            |own: &Package| Package { args: wanted.args.clone(), with: wanted.with.clone(), ..own.clone() };
        itself.map_or_else(|| wanted.clone(), as_wanted)
    }

    pub(super) fn commit(&self) -> Option<String> {
        Some(self.package.as_ref()?.address().1?.to_owned())
    }
}
