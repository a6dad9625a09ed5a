//! Tells if a server of a file is here already, with the same values.
//!
//! Owns the comparison. The bridge compares the values, since it has them. Must never show a value, or take
//! one server for another: a server that is here already is taken out of the client's file.

use std::collections::BTreeMap;

use harbor_client::errors::Failure;
use harbor_client::id::server_id;
use harbor_client_configs::Launch;
use harbor_ipc_proto::client::{CompareServer, ServerView};
use harbor_ipc_proto::secret::{Secret, SecretMap};
use harbor_policy::telltale::without_secrets;

use super::candidate::{ImportCandidate, Outcome, Start};
use crate::client::{Client, QUICK};

/// A server that is here, or will be.
#[derive(Debug)]
pub struct Known {
    shown: ShownDefinition,
    /// The launch that is planned, where nothing is imported.
    planned: Option<Launch>,
    /// The number of its tools, if it has ever listed them.
    tools: Option<u32>,
}

/// The parts of a definition that a bridge shows.
#[derive(Debug, PartialEq, Eq)]
struct ShownDefinition {
    id: String,
    command: String,
    image: String,
    args: Vec<String>,
    cwd: Option<String>,
    is_remote: bool,
}

impl ShownDefinition {
    fn of(id: &str, launch: &Launch) -> Self {
        Self {
            id: id.to_owned(),
            command: launch.command.clone(),
            image: launch.image.as_ref().map(|image| image.reference.clone()).unwrap_or_default(),
            args: without_secrets(&launch.args),
            cwd: launch.cwd.clone(),
            is_remote: launch.remote.is_some(),
        }
    }
}

impl Known {
    /// A server that was imported.
    pub fn stored(server: &ImportCandidate, launch: &Launch) -> Self {
        Self { shown: ShownDefinition::of(&server.id, launch), planned: None, tools: None }
    }

    /// A server that would be imported.
    pub fn planned(server: &ImportCandidate, launch: &Launch) -> Self {
        Self { shown: ShownDefinition::of(&server.id, launch), planned: Some(launch.clone()), tools: None }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.shown.id
    }
}

/// The servers that a bridge has.
pub fn known(servers: &[ServerView]) -> Vec<Known> {
    let one = |server: &ServerView| ShownDefinition {
        id: server.server_id.clone(),
        command: server.command.clone(),
        image: server.image.as_ref().map(|image| image.reference.clone()).unwrap_or_default(),
        args: server.args.clone(),
        cwd: server.cwd.clone(),
        is_remote: server.remote.is_some(),
    };
    servers
        .iter()
        .map(|server| Known { shown: one(server), planned: None, tools: server.tool_count })
        .collect()
}

/// The outcome for a server that cannot be taken over, or whose id a server here has already.
pub fn here(
    client: &mut Client,
    server: &ImportCandidate,
    known: &[Known],
) -> Result<Option<Outcome>, Failure> {
    let launch = match &server.launch {
        Ok(launch) => launch,
        Err(why) => return Ok(Some(Outcome::Skipped(why.clone()))),
    };
    let Some(old) = known.iter().find(|old| old.shown.id == server.id) else { return Ok(None) };
    let id = &server.id;
    if old.shown != ShownDefinition::of(id, launch) {
        return Ok(Some(Outcome::Skipped(format!(
            "another server has the name {id} here; remove it first: `harbor remove {id}`"
        ))));
    }
    let differs = match &old.planned {
        Some(planned) if planned == launch => Vec::new(),
        Some(_) => vec!["its values".to_owned()],
        None => differing(client, id, launch)?,
    };
    Ok(Some(match differs.is_empty() {
        true => Outcome::Here(old.tools.map_or(Start::Not, Start::Tools)),
        false => Outcome::Skipped(format!(
            "{id} exists here with another {}, so it stays in the client's file. Rename it in that file to import it",
            differs.join(", ")
        )),
    }))
}

/// The names of what has another value here.
fn differing(client: &mut Client, id: &str, launch: &Launch) -> Result<Vec<String>, Failure> {
    let secrets = |values: &BTreeMap<String, String>| {
        SecretMap(values.iter().map(|(name, value)| (name.clone(), Secret::new(value.clone()))).collect())
    };
    let ask = CompareServer {
        server_id: server_id(id)?,
        url: launch.remote.as_ref().map(|remote| Secret::new(remote.url.clone())),
        args: Some(launch.args.clone()),
        env: Some(secrets(&launch.env)),
        headers: launch.remote.as_ref().map(|remote| secrets(&remote.headers)),
    };
    let mut differs = client.ask(&ask, QUICK)?.into_value().differs;
    // What the client asks its person for has a value here by now.
    differs.retain(|name| !launch.missing.contains(name));
    Ok(differs)
}
