//! `harbor setup` and `harbor service`, as they are typed.

use clap::{Args, Subcommand};

/// Set Harbor up: import servers, connect AI clients and browsers
///
/// Finds the AI clients and browsers on this machine. Each step says what it would do and asks. A client's
/// servers become Harbor's, and Harbor takes their place in the client's file; a copy of the file stays. At
/// the end `harbor doctor` checks everything. Run it again at any time.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Setup {
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// Take Harbor off this machine
///
/// Takes Harbor out of browsers and out of the files of AI clients, which get back what they had before.
/// Removes its service, ends the bridge, and deletes its programs. Servers, their data, secrets and logs stay
/// in HARBOR_HOME, unless you pass --data. At the end it says what it leaves. A single server is removed with
/// `harbor remove NAME`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct TakeOff {
    /// Also delete HARBOR_HOME: servers, their data, secrets, conversations, logs
    #[arg(long)]
    pub data: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Service {
    /// Start the bridge with your session, by a systemd user unit
    ///
    /// Without it, the first command starts the bridge, and it ends five minutes after the last one.
    Install {
        /// Show the unit, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Stop the service and remove its unit
    Uninstall,
}
