//! import: takes servers over from the configurations of AI clients.
//!
//! ```text
//!  files ─► named ─► launch, or why not ─► here already? ─► risks: allowed, asked for, or left out ─► the request of `harbor add`
//!                                                                                                  └► secrets, apart
//! ```
//!
//! Owns the message about each server, and that no data of the person's goes into somebody else's text
//! unnoticed. Must never change those files, or show a value of a variable: it may be a secret.

mod candidate;
mod closed_places;
mod existing_servers;
mod risks;
mod tell;

use std::env;
use std::path::{Path, PathBuf};

use harbor_client::errors::{Exit, Failure};
use harbor_client::terminal::remark;
use harbor_client_configs::{
    AiClient, CLIENTS, Format, Launch, RemoteEntry, Surroundings, fills_of, launch, named, server_id,
};
use harbor_home::Paths;
use harbor_ipc_proto::client::{ListServers, Supervision};
use harbor_policy::remote::{is_exposed, parse, says_loopback, says_private};
use serde_json::Value;

use self::candidate::{ImportCandidate, Outcome, Start, secrets_of};
use self::existing_servers::Known;
use super::add;
use super::clients::{self, Found, failed, place, project};
use super::definition_secrets;
use super::servers;
use crate::args::{Definition, Import, Remote, Source};
use crate::client::{Client, QUICK};
use crate::screen::Screen;

/// A file with servers.
struct Origin {
    client: Option<&'static AiClient>,
    path: PathBuf,
    root: Value,
    /// The project's directory, if it is one's.
    project: Option<String>,
}

pub fn run(wanted: &Import, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let (origins, mut failures) = collect(wanted)?;
    let all: Vec<ImportCandidate> =
        origins.iter().flat_map(|origin| servers_of(origin, wanted.disabled)).collect();
    let meant = |server: &ImportCandidate| {
        wanted.only.is_empty() || wanted.only.iter().any(|name| *name == server.name || *name == server.id)
    };
    let servers: Vec<ImportCandidate> = all.into_iter().filter(meant).collect();
    if servers.is_empty() && failures.is_empty() {
        let where_to = origins.iter().map(|origin| origin.path.display().to_string()).collect::<Vec<_>>();
        let what = match where_to.is_empty() {
            true => "no supported AI client has a configuration here".to_owned(),
            false => format!("there are no such servers in {}", where_to.join(", ")),
        };
        return Err(Failure::Nothing(
            what,
            "import from a file: `harbor import FILE`; add one: `harbor add`".into(),
        ));
    }
    let (mut outcomes, mut asked, mut ids) = (Vec::new(), false, Vec::new());
    if servers.iter().any(|server| server.launch.is_ok()) {
        let mut client = Client::connect(paths)?;
        let mut known = existing_servers::known(&client.ask(&ListServers {}, QUICK)?.servers);
        let mut new = Vec::new();
        for server in &servers {
            new.extend(existing_servers::here(&mut client, server, &known)?.is_none().then_some(server));
        }
        asked = risks::ask(&new, wanted)?;
        for server in &servers {
            outcomes.push(take_over(&mut client, server, &mut known, wanted, asked)?);
        }
        if !wanted.no_start && !wanted.manual {
            start_all(&mut client, &servers, &mut outcomes, wanted.replace && !wanted.dry_run)?;
        }
        ids = known.iter().map(|known| known.id().to_owned()).collect();
    } else {
        outcomes.extend(
            servers
                .iter()
                .map(|server| Outcome::Skipped(server.launch.as_ref().err().cloned().unwrap_or_default())),
        );
    }
    tell::tell(&servers, &outcomes, (wanted, asked), screen)?;
    if wanted.replace && !wanted.dry_run {
        replace(&servers, &outcomes, &ids, paths, screen)?;
    }
    // One client's broken file is no failure of the others'.
    let failed = outcomes.iter().any(|outcome| matches!(outcome, Outcome::Failed(_)));
    failures
        .drain(..)
        .for_each(|failure| failure.message().iter().for_each(|text| remark(&format!("warning: {text}"))));
    if failed || servers.is_empty() { Err(Failure::Said(Exit::Failed)) } else { Ok(()) }
}

/// Puts Harbor in the place of what it has now, in the file of each client.
fn replace(
    servers: &[ImportCandidate],
    outcomes: &[Outcome],
    ids: &[String],
    paths: &Paths,
    screen: &mut Screen,
) -> Result<(), Failure> {
    // What does not start here may start there.
    let has = |outcome: &Outcome| matches!(outcome, Outcome::Imported(start) | Outcome::Here(start) if !matches!(start, Start::Failed(_)));
    for client in CLIENTS {
        let theirs = || {
            let all = servers.iter().zip(outcomes);
            all.filter(|(server, _)| server.client.is_some_and(|its| its.id == client.id))
        };
        let taken = theirs().filter(|(_, outcome)| has(outcome));
        let taken: Vec<_> = taken.map(|(server, _)| (server.name.as_str(), server.id.as_str())).collect();
        let fails = |outcome: &Outcome| {
            matches!(outcome, Outcome::Imported(Start::Failed(_)) | Outcome::Here(Start::Failed(_)))
        };
        let left = theirs().filter(|(_, outcome)| fails(outcome));
        left.for_each(|(ImportCandidate { name, id, .. }, _)| {
            remark(&format!(
                "{}: {name} also stays in the client's file, since it does not start in Harbor: `harbor start {id}` \
                 says why",
                client.title
            ));
        });
        if taken.is_empty() {
            continue;
        }
        let replaced = clients::replace(client, &taken, ids, paths)?;
        let names: Vec<_> = taken.iter().map(|(name, _)| *name).collect();
        let text = format!(
            "{}: Harbor has replaced {}; a copy of the earlier file: {}",
            client.title,
            names.join(", "),
            replaced.copy.display()
        );
        if screen.json {
            remark(&text);
        } else {
            screen.text(&text)?;
        }
        let keyed = theirs().filter(|(server, outcome)| {
            has(outcome) && server.launch.as_ref().is_ok_and(|launch| !secrets_of(launch).is_empty())
        });
        let keyed: Vec<_> = keyed.map(|(server, _)| server.name.as_str()).collect();
        if !keyed.is_empty() {
            let copy = replaced.copy.display();
            remark(&format!(
                "{}: {copy} holds the keys of {}. Harbor restores the servers from that copy (`harbor mcp uninstall \
                 {}`); when you no longer need it: `rm {copy}`",
                client.title,
                keyed.join(", "),
                client.id
            ));
        }
        replaced.said.iter().for_each(|text| remark(&format!("{}: {text}", client.title)));
    }
    Ok(())
}

/// The wanted files. A wrong file does not keep the others from being imported.
fn collect(wanted: &Import) -> Result<(Vec<Origin>, Vec<Failure>), Failure> {
    match &wanted.from {
        Some(Source::Client(client)) => match open(&place(client)?, Some(client))? {
            Some(origin) => Ok((vec![origin], Vec::new())),
            None => Err(Failure::Nothing(
                format!("{} has no configuration: {} does not exist", client.title, place(client)?.display()),
                "import from a file: `harbor import FILE`".into(),
            )),
        },
        Some(Source::File(file)) => match open(file, None)? {
            Some(origin) => Ok((vec![origin], Vec::new())),
            None => Err(Failure::Nothing(
                format!("{} does not exist", file.display()),
                "`harbor mcp status` shows the files of clients".into(),
            )),
        },
        None => {
            let (mut origins, mut failures) = (Vec::new(), Vec::new());
            for client in CLIENTS {
                match open(&place(client)?, Some(client)) {
                    Ok(origin) => origins.extend(origin),
                    Err(failure) => failures.push(failure),
                }
            }
            Ok((origins, failures))
        }
    }
}

fn open(path: &Path, client: Option<&'static AiClient>) -> Result<Option<Origin>, Failure> {
    let found = Found::read(path)?;
    let Some(text) = found.text else { return Ok(None) };
    let toml = path.extension().is_some_and(|extension| extension == "toml");
    let format = client.map_or(if toml { Format::Toml } else { Format::Json }, |client| client.format);
    let root = format.read(&text).map_err(|why| failed(&found.path, &why))?;
    let project = client.is_none().then(|| project(path)).flatten();
    Ok(Some(Origin { client, path: path.to_owned(), root, project }))
}

fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn servers_of(origin: &Origin, disabled_too: bool) -> Vec<ImportCandidate> {
    let home = env::var("HOME").unwrap_or_default();
    let fills = origin.client.map_or_else(|| fills_of(&whole(&origin.path)), |client| client.fills);
    named(&origin.root, origin.client.map(|client| client.key))
        .into_iter()
        .map(|found| {
            let around = Surroundings {
                variable: &|name| env::var(name).ok(),
                home: &home,
                workspace: found.project.or(origin.project.as_deref()),
                fills,
                is_there: &|path| Path::new(path).exists(),
            };
            let id = server_id(found.name);
            let launch = match id {
                Some(_) => launch(found.entry, disabled_too, &around).map_err(|why| why.to_string()),
                None => Err("its name cannot be used here; `harbor add` gives it another one".into()),
            };
            let id = id.unwrap_or_default();
            let client = origin.client.filter(|_| found.project.is_none());
            ImportCandidate { name: found.name.to_owned(), file: origin.path.clone(), client, id, launch }
        })
        .collect()
}

fn take_over(
    client: &mut Client,
    server: &ImportCandidate,
    known: &mut Vec<Known>,
    wanted: &Import,
    asked: bool,
) -> Result<Outcome, Failure> {
    if let Some(outcome) = existing_servers::here(client, server, known)? {
        return Ok(outcome);
    }
    let Ok(launch) = &server.launch else { return Ok(Outcome::Skipped(String::new())) };
    if let Some(why) = risks::unallowed(launch, wanted).filter(|_| !asked) {
        return Ok(Outcome::Skipped(why));
    }
    if wanted.dry_run {
        known.push(Known::planned(server, launch));
        return Ok(Outcome::WouldBe);
    }
    let (definition, secrets) = (definition(server, launch, wanted.manual), secrets_of(launch));
    let added = add::ask(&definition, Path::new("/")).and_then(|ask| add::define(client, &server.id, &ask));
    // Nothing starts it before it has them.
    let kept = added.and_then(|_| definition_secrets::keep(client, &server.id, &secrets));
    match kept {
        Err(refused @ Failure::Refused(_)) => Ok(Outcome::Failed(refused.message().unwrap_or_default())),
        Err(lost) => Err(lost),
        Ok(_) => {
            known.push(Known::stored(server, launch));
            Ok(Outcome::Imported(Start::Not))
        }
    }
}

/// Starts imported servers that lack nothing, since a client sees no tools that were never listed. With
/// `also_here`, also starts older servers that have never listed any, since Harbor will replace them.
fn start_all(
    client: &mut Client,
    servers: &[ImportCandidate],
    outcomes: &mut [Outcome],
    also_here: bool,
) -> Result<(), Failure> {
    for (server, outcome) in servers.iter().zip(outcomes) {
        let start = match outcome {
            Outcome::Imported(start) => start,
            Outcome::Here(start @ Start::Not) if also_here => start,
            _ => continue,
        };
        if server.launch.as_ref().is_ok_and(|launch| launch.missing.is_empty()) {
            *start = match servers::connect(client, &server.id) {
                Ok(answer) => Start::Tools(answer.server.tool_count.unwrap_or_default()),
                Err(refused @ Failure::Refused(_)) => Start::Failed(refused.message().unwrap_or_default()),
                Err(lost) => return Err(lost),
            };
        }
    }
    Ok(())
}

fn definition(server: &ImportCandidate, launch: &Launch, manual: bool) -> Definition {
    let secrets = secrets_of(launch);
    let apart = |name: &String| secrets.iter().any(|(key, ..)| key == name);
    let remote = launch.remote.as_ref().map(|remote| {
        let mut remote = allowed_remote(remote);
        remote.headers.retain(|name, _| !apart(name));
        remote
    });
    let mut env = launch.env.clone();
    env.retain(|name, _| !apart(name));
    // Without them it is not started, should they not arrive.
    let needed = secrets.iter().filter(|_| remote.is_none()).map(|(key, ..)| key);
    let needed = needed.chain(&launch.missing).cloned();
    Definition {
        secrets: needed.collect(),
        name: server.id.clone(),
        label: (server.name != server.id).then(|| server.name.clone()),
        cwd: launch.cwd.clone(),
        env,
        command: launch.command.clone(),
        image: launch.image.as_ref().map(|image| image.reference.clone()),
        engine: launch.image.as_ref().map(|image| image.engine.to_owned()),
        args: launch.args.clone(),
        remote,
        supervision: Supervision { lazy: manual.then_some(false), ..Supervision::default() },
        ..Definition::default()
    }
}

/// The request's part for a remote server. Here the person has already allowed an address with risks.
fn allowed_remote(remote: &RemoteEntry) -> Remote {
    let url = parse(&remote.url).ok();
    let is = |what: fn(&url::Url) -> bool| url.as_ref().is_some_and(what);
    Remote {
        url: remote.url.clone(),
        transport: remote.sse.then(|| "sse".to_owned()),
        headers: remote.headers.clone(),
        allow_private: is(says_private) && !is(says_loopback),
        allow_http: is(is_exposed),
    }
}
