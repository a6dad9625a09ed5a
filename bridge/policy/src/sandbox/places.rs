//! Decides which places of the file system a server may reach, and why.
//!
//! ```text
//!  system ► program ► package, data, tmp ► cwd, arguments ► read, write, sockets
//!           guessed: left out, with a warning, if protected     said: refused, if protected
//! ```
//!
//! Owns that order. Must never widen: a file never brings its directory, and a place that is only named never becomes writable.

use std::collections::BTreeMap;

use harbor_ipc_proto::client::SandboxSettings;
use harbor_ipc_proto::link::sandbox::PathAccess;

use super::paths::{clean, is_within, parent};
use super::protected::{is_run_later, why_never, why_never_written, why_not_by_name};
use super::reachable::{SandboxPlace, Why};
use super::server_facts::SandboxFacts;
use super::system::SHARED_MEMORY;

/// The beginning of a warning about something that its program needs.
pub(super) const NEEDED: &str = "its program needs";

/// The places that a server may reach, and the warnings about them.
pub(super) struct ReachablePlaces {
    /// The places by path.
    pub places: Vec<SandboxPlace>,
    pub warnings: Vec<String>,
}

/// The places that a server may reach; `own_memory` is true if its shared memory is its own.
pub(super) fn find(
    settings: &SandboxSettings,
    facts: &SandboxFacts,
    own_memory: bool,
) -> Result<ReachablePlaces, String> {
    let mut places =
        PlaceCollector { facts, by_path: BTreeMap::new(), alone: Vec::new(), warnings: Vec::new() };
    places.system(own_memory);
    places.program();
    places.own();
    places.named();
    places.granted(settings)?;
    places.left_out();
    Ok(places.end())
}

struct PlaceCollector<'a> {
    facts: &'a SandboxFacts,
    by_path: BTreeMap<String, (PathAccess, Why)>,
    /// Scripts that are named without what lies beside them.
    alone: Vec<String>,
    warnings: Vec<String>,
}

impl PlaceCollector<'_> {
    fn system(&mut self, own_memory: bool) {
        for (path, access) in &self.facts.system {
            if own_memory || !is_within(path, SHARED_MEMORY) {
                self.add(path, *access, Why::System);
            }
        }
    }

    fn program(&mut self) {
        for path in &self.facts.program {
            self.guess(path, Why::Program, NEEDED);
        }
    }

    fn own(&mut self) {
        let facts = self.facts;
        let package = if facts.installs { PathAccess::Write } else { PathAccess::Read };
        self.add(&facts.data, PathAccess::Write, Why::Data);
        self.add(&facts.tmp, PathAccess::Write, Why::Temporary);
        if let Some(path) = &facts.package {
            self.add(path, package, Why::Package);
        }
    }

    fn named(&mut self) {
        for named in &self.facts.named {
            let (why, what) = match named.is_cwd {
                true => (Why::Cwd, "its working directory is"),
                false => (Why::Argument, "an argument names"),
            };
            // Nobody wrote the root of the package: nobody is told when it is too wide.
            let root = named.package_root.iter().find(|root| why_not_by_name(root, self.facts).is_none());
            if let Some(root) = root.filter(|root| !self.is_covered(root)) {
                self.add(root, PathAccess::Read, why);
            }
            self.guess(&named.path, why, what);
            let (path, directory) = (&named.path, parent(&named.path));
            let alone = root.is_none() && !named.is_cwd && is_script(path) && !self.is_covered(path);
            if alone && why_not_by_name(directory, self.facts).is_none() {
                self.alone.push(path.clone());
            }
        }
    }

    /// Adds a place that no setting grants by its name.
    fn guess(&mut self, path: &str, why: Why, what: &str) {
        if self.is_covered(path) {
            return;
        }
        match why_not_by_name(path, self.facts) {
            Some(never) => self.warnings.push(format!("{what} {path}, which stays closed: {never}")),
            None => self.add(path, PathAccess::Read, why),
        }
    }

    fn granted(&mut self, settings: &SandboxSettings) -> Result<(), String> {
        for path in settings.read.iter().flatten() {
            let real = self.checked(path, why_never)?;
            self.note_absent(path);
            self.add(&real, PathAccess::Read, Why::Granted);
        }
        for path in settings.write.iter().flatten() {
            let real = self.checked(path, why_never_written)?;
            self.note_absent(path);
            let holds_git = self.facts.repositories.contains(&real);
            if holds_git || is_run_later(&real, self.facts) || self.holds_programs(&real) {
                self.warnings.push(format!(
                    "it may write {path}, and you, your shell, your session or git run files there: it can leave the sandbox"
                ));
            }
            self.add(&real, PathAccess::Write, Why::Granted);
        }
        for path in settings.sockets.iter().flatten() {
            let real = self.socket(path)?;
            self.note_absent(path);
            self.add(&real, PathAccess::Write, Why::Granted);
        }
        Ok(())
    }

    /// Warns of closed neighbours of scripts, directories of its PATH, and names behind links.
    fn left_out(&mut self) {
        for path in &self.alone {
            let directory = parent(path);
            if !self.by_path.keys().any(|place| is_within(directory, place)) {
                self.warnings.push(format!(
                    "it can read only {path} in {directory}: if it needs the files beside it, `--read {directory}` \
                     grants them"
                ));
            }
        }
        for path in &self.facts.not_followed {
            self.warnings.push(format!(
                "{path} is not followed: it passes through a symbolic link that a server could have made, and leads \
                 out of that server's files. Name the link's target instead"
            ));
        }
        for path in &self.facts.left_out {
            if !self.by_path.keys().any(|place| is_within(path, place)) {
                self.warnings.push(format!(
                    "its PATH names {path}, which stays closed: its name is not that of a directory for programs. If \
                     it is one, `--read {path}` grants it"
                ));
            }
        }
    }

    fn note_absent(&mut self, path: &str) {
        if self.facts.absent.iter().any(|absent| absent == path) {
            self.warnings.push(format!(
                "{path} does not exist: if you create it, the server can use it from its next \
                                        start on"
            ));
        }
    }

    /// True if programs lie there that others run too: directories of PATH, interpreters.
    fn holds_programs(&self, path: &str) -> bool {
        self.facts.program.iter().any(|program| is_within(program, path) || is_within(path, program))
    }

    /// The real path of a granted path, if both may be granted.
    fn checked(&self, path: &str, why: fn(&str, &SandboxFacts) -> Option<String>) -> Result<String, String> {
        let real = self.real(path)?;
        match why(path, self.facts).or_else(|| why(&real, self.facts)) {
            Some(never) => Err(never),
            None => Ok(real),
        }
    }

    /// A socket may lie in a protected directory, but is never the bridge's, and never a directory.
    fn socket(&self, path: &str) -> Result<String, String> {
        let real = self.real(path)?;
        if is_within(&real, &self.facts.data) || is_within(&real, &self.facts.tmp) {
            // Sockets of its own, in its own directories.
            return Ok(real);
        }
        let is_bridge = |path: &str| {
            let own = [&self.facts.socket, &self.facts.harbor_home];
            own.into_iter().any(|own| is_within(path, own) || is_within(own, path))
        };
        if [path, &real].into_iter().any(|path| clean(path).is_none_or(|path| is_bridge(&path))) {
            return Err(format!("{path} is never granted: it leads to Harbor itself"));
        }
        if self.facts.not_sockets.iter().any(|other| other == path) {
            return Err(format!(
                "{path} is not a socket: `--read` and `--write` grant files and directories"
            ));
        }
        Ok(real)
    }

    fn real(&self, path: &str) -> Result<String, String> {
        if self.facts.led_out.iter().any(|led_out| led_out == path) {
            return Err(format!(
                "{path} is not granted: it passes through a symbolic link that a server could have made. If you know \
                 where it leads, grant that place by its own name"
            ));
        }
        let found = self.facts.granted.iter().find(|(given, _)| given == path);
        Ok(found.map_or_else(|| path.to_owned(), |(_, real)| real.clone()))
    }

    /// True if it can be read already.
    fn is_covered(&self, path: &str) -> bool {
        self.by_path.iter().any(|(place, (_, why))| *why <= Why::Temporary && is_within(path, place))
    }

    /// The wider access of two counts, and with it its reason.
    fn add(&mut self, path: &str, access: PathAccess, why: Why) {
        let Some(path) = clean(path) else { return };
        let place = self.by_path.entry(path).or_insert((access, why));
        *place = (*place).max((access, why));
    }

    /// The places that were found. A place in a writable directory is writable, too, whatever else it is there for.
    fn end(self) -> ReachablePlaces {
        let written = self.by_path.iter().filter(|(_, (access, _))| *access == PathAccess::Write);
        let written: Vec<String> = written.map(|(path, _)| path.clone()).collect();
        let place = |(path, (access, why)): (String, (PathAccess, Why))| {
            let widened = access == PathAccess::Read && written.iter().any(|above| is_within(&path, above));
            SandboxPlace { access: if widened { PathAccess::Write } else { access }, path, why }
        };
        ReachablePlaces { places: self.by_path.into_iter().map(place).collect(), warnings: self.warnings }
    }
}

/// True if a file is a script that may have others beside it.
pub(crate) fn is_script(path: &str) -> bool {
    SCRIPTS.iter().any(|ending| path.ends_with(ending))
}

/// The ends of scripts that load their neighbours.
const SCRIPTS: &[&str] = &[".cjs", ".js", ".mjs", ".mts", ".php", ".py", ".rb", ".ts"];
