//! The state of each browser: is it here, what is the state of its manifest, and what should the person do?
//!
//! Owns the messages about a manifest. Must never change one.

use std::path::PathBuf;

use harbor_client::errors::Failure;
use harbor_client_configs::browsers::{BROWSERS, State};
use harbor_client_configs::extensions::{HARBOR, NATIVE_HOST, WEB_AGENTS_API};
use harbor_home::Paths;
use harbor_policy::sandbox::hint::shell;
use serde_json::{Value, json};

use super::installed_manifests::InstalledManifests;
use super::program::{self, is_program};
use super::{Found, Here, Target};
use crate::args::HostPlace;
use crate::screen::Screen;
use crate::table::Table;

/// A manifest that was looked at.
pub struct ManifestStatus {
    pub target: Target,
    pub state: State,
    /// The program that it starts, if it says so.
    starts: Option<PathBuf>,
    /// The extensions that the manifest lets in, as it has them.
    lets_in: Vec<String>,
    /// The place of a browser of this kind that cannot start us.
    confined: Option<PathBuf>,
}

impl ManifestStatus {
    pub fn at(target: Target, here: &Here, paths: &Paths) -> Result<Self, Failure> {
        let more =
            InstalledManifests::load(paths).entry(&target.file).map(|entry| entry.extension_ids.clone());
        let (browser, wanted) = (target.browser, program::wanted(paths)?);
        let text = match Found::read(&target.file) {
            Ok(found) => found.text,
            // What is no text is none of ours.
            Err(_) => Some(String::new()),
        };
        let ids = browser.extension_ids(&more.unwrap_or_default());
        let state = match text.as_deref().map(|text| browser.judge(text, &wanted, &ids, &is_program)) {
            None => State::Missing,
            Some(State::Installed) if !program::fits(paths) => State::Elsewhere,
            Some(state) => state,
        };
        let read = text.and_then(|text| browser.read(&text));
        let (starts, lets_in) = read.map(|manifest| (manifest.program, manifest.ids)).unzip();
        let confined = here.confined(browser);
        Ok(Self { target, state, starts, lets_in: lets_in.unwrap_or_default(), confined })
    }

    /// True if there is anything to tell.
    pub fn matters(&self) -> bool {
        self.target.found || self.state != State::Missing
    }

    /// The fault, in words.
    pub fn what(&self) -> String {
        let starts = self.starts.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        match self.state {
            State::Installed => "up to date".into(),
            State::Missing => "not connected to Harbor".into(),
            State::Elsewhere => {
                format!("it starts {starts}, which belongs to another Harbor or another home")
            }
            State::Foreign => format!("it starts {starts}, which is not Harbor's"),
            State::NotExecutable => format!("it starts {starts}, which is missing or not a program"),
            State::WrongId => format!("it admits {}", self.lets_in.join(", ")),
            State::Unreadable => format!("it is not a manifest for {}", self.target.browser.title),
        }
    }

    /// The next step.
    pub fn next(&self) -> Option<String> {
        let own = self.target.user_data_dir.as_ref().map(|own| shell(&own.display().to_string()));
        let own = own.map(|own| format!(" --user-data-dir {own}")).unwrap_or_default();
        let command = format!("harbor host install --browser {}{own}", self.target.browser.id);
        match self.state {
            State::Installed => None,
            State::Missing => self.target.found.then(|| format!("`{command}`")),
            state if state.is_foreign() => Some(format!("`{command} --replace` sets it aside")),
            _ => Some(format!("renew it: `{command}`")),
        }
    }

    fn json(&self) -> Value {
        let problem = (!matches!(self.state, State::Installed | State::Missing)).then(|| self.what());
        json!({"browser": self.target.browser.id, "title": self.target.browser.title, "found": self.target.found,
            "manifest": self.target.file, "state": self.state.as_str(), "starts": self.starts, "problem": problem,
            "next": self.next(), "confined": self.confined})
    }
}

/// The states of all browsers' manifests, and of all that were ever installed.
pub fn look_at_all(here: &Here, paths: &Paths) -> Result<Vec<ManifestStatus>, Failure> {
    look(&HostPlace::default(), here, paths)
}

fn look(place: &HostPlace, here: &Here, paths: &Paths) -> Result<Vec<ManifestStatus>, Failure> {
    let targets = here.all_targets(place, &InstalledManifests::load(paths))?;
    targets.into_iter().map(|target| ManifestStatus::at(target, here, paths)).collect()
}

pub fn show(place: &HostPlace, here: &Here, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let (seen, program) = (look(place, here, paths)?, program::wanted(paths)?);
    if screen.json {
        let ids = [HARBOR, WEB_AGENTS_API]
            .map(|one| (one.name.to_owned(), json!({"chromium": one.chromium(), "firefox": one.firefox})));
        let answer = json!({"host": NATIVE_HOST, "program": program, "extensions": serde_json::Map::from_iter(ids),
            "browsers": seen.iter().map(ManifestStatus::json).collect::<Vec<_>>()});
        return Ok(screen.json(&answer.to_string())?);
    }
    screen.text(&format!(
        "{NATIVE_HOST} is {}\nfor the extension {}, in Firefox {}\n",
        program.display(),
        HARBOR.chromium(),
        HARBOR.firefox
    ))?;
    let mut table = Table::new(&["BROWSER", "HERE", "HARBOR", "MANIFEST"]);
    for seen in &seen {
        let here = if seen.target.found { "yes" } else { "no" };
        let manifest = seen.target.file.display().to_string();
        table.add([seen.target.browser.id.into(), here.into(), seen.state.as_str().into(), manifest]);
    }
    screen.table(&table)?;
    let notes = notes(&seen);
    if !notes.is_empty() {
        screen.text(&format!("\n{}", notes.join("\n")))?;
    }
    Ok(())
}

fn notes(seen: &[ManifestStatus]) -> Vec<String> {
    let mut notes = Vec::new();
    for seen in seen {
        let id = seen.target.browser.id;
        if let Some(next) = seen.next() {
            notes.push(format!("{id}: {}; {next}", seen.what()));
        }
        if let Some(confined) = &seen.confined {
            let confined = confined.display();
            notes.push(format!(
                "{id}: the {confined} package cannot start Harbor from its snap or flatpak; use a browser that is neither"
            ));
        }
    }
    if !seen.iter().any(ManifestStatus::matters) && notes.is_empty() {
        let names: Vec<_> = BROWSERS.iter().map(|browser| browser.title).collect();
        notes.push(format!("not installed: {}", names.join(", ")));
    }
    notes
}
