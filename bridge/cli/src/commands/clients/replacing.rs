//! Puts Harbor in the place of a client's servers, and puts those servers back into its file.
//!
//! ```text
//!  import --replace ─► what limits them ─► out they go, Harbor in ─► the file as it was is kept ─► noted ─► written
//!  uninstall        ─► the file as it was, if nobody has written it since; else each of them, as it stood there
//! ```
//!
//! Owns that nothing which was taken is lost. Must never show other content of those files.

use std::fs;
use std::path::PathBuf;

use harbor_client::errors::Failure;
use harbor_client_configs::{AiClient, is_ours};
use harbor_home::Paths;

use super::client_access::{self, ClientAccess};
use super::earlier::Earlier;
use super::file::{Found, failed};
use super::limits::EntryLimits;
use super::own_entry::{NAME, entry, place, write};
use super::undo::{RemovedServer, UndoNote};

/// The changes that were made to a client's file.
pub struct Replaced {
    /// The copy of the former file.
    pub copy: PathBuf,
    /// Remarks about it.
    pub said: Vec<String>,
}

/// Puts Harbor in the place of these servers, each with its name there and its id here. `ids` are all servers here.
pub fn replace(
    client: &'static AiClient,
    servers: &[(&str, &str)],
    ids: &[String],
    paths: &Paths,
) -> Result<Replaced, Failure> {
    let found = Found::read(&place(client)?)?;
    let wrong = |why| failed(&found.path, &why);
    let text = found.text.clone().unwrap_or_default();
    let root = client.format.read(&text).map_err(wrong)?;
    let entries = &root[client.key];
    let ours = &entries[NAME];
    if !ours.is_null() && !is_ours(ours) {
        return Err(failed(&found.path, &format!("its entry `{NAME}` starts another program, and stays")));
    }
    let earlier = Earlier::of(ours);
    let limits = EntryLimits::of(entries, servers, &earlier.only, ours, ids);
    let name = earlier.name.as_deref().unwrap_or(client.id);
    let mut entry = entry(client, name, &limits.only, paths)?;
    entry.args.extend(earlier.others.clone());
    entry.lists = limits.lists.clone();
    let mut after = text.clone();
    for (name, _) in servers {
        after = client.format.take(&after, client.key, name, false).map_err(wrong)?.unwrap_or(after);
    }
    after = client.format.put(&after, client.key, &entry).map_err(wrong)?;
    let copy = found.keep()?;
    let old = UndoNote::load(paths, &found.path);
    let taken = |name: &str| RemovedServer { name: name.to_owned(), copy: copy.clone() };
    let new = UndoNote::of(&found.path, &text, &after).inexact().made_by(&old.clone().unwrap_or_default());
    let new = new.with_taken(servers.iter().map(|(name, _)| taken(name)), &text);
    if let Err(error) = write(paths, &found, &after, new, old) {
        let _ = fs::remove_file(&copy);
        return Err(error);
    }
    let mut said = said(name, &earlier, &limits);
    said.extend(not_among(name, servers, &limits.only, paths)?);
    Ok(Replaced { copy, said })
}

/// Which of the servers the client may not use by Harbor: what was taken from it before stays taken.
fn not_among(
    name: &str,
    servers: &[(&str, &str)],
    only: &[String],
    paths: &Paths,
) -> Result<Option<String>, Failure> {
    let held = if only.is_empty() {
        client_access::held_here(paths, name)?
    } else {
        client_access::limit(paths, name, only)?
    };
    let ClientAccess::Tools(tools) = held else { return Ok(None) };
    let lacks = |id: &&str| client_access::within(&tools, &[format!("{id}/*")]).is_empty();
    let lacking: Vec<_> = servers.iter().map(|(_, id)| *id).filter(lacks).collect();
    let options: Vec<_> = lacking.iter().map(|id| format!("--on '{id}/*'")).collect();
    Ok((!lacking.is_empty()).then(|| {
        let named = lacking.join(", ");
        format!(
            "its permissions do not include {named}; allow it: `harbor tools --client {name} {}`",
            options.join(" ")
        )
    }))
}

fn said(name: &str, earlier: &Earlier, limits: &EntryLimits) -> Vec<String> {
    let mut said = Vec::new();
    if !limits.of.is_empty() {
        said.push(format!("the limits of {} also apply to Harbor's entry", limits.of.join(", ")));
    }
    if earlier.only.is_empty() && !limits.only.is_empty() {
        said.push(format!(
            "servers that you add later are off for it, since `--only` of its entry lists today's servers; see `harbor \
             grants client://{name}`"
        ));
    }
    said
}

/// The text without Harbor, with the servers that Harbor was put in the place of.
pub struct Restored {
    /// The whole text.
    pub text: String,
    /// The servers that are in it again.
    pub back: Vec<String>,
    /// The servers that could not be put back, and where they are.
    pub left: Vec<RemovedServer>,
}

/// Takes Harbor out and puts back what it took.
pub fn restore(client: &AiClient, found: &Found, text: &str, note: &UndoNote) -> Result<Restored, Failure> {
    let wrong = |why| failed(&found.path, &why);
    let out = |text: &str| -> Result<String, Failure> {
        let taken = client.format.take(text, client.key, NAME, note.made_key).map_err(wrong)?;
        Ok(taken.unwrap_or_else(|| text.to_owned()))
    };
    if let Some(before) = note.untouched(text) {
        let back = note.taken.iter().map(|taken| taken.name.clone()).collect();
        return Ok(Restored { text: out(&before)?, back, left: Vec::new() });
    }
    let (mut text, mut back, mut left) = (out(text)?, Vec::new(), Vec::new());
    for taken in &note.taken {
        let has = |text: &str| {
            client.format.read(text).is_ok_and(|root| root[client.key].get(&taken.name).is_some())
        };
        if has(&text) {
            continue;
        }
        let from = fs::read_to_string(&taken.copy).unwrap_or_default();
        match client.format.give_back(&text, client.key, &taken.name, &from) {
            Ok(Some(after)) => {
                text = after;
                back.push(taken.name.clone());
            }
            _ => left.push(taken.clone()),
        }
    }
    Ok(Restored { text, back, left })
}
