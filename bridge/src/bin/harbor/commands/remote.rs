//! Servers that run elsewhere, on the command line: the request that defines one, and how one is shown.

use crate::args::{Definition, Remote};
use crate::ask::Ask;
use crate::reply::Members;

/// The request for a definition, behind which come the fields that every definition has.
pub fn ask(definition: &Definition, remote: &Remote) -> Ask {
    spoken(Ask::about("add_remote_server", &definition.name).text("url", &remote.url), remote)
}

/// A request with how a server is spoken to.
pub fn spoken(mut ask: Ask, remote: &Remote) -> Ask {
    if let Some(transport) = &remote.transport {
        ask = ask.text("transport_type", transport);
    }
    if !remote.headers.is_empty() {
        ask = ask.map("headers", &remote.headers);
    }
    for (name, allowed) in [("allow_private", remote.allow_private), ("allow_http", remote.allow_http)] {
        if allowed {
            ask = ask.flag(name, true);
        }
    }
    ask
}

/// Where a server of `list_servers` is, if that is elsewhere.
pub fn shown(server: &Members) -> Option<String> {
    let url = server.object("remote").text("url");
    (!url.is_empty()).then_some(url)
}
