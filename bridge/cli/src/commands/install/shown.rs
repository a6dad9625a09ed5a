//! The text before a question, and how far something is that takes a while.
//!
//! Must never write anything but the answer to stdout with `--json`.

use harbor_client::errors::Failure;
use harbor_client::reply::Answer;
use harbor_client::terminal::remark;
use harbor_ipc_proto::field::Ask;

use super::super::servers::START;
use crate::client::Client;
use crate::screen::{Screen, Status};

/// Shows the text before a question; with JSON, stdout is kept free.
pub(super) fn show(screen: &mut Screen, shown: &str) -> Result<(), Failure> {
    match screen.json {
        true => remark(shown),
        false => screen.text(shown)?,
    }
    Ok(())
}

/// Asks for something that takes a while, and shows how far it is.
pub fn under_way<A: Ask>(client: &mut Client, what: &str, ask: &A) -> Result<Answer<A::Reply>, Failure> {
    let mut status = Status::new(&format!("{what} …"));
    client.ask_with_progress(ask, START, &mut |push| status.show(push.message.as_deref().unwrap_or_default()))
}
