//! `harbor host`: Harbor's native host, made known to browsers and forgotten again.
//!
//! ```text
//!  targets ─► look at each ─► foreign? refuse all ─► note how to undo it ─► write
//! ```
//!
//! Owns the choice of manifests, and their content. Must never start a bridge or a browser, and never remove
//! a file that is not Harbor's.

mod failures;
mod installed_manifests;
mod program;
mod status;
mod targets;

use std::fs;
use std::path::{Path, PathBuf};

use harbor_client::errors::Failure;
use harbor_client_configs::browsers::State;
use harbor_client_configs::extensions::NATIVE_HOST;
use harbor_home::Paths;
use serde_json::json;

use self::installed_manifests::{Entry, InstalledManifests};
pub use self::program::is_program;
pub use self::status::{ManifestStatus, look_at_all};
pub use self::targets::{Here, Target};
use super::clients::{Found, failed};
use crate::args::{HostInstall, HostPlace, NativeHost};
use crate::screen::Screen;

/// The ending of a foreign manifest's name once it is set aside.
const ASIDE: &str = ".before-harbor";

pub fn run(wanted: &NativeHost, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let here = Here::of_process()?;
    match wanted {
        NativeHost::Install(wanted) => install(wanted, &here, paths, screen),
        NativeHost::Uninstall(place) => uninstall(place, &here, paths, screen),
        NativeHost::Status(place) => status::show(place, &here, paths, screen),
    }
}

/// A manifest, and whether it had to be written.
struct Done {
    target: Target,
    changed: bool,
}

fn install(wanted: &HostInstall, here: &Here, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let browsers = &wanted.place.browsers;
    let can_have = |id: &&String| browsers.iter().any(|browser| browser.can_have(id));
    if let Some(id) = wanted.extension_ids.iter().find(|id| !browsers.is_empty() && !can_have(id)) {
        return Err(Failure::Usage(format!(
            "--extension-id {id}: no extension of that browser has such an id"
        )));
    }
    let targets = here.targets(&wanted.place)?;
    if targets.is_empty() {
        return Err(Failure::Nothing(
            "no supported browser is installed".into(),
            format!(
                "Harbor looked for {}\n`harbor host install --browser NAME` installs the manifest anyway, \
                 `--user-data-dir DIR` for a Chromium with its own directory",
                here.sought()
            ),
        ));
    }
    let seen: Vec<_> = targets
        .into_iter()
        .map(|target| ManifestStatus::at(target, here, paths))
        .collect::<Result<_, _>>()?;
    // Before anything is written: half an installation is none.
    if let Some(seen) = seen.iter().find(|seen| seen.state.is_foreign() && !wanted.replace) {
        return Err(failed(&seen.target.file, &format!("{}; --replace sets it aside", seen.what())));
    }
    let done: Vec<_> =
        seen.iter().map(|seen| put(seen, &wanted.extension_ids, paths)).collect::<Result<_, _>>()?;
    tell_installed(&done, screen)
}

/// Writes a manifest, if what stands there is another one.
pub fn put_again(seen: &ManifestStatus, paths: &Paths) -> Result<(), Failure> {
    let ids =
        InstalledManifests::load(paths).entry(&seen.target.file).map(|entry| entry.extension_ids.clone());
    put(seen, &ids.unwrap_or_default(), paths).map(drop)
}

fn put(seen: &ManifestStatus, more: &[String], paths: &Paths) -> Result<Done, Failure> {
    let Target { browser, file, .. } = &seen.target;
    let extension_ids: Vec<_> = more.iter().filter(|id| browser.can_have(id)).cloned().collect();
    let program = program::make(paths)?;
    let text = browser.text(&program::text(&program)?, &browser.extension_ids(&extension_ids));
    let mut note = InstalledManifests::load(paths);
    let old = note.entry(file).cloned().unwrap_or_default();
    let mut entry = Entry { file: file.clone(), browser: browser.id.into(), extension_ids, ..old.clone() };
    if seen.state.is_foreign() {
        entry.aside = Some(aside(file)?);
    }
    let before = note.clone();
    // The note first: a manifest without one could not be undone exactly.
    if entry != old {
        note.put(entry.clone());
        note.save(paths)?;
    }
    let (changed, made) =
        write(seen, &entry, &text).inspect_err(|_| take_back(seen, &note, &before, paths))?;
    if !made.is_empty() {
        note.put(Entry { made_directories: made, ..entry });
        note.save(paths)?;
    }
    Ok(Done { target: seen.target.clone(), changed })
}

/// Writes a manifest. The result: true if it had to be written, and the directories that were made for it.
fn write(seen: &ManifestStatus, entry: &Entry, text: &str) -> Result<(bool, Vec<PathBuf>), Failure> {
    let file = &seen.target.file;
    if let Some(aside) = entry.aside.as_ref().filter(|_| seen.state.is_foreign()) {
        fs::rename(file, aside).map_err(|error| failed(file, &error))?;
    }
    let found = Found::read(file)?;
    let changed = found.text.as_deref() != Some(text);
    Ok((changed, if changed { found.write(text)? } else { Vec::new() }))
}

/// Undoes what was done for a manifest that could not be written. Its own failures are ignored: the caller reports why the writing failed.
fn take_back(seen: &ManifestStatus, note: &InstalledManifests, before: &InstalledManifests, paths: &Paths) {
    if seen.state.is_foreign() {
        let _ = put_back(&seen.target.file, note);
    }
    let _ = before.save(paths);
    if before.is_empty() {
        program::remove(paths);
    }
}

/// The place where a foreign manifest is kept until ours goes.
fn aside(file: &Path) -> Result<PathBuf, Failure> {
    let mut name = file.as_os_str().to_owned();
    name.push(ASIDE);
    let aside = PathBuf::from(name);
    match aside.symlink_metadata() {
        Ok(_) => Err(failed(&aside, &"an earlier file was already put aside here; move it away")),
        Err(_) => Ok(aside),
    }
}

fn tell_installed(done: &[Done], screen: &mut Screen) -> Result<(), Failure> {
    if screen.json {
        let one = |done: &Done| json!({"browser": done.target.browser.id, "manifest": done.target.file, "changed": done.changed});
        let all: Vec<_> = done.iter().map(one).collect();
        return Ok(screen.json(&json!({"host": NATIVE_HOST, "browsers": all}).to_string())?);
    }
    for Done { target, changed } in done {
        let verb = if *changed { "is now" } else { "was already" };
        screen.text(&format!(
            "{} {verb} connected to Harbor: {}",
            target.browser.title,
            target.file.display()
        ))?;
    }
    Ok(screen.text("a loaded extension connects within a minute; undo: `harbor host uninstall`")?)
}

fn uninstall(place: &HostPlace, here: &Here, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let mut note = InstalledManifests::load(paths);
    let mut gone = Vec::new();
    for target in here.all_targets(place, &note)? {
        let seen = ManifestStatus::at(target, here, paths)?;
        match seen.state {
            State::Missing => put_back(&seen.target.file, &note)?,
            // Of all browsers: what is not ours is not meant.
            state if state.is_foreign() && place.browsers.is_empty() => {}
            state if state.is_foreign() => {
                return Err(failed(&seen.target.file, &format!("{}, and stays", seen.what())));
            }
            _ => {
                take(&seen.target.file, &note)?;
                gone.push(seen.target.clone());
            }
        }
        note.forget(&seen.target.file);
        note.save(paths)?;
    }
    if note.is_empty() {
        program::remove(paths);
    }
    tell_uninstalled(&gone, screen)
}

fn take(file: &Path, note: &InstalledManifests) -> Result<(), Failure> {
    let made = note.entry(file).map(|entry| entry.made_directories.clone());
    Found::read(file)?.remove(&made.unwrap_or_default())?;
    put_back(file, note)
}

/// Puts another program's manifest back where it was before ours.
fn put_back(file: &Path, note: &InstalledManifests) -> Result<(), Failure> {
    let aside = note.entry(file).and_then(|entry| entry.aside.as_ref());
    match aside.filter(|aside| aside.symlink_metadata().is_ok()) {
        Some(aside) => fs::rename(aside, file).map_err(|error| failed(aside, &error)),
        None => Ok(()),
    }
}

fn tell_uninstalled(gone: &[Target], screen: &mut Screen) -> Result<(), Failure> {
    if screen.json {
        let one = |target: &Target| json!({"browser": target.browser.id, "manifest": target.file});
        let all: Vec<_> = gone.iter().map(one).collect();
        return Ok(screen.json(&json!({"host": NATIVE_HOST, "removed": all}).to_string())?);
    }
    if gone.is_empty() {
        return Ok(screen.text("no browser is connected to Harbor")?);
    }
    for target in gone {
        screen.text(&format!(
            "{} is no longer connected to Harbor: removed {}",
            target.browser.title,
            target.file.display()
        ))?;
    }
    Ok(())
}
