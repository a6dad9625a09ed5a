//! The steps of a start or an installation, as its client hears of them.
//!
//! Owns the push for each step. Must never tell a client that has gone.

use std::cell::Cell;
use std::rc::Rc;

use harbor_ipc_proto::client::Progress;
use harbor_ipc_proto::json::Json;

use super::client::Client;
use crate::supervisor::StartListener;

/// Pushes the steps of a start as progress of the request, if its client wants it.
pub(super) fn steps_to(client: &Rc<Client>, request_id: &str, wanted: Option<bool>) -> Option<StartListener> {
    let (client, request_id, steps) = (Rc::downgrade(client), request_id.to_owned(), Cell::new(0u64));
    let note: StartListener = Rc::new(move |text: &str| {
        let Some(client) = client.upgrade() else { return };
        steps.set(steps.get() + 1);
        let progress = Json::from_valid(steps.get().to_string());
        let message = Some(text.to_owned());
        client.send_push(&Progress { request_id: request_id.clone(), progress, total: None, message });
    });
    (wanted == Some(true)).then_some(note)
}
