//! Which server it is, and what the person said about it.
//!
//! Owns the definition in force, and the settings that follow from it. Must never say where the server is in its life.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::lifecycle::{LifecycleLimits, Rules};
use harbor_policy::limits;
use harbor_policy::package;
use harbor_policy::settings::Settings;

use super::engine::EngineOf;
use super::trial::TrialOf;
use crate::store::definitions::Definition;

/// The identity of a server.
pub(in super::super) struct Identity {
    id: ServerId,
    definition: RefCell<Rc<Definition>>,
    settings: RefCell<Rc<Settings>>,
    /// True if its settings are those of an instance.
    is_instance: bool,
    has_package: bool,
    /// The trial, until the server is defined.
    trial: Option<TrialOf>,
    /// The engine that it is; none for a server, which speaks MCP.
    engine: Option<EngineOf>,
    /// True if it is started with nothing of the person's.
    alone: Cell<bool>,
    /// True if it was removed or replaced, so that later events of it are not reported.
    gone: Cell<bool>,
    /// The time of this definition's first use, in milliseconds since 1970. Older log lines are only on disk.
    born: u64,
}

impl Identity {
    pub fn new(
        (id, definition): (ServerId, Definition),
        has_package: bool,
        is_instance: bool,
        (trial, engine): (Option<TrialOf>, Option<EngineOf>),
    ) -> Self {
        let settings = settings(&definition, has_package, is_instance).unwrap_or_else(|field| {
            tracing::warn!(server = %id, field, "its supervision cannot be read; the defaults hold");
            defaults(is_instance)
        });
        Self {
            id,
            definition: RefCell::new(Rc::new(definition)),
            settings: RefCell::new(Rc::new(settings)),
            is_instance,
            has_package,
            alone: Cell::new(trial.as_ref().is_some_and(|trial| trial.alone)),
            gone: Cell::new(trial.is_some() || engine.is_some()),
            trial,
            engine,
            born: wall_clock(),
        }
    }

    pub fn id(&self) -> &ServerId {
        &self.id
    }

    pub fn definition(&self) -> Rc<Definition> {
        self.definition.borrow().clone()
    }

    pub fn settings(&self) -> Rc<Settings> {
        self.settings.borrow().clone()
    }

    /// Takes over another definition. Its ranges were checked before: the defaults hold where one cannot be read.
    pub fn supervise(&self, definition: Definition) {
        let settings = settings(&definition, self.has_package, self.is_instance);
        *self.settings.borrow_mut() = Rc::new(settings.unwrap_or_else(|_| defaults(self.is_instance)));
        self.redefine(definition);
    }

    /// Takes over another definition whose settings are the same.
    pub fn redefine(&self, definition: Definition) {
        *self.definition.borrow_mut() = Rc::new(definition);
    }

    pub fn trial(&self) -> Option<&TrialOf> {
        self.trial.as_ref()
    }

    pub fn engine(&self) -> Option<&EngineOf> {
        self.engine.as_ref()
    }

    pub fn is_on_trial(&self) -> bool {
        self.trial.is_some()
    }

    pub fn is_alone(&self) -> bool {
        self.alone.get()
    }

    /// Lets its starts have everything in its definition from now on.
    pub fn trust(&self) {
        self.alone.set(false);
    }

    /// True if later events of it are not reported.
    pub fn is_gone(&self) -> bool {
        self.gone.get()
    }

    pub fn go(&self) {
        self.gone.set(true);
    }

    /// True if it was removed, so that its name and directories belong to another server or to none.
    pub fn is_removed(&self) -> bool {
        self.is_gone() && !self.is_on_trial() && self.engine.is_none()
    }

    pub fn born(&self) -> u64 {
        self.born
    }

    /// The rules of its life.
    pub fn rules(&self) -> Rules {
        let (settings, steps) = (self.settings(), 3);
        let removal = if self.definition().image.is_some() { limits::REMOVAL } else { Duration::ZERO };
        Rules {
            limits: LifecycleLimits {
                install: limits::INSTALL_TIMEOUT * steps,
                start: settings.start_timeout + limits::START_SLACK,
                stop: settings.eof_grace + settings.term_grace + removal + limits::STOP_SLACK,
            },
            restart: settings.restart.clone(),
            lazy: settings.lazy,
        }
    }
}

/// The settings of a definition; those of an instance differ.
///
/// # Errors
/// Which field is out of its range.
fn settings(definition: &Definition, has_package: bool, is_instance: bool) -> Result<Settings, &'static str> {
    let downloads = !has_package && package::is_wrapper(&definition.command);
    let settings = Settings::new(&definition.supervision, downloads).map_err(|wrong| wrong.field)?;
    Ok(if is_instance { settings.of_instance() } else { settings })
}

fn defaults(is_instance: bool) -> Settings {
    let settings = Settings::default();
    if is_instance { settings.of_instance() } else { settings }
}
