//! The files of `HARBOR_HOME`: whose they are, who may read them, and whether they are whole.
//!
//! Owns what `--fix` does to them: modes, and a socket that nobody listens on. Must never touch what is another user's.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use harbor_bridge::config::file;
use harbor_bridge::store::database;
use harbor_bridge::store::journal::Journal;
use harbor_bridge::store::recovery::{self, AFTER_A_LOSS, Loss};
use harbor_bridge::store::secrets;
use harbor_home::Paths;
use nix::unistd::geteuid;

use super::{Finding, State};

/// Directories are the person's alone, files too.
const DIRECTORY: u32 = 0o700;
const FILE: u32 = 0o600;

pub(super) fn look(paths: &Paths, fix: bool) -> Vec<Finding> {
    let home = paths.home();
    let mut all = Vec::new();
    match fs::symlink_metadata(home) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return vec![Finding::ok(
                "home",
                format!("{} does not exist yet; the first start makes it", home.display()),
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
    for directory in [paths.run_dir(), home.join("logs"), home.join("servers"), home.join("secrets")] {
        all.extend(private(&directory, DIRECTORY, fix));
    }
    for path in [paths.database(), paths.journal(), paths.token(), paths.audit_log(), paths.log_file()] {
        all.extend(private(&path, FILE, fix));
    }
    all.extend(credentials(&paths.credentials(), fix));
    all.extend(private(&paths.credentials_key(), FILE, fix));
    if all.is_empty() {
        all.push(Finding::ok("home", format!("{} is yours alone", home.display())));
    }
    all.extend(config(&paths.config_file(), fix));
    all.push(database(paths));
    all.extend(paths.socket().ok().and_then(|socket| stale(&socket, fix)));
    all
}

/// What is not there is made as it has to be.
fn private(path: &Path, mode: u32, fix: bool) -> Option<Finding> {
    let about = fs::metadata(path).ok()?;
    if about.uid() != geteuid().as_raw() {
        let what = format!("{} belongs to another user", path.display());
        return Some(Finding::wrong(
            State::Broken,
            "home",
            what,
            "have it given back (chown), or choose another HARBOR_HOME",
        ));
    }
    let found = about.mode() & 0o777;
    if found & !mode == 0 {
        return None;
    }
    let (what, chmod) = (
        format!("{} can be used by others (mode {found:o})", path.display()),
        format!("chmod {mode:o} {}", path.display()),
    );
    if fix && fs::set_permissions(path, Permissions::from_mode(mode)).is_ok() {
        return Some(Finding::wrong(State::Fixed, "home", what, format!("done: {chmod}")));
    }
    Some(Finding::wrong(State::Warning, "home", what, format!("`{chmod}`, or `harbor doctor --fix`")))
}

/// A file of secrets that others may read is mended; a link is not touched, nor what it leads to.
fn credentials(path: &Path, fix: bool) -> Option<Finding> {
    let about = fs::symlink_metadata(path).ok()?;
    let wrong = secrets::check(path).err().map(|wrong| format!("could not {wrong}"));
    if about.is_file()
        && let Some(mode) = private(path, FILE, fix)
    {
        let state = if mode.state == State::Fixed { State::Fixed } else { State::Broken };
        return Some(match wrong {
            Some(what) => Finding { state, about: "secrets", what, ..mode },
            None => mode,
        });
    }
    let next = "until then servers that have secrets are not started";
    Some(Finding::wrong(State::Broken, "secrets", wrong?, next))
}

/// A file that others may write to is broken, and only its mode is; one that they may read is not.
fn config(path: &Path, fix: bool) -> Vec<Finding> {
    let mode = private(path, FILE, fix);
    match (mode, read(path)) {
        (Some(Finding { state: State::Warning, next, .. }), wrong)
            if wrong.state == State::Broken && others_may_write(path) =>
        {
            vec![Finding { next, ..wrong }]
        }
        (mode, read) => mode.into_iter().chain([read]).collect(),
    }
}

fn others_may_write(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.mode() & 0o022 != 0)
}

fn read(path: &Path) -> Finding {
    match file::read(path) {
        Ok(_) if path.exists() => Finding::ok("config", "config.toml is right"),
        Ok(_) => Finding::ok("config", "there is no config.toml: a bridge starts with the defaults"),
        Err(wrong) => Finding::wrong(
            State::Broken,
            "config",
            wrong.to_string(),
            "no bridge starts with it; one that runs goes on with what it had",
        ),
    }
}

fn database(paths: &Paths) -> Finding {
    let lost = "the next start of the bridge sets it aside and brings the servers back from their journal";
    match recovery::is_there(paths) {
        Ok(true) => {}
        Ok(false) => return Finding::ok("database", "there is no harbor.db yet: the first start makes it"),
        Err(why) => {
            return Finding::wrong(State::Broken, "database", format!("harbor.db is lost: {why}"), lost);
        }
    }
    match database::check(&paths.database()) {
        Ok(()) => Finding::ok("database", "harbor.db is whole"),
        Err(error) => {
            let next = match error.is_corruption() {
                true => lost,
                false => "nothing is set aside for that: see to the file and its disk",
            };
            Finding::wrong(State::Broken, "database", error.to_string(), next)
        }
    }
}

/// Databases that were lost, and journals that were damaged, as far as they still lie there.
pub(super) fn lost(paths: &Paths) -> Vec<Finding> {
    let told = |loss: &Loss| Finding::wrong(State::Warning, "database", loss.to_string(), AFTER_A_LOSS);
    let lost = recovery::losses(&paths.database());
    lost.iter()
        .map(told)
        .chain(Journal::at(&paths.journal()).damaged_ones().iter().map(|path| kept(path)))
        .collect()
}

fn kept(journal: &Path) -> Finding {
    let what =
        format!("definitions.journal was damaged, and made anew: the old one is {}", journal.display());
    let next = "look whether a server is missing (`harbor list`) and add it again; then remove that file, which may hold values of `--env`";
    Finding::wrong(State::Warning, "database", what, next)
}

/// A socket that a bridge has left that was killed. The next one takes it over.
fn stale(socket: &Path, fix: bool) -> Option<Finding> {
    let refused =
        UnixStream::connect(socket).err().is_some_and(|error| error.kind() == ErrorKind::ConnectionRefused);
    if !refused {
        return None;
    }
    let what = format!("nobody listens on {}: a bridge was killed", socket.display());
    if fix && fs::remove_file(socket).is_ok() {
        return Some(Finding::wrong(State::Fixed, "socket", what, "done: it was removed"));
    }
    Some(Finding::wrong(
        State::Warning,
        "socket",
        what,
        "the next start takes it over; `harbor doctor --fix` removes it",
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
        assert_eq!(credentials(&path, true), None);
        fs::write(&path, r#"{"version":1,"servers":{}}"#).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let state = |fix| credentials(&path, fix).map(|finding| finding.state);
        assert_eq!(
            [state(false), state(true), state(false)],
            [Some(State::Broken), Some(State::Fixed), None]
        );
        fs::write(&path, "hunter2").unwrap();
        let broken = credentials(&path, true).unwrap();
        assert!(broken.state == State::Broken && !format!("{broken:?}").contains("hunter2"), "{broken:?}");
        let elsewhere = dir.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        fs::set_permissions(&elsewhere, Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert_eq!(state(true), Some(State::Broken));
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
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let states = |fix| config(&path, fix).iter().map(|finding| finding.state).collect::<Vec<_>>();
        assert_eq!(states(true), [State::Ok], "there is none");
        for (mode, found) in [(0o666, &[State::Broken][..]), (0o644, &[State::Warning, State::Ok])] {
            fs::write(&path, "[limits]\n").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(states(false), found, "{mode:o}");
            assert_eq!(states(true), [State::Fixed, State::Ok], "{mode:o}");
            assert_eq!(states(true), [State::Ok], "{mode:o}");
        }
        fs::write(&path, "[limit]\n").unwrap();
        assert_eq!(states(true), [State::Broken]);
    }
}
