//! The program, arguments, variables and headers of a server, as the person sees them before the yes.
//!
//! Owns which values are shown: those that an entry or a manifest sets. Must never tell a value from the request itself:
//! there may be a key in it, and whoever sent it knows it.

use std::collections::{BTreeMap, BTreeSet};

use harbor_ipc_proto::client::{InstallServer, NamedView, RunsView};

use crate::store::definitions::Definition;

/// Names of the variables and headers that the request itself sets.
#[derive(Debug, Default)]
pub(super) struct RequestNames {
    env: BTreeSet<String>,
    headers: BTreeSet<String>,
}

impl RequestNames {
    /// The names in a message. It must be asked before anybody else's words are joined to the message.
    pub(super) fn of(message: &InstallServer) -> Self {
        let names = |said: &Option<BTreeMap<String, String>>| {
            said.iter().flatten().map(|(name, _)| name.clone()).collect()
        };
        Self { env: names(&message.env), headers: names(&message.headers) }
    }

    /// The view of everything that a definition gives its server.
    pub(super) fn runs(&self, definition: &Definition, program: Option<String>) -> RunsView {
        let nothing = BTreeMap::new();
        let headers = definition.remote.as_ref().map_or(&nothing, |remote| &remote.headers);
        RunsView {
            program,
            args: definition.args.clone(),
            env: named(&definition.env, &self.env),
            headers: named(headers, &self.headers),
            secrets: definition.secrets.clone(),
        }
    }
}

fn named(all: &BTreeMap<String, String>, said: &BTreeSet<String>) -> Vec<NamedView> {
    let view = |(name, value): (&String, &String)| NamedView {
        name: name.clone(),
        value: (!said.contains(name)).then(|| value.clone()),
    };
    all.iter().map(view).collect()
}
