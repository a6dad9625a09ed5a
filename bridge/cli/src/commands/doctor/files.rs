//! The files of `HARBOR_HOME`: who owns them, who may read them, and whether they are whole.
//!
//! Owns what `--fix` does to them: it sets modes, and removes a socket that nobody listens on. Must never
//! touch another user's file.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use harbor_home::Paths;
use harbor_home::mounted::{self, Lacks};
use harbor_ipc_proto::check::{CheckPart, Checked, ConfigCheck, DatabaseCheck, Lost, SecretsCheck};
use nix::unistd::geteuid;

use super::findings::{Finding, State};

/// Directories are the person's alone, files too.
const DIRECTORY: u32 = 0o700;
const FILE: u32 = 0o600;

/// The finding about a file system that does not allow what Harbor needs.
fn mounted(home: &Path) -> Option<Finding> {
    let (lacks, place) = (mounted::lacks(home)?, home.display());
    Some(match lacks {
        Lacks::Writing => Finding::wrong(
            State::Broken,
            "home",
            format!("{place} is on a read-only file system: nothing can be started, called or changed"),
            "make it writable (`mount -o remount,rw` as root), or choose another directory with HARBOR_HOME",
        ),
        Lacks::Running => Finding::wrong(
            State::Broken,
            "home",
            format!(
                "{place} is on a file system that is mounted noexec: programs of installed packages cannot run from it"
            ),
            "mount it without noexec, or choose another directory with HARBOR_HOME",
        ),
    })
}

/// `ask` is how the bridge's program is asked for what only it can read.
pub(super) fn look(paths: &Paths, fix: bool, ask: &mut dyn FnMut(&[CheckPart]) -> Checked) -> Vec<Finding> {
    let home = paths.home();
    let mut all = Vec::new();
    match fs::symlink_metadata(home) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return vec![Finding::ok(
                "home",
                format!("{} does not exist yet; the first start creates it", home.display()),
            )];
        }
        Err(error) => {
            let what = format!("{}: {error}", home.display());
            return vec![Finding::wrong(
                State::Broken,
                "home",
                what,
                "choose another directory with HARBOR_HOME",
            )];
        }
        Ok(_) => all.extend(private(home, DIRECTORY, fix)),
    }
    all.extend(mounted(home));
    for directory in [paths.run_dir(), home.join("logs"), home.join("servers"), home.join("secrets")] {
        all.extend(private(&directory, DIRECTORY, fix));
    }
    for path in [paths.database(), paths.journal(), paths.token(), paths.audit_log(), paths.log_file()] {
        all.extend(private(&path, FILE, fix));
    }
    // Before it is mended: then it is told what was wrong.
    let secrets = ask(&[CheckPart::Secrets]).secrets.unwrap_or(SecretsCheck { wrong: None });
    all.extend(credentials(&paths.credentials(), secrets, fix));
    all.extend(private(&paths.credentials_key(), FILE, fix));
    if all.is_empty() {
        all.push(Finding::ok("home", format!("only you can use {}", home.display())));
    }
    let path = paths.config_file();
    let mode = private(&path, FILE, fix);
    let checked = ask(&[CheckPart::Config, CheckPart::Database]);
    match &checked.config {
        Some(found) => all.extend(config(mode, others_may_write(&path), found)),
        None => all.extend(mode),
    }
    all.extend(checked.database.as_ref().map(database));
    all.extend(paths.socket().ok().and_then(|socket| stale(&socket, fix)));
    all
}

/// Checks owner and mode. A missing file is no fault: it gets the right mode when it is made.
fn private(path: &Path, mode: u32, fix: bool) -> Option<Finding> {
    let about = fs::metadata(path).ok()?;
    if about.uid() != geteuid().as_raw() {
        let what = format!("{} belongs to another user", path.display());
        return Some(Finding::wrong(
            State::Broken,
            "home",
            what,
            "make yourself its owner (chown), or choose another HARBOR_HOME",
        ));
    }
    let found = about.mode() & 0o777;
    if found & !mode == 0 {
        return None;
    }
    let (what, chmod) = (
        format!("other users can use {} (mode {found:o})", path.display()),
        format!("chmod {mode:o} {}", path.display()),
    );
    if fix && fs::set_permissions(path, Permissions::from_mode(mode)).is_ok() {
        return Some(Finding::wrong(State::Fixed, "home", what, format!("done: {chmod}")));
    }
    Some(Finding::wrong(State::Warning, "home", what, format!("`{chmod}`, or `harbor doctor --fix`")))
}

/// Checks the file of secrets. A file that others may read is mended; a link, and its target, are not touched.
fn credentials(path: &Path, SecretsCheck { wrong }: SecretsCheck, fix: bool) -> Option<Finding> {
    let about = fs::symlink_metadata(path).ok()?;
    if about.is_file()
        && let Some(mode) = private(path, FILE, fix)
    {
        let state = if mode.state == State::Fixed { State::Fixed } else { State::Broken };
        return Some(match wrong {
            Some(what) => Finding { state, about: "secrets", what, ..mode },
            None => mode,
        });
    }
    let next = "until then servers with secrets do not start";
    Some(Finding::wrong(State::Broken, "secrets", wrong?, next))
}

/// Checks config.toml. If others may write to it, only its mode is the fault. Reading by others is no fault.
fn config(mode: Option<Finding>, is_open: bool, found: &ConfigCheck) -> Vec<Finding> {
    match (mode, read(found)) {
        (Some(Finding { state: State::Warning, next, .. }), wrong)
            if wrong.state == State::Broken && is_open =>
        {
            vec![Finding { next, ..wrong }]
        }
        (mode, read) => mode.into_iter().chain([read]).collect(),
    }
}

fn others_may_write(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.mode() & 0o022 != 0)
}

fn read(found: &ConfigCheck) -> Finding {
    match &found.wrong {
        None if found.is_there => Finding::ok("config", "config.toml has no mistakes"),
        None => Finding::ok("config", "there is no config.toml: a bridge starts with the defaults"),
        Some(wrong) => Finding::wrong(
            State::Broken,
            "config",
            &**wrong,
            "no bridge starts with it; a running bridge keeps its earlier configuration",
        ),
    }
}

fn database(found: &DatabaseCheck) -> Finding {
    let wrong = |what: &str, next| Finding::wrong(State::Broken, "database", what, next);
    match found {
        DatabaseCheck::New => {
            Finding::ok("database", "there is no harbor.db yet: the first start creates it")
        }
        DatabaseCheck::Whole => Finding::ok("database", "harbor.db is not damaged"),
        DatabaseCheck::Lost(why) => wrong(
            why,
            "the next start of the bridge sets it aside and brings the servers back from their journal",
        ),
        DatabaseCheck::Unusable(why) => {
            wrong(why, "Harbor does not replace it for that: check the file and its disk")
        }
    }
}

/// Databases that were lost, and journals that were damaged, as far as they still lie there.
pub(super) fn lost(found: &[Lost]) -> Vec<Finding> {
    found.iter().map(|lost| Finding::wrong(State::Warning, "database", &*lost.what, &*lost.next)).collect()
}

/// A socket that a bridge has left that was killed. The next one takes it over.
fn stale(socket: &Path, fix: bool) -> Option<Finding> {
    let refused =
        UnixStream::connect(socket).err().is_some_and(|error| error.kind() == ErrorKind::ConnectionRefused);
    if !refused {
        return None;
    }
    let what = format!("no program listens on {}: a bridge was killed", socket.display());
    if fix && fs::remove_file(socket).is_ok() {
        return Some(Finding::wrong(State::Fixed, "socket", what, "done: it was removed"));
    }
    Some(Finding::wrong(
        State::Warning,
        "socket",
        what,
        "the next start replaces it; `harbor doctor --fix` removes it",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_told_and_mended() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("harbor.db");
        assert_eq!(private(&path, FILE, true), None, "it is not there");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let state = |fix| private(&path, FILE, fix).map(|finding| finding.state);
        assert_eq!(
            [state(false), state(true), state(false)],
            [Some(State::Warning), Some(State::Fixed), None]
        );
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, FILE);
    }

    #[test]
    fn secrets_that_cannot_be_used_are_told_and_a_link_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("credentials.json");
        let found = |wrong: bool| SecretsCheck { wrong: wrong.then(|| "could not use it".to_owned()) };
        assert_eq!(credentials(&path, found(false), true), None);
        fs::write(&path, r#"{"version":1,"servers":{}}"#).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let state = |wrong, fix| credentials(&path, found(wrong), fix).map(|finding| finding.state);
        assert_eq!(
            [state(true, false), state(true, true), state(false, false)],
            [Some(State::Broken), Some(State::Fixed), None]
        );
        assert_eq!(state(true, true), Some(State::Broken), "no mode is what is wrong");
        let elsewhere = dir.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        fs::set_permissions(&elsewhere, Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert_eq!(state(true, true), Some(State::Broken));
        assert_eq!(fs::metadata(&elsewhere).unwrap().mode() & 0o777, 0o644);
    }

    #[test]
    fn a_socket_that_nobody_listens_on_is_told_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        assert_eq!(stale(&path, true), None);
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(stale(&path, true), None, "somebody does");
        drop(listener);
        assert_eq!(stale(&path, false).unwrap().state, State::Warning);
        assert_eq!(stale(&path, true).unwrap().state, State::Fixed);
        assert!(!path.exists());
    }

    #[test]
    fn files_that_are_wrong_are_broken() {
        let found = |is_there: bool, wrong: bool| ConfigCheck {
            is_there,
            wrong: wrong.then(|| "config.toml:1: no".to_owned()),
            first_use: "all".into(),
        };
        let mode = |state| Some(Finding::wrong(state, "home", "it can be used by others", "chmod"));
        let states = |mode, is_open, found: &ConfigCheck| {
            config(mode, is_open, found).iter().map(|finding| finding.state).collect::<Vec<_>>()
        };
        assert_eq!(states(None, false, &found(false, false)), [State::Ok], "there is none");
        assert_eq!(states(None, false, &found(true, true)), [State::Broken]);
        let warned = mode(State::Warning);
        assert_eq!(states(warned.clone(), true, &found(true, true)), [State::Broken], "told once");
        assert_eq!(states(warned, false, &found(true, false)), [State::Warning, State::Ok]);
        assert_eq!(states(mode(State::Fixed), false, &found(true, false)), [State::Fixed, State::Ok]);
    }
}
