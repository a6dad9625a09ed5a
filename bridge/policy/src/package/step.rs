//! A step of an installation: one command line of an installer.
//!
//! Must never be run here.

/// One command line of an installer.
pub type Step = Vec<String>;

pub(super) fn line(words: &[&[&str]]) -> Step {
    words.concat().into_iter().map(ToOwned::to_owned).collect()
}
