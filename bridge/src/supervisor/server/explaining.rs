//! Why an installation failed, as its person is told.
//!
//! Owns the sentences, and the advice in them, which depends on whether there is a server already.

use std::rc::Rc;

use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::package::binary::OTHER_FILE;
use harbor_policy::package::failure::{gone, reason, with_code_first};
use harbor_policy::package::{Package, Step};
use harbor_policy::pythons::Chosen;
use harbor_policy::timeout_advice::{is_unexplained, more_time};

use super::Server;
use super::parts::trial::TrialOf;
use crate::link::{EndReport, NOT_EXECUTABLE};
use crate::store::locks::LockedPython;

/// The cause of an end because code of a package would have to run to find out what it needs.
pub const NEEDS_BUILD: &str = "needs_build";

/// The outcome of a step of an installation, or why it failed.
pub(super) type Ended<T> = Result<T, Rc<EndReport>>;

/// The words of installers for a file that differs from the locked one.
const OTHER_HASH: &[&str] = &["EINTEGRITY", "DO NOT MATCH THE HASHES", "Hash mismatch"];

impl Server {
    /// Adds a first sentence where an installer has refused a file for its hash.
    pub(super) fn other_hash(&self, package: &Package, report: Rc<EndReport>) -> Rc<EndReport> {
        if !OTHER_HASH.iter().any(|words| report.stderr_tail.contains(words)) {
            return report;
        }
        let message = format!(
            "the package could not be installed: the registry's present file of {} or of a package that it requires does not have the locked hash; {}",
            package.spec,
            self.way_to_another()
        );
        Rc::new(EndReport { message, cause: "install_failed", ..(*report).clone() })
    }

    /// The advice for a file that differs from the expected one.
    fn way_to_another(&self) -> String {
        let is_persons = |trial: &TrialOf| {
            trial.package.as_ref().and_then(Package::binary).is_some_and(|binary| binary.sha256.is_some())
        };
        match self.identity.trial() {
            None => {
                format!("if its publisher has replaced the file, `harbor upgrade {}` accepts that", self.id())
            }
            Some(trial) if is_persons(trial) => {
                "compare your SHA-256 with the publisher's; without one, Harbor shows you the file's hash"
                    .into()
            }
            Some(_) => "it was replaced in the meantime; start again to see the current one".into(),
        }
    }

    /// Adds the advice to give the server more time, but only if neither the server nor its sandbox has explained its silence.
    pub(super) fn given_more_time(&self, report: Rc<EndReport>) -> Rc<EndReport> {
        let helps = report.is_silent && self.denied().is_empty() && is_unexplained(&report.stderr_tail);
        if !helps {
            return report;
        }
        let message = format!("{}{}", report.message, more_time(self.id().as_str()));
        Rc::new(EndReport { message, ..(*report).clone() })
    }

    /// Adds how to install its package again, if the kernel does not run a file of the package.
    pub(super) fn with_repair(&self, report: Rc<EndReport>) -> Rc<EndReport> {
        let is_packages = self.package.wanted().is_some() && !self.identity.is_on_trial();
        let Some(why) = report.message.strip_suffix(NOT_EXECUTABLE).filter(|_| is_packages) else {
            return report;
        };
        let (dir, id) = (self.package_dir(), self.id());
        let message = format!(
            "{why}: a file of its package is damaged; delete {}, then `harbor start {id}` reinstalls the locked version",
            dir.display()
        );
        Rc::new(EndReport { message, ..(*report).clone() })
    }

    /// The end of a failed command. `lines`: how many lines were logged since it began.
    pub(super) fn step_failed(&self, command: &Step, report: &EndReport, lines: u64) -> EndReport {
        let lines = self.lists.last_lines(usize::try_from(lines).unwrap_or(usize::MAX));
        let said = &with_code_first(&report.stderr_tail, lines.iter().map(|line| &*line.text));
        let reason = self.package.wanted().and_then(|package| reason(package, said));
        let reason = reason.map(|why| match why.contains(OTHER_FILE) {
            true => format!("{why}; {}", self.way_to_another()),
            false => why,
        });
        let reason = self.is_gone(said).or(reason);
        let failed = failed_because(&reason.unwrap_or_else(|| report.message.clone()), report);
        // The command is long: it stands above what it said.
        EndReport { stderr_tail: format!("$ {}\n{said}", command.join(" ")), ..failed }
    }

    /// The advice where the locked version is gone: another version is taken on purpose only.
    fn is_gone(&self, said: &str) -> Option<String> {
        let lock = self.lock().filter(|_| !self.identity.is_on_trial())?;
        let why = gone(self.package.wanted()?, &lock.version, said)?;
        Some(format!("{why}; `harbor upgrade {}` installs the current one", self.id()))
    }
}

/// The advice for a locked package that is gone. It names the package's own Python, if it has one, since that may be gone.
pub(super) fn way_back(id: &ServerId, python: Option<&LockedPython>) -> String {
    match python {
        None => format!("`harbor start {id}` reinstalls the locked version"),
        Some(LockedPython { version, path, .. }) => format!(
            "with {} {version} there, `harbor start {id}` reinstalls the locked version; without, `harbor upgrade {id}` \
             finds out what fits now",
            Chosen::called(path)
        ),
    }
}

pub(super) fn failed(why: &str) -> EndReport {
    EndReport::because("install_failed", format!("the package could not be installed: {why}"))
}

/// A failed installation for this reason, with the installer's words.
pub(super) fn failed_because(why: &str, report: &EndReport) -> EndReport {
    let EndReport { cause, message, .. } = failed(why);
    EndReport { cause, message, ..report.clone() }
}

pub(super) fn needs_build() -> Rc<EndReport> {
    let message = "code of the package must run to find out what it needs, and you must allow that";
    Rc::new(EndReport::because(NEEDS_BUILD, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_is_gone_with_its_python_does_not_come_back_by_a_start_alone() {
        let id = ServerId::parse("time").unwrap();
        assert_eq!(way_back(&id, None), "`harbor start time` reinstalls the locked version");
        let [path, version, requires] = ["/p/python3.12", "3.12.1", ">=3.12"].map(str::to_owned);
        let said = way_back(&id, Some(&LockedPython { path, version, requires }));
        assert!(
            said.starts_with("with Python 3.12.1 there, `harbor start time` reinstalls the locked version"),
            "{said}"
        );
        assert!(said.ends_with("; without, `harbor upgrade time` finds out what fits now"), "{said}");
    }
}
