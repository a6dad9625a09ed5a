//! The files that a program needs to run, as the disk shows them.
//!
//! ```text
//!  npx ─PATH─► ~/.nvm/…/bin/npx ─link─► …/npx-cli.js ─#!─► env, node ─PATH─► ~/.nvm/…/bin/node
//!  each hop gives: the file, the prefix that it is installed in, the directory of a link
//! ```
//!
//! Owns following these hops. Must never follow further than [`MAX_HOPS`], nor run anything, nor let a server widen what it may
//! read. If the server or its installer can write a link or file, what that names counts only if it is a version manager's
//! directory or an interpreter's file; nothing around that file does.

use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use harbor_policy::sandbox::SandboxFacts;
use harbor_policy::sandbox::paths::{below, is_within, parent};
use harbor_policy::sandbox::prefixes::{
    MARKS, interpreters, is_of_programs, manager, may_be_whole, of_installed, of_program,
};
use nix::fcntl::OFlag;

use super::named::{marks, package_root};
use super::path_links::{changeable, found, is_changeable, pair, walk};

/// Links, interpreters and venvs that are followed, all together.
const MAX_HOPS: usize = 40;
/// Directories of a PATH that are looked at.
const MAX_PATH_ENTRIES: usize = 64;
/// Bytes at a file's beginning by which the kernel sees how it is run.
const FIRST_LINE: u64 = 256;
/// The beginning of a program that needs no other to run.
const MACHINE_CODE: &[u8] = b"\x7fELF";
/// The file that marks a venv.
const VENV: &str = "pyvenv.cfg";
/// Bytes of a venv's settings that are read.
const MAX_SETTINGS: u64 = 4 << 10;

/// The files that a program needs.
pub(super) struct Needed {
    /// The program and the rest, in the order in which it was found.
    pub program: Vec<String>,
    /// The links on the ways to it, with the places that they lead to.
    pub links: Vec<(String, String)>,
    /// Directories of the PATH that are not there.
    pub left_out: Vec<String>,
    /// The command, if a link on its way leads where a server may have led it.
    pub led_out: Option<String>,
}

/// Follows a command, and further programs that it is known to start.
pub(super) fn find(
    facts: &SandboxFacts,
    command: &str,
    started: &[String],
    cwd: &str,
    path: &str,
    authorities: &[String],
) -> Needed {
    let path: Vec<_> = path.split(':').filter(|dir| dir.starts_with('/')).take(MAX_PATH_ENTRIES).collect();
    let mut program = ProgramSearch {
        facts,
        path,
        found: Vec::new(),
        links: Vec::new(),
        left_out: Vec::new(),
        todo: VecDeque::new(),
    };
    program.enqueue(command, cwd, &[]);
    let first = program.todo.front().and_then(|hop| walk(&hop.path, facts));
    let led_out = first.filter(|way| way.exists && !way.is_accepted());
    started.iter().for_each(|path| program.enqueue(path, cwd, &[]));
    for _ in 0..MAX_HOPS {
        let Some(next) = program.todo.pop_front() else { break };
        program.hop(&next);
    }
    program.of_path();
    for way in authorities.iter().filter_map(|path| found(path, facts)) {
        program.links.extend(way.pairs(facts));
        program.add(way.real);
    }
    // A venv's python leads out as well, to an interpreter that it has by other ways.
    let led_out = led_out.filter(|way| !program.is_known(&way.real)).map(|_| command.to_owned());
    Needed { program: program.found, links: program.links, left_out: program.left_out, led_out }
}

struct ProgramSearch<'a> {
    facts: &'a SandboxFacts,
    path: Vec<&'a str>,
    found: Vec<String>,
    links: Vec<(String, String)>,
    left_out: Vec<String>,
    todo: VecDeque<Hop>,
}

/// A file to look at.
struct Hop {
    path: String,
    /// The directories on the way here that a server can change. A file outside one of them was not chosen by
    /// the person.
    within: Vec<String>,
}

/// True if a place lies in all of these.
fn is_chosen(place: &str, within: &[String]) -> bool {
    within.iter().all(|directory| is_within(place, directory))
}

impl ProgramSearch<'_> {
    /// Queues a command, found as `execvp` finds it.
    fn enqueue(&mut self, command: &str, cwd: &str, within: &[String]) {
        let found = match command {
            "" => None,
            command if command.starts_with('/') => Some(command.to_owned()),
            command if command.contains('/') => Some(below(cwd, command)),
            command => self.path.iter().map(|dir| below(dir, command)).find(|file| is_executable(file)),
        };
        self.todo.extend(found.map(|path| Hop { path, within: within.to_vec() }));
    }

    fn add(&mut self, path: String) {
        if !self.is_known(&path) {
            self.found.push(path);
        }
    }

    /// True if it is found already, or every server has it.
    fn is_known(&self, path: &str) -> bool {
        let system = self.facts.system.iter().map(|(path, _)| path);
        self.found.iter().chain(system).any(|above| is_within(path, above))
    }

    /// Looks at one file on the way.
    fn hop(&mut self, hop: &Hop) {
        let (facts, name) = (self.facts, hop.path.rsplit('/').next().unwrap_or_default());
        let Some(way) = walk(parent(&hop.path), facts).filter(|way| way.exists) else { return };
        if matches!(name, "" | "." | "..") {
            return;
        }
        let path = below(&way.real, name);
        let within = [hop.within.as_slice(), &way.laid].concat();
        let own = changeable(&path, facts).map(ToOwned::to_owned);
        let further: Vec<_> = within.iter().cloned().chain(own).collect();
        for place in way.links.iter().chain([&path]) {
            self.add_manager(place);
        }
        if is_chosen(&path, &within) {
            self.add_prefix(&path, &further);
        }
        self.links.extend(way.pairs(facts));
        match fs::read_link(&path) {
            Ok(target) => {
                // A link in a directory that is hidden would not be there: the directory has to be.
                let directory = parent(&path);
                if is_chosen(directory, &within) && may_be_whole(directory, facts) {
                    self.add(directory.to_owned());
                }
                self.links.extend(pair(&path, facts));
                let target = Path::new(directory).join(target);
                self.todo.extend(target.to_str().map(|path| Hop { path: path.into(), within: further }));
            }
            Err(_) => self.file(&path, &within, &further),
        }
    }

    /// Takes a file that is needed if the person chose it. The interpreters that it names count as chosen if they lie in
    /// `further`.
    fn file(&mut self, path: &str, within: &[String], further: &[String]) {
        let start = start_of(path, FIRST_LINE);
        if start.is_empty() {
            return;
        }
        let interpreters = interpreters(&start);
        if is_chosen(path, within) {
            let root = package_root(path, self.facts).filter(|_| !interpreters.is_empty());
            let installed = of_installed(path).filter(|root| may_be_whole(root, self.facts));
            let around = root.into_iter().chain(installed.map(ToOwned::to_owned));
            around.filter(|root| is_chosen(root, within)).for_each(|root| self.add(root));
            self.add(path.to_owned());
        } else if start.starts_with(MACHINE_CODE) && is_executable(path) && !is_changeable(path, self.facts) {
            // No text of the person's: the server has chosen this file.
            self.add(path.to_owned());
        }
        for interpreter in &interpreters {
            self.enqueue(interpreter, "/", further);
        }
    }

    /// Takes the directories that are looked through for further programs.
    fn of_path(&mut self) {
        for directory in self.path.clone() {
            let Some(way) = found(directory, self.facts) else { continue };
            self.links.extend(way.pairs(self.facts));
            let real = way.real;
            if self.is_known(&real)
                || self.add_manager(&real)
                || self.add_prefix(&below(&real, "x"), &[])
                || !may_be_whole(&real, self.facts)
            {
                continue;
            }
            match is_of_programs(directory, &real, self.facts) {
                true => self.add(real),
                false => self.left_out.push(real),
            }
        }
    }

    /// Adds all of a version manager, whose programs call each other.
    fn add_manager(&mut self, path: &str) -> bool {
        let root = manager(path, self.facts).and_then(|root| found(&root, self.facts));
        root.into_iter().inspect(|root| self.add(root.real.clone())).count() > 0
    }

    /// Adds the whole prefix of an interpreter or venv.
    fn add_prefix(&mut self, path: &str, within: &[String]) -> bool {
        let Some(prefix) = of_program(path, self.facts) else { return false };
        if !MARKS.iter().any(|mark| marks(prefix, mark, self.facts)) {
            return false;
        }
        let known = self.is_known(prefix);
        self.add(prefix.to_owned());
        let settings = found(&below(prefix, VENV), self.facts).filter(|_| !known);
        if let Some(settings) = settings
            && let Some(base) = base_of_venv(&settings.real)
        {
            let own = changeable(&settings.real, self.facts).map(ToOwned::to_owned);
            let within: Vec<_> = within.iter().chain(&settings.laid).cloned().chain(own).collect();
            let pythons = ["python3", "python"].map(|name| below(&base, name));
            let python = pythons.into_iter().find(|python| is_executable(python));
            self.todo.extend(python.map(|path| Hop { path, within }));
        }
        true
    }
}

fn is_executable(file: &str) -> bool {
    fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The beginning of a file. Empty for anything else, since opening a device may do something.
fn start_of(path: &str, most: u64) -> Vec<u8> {
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    is_file.then(|| opened_start(path, most)).flatten().unwrap_or_default()
}

/// The beginning of a file. It may be another thing meanwhile: to open a FIFO would wait.
fn opened_start(path: &str, most: u64) -> Option<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path).ok()?;
    let mut start = Vec::new();
    if file.metadata().ok()?.is_file() {
        let _ = file.take(most).read_to_end(&mut start);
    }
    Some(start)
}

/// The directory of the Python that a venv was made with.
fn base_of_venv(settings: &str) -> Option<String> {
    let settings = String::from_utf8(start_of(settings, MAX_SETTINGS)).ok()?;
    let mut pairs = settings.lines().filter_map(|line| line.split_once('='));
    let home = pairs.find(|(name, _)| name.trim() == "home").map(|(_, home)| home.trim())?;
    home.starts_with('/').then(|| home.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifo_that_has_taken_the_place_of_a_file_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(opened_start(fifo.to_str().unwrap(), 9), Some(Vec::new()));
    }
}
