//! The chosen manifests: those of the browsers on this machine, or of those that the person names.
//!
//! Owns how a browser is found: by its program, or by the data that it keeps for the person. Must never start
//! one.

use std::env;
use std::path::{Path, PathBuf, absolute};

use harbor_client::errors::Failure;
use harbor_client_configs::browsers::{BROWSERS, Browser, Whereabouts, browser};

use super::installed_manifests::InstalledManifests;
use super::program::is_program;
use crate::args::HostPlace;

/// The program to which the links of all snaps' programs lead.
const SNAP: &str = "snap";

/// This person's browsers.
pub struct Here {
    at: Whereabouts,
    path: Vec<PathBuf>,
}

/// A manifest of a browser.
#[derive(Debug, Clone)]
pub struct Target {
    pub browser: &'static Browser,
    pub file: PathBuf,
    /// True if the browser is on this machine.
    pub found: bool,
    /// The data directory (`--user-data-dir`) that the manifest is for, if it is for one.
    pub user_data_dir: Option<PathBuf>,
}

impl Here {
    pub fn of_process() -> Result<Self, Failure> {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("HOME").ok_or_else(|| {
            Failure::Usage(
                "HOME is not set, so Harbor cannot tell where browsers look for native hosts".into(),
            )
        })?;
        let path = env::var_os("PATH").unwrap_or_default();
        Ok(Self { at: Whereabouts::of(&home, &set), path: env::split_paths(&path).collect() })
    }

    /// The manifests that the person means; without a choice, those of all browsers on this machine.
    pub fn targets(&self, place: &HostPlace) -> Result<Vec<Target>, Failure> {
        let own = place.user_data_dir.as_deref();
        if !place.browsers.is_empty() {
            return place.browsers.iter().map(|browser| self.target(browser, own)).collect();
        }
        let all = BROWSERS.iter().map(|browser| self.target(browser, None)).collect::<Result<Vec<_>, _>>()?;
        Ok(all.into_iter().filter(|target| target.found).collect())
    }

    /// Works as [`Self::targets`]. But without a choice, takes every browser that could be here, and every
    /// place of an earlier installation.
    pub fn all_targets(&self, place: &HostPlace, note: &InstalledManifests) -> Result<Vec<Target>, Failure> {
        if !place.browsers.is_empty() {
            return self.targets(place);
        }
        let mut all: Vec<_> =
            BROWSERS.iter().map(|browser| self.target(browser, None)).collect::<Result<_, _>>()?;
        all.retain(|target| target.found || !target.browser.is_rare);
        for entry in note.entries() {
            let is_new = !all.iter().any(|one| one.file == entry.file);
            if let Some(browser) = browser(&entry.browser).filter(|_| is_new) {
                let own = entry.file.ancestors().nth(2).filter(|_| browser.is_chromium());
                // Where it was written, wherever the browser would look now.
                all.push(Target { file: entry.file.clone(), ..self.target(browser, own)? });
            }
        }
        Ok(all)
    }

    fn target(&self, browser: &'static Browser, own: Option<&Path>) -> Result<Target, Failure> {
        let own = own.map(absolute).transpose();
        let own = own.map_err(|error| Failure::Io("find the directory", error))?;
        let file = browser.manifest(&self.at, own.as_deref());
        let found = match &own {
            Some(directory) => directory.is_dir(),
            None => self.has(browser),
        };
        Ok(Target { browser, file, found, user_data_dir: own })
    }

    fn has(&self, browser: &Browser) -> bool {
        self.program(browser).is_some() || browser.profiles(&self.at).iter().any(|path| path.is_dir())
    }

    fn program(&self, browser: &Browser) -> Option<PathBuf> {
        let paths =
            self.path.iter().flat_map(|directory| browser.programs.iter().map(|name| directory.join(name)));
        // A snap of Chromium is no browser that could start us.
        let is_usable = |path: &PathBuf| {
            let leads_to = path.canonicalize().unwrap_or_default();
            is_program(path)
                && !(browser.is_chromium() && leads_to.file_name().is_some_and(|name| name == SNAP))
        };
        paths.into_iter().find(is_usable)
    }

    /// The place of a browser that cannot start us.
    pub fn confined(&self, browser: &Browser) -> Option<PathBuf> {
        browser.confined(&self.at).into_iter().find(|path| path.is_dir())
    }

    /// The programs and directories that are searched, in words.
    pub fn sought(&self) -> String {
        let usual = || BROWSERS.iter().filter(|browser| !browser.is_rare);
        let programs: Vec<_> = usual().flat_map(|browser| browser.programs).copied().collect();
        let profiles = usual().flat_map(|browser| browser.profiles(&self.at));
        let profiles: Vec<_> = profiles.map(|path| path.display().to_string()).collect();
        format!("the programs {} in PATH, and the directories {}", programs.join(", "), profiles.join(", "))
    }
}
