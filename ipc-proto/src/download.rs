//! The result of each step of a download, for the next step: JSON files in the package's directory.
//!
//! ```text
//!  harbor-runner-http fetch ─► Fetched ─► harbor-runner-http unpack ─► Unpacked ─► bridge: lock, entry point
//! ```

use serde::{Deserialize, Serialize};

/// The downloaded file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetched {
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// Its size in bytes.
    pub size: u64,
    /// True if a minisign signature lies beside the file and was not checked.
    pub unread_signature: bool,
}

/// The program in the downloaded file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unpacked {
    /// The SHA-256 of the downloaded file, in hexadecimal digits.
    pub sha256: String,
    /// The size of the downloaded file in bytes.
    pub size: u64,
    /// The path of the program, relative to the unpacked files.
    pub program: String,
    /// As in [`Fetched::unread_signature`].
    pub unread_signature: bool,
}

impl Unpacked {
    /// Reads it from the tree in a lock file.
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
