//! The clients that have Harbor, and whether their entries still fit.
//!
//! Owns the list of faults that an entry can have. Must never change a file.

use std::path::{Path, PathBuf};

use harbor_client::errors::Failure;
use harbor_client_configs::{AiClient, CLIENTS, is_ours};
use harbor_home::Paths;
use serde_json::{Value, json};

use super::client_access;
use super::earlier::Earlier;
use super::file::Found;
use super::own_entry::{NAME, entry, name_of, place};
use crate::client::Client;
use crate::screen::Screen;
use crate::table::Table;

/// The state of one client.
struct ClientStatus {
    client: &'static AiClient,
    file: PathBuf,
    present: bool,
    name: Option<String>,
    installed: bool,
    problems: Vec<String>,
}

pub fn show(paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let seen: Vec<_> = CLIENTS.iter().map(|client| look(client, paths)).collect::<Result<_, _>>()?;
    if screen.json {
        let one = |seen: &ClientStatus| {
            json!({"client": seen.client.id, "file": seen.file.display().to_string(), "present": seen.present,
                "installed": seen.installed, "name": seen.name, "problems": seen.problems})
        };
        let all: Vec<_> = seen.iter().map(one).collect();
        return Ok(screen.json(&json!({"clients": all}).to_string())?);
    }
    let mut table = Table::new(&["CLIENT", "HARBOR", "AS", "FILE"]);
    for seen in &seen {
        let state = match (seen.installed, seen.present) {
            _ if !seen.problems.is_empty() => "see below",
            (true, _) => "yes",
            (false, true) => "no",
            (false, false) => "no file",
        };
        let name = seen.name.as_ref().map_or_else(|| "-".to_owned(), |name| format!("client://{name}"));
        table.add([seen.client.id.into(), state.into(), name, seen.file.display().to_string()]);
    }
    screen.table(&table)?;
    let notes: Vec<_> = seen
        .iter()
        .flat_map(|seen| seen.problems.iter().map(|problem| format!("{}: {problem}", seen.client.id)))
        .collect();
    if !notes.is_empty() {
        screen.text(&format!("\n{}", notes.join("\n")))?;
    }
    Ok(())
}

/// Says what an AI client of this name may use, with the limit that its own file has.
pub fn told(client: &mut Client, name: &str, paths: &Paths) -> Result<String, Failure> {
    let found = CLIENTS.iter().find_map(|client| Some((client.title, only_of(client, name)?)));
    let (title, only) = found.unwrap_or((name, Vec::new()));
    Ok(client_access::sentence(title, name, &client_access::held(client, name)?, &only, paths))
}

/// The tools to which a client's entry limits it, if the entry has this name.
fn only_of(client: &AiClient, name: &str) -> Option<Vec<String>> {
    let text = Found::read(&place(client).ok()?).ok()?.text?;
    let root = client.format.read(&text).ok()?;
    let entry = root[client.key].get(NAME).filter(|entry| is_ours(entry))?;
    let earlier = Earlier::of(entry);
    (earlier.name.as_deref() == Some(name)).then_some(earlier.only)
}

fn look(client: &'static AiClient, paths: &Paths) -> Result<ClientStatus, Failure> {
    let mut seen = ClientStatus {
        client,
        file: place(client)?,
        present: false,
        name: None,
        installed: false,
        problems: Vec::new(),
    };
    let text = match Found::read(&seen.file) {
        Ok(found) => found.text,
        Err(error) => {
            seen.present = true;
            seen.problems.extend(error.message());
            return Ok(seen);
        }
    };
    seen.present = text.is_some();
    match client.format.read(&text.unwrap_or_default()) {
        Err(why) => seen.problems.push(why.to_string()),
        Ok(root) => {
            if let Some(old) = root[client.key].get(NAME) {
                seen.installed = is_ours(old);
                seen.name = name_of(old).filter(|_| seen.installed).map(str::to_owned);
                seen.problems = problems(client, old, paths)?;
            }
        }
    }
    Ok(seen)
}

/// The parts of an entry that do not fit any more.
fn problems(client: &AiClient, old: &Value, paths: &Paths) -> Result<Vec<String>, Failure> {
    if !is_ours(old) {
        return Ok(vec![format!("its entry `{NAME}` starts another program")]);
    }
    let wanted = entry(client, client.id, &[], paths)?;
    let command = old["command"].as_str().unwrap_or_default();
    let home = old["env"]["HARBOR_HOME"].as_str().unwrap_or_default();
    let mut problems = Vec::new();
    if !Path::new(command).is_absolute() || !Path::new(command).exists() {
        problems.push(format!("it starts {command}, which is missing"));
    } else if command != wanted.command {
        problems.push(format!("it starts {command}, but this program is {}", wanted.command));
    }
    if paths.home() != Path::new(home) {
        let home = if home.is_empty() { "none" } else { home };
        problems.push(format!("its HARBOR_HOME is {home}, but here it is {}", paths.home().display()));
    }
    if old["disabled"] == true || old["enabled"] == false {
        problems.push("it is disabled in that file".into());
    }
    if !problems.is_empty() {
        problems.push(format!("renew it: `harbor mcp install {}`", client.id));
    }
    Ok(problems)
}
