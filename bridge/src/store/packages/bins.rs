//! The programs that a package.json names.
//!
//! Must never look whether they are there.

use std::collections::BTreeMap;

use harbor_policy::package::Bins;
use serde::Deserialize;
use serde_json::Value;

/// The programs in a package.json.
///
/// # Errors
/// The fault in it.
pub fn bins(text: &[u8]) -> Result<Bins, String> {
    #[derive(Deserialize)]
    struct PackageJsonBin {
        #[serde(default)]
        bin: Value,
    }
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let PackageJsonBin { bin } =
        serde_json::from_slice(text).map_err(|_| "does not have the expected JSON form")?;
    Ok(bins_of(bin))
}

/// The programs in its member `bin` alone.
pub(super) fn bins_of(bin: Value) -> Bins {
    match bin {
        Value::String(path) => Bins::One(path),
        Value::Object(paths) => Bins::Named(paths.into_iter().filter_map(named).collect()),
        _ => Bins::Named(BTreeMap::new()),
    }
}

fn named((name, path): (String, Value)) -> Option<(String, String)> {
    if let Value::String(path) = path { Some((name, path)) } else { None }
}
