//! The report of the program that downloads and unpacks.
//!
//! Owns the reading of it. The report is Harbor's own; the files beside it are other people's.

use std::path::{Path, PathBuf};

use harbor_ipc_proto::download::Unpacked;
use harbor_policy::package::Package;
use harbor_policy::package::binary::{FILES, REPORT};

use super::files::{inside, read};
use super::missing::not_installed;
use super::resolved::Resolved;

fn unpacked(dir: &Path) -> Result<Unpacked, String> {
    let text = read(&dir.join(REPORT)).map_err(|why| format!("{REPORT} {why}"))?;
    serde_json::from_slice(&text).map_err(|_| format!("{REPORT} comes from another Harbor"))
}

/// Its version is its hash.
pub(super) fn resolved(dir: &Path) -> Result<Resolved, String> {
    let found = unpacked(dir)?;
    let tree = serde_json::to_string(&found).map_err(|error| error.to_string())?;
    let (integrity, program) = (format!("sha256:{}", found.sha256), Some(found.program));
    Ok(Resolved { integrity, version: found.sha256, tree, packages: 1, program })
}

/// The program.
pub(super) fn entry(package: &Package, root: &Path) -> Result<PathBuf, String> {
    let program = unpacked(root).map_err(|_| not_installed(package))?.program;
    let files = root.join(FILES);
    inside(&files, &files.join(&program))
        .map_err(|why| format!("the program {program} of {} {why}", package.name))
}
