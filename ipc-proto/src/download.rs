//! What the steps of a download leave behind for the next one, as JSON files in the package's directory.
//!
//! ```text
//!  harbor-runner-http fetch ─► Fetched ─► harbor-runner-http unpack ─► Unpacked ─► bridge: lock, entry point
//! ```

use serde::{Deserialize, Serialize};

/// The file as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetched {
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// Its size in bytes.
    pub size: u64,
    /// Whether a signature of minisign lies beside it that nobody has looked at.
    pub unread_signature: bool,
}

/// The program in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unpacked {
    /// That of the file as it came.
    pub sha256: String,
    /// The same, in bytes.
    pub size: u64,
    /// The path of the program, below the files.
    pub program: String,
    /// That of the file as it came.
    pub unread_signature: bool,
}

impl Unpacked {
    /// As a lock has it.
    #[must_use]
    pub fn of_tree(tree: &str) -> Option<Self> {
        serde_json::from_str(tree).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Locks hold these very bytes.
    #[test]
    fn golden() {
        let sha256 = "0a".repeat(32);
        let fetched = Fetched { sha256: sha256.clone(), size: 7, unread_signature: true };
        assert_eq!(
            serde_json::to_string(&fetched).unwrap(),
            format!("{{\"sha256\":\"{sha256}\",\"size\":7,\"unread_signature\":true}}")
        );
        let unpacked = Unpacked { sha256, size: 7, program: "bin/n".into(), unread_signature: false };
        let text = serde_json::to_string(&unpacked).unwrap();
        let rest = r#""size":7,"program":"bin/n","unread_signature":false}"#;
        assert_eq!(text, format!("{{\"sha256\":\"{}\",{rest}", unpacked.sha256));
        assert_eq!(Unpacked::of_tree(&text), Some(unpacked));
        assert_eq!(Unpacked::of_tree("{}"), None);
    }
}
