//! A start as a README has it, and which of its values are left open.
//!
//! Must never read a README.

pub(super) const MAX_VARIABLES: usize = 12;

/// A start as a README has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadmeStart {
    /// The words behind the package's name.
    pub args: Vec<String>,
    /// The variables, with values that may be typed as they are.
    pub variables: Vec<(String, Option<String>)>,
}

/// True if a value is a placeholder that the reader must fill in.
pub(super) fn is_left_open(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let starts = ["<", "${", "[", "{", "/path/to", "your", "xxx", "insert", "replace"];
    let has = ["your-", "your_", "your "];
    value.chars().all(|c| ".…*xX".contains(c))
        || starts.iter().any(|start| lower.starts_with(start))
        || has.iter().any(|part| lower.contains(part))
        || lower.ends_with("here")
}
