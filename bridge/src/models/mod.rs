//! The person's language models: their providers, the requests to them, and what they have used.
//!
//! ```text
//!  router ─┬─ chat ─► permit ─► provider, model ─► budget ─► key ─► worker ─► events ─► settled, counted, written down
//!          ├─ providers, keys, budgets ─► store
//!          └─ lists, checks, detection ─► harbor-model-worker, a process that is there only while it is needed
//! ```
//!
//! Owns the one road to a model: every request takes it. A key is read for one request and kept nowhere. Must never
//! connect to anything, nor write down a word of a conversation. Must never send anything to a provider that the person
//! has not added, except what finding it takes.

mod asking;
mod attempts;
mod changing;
mod chat;
mod chosen;
mod coming;
mod conversation;
mod counting;
mod errors;
mod facts;
mod for_servers;
mod listening_sockets;
mod listing;
mod local;
mod local_engines;
mod memory;
mod model_key;
mod model_names;
mod names;
mod open_request;
mod owners;
mod pictures;
mod ports;
mod pricing;
mod record;
mod transcribing;
mod usage;
mod usage_sum;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::{ModelsStatus, ProviderView};
use harbor_ipc_proto::link::model::{Cause, Failure, Model};
use harbor_ipc_proto::model::{Dialect, Kind};
use harbor_policy::budget::Budgets;
use harbor_policy::models::{about, is_local};

use crate::keeper::{WorkerKeeper, WorkerParts, WorkerTimeouts};
use crate::link::worker::model::ModelLink;
use crate::store::StoreError;
use crate::store::models::{ModelTables as Tables, Provider, StoredFacts};
use crate::store::secrets::Secrets;

pub use self::changing::{Changes, ProviderDraft};
pub use self::chat::{Chatted, ModelAnswer, ModelQuery, Prompt};
pub use self::chosen::ChosenModel;
pub use self::conversation::{kept_messages, usage_for_origin, usage_view, written};
pub use self::counting::CountedConversation;
pub use self::for_servers::GivenModel;
pub use self::listing::{Checked, Detected, Listed};
pub use self::local_engines::{EngineDown, EnginePlace, EngineReach, LocalEngines, Reaching};
pub use self::memory::memory_left;
pub use self::record::{ModelCaller, Noted, SettledRequests};
pub use self::transcribing::Transcribed;
pub use self::usage_sum::usage_sum;

use self::coming::ComingLists;
use self::model_key::ModelKey;
use self::model_names::ModelNames;
use self::open_request::OpenModelRequest;

/// A model may think for minutes before its first word. The worker ends requests that exceed its own limits.
const TIMES: WorkerTimeouts = WorkerTimeouts {
    stop: Duration::from_secs(3),
    idle: Duration::from_secs(30),
    quiet: Duration::from_secs(900),
};

/// A day in milliseconds.
const DAY: u64 = 86_400_000;

/// The parts that the models are built from.
pub struct ModelsParts {
    /// The worker.
    pub worker: WorkerParts,
    /// The tables.
    pub tables: Tables,
    /// The store of the keys.
    pub secrets: Secrets,
    /// Takes the record of a request.
    pub note: Rc<dyn Fn(Noted)>,
}

/// A provider's last failure.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Problem {
    cause: Cause,
    message: String,
}

/// The models.
pub struct Models {
    tables: Tables,
    secrets: Secrets,
    note: Rc<dyn Fn(Noted)>,
    worker: Rc<WorkerKeeper<ModelLink>>,
    providers: RefCell<BTreeMap<String, Provider>>,
    /// The last failures, by provider.
    problems: RefCell<BTreeMap<String, Problem>>,
    budgets: RefCell<Budgets>,
    open: RefCell<HashMap<u32, OpenModelRequest>>,
    last: Cell<u32>,
    /// The models that providers have listed, until the provider is changed.
    known: RefCell<BTreeMap<String, Rc<[Model]>>>,
    /// The providers whose lists have changed since.
    stale: RefCell<BTreeSet<String>>,
    /// The facts that were stated and learned of single models.
    facts: RefCell<BTreeMap<ModelKey, StoredFacts>>,
    /// The person's names of models.
    names: RefCell<ModelNames>,
    /// The windows that were last asked for, where requests choose them.
    sent: RefCell<BTreeMap<ModelKey, u32>>,
    /// The memory of this machine, in bytes.
    memory: Option<u64>,
    /// The lists that providers are asked for at this moment, for all who ask for all lists.
    coming: ComingLists,
    /// Models that their providers did not know when they were last asked, and the time of that.
    untold: RefCell<BTreeMap<(String, String), Instant>>,
    listener: RefCell<Option<Rc<dyn Fn()>>>,
    /// The programs on this machine that Harbor starts.
    engines: RefCell<Option<Weak<dyn LocalEngines>>>,
    /// True if nothing of an earlier bridge is left.
    may_start: Cell<bool>,
    /// Held from the last look at a provider until its change is stored, so changes happen one after the
    /// other.
    changing: tokio::sync::Mutex<()>,
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Models").field("worker", &self.worker).finish_non_exhaustive()
    }
}

impl Models {
    /// The models of this home, without a worker.
    ///
    /// # Errors
    /// When the stored rows cannot be read.
    pub async fn open(wiring: ModelsParts) -> Result<Rc<Self>, StoreError> {
        let ModelsParts { worker, tables, secrets, note } = wiring;
        let providers = tables.providers().await?;
        let facts = tables.facts().await?;
        let names = ModelNames::open(&tables).await?;
        let memory = memory::whole().await;
        let mut budgets = Budgets::default();
        for (principal, tokens) in tables.budgets().await? {
            budgets.set(&principal, Some(tokens));
        }
        let now = wall_clock();
        for (key, _, used) in tables.usage(now / DAY).await? {
            budgets.note_used(&key.principal, used.input.saturating_add(used.output), now);
        }
        Ok(Rc::new_cyclic(|this: &Weak<Self>| Self {
            tables,
            secrets,
            note,
            worker: WorkerKeeper::new(worker, TIMES, this.clone()),
            providers: RefCell::new(providers.into_iter().map(|one| (one.id.clone(), one)).collect()),
            problems: RefCell::default(),
            budgets: RefCell::new(budgets),
            open: RefCell::default(),
            last: Cell::default(),
            known: RefCell::default(),
            stale: RefCell::default(),
            facts: RefCell::new(facts.into_iter().collect()),
            names: RefCell::new(names),
            sent: RefCell::default(),
            memory,
            coming: ComingLists::default(),
            untold: RefCell::default(),
            listener: RefCell::default(),
            engines: RefCell::default(),
            may_start: Cell::default(),
            changing: tokio::sync::Mutex::default(),
        }))
    }

    /// Has `listener` called whenever its status has changed.
    pub fn listen(&self, listener: Rc<dyn Fn()>) {
        *self.listener.borrow_mut() = Some(listener);
    }

    /// Nothing of an earlier bridge is left: requests that came meanwhile are sent now.
    pub fn begin(&self) {
        self.may_start.set(true);
        if !self.open.borrow().is_empty() {
            self.worker.start();
        }
    }

    /// Ends the worker.
    pub async fn end(&self, limit: Duration) {
        self.worker.end(limit).await;
    }

    /// The providers that were added, by id.
    #[must_use]
    pub fn providers(&self) -> Vec<ProviderView> {
        self.providers.borrow().values().map(|provider| self.view(provider)).collect()
    }

    /// The default provider's id, and its default model.
    #[must_use]
    pub fn active(&self) -> Option<(String, Option<String>)> {
        let provider = self.default_provider()?;
        Some((provider.id, provider.model))
    }

    /// A word for clients about the default provider: whether it can be used.
    #[must_use]
    pub fn standing(&self) -> &'static str {
        match self.default_provider() {
            None => "no_provider",
            Some(provider) if !provider.enabled => "disabled",
            Some(provider) if lacks_key(&provider) => "no_key",
            Some(provider) if self.problems.borrow().contains_key(&provider.id) => "unavailable",
            Some(_) => "ready",
        }
    }

    /// The status of the models.
    #[must_use]
    pub fn status(&self) -> ModelsStatus {
        ModelsStatus {
            state: if self.worker.is_off() { "off".into() } else { self.worker.state().as_str().into() },
            pid: self.worker.pid(),
            restarts: self.worker.restarts(),
            providers: self.providers.borrow().len() as u64,
            open_requests: self.open.borrow().len() as u64,
            last_error: self.worker.last_error(),
        }
    }

    /// The faults that need a person, a sentence each: providers that refuse their key, or have no money
    /// left.
    #[must_use]
    pub fn wrong(&self) -> Vec<String> {
        let providers = self.providers.borrow();
        let problems = self.problems.borrow();
        let enabled = |id: &String| providers.get(id).is_some_and(|provider| provider.enabled);
        let wrong = problems.iter().filter(|(id, _)| enabled(id)).filter_map(|(id, problem)| {
            let Problem { cause, message } = problem;
            match cause {
                Cause::Unauthorized => Some(format!(
                    "{id} refuses its key ({message}); set a new one with `harbor models key {id}`"
                )),
                Cause::Quota => Some(format!("{id} says that its account has no credit left ({message})")),
                _ => None,
            }
        });
        wrong.collect()
    }

    fn view(&self, provider: &Provider) -> ProviderView {
        let problem = self.problems.borrow().get(&provider.id).map(|problem| problem.message.clone());
        ProviderView {
            id: provider.id.clone(),
            r#type: provider.kind.clone(),
            name: provider.name.clone(),
            base_url: provider.base_url.clone(),
            dialect: provider.dialect.clone().into(),
            enabled: provider.enabled,
            available: provider.enabled && !lacks_key(provider) && problem.is_none(),
            is_local: is_local(&provider.base_url),
            is_default: self.default_provider().is_some_and(|default| default.id == provider.id),
            is_type_default: provider.is_type_default,
            needs_api_key: about(kind_of(provider)).needs_key,
            has_api_key: provider.has_key,
            is_added: true,
            problem,
            other_user: None,
        }
    }

    /// The provider for requests that name none: the person's choice, else the first enabled one.
    fn default_provider(&self) -> Option<Provider> {
        let providers = self.providers.borrow();
        let chosen = providers.values().find(|provider| provider.is_default);
        let first = || providers.values().find(|provider| provider.enabled).or(providers.values().next());
        chosen.or_else(first).cloned()
    }

    /// Notes the outcome of asking a provider. A failure that only concerns the request is not noted.
    fn note_answer(&self, id: &str, failure: Option<&Failure>) {
        let about_it = [Cause::Unauthorized, Cause::Quota, Cause::NotFound, Cause::Unreachable];
        let problem = match failure {
            None => None,
            Some(Failure { cause, message, .. }) if about_it.contains(cause) => {
                Some(Problem { cause: *cause, message: message.clone() })
            }
            Some(_) => return,
        };
        self.note_problem(id, problem);
    }

    fn note_problem(&self, id: &str, problem: Option<Problem>) {
        let mut problems = self.problems.borrow_mut();
        let before = match &problem {
            Some(problem) => problems.insert(id.to_owned(), problem.clone()),
            None => problems.remove(id),
        };
        drop(problems);
        if before != problem {
            self.tell();
        }
    }

    fn tell(&self) {
        let listener = self.listener.borrow().clone();
        listener.iter().for_each(|listener| listener());
    }
}

fn lacks_key(provider: &Provider) -> bool {
    about(kind_of(provider)).needs_key && !provider.has_key
}

/// The kind of a provider. One that a newer Harbor has stored is treated like most others.
fn kind_of(provider: &Provider) -> Kind {
    Kind::from_name(&provider.kind).unwrap_or(Kind::OpenAiCompatible)
}

fn dialect_of(provider: &Provider) -> Dialect {
    Dialect::from_name(&provider.dialect).unwrap_or(Dialect::Chat)
}
