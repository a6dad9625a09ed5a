//! The agent: conversations in which a model uses tools, for the person and for origins.
//!
//! ```text
//!  chat_send_message ─► Session ─► Drive ─ policy::turn ─┬─► models: answers
//!  run_start ─────────► (one of its own)                 ├─► host: calls, by the one road there is
//!                          │                             └─► host::consent: may it be made, is the person asked?
//!                          └─► TurnLog ─► whoever watches
//! ```
//!
//! Owns sessions and their turns. A turn belongs to the bridge: it goes on when its caller has left. Must never reach a
//! tool or a model except by `host` and `models`, nor put a word of a conversation into a log.

mod answer;
mod approving;
mod citing;
mod context;
mod counts;
mod damaged;
mod drive;
pub mod export;
pub mod mode;
mod origin_sessions;
mod outcome;
mod plan;
mod running;
mod saving;
pub mod session;
mod sessions;
mod spent;
mod steps;
mod tool_results;
mod toolbox;
pub mod turn_log;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use harbor_home::instance::random_token;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{AgentStatus, ChatEvent};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::model::{ModelMessage, Part, Role, ToolChoice};
use harbor_policy::access::OwnersTurn;
use harbor_policy::budget::OWNER;
use harbor_policy::history::Shortened;
use harbor_policy::turn::Limits;
use harbor_policy::untrusted::Nonce;

use self::approving::Candidate;
use self::citing::CitableResults;
use self::drive::Drive;
use self::plan::TurnPlan;
use self::session::Session;
use self::toolbox::Toolbox;
use self::turn_log::TurnLog;
use crate::host::asker::{Asker, Sender};
use crate::host::{AskedTime, Host, ToolAnswer, ToolCall, Usable};
use crate::link::Audience;
use crate::models::{ModelAnswer, ModelCaller, Models, Prompt};
use crate::store::sessions::Sessions;

pub use self::origin_sessions::SessionTerms;
pub use self::outcome::TurnOutcome;
pub use self::running::{Run, Task};
pub use self::sessions::whole;

/// The limits of a turn of the person's.
const OWNERS: Limits = Limits { rounds: 25, calls: 100, tokens: 1_000_000, time: 30 * 60 * 1000 };

/// The limits of a run of an origin.
const ORIGINS: Limits = Limits { rounds: 25, calls: 5, tokens: 200_000, time: 10 * 60 * 1000 };

/// The text that the model is told first: in turns of the person's, and in runs of origins.
const SYSTEM: &str = include_str!("prompts/system.md");
const RUN: &str = include_str!("prompts/run.md");

/// The text that is added if the answer has to name its sources.
const CITE: &str = include_str!("prompts/cite.md");

/// The private name of attachments.
const ATTACHED: &str = "attached";

/// The one on whose behalf a turn is.
pub enum OnBehalf {
    /// The person.
    Owner(Rc<Sender>, OwnersTurn),
    /// An origin.
    Origin {
        /// The origin that asks.
        asker: Asker,
        /// The run that its calls count in.
        run: String,
    },
}

/// The input that begins a turn.
pub struct TurnInput {
    /// Texts and images.
    pub parts: Vec<Part>,
    /// True if some of them are attached: files of the person's, or texts from elsewhere.
    pub has_attached: bool,
    /// The part that the person has typed themselves.
    pub typed: Option<String>,
    /// The session's model from now on; the one that it has when absent.
    pub model: Option<String>,
    /// The provider; the default one when absent.
    pub provider: Option<String>,
    /// For an origin: the tools that it wants used; all that it may call when absent.
    pub tools: Option<Vec<String>>,
    /// Says if the first answer has to call a tool.
    pub tool_choice: ToolChoice,
    /// Calls at most.
    pub max_tool_calls: Option<u32>,
    /// Tokens of each answer at most.
    pub max_tokens: Option<u32>,
    /// The randomness of the answers.
    pub temperature: Option<f64>,
    /// True if the answer has to name its sources.
    pub cites: bool,
}

/// The agent.
pub struct Agent {
    host: Rc<Host>,
    models: Rc<Models>,
    store: Sessions,
    open: RefCell<BTreeMap<String, Rc<Session>>>,
    /// Sessions that the disk has not taken.
    unsaved: RefCell<BTreeMap<String, saving::Unsaved>>,
    /// Sessions of origins.
    owned: origin_sessions::OwnedSessions,
    counts: Rc<counts::TurnCounts>,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("open", &self.open.borrow().len()).finish_non_exhaustive()
    }
}

impl Agent {
    /// The agent of this home, without turns.
    #[must_use]
    pub fn new(host: Rc<Host>, models: Rc<Models>, store: Sessions) -> Rc<Self> {
        Rc::new(Self {
            host,
            models,
            store,
            open: RefCell::default(),
            unsaved: RefCell::default(),
            owned: origin_sessions::OwnedSessions::default(),
            counts: Rc::default(),
        })
    }

    /// The numbers of turns.
    #[must_use]
    pub fn status(&self) -> AgentStatus {
        self.counts.status()
    }

    /// Adds a message to a session, and drives the turn to its end. The turn goes on when this future is
    /// dropped.
    ///
    /// # Errors
    /// Why no turn begins.
    pub async fn say(
        self: &Rc<Self>,
        session: &Rc<Session>,
        on_behalf: OnBehalf,
        said: TurnInput,
    ) -> Result<(Rc<TurnLog>, tokio::task::JoinHandle<TurnOutcome>), ErrorBody> {
        let turn = random_token().map_err(|error| internal(&error))?;
        let guard = session.begin(turn).ok_or_else(busy)?;
        let plan = self.plan(session, &on_behalf, &said).await?;
        if said.model.is_some() {
            session.head.borrow_mut().model = said.model;
        }
        approving::begin(self, session, &guard.ongoing.log);
        if said.has_attached {
            session.chat.reads([ATTACHED.to_owned()].into());
        }
        if let Some(typed) = &said.typed {
            session.chat.types(typed);
        }
        session.say(ModelMessage { role: Role::User, parts: self.models.scaled_parts(said.parts).await });
        let log = guard.ongoing.log.clone();
        let drive = Drive::new(self.clone(), session.clone(), guard, Rc::new(on_behalf), plan);
        Ok((log, tokio::task::spawn_local(drive.run())))
    }

    async fn plan(
        self: &Rc<Self>,
        session: &Session,
        on_behalf: &OnBehalf,
        said: &TurnInput,
    ) -> Result<TurnPlan, ErrorBody> {
        let (model, servers, system) = {
            let head = session.head.borrow();
            (said.model.clone().or_else(|| head.model.clone()), head.servers.clone(), head.system.clone())
        };
        let model = self.models.chosen(
            said.provider.as_deref(),
            model.as_deref(),
            matches!(on_behalf, OnBehalf::Origin { .. }),
        );
        let model = model.await?;
        let usable = match on_behalf {
            OnBehalf::Owner(..) => self.owners_tools(servers.as_deref())?,
            OnBehalf::Origin { asker, .. } => self.host.usable_by(asker, said.tools.as_deref())?,
        };
        let has_tools = |named: &&String| usable.iter().any(|one| one.source.as_str() == named.as_str());
        let without = servers.iter().flatten().filter(|named| !has_tools(named));
        let missing = without.map(|named| self.host.why_no_tools(named)).collect();
        let nonce = random_token().map_err(|error| internal(&error))?;
        let nonce = Nonce::new(&nonce).ok_or_else(|| internal(&std::io::Error::other("too short")))?;
        let toolbox = Toolbox::new(usable, (model.dialect, model.window), nonce, &text_of(&said.parts));
        if said.tool_choice == ToolChoice::Required && toolbox.is_empty() {
            return Err(no_tools());
        }
        let (limits, ours) = match on_behalf {
            OnBehalf::Owner(..) => (OWNERS, SYSTEM),
            OnBehalf::Origin { .. } => (ORIGINS, RUN),
        };
        let limits = Limits { calls: said.max_tool_calls.unwrap_or(limits.calls), ..limits };
        let sources = said.cites.then(|| CitableResults::after(&session.messages.borrow()));
        let cite = if sources.is_some() { CITE } else { "" };
        let system = format!("{ours}\n{cite}\n{}", system.unwrap_or_default());
        Ok(TurnPlan {
            limits,
            model,
            toolbox,
            tool_choice: said.tool_choice.clone(),
            max_tokens: said.max_tokens,
            temperature: said.temperature,
            system,
            missing,
            sources,
            shortened: Shortened::default(),
        })
    }

    /// The tools of the person's turns. A server that is named and not there is an error; it is not left out.
    fn owners_tools(&self, servers: Option<&[String]>) -> Result<Vec<Usable>, ErrorBody> {
        self.must_exist(servers.unwrap_or_default())?;
        Ok(self.host.usable(servers))
    }

    /// Checks that these sources exist.
    ///
    /// # Errors
    /// Says which one does not exist.
    pub fn must_exist(&self, servers: &[String]) -> Result<(), ErrorBody> {
        servers.iter().try_for_each(|named| self.host.must_exist(named))
    }

    async fn ask_model(
        &self,
        on_behalf: &OnBehalf,
        prompt: Prompt,
        push: impl AsyncFn(ChatEvent),
    ) -> Result<ModelAnswer, ErrorBody> {
        match on_behalf {
            OnBehalf::Owner(sender, turn) => {
                self.host.trail.is_open()?;
                let who = ModelCaller {
                    principal: OWNER.into(),
                    by: sender.by.clone(),
                    origin: None,
                    profile: None,
                };
                self.models.answer(turn.model_permit(), who, prompt, push).await
            }
            OnBehalf::Origin { asker, .. } => {
                let permit = self.host.model_permit(asker, true).await?;
                let who = ModelCaller {
                    principal: asker.origin.shared(),
                    by: asker.sender.by.clone(),
                    origin: Some(asker.origin.shared()),
                    profile: Some(asker.profile.clone()),
                };
                tokio::select! {
                    // A request that was sent ends when no
                    // grant covers it any more.
                    ended = self.host.model_permit_ended(asker, true) => Err(ended),
                    answer = self.models.answer(permit, who, prompt, push) => answer,
                }
            }
        }
    }

    async fn call_tool(&self, candidate: Candidate, turn: String) -> Result<ToolAnswer, ErrorBody> {
        let caller = candidate.caller();
        let run = match &*candidate.on_behalf {
            OnBehalf::Owner(..) => turn,
            OnBehalf::Origin { run, .. } => run.clone(),
        };
        let conversation = Some(candidate.session.id.as_str().into());
        let audience = Audience { party: Some(caller.party()), conversation, ..Audience::default() };
        let Candidate { usable: Usable { source, tool, .. }, arguments, consent, .. } = candidate;
        let call = ToolCall {
            source,
            tool: tool.name,
            arguments,
            task: None,
            time: AskedTime { timeout: None, whole: None },
            run_id: Some(run),
            unless_stopped: false,
            audience,
            consent,
        };
        let noted = self.host.note_call(caller, call);
        self.host.call_tool(noted).await
    }
}

fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn busy() -> ErrorBody {
    let message = "a turn of this session is still running; wait for its end, or stop it (chat_stop)";
    ErrorBody::new(Code::RateLimited, message)
}

fn no_tools() -> ErrorBody {
    let message = "`tool_choice` requires a tool, but there is none that this model can use; `harbor tools` lists the tools";
    ErrorBody::new(Code::InvalidParams, message).with("field", "tool_choice")
}

fn internal(error: &std::io::Error) -> ErrorBody {
    ErrorBody::new(Code::Internal, format!("this system gives no random numbers: {error}"))
}
