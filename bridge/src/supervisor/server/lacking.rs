//! A server's words about what it lacks, and whether its sandbox may be why.
//!
//! Owns looking whether that is there at all. Its meaning is the policy's to say.

use std::path::Path;
use std::rc::Rc;

use harbor_ipc_proto::link::runner::Lack;
use harbor_policy::sandbox::hint::{Hint, hints};

use super::confining::DiskLook;
use super::{Denied, Server};

impl Server {
    /// Handles a lack that its runner has read in the server's words. As with a refusal, only a hint follows
    /// from it.
    pub(in crate::supervisor) fn on_lacking(self: &Rc<Self>, lack: &Lack<'_>) {
        let Some(confined) = self.confined_by_grants() else { return };
        if let Lack::Attributes(path) = lack
            && !confined.profile.allows(path, true)
        {
            return self.on_denied(path.to_string(), true, false);
        }
        let hints = hints(lack, &confined.profile, &confined.facts);
        if hints.iter().all(|hint| hint.only_if.is_none()) {
            return hints.into_iter().for_each(|hint| self.note_denied(denied(hint)));
        }
        let look = DiskLook::begin(self);
        tokio::task::spawn_local(async move {
            let looked = tokio::task::spawn_blocking(|| hints.into_iter().find(is_meant));
            if let Ok(Some(hint)) = looked.await {
                look.0.note_denied(denied(hint));
            }
        });
    }
}

/// True if a hint is about the sandbox. A file that is also missing outside the sandbox is not.
fn is_meant(hint: &Hint) -> bool {
    hint.only_if.as_ref().is_none_or(|path| Path::new(path).symlink_metadata().is_ok())
}

fn denied(hint: Hint) -> Denied {
    Denied { path: hint.what, write: false, advice: hint.advice }
}
