//! `harbor mcp install` and `uninstall`: Harbor in the configurations of AI clients.
//!
//! ```text
//!  read ─► is it there? ours? ─► put or take ─► note how to undo it ─► write
//! ```
//!
//! Owns the messages about it. Must never show anything else from those files: there are secrets in them.

pub mod client_access;
pub mod copies;
mod earlier;
mod file;
mod first_use;
mod limits;
mod own_entry;
mod replacing;
pub mod status;
mod undo;

use std::env;
use std::path::{Path, PathBuf};

use harbor_client::errors::Failure;
use harbor_client::terminal::{remark, reveal};
use harbor_client_configs::{AiClient, CLIENTS, Entry, Swap, is_ours};
use harbor_home::Paths;
use harbor_policy::tool_name::EVERY;
use serde_json::{Value, json};

use self::client_access::ClientAccess;
use self::earlier::Earlier;
pub use self::file::{Found, failed};
pub use self::own_entry::place;
use self::own_entry::{NAME, entry, name_of, write};
pub use self::replacing::replace;
use self::replacing::{Restored, restore};
use self::undo::UndoNote;
use super::patterns;
use crate::args::{Install, Uninstall};
use crate::client::Client;
use crate::screen::Screen;

/// The options of `harbor mcp` that say how tools are offered.
const LAZY: &str = "--lazy";
const CODE: &str = "--code";

fn chosen(client: &AiClient, file: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    file.map_or_else(|| place(client), |file| Ok(file.clone()))
}

pub fn install(wanted: &Install, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    if wanted.clients.len() > 1 && (wanted.name.is_some() || wanted.file.is_some()) {
        return Err(Failure::Usage(
            "--client and --file are for one AI client; name only one\n`harbor help mcp install` shows how"
                .into(),
        ));
    }
    let clients = if wanted.all { present()? } else { wanted.clients.clone() };
    if clients.is_empty() {
        return Err(Failure::Nothing(
            "no AI client has a configuration here".into(),
            "`harbor mcp install CLIENT` makes one; `harbor mcp status` lists the clients".into(),
        ));
    }
    of_each(&clients, |client| install_one(client, wanted, paths, screen))
}

/// Does the same for each client. A broken file does not keep the other clients from it. Fails with the first failure.
fn of_each(
    clients: &[&'static AiClient],
    mut act: impl FnMut(&'static AiClient) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut failed = None;
    for client in clients {
        if let Err(failure) = act(client) {
            if let (true, Some(text)) = (failed.is_some(), failure.message()) {
                remark(&text);
            }
            failed.get_or_insert(failure);
        }
    }
    failed.map_or(Ok(()), Err)
}

/// The AI clients that have a configuration here.
pub fn present() -> Result<Vec<&'static AiClient>, Failure> {
    let mut all = Vec::new();
    for client in CLIENTS {
        if place(client)?.exists() {
            all.push(client);
        }
    }
    Ok(all)
}

/// The clients that have Harbor in their own file. A client whose file cannot be read does not count: nothing
/// could be taken out.
pub fn with_harbor() -> Result<Vec<&'static AiClient>, Failure> {
    let has = |client: &&'static AiClient| {
        let found = place(client).and_then(|file| Found::read(&file)).ok();
        let root = found.and_then(|found| client.format.read(&found.text?).ok());
        root.is_some_and(|root| root[client.key].get(NAME).is_some_and(is_ours))
    };
    Ok(present()?.into_iter().filter(has).collect())
}

/// The project to which a file belongs: `DIR/.mcp.json`, or `DIR/.vscode/mcp.json` and the like.
pub fn project(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let directory = path.parent()?;
    let hidden = directory.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let project = match path.file_name()?.to_str()? {
        ".mcp.json" => directory,
        _ if hidden => directory.parent()?,
        _ => return None,
    };
    // A person's home is no project: there it is the client's own configuration.
    let is_home = env::var_os("HOME").is_some_and(|home| Path::new(&home) == project);
    (!is_home).then(|| project.to_str().map(str::to_owned)).flatten()
}

fn install_one(
    client: &'static AiClient,
    wanted: &Install,
    paths: &Paths,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let found = Found::read(&chosen(client, wanted.file.as_ref())?)?;
    let text = found.text.clone().unwrap_or_default();
    let wrong = |why| failed(&found.path, &why);
    let root = client.format.read(&text).map_err(wrong)?;
    let old = root[client.key].get(NAME);
    // What it says there holds until something else is said.
    let earlier = old.filter(|old| is_ours(old)).map(Earlier::of).unwrap_or_default();
    let name = wanted.name.as_deref().or(earlier.name.as_deref()).unwrap_or(client.id);
    let only = if wanted.only.is_empty() { &earlier.only } else { &wanted.only };
    // All of them is no limit.
    let limit = if only.iter().any(|pattern| pattern == EVERY) { &[][..] } else { only.as_slice() };
    let mut entry = entry(client, name, limit, paths)?;
    if wanted.file.as_deref().and_then(project).is_some() {
        // Other people have Harbor elsewhere, and a home of their own.
        entry.command = "harbor".to_owned();
        entry.env.clear();
    }
    let offering = [(wanted.lazy, LAZY), (wanted.code, CODE)].into_iter().find(|(is_wanted, _)| *is_wanted);
    entry.args.extend(offering.map(|(_, word)| word.to_owned()));
    let stays = |word: &&String| offering.is_none() || ![LAZY, CODE].contains(&word.as_str());
    entry.args.extend(earlier.others.iter().filter(stays).cloned());
    if old.is_some_and(|old| !is_ours(old)) && !wanted.replace {
        return Err(failed(
            &found.path,
            &format!("its entry `{NAME}` starts another program; --replace replaces it"),
        ));
    }
    let changed = !old.is_some_and(|old| is_ours(old) && entry.fits(old));
    if changed {
        let note = UndoNote::load(paths, &found.path);
        // What was ours is taken back before, so that the note is about the text without it.
        let original = note.as_ref().and_then(|note| note.undo(&text));
        let before = original.as_ref().unwrap_or(&text);
        let after = client.format.put(before, client.key, &entry).map_err(wrong)?;
        if wanted.dry_run {
            return show(screen, client, &found.path, &text, &after);
        }
        let new = UndoNote {
            made_file: found.text.is_none(),
            made_key: root.get(client.key).is_none(),
            ..UndoNote::of(&found.path, before, &after)
        };
        let new = match (&note, original.is_some()) {
            (Some(note), true) => new.made_by(note),
            // The text before had an entry of ours already: going back to it would be no undoing.
            (Some(note), false) if old.is_some_and(is_ours) => new.made_by(note).inexact(),
            (None, _) if old.is_some_and(is_ours) => new.inexact(),
            _ => new,
        };
        write(paths, &found, &after, new, note)?;
    } else if wanted.dry_run {
        return show(screen, client, &found.path, &text, &text);
    }
    let held = held(wanted, name, only, paths)?;
    tell_installed((client, wanted, name, only), (&held, paths), &entry, &found, changed, screen)
}

/// The client's present rights. The tools that were typed become its grants, too, unless they are for another
/// file, which may be a project's.
fn held(wanted: &Install, name: &str, only: &[String], paths: &Paths) -> Result<ClientAccess, Failure> {
    if wanted.only.is_empty() || wanted.file.is_some() {
        return client_access::held_here(paths, name);
    }
    let held = client_access::give(paths, name, only)?;
    if let Some(mut client) = Client::connect_running(paths)? {
        patterns::unknown(&mut client, only)?.iter().for_each(|text| remark(text));
    }
    Ok(held)
}

fn tell_installed(
    (client, wanted, name, only): (&AiClient, &Install, &str, &[String]),
    (held, paths): (&ClientAccess, &Paths),
    entry: &Entry,
    found: &Found,
    changed: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let file = found.path.display().to_string();
    let origin = format!("client://{name}");
    if screen.json {
        let made = changed && found.text.is_none();
        let answer = json!({"client": client.id, "file": file, "origin": origin, "changed": changed, "created": made,
            "entry": entry.value()});
        return Ok(screen.json(&answer.to_string())?);
    }
    let verb = if changed { "is now in" } else { "was already in" };
    let title = client.title;
    let undo = match &wanted.file {
        Some(_) => format!("`harbor mcp uninstall {} --file {file}`", client.id),
        None => format!("`harbor mcp uninstall {}`", client.id),
    };
    let lines = [
        format!("Harbor {verb} {file}"),
        client_access::sentence(title, name, held, only, paths),
        format!("{title}: {}", client.after),
        format!("undo: {undo}"),
    ];
    // What is said of the client's own file is not so of another one.
    let lines = lines.into_iter().enumerate().filter(|(at, _)| *at != 2 || wanted.file.is_none());
    screen.text(&lines.map(|(_, line)| line).collect::<Vec<_>>().join("\n"))?;
    if wanted.only.is_empty() && !only.is_empty() {
        let id = client.id;
        remark(&format!(
            "{title} keeps the limit (--only) of its earlier entry; to lift it: `harbor mcp install {id} --only '*'`"
        ));
    }
    Ok(())
}

/// The change, and nothing that stands around it.
fn show(
    screen: &mut Screen,
    client: &AiClient,
    path: &Path,
    before: &str,
    after: &str,
) -> Result<(), Failure> {
    let (file, swap) = (path.display().to_string(), Swap::between(before, after));
    let lines = |text: &str| text.trim_matches(['\r', '\n', ' ', '\t']).lines().count();
    if screen.json {
        let answer = json!({"client": client.id, "file": file, "changed": before != after, "dry_run": true});
        return Ok(screen.json(&answer.to_string())?);
    }
    if before == after {
        return Ok(screen.text(&format!("{file} would not change"))?);
    }
    let mut out = format!("{file} would change\n");
    if lines(&swap.removed) > 0 {
        out.push_str(&format!("- {}\n", super::printing::count(lines(&swap.removed), "line")));
    }
    // The first line may begin with space that stood there before.
    let indent = &after[after[..swap.at].rfind('\n').map_or(0, |newline| newline + 1)..swap.at];
    let indent = if indent.trim().is_empty() { indent } else { "" };
    let added = format!("{indent}{}", swap.added);
    let added = added.lines().filter(|line| !line.trim().is_empty());
    out.extend(added.map(|line| format!("+ {}\n", reveal(line))));
    Ok(screen.text(&out)?)
}

pub fn uninstall(wanted: &Uninstall, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    if wanted.clients.len() > 1 && wanted.file.is_some() {
        return Err(Failure::Usage(
            "--file is for one AI client; name only one\n`harbor help mcp uninstall` shows how".into(),
        ));
    }
    let clients = if wanted.all { with_harbor()? } else { wanted.clients.clone() };
    if clients.is_empty() {
        return Ok(screen.text("Harbor is in no AI client's configuration here")?);
    }
    of_each(&clients, |client| uninstall_one(client, wanted, paths, screen))
}

fn uninstall_one(
    client: &'static AiClient,
    wanted: &Uninstall,
    paths: &Paths,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let found = Found::read(&chosen(client, wanted.file.as_ref())?)?;
    let wrong = |why| failed(&found.path, &why);
    let text = found.text.clone().unwrap_or_default();
    let root = client.format.read(&text).map_err(wrong)?;
    let Some(old) = root[client.key].get(NAME) else {
        return tell_uninstalled(client, &found, None, false, screen);
    };
    if !is_ours(old) {
        return Err(failed(&found.path, &format!("its entry `{NAME}` starts another program, and stays")));
    }
    let note = UndoNote::load(paths, &found.path).unwrap_or_default();
    let exact = note.undo(&text);
    let restored = match &exact {
        Some(before) => Restored { text: before.clone(), back: Vec::new(), left: Vec::new() },
        None => restore(client, &found, &text, &note)?,
    };
    let after = &restored.text;
    if wanted.dry_run {
        return show(screen, client, &found.path, &text, after);
    }
    let is_empty = |text: &str| matches!(text.trim(), "" | "{}");
    match note.made_file && is_empty(after) {
        true => found.remove(&note.made_directories)?,
        false => drop(found.write(after)?),
    }
    UndoNote::forget(paths, &found.path);
    tell_uninstalled(client, &found, Some((old, &restored)), exact.is_some(), screen)
}

fn tell_uninstalled(
    client: &AiClient,
    found: &Found,
    done: Option<(&Value, &Restored)>,
    exact: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let file = found.path.display().to_string();
    if screen.json {
        let back = done.map_or(&[][..], |(_, restored)| restored.back.as_slice());
        let answer = json!({"client": client.id, "file": file, "changed": done.is_some(), "as_before": exact,
            "given_back": back});
        return Ok(screen.json(&answer.to_string())?);
    }
    let Some((old, restored)) = done else { return Ok(screen.text(&format!("Harbor is not in {file}"))?) };
    let how = match (exact, restored.back.as_slice()) {
        (true, _) => "the file is as it was before".to_owned(),
        (false, []) => "the rest of the file is unchanged".to_owned(),
        (false, back) => format!("the file has {} again", back.join(", ")),
    };
    screen.text(&format!("Harbor is no longer in {file}; {how}"))?;
    for left in &restored.left {
        remark(&format!(
            "{} was in this file before Harbor, but could not be put back. A copy of the earlier file: {}",
            left.name,
            left.copy.display()
        ));
    }
    if let Some(name) = name_of(old) {
        remark(&format!(
            "the grants of client://{name} stay; see `harbor grants client://{name}`, revoke them with `harbor revoke`"
        ));
    }
    Ok(())
}
