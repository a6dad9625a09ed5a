//! The pages that Harbor may fetch for a message, as they are typed.

use clap::Args;

// No doc comment: it would be that of the command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct PageRules {
    /// Fetch pages also without TLS
    #[arg(long)]
    pub allow_http: bool,
    /// Fetch pages also from private addresses, such as those of this machine
    #[arg(long)]
    pub allow_private: bool,
}
