//! The profile that a server is held to, and what it was refused.
//!
//! Owns the profile of the last start and the list of refusals. Must never decide what is allowed: the policy does.

use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::rc::Rc;

use harbor_ipc_proto::client::{NetworkKind, SandboxSettings};
use harbor_ipc_proto::link::runner::Lack;
use harbor_policy::consent::facts::Holding;
use harbor_policy::consent::holding::{self, ServerTraits};
use harbor_policy::lifecycle::State;
use harbor_policy::sandbox::hint::{Advice, advice};
use harbor_policy::sandbox::paths::{below, parent};
use harbor_policy::sandbox::profile;

use super::Server;
use super::parts::confinement::{Confined, Denied};
use crate::store::definitions::Definition;

/// A look at the disk for a refusal: under way until this is dropped.
pub(super) struct DiskLook(pub(super) Rc<Server>);

impl DiskLook {
    pub(super) fn begin(server: &Rc<Server>) -> Self {
        server.confinement.begin_look();
        Self(server.clone())
    }
}

impl Drop for DiskLook {
    fn drop(&mut self) {
        self.0.confinement.end_look();
    }
}

impl Server {
    /// A start is held to this from now on.
    pub(super) fn is_held(&self, confined: Confined) {
        self.confinement.hold(confined);
    }

    /// Its starts get no network from now on.
    pub(crate) fn is_cut_off(&self) {
        let definition = Definition::clone(&self.definition());
        let sandbox = SandboxSettings { network: Some(NetworkKind::None), ..definition.sandbox.clone() };
        self.identity.redefine(Definition { sandbox, ..definition });
    }

    /// The profile of its last start.
    #[must_use]
    pub fn confined(&self) -> Option<Rc<Confined>> {
        self.confinement.of_last_start()
    }

    /// The facts for consent about what holds it now; for a server that does not run, about what holds its next start.
    pub async fn holding(&self) -> Holding {
        let definition = self.definition();
        let given = ServerTraits {
            secrets: !definition.secrets.is_empty() || self.secrets.were_given(),
            private: definition.supervision.private == Some(true),
            image: self.has_image(),
        };
        if let Some(remote) = &definition.remote {
            let secrets = given.secrets || !remote.headers.is_empty();
            return holding::remote(ServerTraits {
                secrets,
                private: given.private || remote.allow_private,
                ..given
            });
        }
        let runs = matches!(self.state(), State::Running | State::Stopping);
        let confined = match self.confined().filter(|_| runs) {
            Some(confined) => confined,
            None => match self.would_be_confined().await {
                Ok(confined) => Rc::new(confined),
                Err(_) => return Holding::UNKNOWN,
            },
        };
        holding::of_profile(&confined.profile, &confined.facts, &definition.sandbox, given)
    }

    /// The profile that its next start would have, as of now.
    ///
    /// # Errors
    /// Why it would not be started.
    pub async fn would_be_confined(&self) -> Result<Confined, String> {
        self.would_be_confined_by(self.definition().sandbox.clone()).await
    }

    /// The profile that its next start would have with other settings.
    ///
    /// # Errors
    /// Why it would not be started.
    pub async fn would_be_confined_by(&self, settings: SandboxSettings) -> Result<Confined, String> {
        self.runners().swept().await;
        self.confined_by(settings).await
    }

    /// Checks that the paths of its definition may be granted, by the rules of the level `standard`, and whatever this kernel can
    /// hold of it. Its start asks again.
    ///
    /// # Errors
    /// The path that may not be granted, and why.
    pub(in crate::supervisor) async fn may_be_granted(&self) -> Result<(), String> {
        if self.has_image() {
            return self.confined_by(self.definition().sandbox.clone()).await.map(drop);
        }
        let SandboxSettings { read, write, sockets, .. } = self.definition().sandbox.clone();
        let paths = SandboxSettings { read, write, sockets, ..SandboxSettings::default() };
        if paths == SandboxSettings::default() {
            return Ok(());
        }
        self.confined_by(paths).await.map(drop)
    }

    async fn confined_by(&self, settings: SandboxSettings) -> Result<Confined, String> {
        if self.definition().remote.is_some() {
            return Err("it is a remote server, so it has no access to this machine".into());
        }
        let looked = self.looked_at(settings.clone()).await;
        let facts = looked.map_err(|unprepared| format!("could not {}", unprepared.why))?.facts;
        if self.has_image() {
            return self.container_held(&settings, facts);
        }
        profile(&settings, &facts, &self.runners().offer()).map(|profile| Confined { profile, facts })
    }

    /// The names in its environment.
    #[must_use]
    pub fn env_names(&self, confined: &Confined) -> Vec<String> {
        let own = match self.has_image() {
            true => self.container_variables(confined),
            false => self.environment(&self.definition().env, confined).into_keys().collect(),
        };
        let mut names: Vec<_> = own.into_iter().chain(self.secrets.names()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The things that it was refused since the bridge began, newest last.
    #[must_use]
    pub fn denied(&self) -> Vec<Denied> {
        self.confinement.denied()
    }

    /// Handles a refused path that its runner has read in the server's output. Only the server says so, so
    /// nothing but a hint follows from it.
    pub(in crate::supervisor) fn on_denied(self: &Rc<Self>, path: String, write: bool, missing: bool) {
        let Some(confined) = self.confined_by_grants() else { return };
        let (profile, facts) = (&confined.profile, &confined.facts);
        // What may be read and was refused was to be written, whatever the words say.
        let write = write || !missing && profile.allows(&path, false);
        if profile.allows(&path, write) {
            // The file's own mode, or its absence: no sandbox is in the way.
            return;
        }
        let of = |write| Denied { advice: advice(&path, write, facts), write, path: path.clone() };
        let (denied, made) = (of(write), of(true));
        // Where its directory cannot be seen either, the same is said of a file that was to be made.
        let is_hidden = !profile.allows(parent(&path), false);
        // Who asks at once finds what is known so far.
        let kept = (!missing && self.keep(denied.clone())).then(|| denied.clone());
        let look = DiskLook::begin(self);
        tokio::task::spawn_local(async move {
            let server = &look.0;
            let looked =
                tokio::task::spawn_blocking(move || looked_at(denied, made, missing, is_hidden)).await;
            if let Some(kept) = kept {
                server.confinement.drop_denied(&kept);
            }
            match looked {
                Ok(RefusalFinding::Denied(denied)) => server.note_denied(denied),
                Ok(RefusalFinding::Socket(path)) => {
                    server.on_lacking(&Lack::Socket { path: path.into(), listen: false });
                }
                Ok(RefusalFinding::Nothing) | Err(_) => {}
            }
        });
    }

    /// The profile that holds it, if more could be granted. `None` in a container, where a path is another one than here; and for
    /// an installer or a version on trial, which get nothing of it.
    pub(super) fn confined_by_grants(&self) -> Option<Rc<Confined>> {
        let gets_grants = !self.has_image() && self.state() != State::Installing && !self.is_alone();
        self.confined().filter(|_| gets_grants)
    }

    /// The person's home, where a file below it is there and kept from the server.
    pub(crate) async fn keeps_from_it(&self, file: &str) -> Option<String> {
        let confined = self.confined_by_grants()?;
        let home = confined.facts.home.clone()?;
        let path = below(&home, file);
        let is_kept = !confined.profile.allows(&path, false);
        let looked = is_kept.then(|| tokio::task::spawn_blocking(move || Path::new(&path).is_file()))?;
        looked.await.is_ok_and(|is_there| is_there).then_some(home)
    }

    /// The first of these places that exists and is closed by the sandbox, with the option that opens it, or why none does.
    pub(crate) async fn closed_to_it(&self, places: Vec<String>) -> Option<(String, Result<String, String>)> {
        let confined = self.confined_by_grants()?;
        let looked = tokio::task::spawn_blocking(move || {
            let real = |place: String| Some((place.clone(), Path::new(&place).canonicalize().ok()?));
            places.into_iter().filter_map(real).collect::<Vec<_>>()
        });
        let is_closed = |real: &Path| real.to_str().is_some_and(|real| !confined.profile.allows(real, false));
        let (place, _) = looked.await.ok()?.into_iter().find(|(_, real)| is_closed(real))?;
        let opens = advice(&place, false, &confined.facts).map(|advice| advice.option);
        Some((place, opens))
    }

    pub(super) fn note_denied(&self, denied: Denied) {
        let hint = hint(self.id().as_str(), &denied);
        if self.keep(denied) {
            self.remark(hint);
        }
    }

    /// Keeps a refusal. True if it is new.
    fn keep(&self, denied: Denied) -> bool {
        // Nothing in which a secret stands is shown, nor granted.
        if self.hidden(denied.path.clone()) != denied.path {
            return false;
        }
        self.confinement.keep(denied)
    }
}

/// The thing that was found where a server was refused.
#[derive(Debug, PartialEq, Eq)]
enum RefusalFinding {
    /// The refusal, with its advice.
    Denied(Denied),
    /// It is a socket, which is no file to be read.
    Socket(String),
    /// It is not there for us either: the sandbox is not why.
    Nothing,
}

/// Finds what is at the refused path. `made` is the same refusal for writing; `is_hidden` is true if its directory is hidden.
fn looked_at(denied: Denied, made: Denied, missing: bool, is_hidden: bool) -> RefusalFinding {
    let path = Path::new(&denied.path);
    // A new file needs its directory only.
    let looked = if denied.write { path.parent().unwrap_or(path) } else { path };
    match looked.symlink_metadata() {
        // Languages name no difference between a file that is not there and a place where none can be made.
        Err(_) if missing && is_hidden && !denied.write && path.parent().is_some_and(Path::is_dir) => {
            match made.advice {
                Ok(advice) => {
                    RefusalFinding::Denied(Denied { advice: Ok(advice.if_it_was_to_be_made()), ..made })
                }
                Err(_) => RefusalFinding::Nothing,
            }
        }
        Err(_) if missing => RefusalFinding::Nothing,
        // Who reads what does not exist is told so: this was to be made.
        Err(error) if error.kind() == ErrorKind::NotFound && !denied.write => {
            RefusalFinding::Denied(Denied { advice: made.advice.map(with_its_path), ..made })
        }
        Ok(found) if missing && found.file_type().is_socket() => RefusalFinding::Socket(denied.path),
        _ => RefusalFinding::Denied(Denied { advice: denied.advice.map(with_its_path), ..denied }),
    }
}

/// Leaves out of an advice a path that does not exist: to grant it grants nothing.
fn with_its_path(advice: Advice) -> Advice {
    let is_there = advice.written.as_ref().is_none_or(|path| Path::new(path).exists());
    if is_there { advice } else { advice.without_its_path() }
}

/// A sentence for the server's log.
fn hint(id: &str, denied: &Denied) -> String {
    let what = match denied.path.starts_with('/') {
        true if denied.write => format!("writing {:?}", denied.path),
        true => format!("reading {:?}", denied.path),
        false => denied.path.clone(),
    };
    match &denied.advice {
        Ok(Advice { option, mind, .. }) => {
            let mind = mind.map(|mind| format!(", but {mind}")).unwrap_or_default();
            format!("the sandbox refused {what}; `harbor sandbox {id} {option}` allows it{mind}")
        }
        Err(why) => format!("the sandbox refused {what}: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_says_what_to_mind() {
        let of = |advice| hint("s", &Denied { path: "/h/.vimrc".into(), write: true, advice });
        let advice = |mind| Ok(Advice { mind, ..Advice::plain("--write /h/.vimrc".into()) });
        let plain =
            "the sandbox refused writing \"/h/.vimrc\"; `harbor sandbox s --write /h/.vimrc` allows it";
        assert_eq!(of(advice(None)), plain);
        assert_eq!(of(advice(Some("it is run"))), format!("{plain}, but it is run"));
        assert_eq!(of(Err("never".into())), "the sandbox refused writing \"/h/.vimrc\": never");
        let words = Denied {
            path: "more memory than 1 MiB".into(),
            write: false,
            advice: Ok(Advice::plain("--memory 2".into())),
        };
        assert_eq!(
            hint("s", &words),
            "the sandbox refused more memory than 1 MiB; `harbor sandbox s --memory 2` allows it"
        );
    }

    #[test]
    fn what_is_to_be_written_is_created_first_and_a_socket_is_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        let denied = |path: String, write, written| Denied {
            path,
            write,
            advice: Ok(Advice { written, ..Advice::plain("--x".into()) }),
        };
        let minded = |looked: RefusalFinding| match looked {
            RefusalFinding::Denied(Denied { advice: Ok(advice), .. }) => Some(advice.mind.is_some()),
            RefusalFinding::Denied(_) | RefusalFinding::Socket(_) | RefusalFinding::Nothing => None,
        };
        let looked_where = |denied: Denied, missing, hidden| {
            let made = Denied { write: true, ..denied.clone() };
            looked_at(denied, made, missing, hidden)
        };
        let looked = |denied, missing| looked_where(denied, missing, false);
        std::fs::write(at("there"), "").unwrap();
        assert_eq!(minded(looked(denied(at("new"), true, Some(at("new"))), false)), Some(true));
        assert_eq!(minded(looked(denied(at("there"), true, Some(at("there"))), false)), Some(false));
        assert_eq!(minded(looked(denied(at("new"), true, Some(at(""))), true)), Some(false));
        assert_eq!(looked(denied(at("no/new"), true, None), true), RefusalFinding::Nothing);
        assert_eq!(looked(denied(at("new"), false, None), true), RefusalFinding::Nothing);
        let hidden = looked_where(denied(at("new"), false, None), true, true);
        assert!(
            matches!(
                hidden,
                RefusalFinding::Denied(Denied { write: true, advice: Ok(Advice { mind: Some(_), .. }), .. })
            ),
            "{hidden:?}"
        );
        assert_eq!(looked_where(denied(at("no/new"), false, None), true, true), RefusalFinding::Nothing);
        let made = looked(denied(at("new"), false, None), false);
        assert!(matches!(made, RefusalFinding::Denied(Denied { write: true, .. })), "{made:?}");
        let _listener = std::os::unix::net::UnixListener::bind(at("s")).unwrap();
        assert_eq!(looked(denied(at("s"), false, None), true), RefusalFinding::Socket(at("s")));
    }
}
