//! Processes of a server that belong to one web origin or AI client each: its instances.
//!
//! ```text
//!  a call of an origin ─► the plain server ─ per_principal? ─► its instance: the same definition, package and secrets,
//!                                                              with directories of its own (`instances/<key>`)
//!  its clients leave, it is idle, its place is wanted, the plain server is stopped, changed or removed ─► it ends
//! ```
//!
//! Owns which instances there are, and how many run. Must never give one principal what another one's process holds, nor start an
//! instance that could write where an earlier one still does.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use harbor_ipc_proto::client::Instance;
use harbor_ipc_proto::hex::hex;
use sha2::{Digest as _, Sha256};

use super::parts::instances::InstanceOwner;
use super::{Server, ServerOnDisk, Unavailable};
use crate::link::TimeLimit;
use crate::store::definitions::{Definition, Stored};

/// The bytes of the principal's hash that make its key. Nobody can find another name with the same bytes.
const KEY: usize = 8;

/// The user of an instance.
#[derive(Debug, Clone, Copy)]
pub struct User<'a> {
    /// The web origin or the AI client.
    pub origin: &'a str,
    /// Its profile: in another one it is logged in as somebody else.
    pub profile: &'a str,
    /// The connection by which it asks.
    pub client: u64,
}

/// Why there is no instance.
#[derive(Debug)]
pub enum NoInstance {
    /// All instances that the limit allows are in use.
    Full(u32),
    /// Its server is stopped, or could not be installed.
    Unavailable(Unavailable),
}

impl Server {
    /// The process of it that is `user`'s, which the next call starts; `None` for a server that all share.
    ///
    /// # Errors
    /// Why there is no instance.
    pub async fn instance_for(
        self: &Rc<Self>,
        user: User<'_>,
        limit: &mut TimeLimit,
    ) -> Result<Option<Rc<Self>>, NoInstance> {
        if self.settings().instance == Instance::Shared || self.instances.is_instance() {
            return Ok(None);
        }
        if let Some(at_rest) = self.at_rest() {
            return Err(NoInstance::Unavailable(at_rest));
        }
        // There is one package, and the plain server installs it.
        if self.life.installs_first() {
            self.ready(limit).await.map_err(NoInstance::Unavailable)?;
        }
        let key = key(user);
        let known = self.instances.of(&key);
        let instance = match known {
            Some(known) if known.is_up() => known,
            known => {
                self.make_room()?;
                known.unwrap_or_else(|| self.begin_instance(key, user))
            }
        };
        instance.instances.add_client(user.client);
        Ok(Some(instance))
    }

    fn begin_instance(self: &Rc<Self>, key: String, user: User<'_>) -> Rc<Self> {
        let principal = match user.profile {
            harbor_policy::grants::DEFAULT_PROFILE => user.origin.into(),
            profile => format!("{} ({profile})", user.origin).into(),
        };
        let owner = InstanceOwner {
            plain: Rc::downgrade(self),
            principal,
            name: format!("{}@{key}", self.id()).into(),
            key: key.clone(),
        };
        let (definition, era) = (Definition::clone(&self.definition()), self.place.spoken());
        let stored = Stored { server_id: self.id().clone(), definition, era };
        // It runs what the plain server has installed.
        let (image, missing) = (self.package.image(), self.life.installs_first());
        let looked = ServerOnDisk { stored, image, missing };
        let instance = Self::make(looked, self.runners().clone(), (None, None), Some(owner));
        let ended = self.instances.ended(Self::is_down);
        instance.follow(ended.into_iter().filter(|one| one.key() == Some(&key)).collect());
        self.instances.add(key, instance.clone(), Self::is_down);
        instance
    }

    /// Ends the instance that was not used for longest, where there are as many as there may be.
    fn make_room(&self) -> Result<(), NoInstance> {
        let most = self.settings().max_instances;
        let all = self.instances();
        let up: Vec<_> = all.iter().filter(|one| one.is_up()).collect();
        if up.len() < most as usize {
            return Ok(());
        }
        let unused = up.into_iter().filter(|one| !one.usage.is_in_use() && one.usage.queued() == 0);
        match unused.min_by_key(|one| one.usage.last_used()) {
            Some(oldest) => self.end_instances(|one| Rc::ptr_eq(one, oldest)),
            None => return Err(NoInstance::Full(most)),
        }
        Ok(())
    }

    /// Ends those of its instances for which `which` is true.
    pub(super) fn end_instances(&self, which: impl Fn(&Rc<Self>) -> bool) {
        let ended = self.instances.take(which);
        for one in &ended {
            one.stop();
        }
        self.instances.add_ended(ended);
    }

    /// Handles the end of a connection: instances that nobody else has used end.
    pub(in crate::supervisor) fn client_left(&self, client: u64) {
        self.end_instances(|one| one.instances.client_left(client));
    }

    /// Its instances, by key.
    #[must_use]
    pub fn instances(&self) -> Vec<Rc<Self>> {
        self.instances.all()
    }

    /// Its instances, including those that may still be ending.
    pub(in crate::supervisor) fn all_instances(&self) -> Vec<Rc<Self>> {
        self.instances().into_iter().chain(self.instances.ended(Self::is_down)).collect()
    }

    /// Notes instances that still use directories which its own instances may get.
    pub(in crate::supervisor) fn follow_instances(&self, before: Vec<Rc<Self>>) {
        self.instances.add_ended(before);
    }

    /// An instance's name; `None` for a plain server.
    #[must_use]
    pub fn instance(&self) -> Option<Arc<str>> {
        self.instances.owner().map(|owner| owner.name.clone())
    }

    /// An instance's principal; `None` for a plain server.
    #[must_use]
    pub fn principal(&self) -> Option<Arc<str>> {
        self.instances.owner().map(|owner| owner.principal.clone())
    }

    /// The connections by which an instance is used; `None` for a plain server.
    pub(in crate::supervisor) fn clients(&self) -> Option<Vec<u64>> {
        self.instances.is_instance().then(|| self.instances.clients())
    }

    fn key(&self) -> Option<&String> {
        self.instances.owner().map(|owner| &owner.key)
    }

    /// The plain server of an instance.
    pub(super) fn plain(&self) -> Option<Rc<Self>> {
        self.instances.owner()?.plain.upgrade()
    }

    /// The directory of its own directories.
    pub(super) fn own_root(&self) -> PathBuf {
        let paths = &self.runners().shared.paths;
        match (self.key(), self.identity.engine()) {
            (_, Some(engine)) => engine.root.clone(),
            (Some(key), None) => paths.server_instances(self.id().as_str()).join(key),
            (None, None) => paths.server(self.id().as_str()),
        }
    }

    /// A text of its definition, with its own data directory in the place of the plain server's.
    pub(super) fn with_own_data(&self, text: &str) -> String {
        let plain = self.runners().shared.paths.server_data(self.id().as_str());
        match self.instances.is_instance() {
            true => text.replace(&*plain.to_string_lossy(), &self.own_root().join("data").to_string_lossy()),
            false => text.to_owned(),
        }
    }

    /// Its definition, with its own data directory in the place of the plain server's.
    pub(super) fn own_definition(&self) -> Definition {
        let mut own = Definition::clone(&self.definition());
        if !self.instances.is_instance() {
            // Sockets in the server's directory are granted as its own: of one on trial, those in the trial's.
            let (plain, root) = (self.own_root(), self.root());
            for socket in own.sandbox.sockets.iter_mut().flatten().filter(|_| plain != root) {
                if let Ok(rest) = Path::new(socket).strip_prefix(&plain) {
                    *socket = root.join(rest).display().to_string();
                }
            }
            return own;
        }
        let sandbox = [&mut own.sandbox.read, &mut own.sandbox.write, &mut own.sandbox.sockets];
        let texts = own.args.iter_mut().chain(own.env.values_mut()).chain(&mut own.cwd);
        for text in texts.chain(sandbox.into_iter().flatten().flatten()) {
            *text = self.with_own_data(text);
        }
        own
    }

    /// Gives its instances another definition, or ends them if all clients now share one process.
    pub(super) fn supervise_instances(&self, definition: &Definition) {
        if self.settings().instance == Instance::Shared {
            self.end_instances(|_| true);
        }
        self.instances().iter().for_each(|one| one.supervise(definition.clone()));
    }
}

fn key(user: User<'_>) -> String {
    let digest = Sha256::digest(format!("{}\n{}", user.origin, user.profile));
    hex(&digest[..KEY])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_origin_and_each_of_its_profiles_has_a_key_of_its_own() {
        let key = |origin, profile| key(User { origin, profile, client: 1 });
        let one = key("https://a.example", "default");
        assert_eq!((one.len(), &one), (16, &key("https://a.example", "default")));
        assert!(![key("https://b.example", "default"), key("https://a.example", "work")].contains(&one));
    }
}
