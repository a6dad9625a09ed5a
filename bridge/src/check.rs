//! `harbor-bridge check --json`: the faults of the bridge's own files, for programs that cannot read them.
//!
//! Owns the examination. Must never change a file. Works the same with and without a running bridge: it opens the
//! database for reading, and takes no lock.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use harbor_home::Paths;
use harbor_ipc_proto::check::{
    CheckPart, Checked, ConfigCheck, DatabaseCheck, FoundProgram, Lost, SecretsCheck,
};

use crate::config::{HostConfig, file};
use crate::runtimes::Runtimes;
use crate::store::journal::Journal;
use crate::store::recovery::{self, AFTER_A_LOSS};
use crate::store::{database, secrets};

/// The files that `check` examines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRequest {
    /// The parts, in the order of the answer.
    pub parts: Vec<CheckPart>,
    /// A file in place of `config.toml`.
    pub config: Option<PathBuf>,
}

impl CheckRequest {
    /// Reads the words after `check`: `--json [--config FILE] [PART …]`. Without a part, all parts are meant.
    ///
    /// # Errors
    /// Says which word is wrong.
    pub fn read(words: &[OsString]) -> Result<Self, String> {
        let (mut parts, mut config, mut is_json) = (Vec::new(), None, false);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.to_string_lossy().as_ref() {
                "--json" => is_json = true,
                "--config" => {
                    config = Some(PathBuf::from(words.next().ok_or("--config needs a file")?));
                }
                other => parts.push(CheckPart::parse(other).ok_or_else(|| format!("unknown part {other}"))?),
            }
        }
        if !is_json {
            return Err("check needs --json".into());
        }
        if parts.is_empty() {
            parts.extend(CheckPart::ALL);
        }
        Ok(Self { parts, config })
    }

    /// Examines these parts. To find programs it may ask the login shell, which takes a while.
    #[must_use]
    pub fn look(&self, paths: &Paths) -> Checked {
        let mut checked = Checked::default();
        for part in &self.parts {
            match part {
                CheckPart::Config => {
                    let named = self.config.clone().unwrap_or_else(|| paths.config_file());
                    checked.config = Some(config(&named));
                }
                CheckPart::Database => checked.database = Some(database_of(paths)),
                CheckPart::Secrets => {
                    let wrong = secrets::check(&paths.credentials()).err();
                    checked.secrets =
                        Some(SecretsCheck { wrong: wrong.map(|why| format!("could not {why}")) });
                }
                CheckPart::Lost => checked.lost = Some(lost(paths)),
                CheckPart::Programs => checked.programs = Some(programs()),
            }
        }
        checked
    }
}

fn config(path: &Path) -> ConfigCheck {
    let (read, wrong) = match file::read(path) {
        Ok(read) => (read, None),
        Err(wrong) => (HostConfig::default(), Some(wrong.to_string())),
    };
    ConfigCheck { is_there: path.exists(), wrong, first_use: read.first_use.as_str().to_owned() }
}

fn database_of(paths: &Paths) -> DatabaseCheck {
    match recovery::is_there(paths) {
        Ok(true) => {}
        Ok(false) => return DatabaseCheck::New,
        Err(why) => return DatabaseCheck::Lost(format!("harbor.db is lost: {why}")),
    }
    match database::check(&paths.database()) {
        Ok(()) => DatabaseCheck::Whole,
        Err(error) if error.is_corruption() => DatabaseCheck::Lost(error.to_string()),
        Err(error) => DatabaseCheck::Unusable(error.to_string()),
    }
}

fn lost(paths: &Paths) -> Vec<Lost> {
    let databases = recovery::losses(&paths.database());
    let databases = databases.iter().map(|loss| Lost { what: loss.to_string(), next: AFTER_A_LOSS.into() });
    let journals = Journal::at(&paths.journal()).damaged_ones();
    databases.chain(journals.iter().map(|path| kept(path))).collect()
}

fn kept(journal: &Path) -> Lost {
    Lost {
        what: format!(
            "definitions.journal was damaged and replaced; the old one is {}",
            journal.display()
        ),
        next: "check `harbor list` for a missing server and add it again; then remove that file, which may contain \
               values of `--env`"
            .into(),
    }
}

fn programs() -> Vec<FoundProgram> {
    let looked = Runtimes::default().look();
    let found = looked.all().filter_map(|(runtime, found)| Some((runtime.name, found?)));
    found
        .map(|(name, (path, how))| FoundProgram { name: name.into(), path: path.into(), how: how.into() })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn look(paths: &Paths, parts: &[CheckPart]) -> Checked {
        CheckRequest { parts: parts.to_vec(), config: None }.look(paths)
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }

    #[test]
    fn the_command_line_names_parts_and_a_file() {
        let read = |words: &[&str]| CheckRequest::read(&words.iter().map(OsString::from).collect::<Vec<_>>());
        let wanted = |parts: &[CheckPart], config: Option<&str>| {
            Ok(CheckRequest { parts: parts.to_vec(), config: config.map(PathBuf::from) })
        };
        assert_eq!(read(&["--json"]), wanted(&CheckPart::ALL, None));
        let config = [CheckPart::Config];
        assert_eq!(read(&["--json", "--config", "f", "config"]), wanted(&config, Some("f")));
        for wrong in [&["config"][..], &["--json", "--config"], &["--json", "all"]] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_new_home_lacks_nothing() {
        let home = tempfile::tempdir().unwrap();
        let found = look(
            &Paths::at(home.path()),
            &[CheckPart::Config, CheckPart::Database, CheckPart::Secrets, CheckPart::Lost],
        );
        let config = ConfigCheck { is_there: false, wrong: None, first_use: "all".into() };
        let wanted = Checked {
            config: Some(config),
            database: Some(DatabaseCheck::New),
            secrets: Some(SecretsCheck { wrong: None }),
            lost: Some(Vec::new()),
            programs: None,
        };
        assert_eq!(found, wanted);
        assert_eq!(home.path().read_dir().unwrap().count(), 0, "nothing was made");
    }

    #[test]
    fn what_is_wrong_is_told_without_what_it_says() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::at(home.path());
        write(&paths.config_file(), "[limit]\n");
        write(&paths.credentials(), "hunter2");
        write(&paths.database(), "hunter2, and no database");
        let found = look(&paths, &[CheckPart::Config, CheckPart::Database, CheckPart::Secrets]);
        assert!(found.config.as_ref().unwrap().wrong.is_some(), "{found:?}");
        assert!(matches!(found.database, Some(DatabaseCheck::Lost(_))), "{found:?}");
        assert!(found.secrets.as_ref().unwrap().wrong.is_some(), "{found:?}");
        assert!(!format!("{found:?}").contains("hunter2"));
    }

    #[test]
    fn a_journal_that_was_set_aside_is_told() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::at(home.path());
        assert_eq!(look(&paths, &[CheckPart::Lost]).lost, Some(Vec::new()));
        write(&home.path().join("harbor.db.corrupt-20261103T000000000Z/x"), "");
        let lost = look(&paths, &[CheckPart::Lost]).lost.unwrap();
        assert_eq!(lost.len(), 1);
        assert!(lost[0].what.starts_with("harbor.db was lost"), "{lost:?}");
    }
}
