//! What a server would be started with, as a person is shown it before the yes.
//!
//! Owns whose words are shown: what an entry or a manifest sets is told with its value. Must never tell a value that the
//! request itself says: there may be a key in it, and whoever said it knows it.

use std::collections::{BTreeMap, BTreeSet};

use harbor_ipc_proto::client::{InstallServer, NamedView, RunsView};

use crate::store::definitions::Definition;

/// Names of what the request itself says.
#[derive(Debug, Default)]
pub(super) struct Said {
    env: BTreeSet<String>,
    headers: BTreeSet<String>,
}

impl Said {
    /// To be asked before anybody else's words are joined to the message.
    pub(super) fn of(message: &InstallServer) -> Self {
        let names = |said: &Option<BTreeMap<String, String>>| {
            said.iter().flatten().map(|(name, _)| name.clone()).collect()
        };
        Self { env: names(&message.env), headers: names(&message.headers) }
    }

    /// With everything that a definition gives its server.
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
