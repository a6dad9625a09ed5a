//! The message about each server that was to be taken over.
//!
//! Owns the words. Must never show a value of a variable, only names.

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use serde_json::{Value, json};

use super::super::definition_secrets::warn_of_arguments;
use super::super::printing::count;
use super::candidate::{ImportCandidate, Outcome, Start};
use super::{closed_places, risks};
use crate::args::Import;
use crate::screen::Screen;
use crate::table::flatten;

pub fn tell(
    servers: &[ImportCandidate],
    outcomes: &[Outcome],
    (wanted, asked): (&Import, bool),
    screen: &mut Screen,
) -> Result<(), Failure> {
    if screen.json {
        let all: Vec<_> =
            servers.iter().zip(outcomes).map(|(server, outcome)| as_json(server, outcome)).collect();
        return Ok(screen.json(&json!({"dry_run": wanted.dry_run, "servers": all}).to_string())?);
    }
    for (server, outcome) in servers.iter().zip(outcomes) {
        // The names in it may be anybody's.
        let line = line(server, outcome);
        screen.text(&line.lines().map(flatten).collect::<Vec<_>>().join("\n"))?;
    }
    servers
        .iter()
        .zip(outcomes)
        .for_each(|(server, outcome)| warn_of_arguments(&server.id, &plain(server, outcome)));
    // Who was asked has read it there.
    if !asked {
        let new = |outcome: &Outcome| matches!(outcome, Outcome::Imported(_) | Outcome::WouldBe);
        let new = servers.iter().zip(outcomes).filter(|(_, outcome)| new(outcome));
        new.filter_map(|(server, _)| Some((server, risks::warning(server.launch.as_ref().ok()?)?))).for_each(
            |(server, text)| remark(&format!("{}: warning: {}", flatten(&server.id), flatten(&text))),
        );
    }
    for (server, outcome) in servers.iter().zip(outcomes) {
        let missing = server.launch.iter().flat_map(|launch| &launch.missing);
        let imported = matches!(outcome, Outcome::Imported(_));
        missing.filter(|_| imported).for_each(|key| {
            let (id, key) = (flatten(&server.id), flatten(key));
            remark(&format!("{id} needs a key: `harbor secrets set {id} {key}`"));
        });
    }
    for (server, outcome) in servers.iter().zip(outcomes) {
        let is_here = matches!(outcome, Outcome::Imported(_) | Outcome::Here(_));
        let launch = server.launch.as_ref().ok().filter(|_| is_here);
        let closed = launch.map(closed_places::closed_places).unwrap_or_default();
        closed.iter().for_each(|place| remark(&place.told(&flatten(&server.id))));
    }
    let done = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Imported(_))).count();
    if done > 0 {
        screen.text(&format!("{} imported", count(done, "server")))?;
        if !wanted.replace {
            remark(
                "the clients' files still contain these servers and their keys: `harbor import --replace` replaces \
                 them by Harbor, and keeps a copy",
            );
        }
    }
    Ok(())
}

/// Arguments that look like secrets, of what is here now.
fn plain(server: &ImportCandidate, outcome: &Outcome) -> Vec<String> {
    let is_here = matches!(outcome, Outcome::Imported(_) | Outcome::WouldBe | Outcome::Here(_));
    let launch = server.launch.as_ref().ok().filter(|_| is_here);
    launch.map_or(Vec::new(), risks::plain_secrets).iter().map(|name| flatten(name)).collect()
}

fn line(server: &ImportCandidate, outcome: &Outcome) -> String {
    let renamed = if server.name == server.id || server.id.is_empty() {
        String::new()
    } else {
        format!(" as {}", server.id)
    };
    let what = match (outcome, &server.launch) {
        (Outcome::Skipped(why), _) => {
            return format!("{}: skipped: {why} ({})", server.name, server.file.display());
        }
        (Outcome::Failed(why), _) => return format!("{}{renamed}: failed: {why}", server.name),
        (Outcome::Imported(_), _) => "imported",
        (Outcome::WouldBe, _) => "would be imported",
        (Outcome::Here(_), _) => "already here, unchanged:",
    };
    let names = |title: &str, names: Vec<&str>| match names.is_empty() {
        true => String::new(),
        false => format!(", {title} {}", names.join(", ")),
    };
    let launch = server.launch.as_ref().ok();
    let env = launch
        .map_or(Vec::new(), |launch| launch.env.keys().chain(&launch.missing).map(String::as_str).collect());
    let taken = launch.map_or(Vec::new(), risks::uses);
    let taken = match taken.is_empty() {
        true => String::new(),
        false => format!(", with your {}", taken.join(", ")),
    };
    let at = match launch.map(|launch| risks::host(launch).ok_or(launch)) {
        Some(Ok(host)) => format!(", at {host}"),
        Some(Err(launch)) => format!(", runs {}", risks::shortened(launch)),
        None => String::new(),
    };
    let remote = server.launch.as_ref().ok().and_then(|launch| launch.remote.as_ref());
    let headers = remote.map_or(Vec::new(), |remote| remote.headers.keys().map(String::as_str).collect());
    let cwd = server.launch.as_ref().ok().and_then(|launch| launch.cwd.as_ref());
    let cwd = cwd.map(|cwd| format!(", in {cwd}")).unwrap_or_default();
    let start = match outcome {
        Outcome::Imported(Start::Tools(tools)) => {
            format!(": {}", count(usize::try_from(*tools).unwrap_or(usize::MAX), "tool"))
        }
        Outcome::Imported(Start::Failed(why)) | Outcome::Here(Start::Failed(why)) => {
            format!("; it does not start: {}", why.replace('\n', " "))
        }
        _ => String::new(),
    };
    format!(
        "{}{renamed}: {what} from {}{at}{cwd}{}{}{taken}{start}",
        server.name,
        server.file.display(),
        names("with", env),
        names("with the headers", headers),
    )
}

fn as_json(server: &ImportCandidate, outcome: &Outcome) -> Value {
    let (word, why) = match outcome {
        Outcome::Imported(Start::Failed(why)) => ("imported", Some(why)),
        Outcome::Imported(_) => ("imported", None),
        Outcome::WouldBe => ("would_import", None),
        Outcome::Here(_) => ("already_here", None),
        Outcome::Skipped(why) => ("skipped", Some(why)),
        Outcome::Failed(why) => ("failed", Some(why)),
    };
    let launch = server.launch.as_ref().ok();
    json!({
        "name": server.name, "server_id": server.id, "file": server.file.display().to_string(),
        "outcome": word, "reason": why,
        "tools": if let Outcome::Imported(Start::Tools(tools)) = outcome { Some(tools) } else { None },
        "env_names": launch.map(|launch| launch.env.keys().collect::<Vec<_>>()),
        "host": launch.and_then(risks::host),
        "runs": launch.filter(|launch| launch.remote.is_none()).map(risks::shortened),
        "warning": launch.and_then(risks::warning),
        "plain_secrets": launch.map(risks::plain_secrets),
        "from_environment": launch.map(|launch| {
            launch.taken.iter().map(|used| json!({"variable": used.variable, "place": used.place})).collect::<Vec<_>>()
        }),
    })
}
