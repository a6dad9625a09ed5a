//! What a server is held to, and what it was refused.
//!
//! Owns the profile of the last start and the list of refusals. Must never decide what is allowed: that is the policy's.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use harbor_ipc_proto::client::SandboxSettings;
use harbor_policy::sandbox::hint::{Advice, advice};
use harbor_policy::sandbox::paths::is_within;
use harbor_policy::sandbox::{Profile, profile};

use super::Server;

/// How many refusals are kept, the newest.
const KEPT: usize = 32;

/// The profile of a start, and what it was decided from.
#[derive(Debug, Clone)]
pub struct Confined {
    /// What holds it.
    pub profile: Profile,
    /// What was found on the disk.
    pub facts: harbor_policy::sandbox::Facts,
}

/// Something that a server was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// A path as the server wrote it; else in words, which begin with no `/`.
    pub path: String,
    /// Whether it wanted to write, of a path.
    pub write: bool,
    /// What would allow it, or why nothing does.
    pub advice: Result<Advice, String>,
}

impl Server {
    /// A start is held to this from now on.
    pub(super) fn is_held(&self, confined: Confined) {
        *self.confined.borrow_mut() = Some(Rc::new(confined));
    }

    /// What its last start was held to.
    #[must_use]
    pub fn confined(&self) -> Option<Rc<Confined>> {
        self.confined.borrow().clone()
    }

    /// What its next start would be held to, as of now.
    ///
    /// # Errors
    /// Why it would not be started.
    pub async fn would_be_confined(&self) -> Result<Confined, String> {
        self.would_be_confined_by(self.definition.sandbox.clone()).await
    }

    /// The same with other settings.
    ///
    /// # Errors
    /// The same.
    pub async fn would_be_confined_by(&self, settings: SandboxSettings) -> Result<Confined, String> {
        self.runners.swept().await;
        self.confined_by(settings).await
    }

    /// Whether the paths of its definition may be granted, by the rules of the level `standard`, and whatever this kernel
    /// can hold of it. Its start asks again.
    ///
    /// # Errors
    /// Which may not, and why.
    pub(in crate::supervisor) async fn may_be_granted(&self) -> Result<(), String> {
        let SandboxSettings { read, write, sockets, .. } = self.definition.sandbox.clone();
        let paths = SandboxSettings { read, write, sockets, ..SandboxSettings::default() };
        if paths == SandboxSettings::default() {
            return Ok(());
        }
        self.confined_by(paths).await.map(drop)
    }

    async fn confined_by(&self, settings: SandboxSettings) -> Result<Confined, String> {
        let looked = self.looked_at(settings.clone()).await;
        let facts = looked.map_err(|unprepared| format!("could not {}", unprepared.why))?.facts;
        profile(&settings, &facts, &self.runners.offer()).map(|profile| Confined { profile, facts })
    }

    /// The names in its environment.
    #[must_use]
    pub fn env_names(&self, confined: &Confined) -> Vec<String> {
        self.environment(confined).into_keys().collect()
    }

    /// What it was refused since the bridge began, newest last.
    #[must_use]
    pub fn denied(&self) -> Vec<Denied> {
        self.denied.borrow().iter().cloned().collect()
    }

    /// Its runner has read, in what the server said, that it was refused a path. It is the server that says so: nothing
    /// follows from it but a hint.
    pub(in crate::supervisor) fn on_denied(self: &Rc<Self>, path: String, write: bool, missing: bool) {
        let Some(confined) = self.confined() else { return };
        let (profile, facts) = (&confined.profile, &confined.facts);
        // What may be read and was refused was to be written, whatever the words say.
        let write = write || !missing && profile.allows(&path, false);
        // Where system calls are not filtered, nothing of its own is refused.
        let is_own = profile.launch.filter.is_some()
            && [&facts.data, &facts.tmp].into_iter().any(|own| is_within(&path, own));
        if profile.allows(&path, write) && (missing || !is_own) {
            // The file's own mode, or its absence: no sandbox is in the way.
            return;
        }
        let advice = advice(&path, write, &confined.facts);
        let denied = Denied { path, write, advice };
        if !missing {
            return self.note_denied(denied);
        }
        let server = self.clone();
        tokio::task::spawn_local(async move {
            // What is not there for us either is no matter of the sandbox.
            let path = PathBuf::from(&denied.path);
            // A new file needs its directory only.
            let looked = if denied.write { path.parent().map(Path::to_owned).unwrap_or(path) } else { path };
            let there = tokio::task::spawn_blocking(move || std::fs::symlink_metadata(looked).is_ok());
            if there.await.unwrap_or(false) {
                server.note_denied(denied);
            }
        });
    }

    pub(super) fn note_denied(&self, denied: Denied) {
        if self.denied.borrow().contains(&denied) {
            return;
        }
        self.remark(hint(self.id.as_str(), &denied));
        let mut all = self.denied.borrow_mut();
        all.push_back(denied);
        while all.len() > KEPT {
            all.pop_front();
        }
    }
}

/// A sentence for the server's log.
fn hint(id: &str, denied: &Denied) -> String {
    let what = match denied.path.starts_with('/') {
        true if denied.write => format!("writing {:?}", denied.path),
        true => format!("reading {:?}", denied.path),
        false => denied.path.clone(),
    };
    match &denied.advice {
        Ok(Advice { option, mind }) => {
            let mind = mind.map(|mind| format!(", but {mind}")).unwrap_or_default();
            format!("the sandbox refused {what}; `harbor sandbox {id} {option}` allows it{mind}")
        }
        Err(why) => format!("the sandbox refused {what}: {why}"),
    }
}

/// The refusals of one server.
pub(super) type Refusals = VecDeque<Denied>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_says_what_to_mind() {
        let of = |advice| hint("s", &Denied { path: "/h/.vimrc".into(), write: true, advice });
        let advice = |mind| Ok(Advice { option: "--write /h/.vimrc".into(), mind });
        let plain =
            "the sandbox refused writing \"/h/.vimrc\"; `harbor sandbox s --write /h/.vimrc` allows it";
        assert_eq!(of(advice(None)), plain);
        assert_eq!(of(advice(Some("it is run"))), format!("{plain}, but it is run"));
        assert_eq!(of(Err("never".into())), "the sandbox refused writing \"/h/.vimrc\": never");
        let words = Denied {
            path: "more memory than 1 MiB".into(),
            write: false,
            advice: Ok(Advice { option: "--memory 2".into(), mind: None }),
        };
        assert_eq!(
            hint("s", &words),
            "the sandbox refused more memory than 1 MiB; `harbor sandbox s --memory 2` allows it"
        );
    }
}
