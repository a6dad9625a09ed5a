//! Values of a definition that stay when it is replaced by one that was made from the shown one.
//!
//! Owns which values those are. Must never give out a value of a variable or a header.

use std::collections::BTreeMap;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::server_id::ServerId;

use super::installations::Installations;
use crate::host::invalid;

/// Takes over values of the definition before, of which only the names were shown.
///
/// # Errors
/// When a value is not there.
pub(super) fn keep(
    installs: &Installations,
    id: &ServerId,
    names: Option<Vec<String>>,
    field: &'static str,
    into: &mut Option<BTreeMap<String, String>>,
) -> Result<(), ErrorBody> {
    let before = installs.supervisor.get(id).map(|server| server.definition());
    for name in names.into_iter().flatten() {
        let kept = before.as_ref().and_then(|before| match (field, &before.remote) {
            ("keep_headers", remote) => remote.as_ref()?.headers.get(&name),
            _ => before.env.get(&name),
        });
        let kept = kept.ok_or_else(|| invalid(field, "names that the definition has"))?;
        into.get_or_insert_default().insert(name, kept.clone());
    }
    Ok(())
}

/// The URL of the definition before.
///
/// # Errors
/// When it has none.
pub(super) fn url(installs: &Installations, id: &ServerId) -> Result<String, ErrorBody> {
    let before = installs.supervisor.get(id).map(|server| server.definition());
    let url = before.as_ref().and_then(|before| Some(before.remote.as_ref()?.url.clone()));
    url.ok_or_else(|| invalid("keep_url", "only for a remote server"))
}
