//! The rights that a new AI client gets.
//!
//! Must never start a bridge to ask for them.

use harbor_home::Paths;

use crate::check;
use crate::client::{Client, QUICK};

/// The rights of a new AI client: by the bridge if one runs, else by config.toml.
pub(super) fn first_use(paths: &Paths) -> String {
    let asked = Client::connect_running(paths).ok().flatten().and_then(|mut client| {
        let answer = client.ask(&harbor_ipc_proto::client::Status { fresh: None }, QUICK).ok()?.into_value();
        Some(answer.status.bridge.first_use.into_owned())
    });
    let written = || check::config(paths, None).map_or_else(|_| "all".to_owned(), |found| found.first_use);
    asked.filter(|word| !word.is_empty()).unwrap_or_else(written)
}
