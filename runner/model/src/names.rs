//! Tools' names as providers take them.
//!
//! ```text
//!  time/get ─► time_get_3fa94c ─► the model asks for time_get_3fa94c ─► the table ─► time/get
//! ```
//!
//! Owns the table of one request. A name is looked up in it and never parsed back. A name that providers take stays as it is.

use std::collections::HashMap;

use harbor_ipc_proto::hex::hex;
use harbor_ipc_proto::model::ModelTool;
use sha2::{Digest as _, Sha256};

/// The longest name that all dialects take, in characters: letters, digits, `_` and `-`, of which the first is a letter or `_`.
const MAX: usize = 64;

/// Digits of the hash.
const DIGITS: usize = 6;

/// The table.
#[derive(Debug, Default)]
pub struct Names {
    offered: HashMap<String, String>,
}

impl Names {
    /// The table for these tools.
    pub fn of(tools: &[ModelTool]) -> Self {
        Self { offered: tools.iter().map(|tool| (wire_name(&tool.name), tool.name.clone())).collect() }
    }

    /// True if this name is in the table.
    pub fn has(&self, wire: &str) -> bool {
        self.offered.contains_key(wire)
    }

    /// True if this name is in the table, and no longer one that begins so. Where no tool was offered, any name is as good.
    pub fn is_whole(&self, wire: &str) -> bool {
        if self.offered.is_empty() {
            return true;
        }
        self.has(wire)
            && !self.offered.keys().any(|other| other.len() > wire.len() && other.starts_with(wire))
    }

    /// The name as it was offered; what was not offered stays as the model wrote it.
    pub fn offered(&self, wire: &str) -> String {
        self.offered.get(wire).cloned().unwrap_or_else(|| wire.to_owned())
    }
}

/// The name that a provider is told. The same name always gives the same, so that a conversation may go on after the tools
/// have changed.
pub fn wire_name(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && name.len() <= MAX && name.chars().all(fits) {
        return name.to_owned();
    }
    let first = if begins { "" } else { "_" };
    let slug = name.chars().map(|c| if fits(c) { c } else { '_' });
    let slug: String = first.chars().chain(slug).take(MAX - DIGITS - 1).collect();
    let hash = hex(&Sha256::digest(name));
    format!("{slug}_{}", &hash[..DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> ModelTool {
        ModelTool { name: name.into(), description: String::new(), schema: "{}".into() }
    }

    #[test]
    fn each_name_fits_and_leads_back() {
        let long = "x".repeat(200);
        let names = ["time/get", "time.get", "time_get", &long, "ü", "", &long[..64], "7zip", "-v", "_7zip"];
        let table = Names::of(&names.map(tool));
        let mut seen = std::collections::HashSet::new();
        for name in names {
            let wire = wire_name(name);
            assert!(!wire.is_empty() && wire.len() <= MAX, "{wire}");
            assert!(wire.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)), "{wire}");
            assert!(wire.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'), "{wire}");
            assert_eq!(table.offered(&wire), name);
            assert!(seen.insert(wire));
        }
        let known = Names::of(&["lab_read", "lab_read_all"].map(tool));
        assert_eq!(
            ["lab_read_all", "lab_read", "lab_"].map(|name| known.is_whole(name)),
            [true, false, false]
        );
        assert!(Names::default().is_whole("lab_"));
        assert_eq!(wire_name("time_get"), "time_get");
        assert_eq!(table.offered("never_offered"), "never_offered");
    }
}
