//! The ways in which an AI client gets the tools.

/// How tools are offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Offering {
    /// Each as a tool.
    #[default]
    All,
    /// By three tools that find and call others.
    Lazy,
    /// By three tools that find others and run scripts, which call them.
    Code,
}
