//! Remote servers, on the command line: the request that defines one, and how one is shown.

use std::collections::BTreeMap;

use harbor_ipc_proto::client::ServerView;

use crate::args::Remote;

/// The way to speak to a remote server, as requests have it: only the options that were typed.
pub struct Spoken {
    pub transport_type: Option<String>,
    pub headers: Option<BTreeMap<String, String>>,
    pub allow_private: Option<bool>,
    pub allow_http: Option<bool>,
}

impl Spoken {
    pub fn of(remote: &Remote) -> Self {
        Self {
            transport_type: remote.transport.as_deref().map(str::to_owned),
            headers: Some(remote.headers.clone()).filter(|headers| !headers.is_empty()),
            allow_private: remote.allow_private.then_some(true),
            allow_http: remote.allow_http.then_some(true),
        }
    }
}

/// The address of a server of `list_servers`, if it is remote.
pub fn shown(server: &ServerView) -> Option<String> {
    server.remote.as_ref().map(|remote| remote.url.clone())
}
