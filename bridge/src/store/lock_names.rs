//! The names of the files of locks: hashes of what is in them.
//!
//! Must never look whether there is such a file.

/// Digits of a name.
const DIGITS: usize = 64;

/// True if it could be a name.
pub(super) fn is_name(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
