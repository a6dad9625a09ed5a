//! The beginning of a turn: a message enters its session, and the tools, the model and the limits are fixed.
//!
//! Owns the limits of turns and the texts that a model is told first. Must never begin a turn in a session that has one.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use harbor_home::instance::random_token;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::model::{ModelMessage, Part, Role, ToolChoice};
use harbor_policy::consent::Names;
use harbor_policy::history::Shortened;
use harbor_policy::turn::Limits;
use harbor_policy::untrusted::Nonce;

use super::citing::CitableResults;
use super::drive::Drive;
use super::mode::SessionMode;
use super::on_behalf::{Answerers, OnBehalf};
use super::outcome::TurnOutcome;
use super::plan::TurnPlan;
use super::refusals::{busy, internal};
use super::session::Session;
use super::text_reading::HeardSoFar;
use super::toolbox::Toolbox;
use super::turn_log::{TurnLog, TurnLogItem};
use super::wanted_summary::Summarising;
use super::{Agent, approving};
use crate::host::Usable;
use crate::models::ChosenModel;

/// The limits of a turn of the person's.
const OWNERS: Limits = Limits { rounds: 25, calls: 100, tokens: 1_000_000, time: 30 * 60 * 1000 };

/// The limits of a run of an origin.
const ORIGINS: Limits = Limits { rounds: 25, calls: 5, tokens: 200_000, time: 10 * 60 * 1000 };

/// How long a turn whose end is told may take until it is over.
const SHORT: Duration = Duration::from_secs(5);

/// The text that the model is told first: in turns of the person's, and in runs of origins.
const SYSTEM: &str = include_str!("prompts/system.md");
const RUN: &str = include_str!("prompts/run.md");

/// The text that is added if the answer has to name its sources.
const CITE: &str = include_str!("prompts/cite.md");

/// The text that is added if the model may propose a plan.
const PLAN: &str = include_str!("prompts/plan.md");

/// The input that begins a turn.
pub struct TurnInput {
    /// Texts and images.
    pub parts: Vec<Part>,
    /// The private names of those that are attached; empty if none are.
    pub attached: Names,
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
    /// Answers the questions of servers during calls, if somebody can.
    pub answerers: Option<Answerers>,
}

impl Agent {
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
        let_end(session).await;
        let guard = session.begin(turn).ok_or_else(busy)?;
        let plan = self.plan(session, &on_behalf, &said).await;
        // Whoever follows the session has seen that a turn began.
        let plan = plan.inspect_err(|error| guard.ongoing.log.add(TurnLogItem::Error(error.clone())))?;
        if said.model.is_some() {
            session.head.borrow_mut().model = said.model;
        }
        self.open_summary(session).await;
        approving::begin(self, session, &guard.ongoing.log);
        if !said.attached.is_empty() {
            session.chat.reads(said.attached);
        }
        if let Some(typed) = &said.typed {
            session.chat.types(typed);
        }
        let parts = self.models.scaled_parts(said.parts).await;
        let number = session.messages.borrow().len() as u64;
        session.say(ModelMessage { role: Role::User, parts });
        let log = guard.ongoing.log.clone();
        log.add(TurnLogItem::Message(number));
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
        let is_picture = |part: &Part| matches!(part, Part::Image(_));
        let has_pictures = said.parts.iter().any(is_picture)
            || session.messages.borrow().iter().flat_map(|message| &message.parts).any(is_picture);
        let is_alone = said.tool_choice == ToolChoice::None && matches!(on_behalf, OnBehalf::Owner(..));
        let unnamed = || self.models.model_for_unnamed(has_pictures, is_alone);
        let model = model.or_else(|| unnamed().filter(|_| said.provider.is_none()));
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
        let toolbox = Toolbox::new(usable, &self.tool_sets, &model, drawn()?, &text_of(&said.parts));
        if said.tool_choice == ToolChoice::Required && toolbox.is_empty() {
            return Err(no_tools());
        }
        let takes_plans = session.head.borrow().mode == SessionMode::Plan
            && matches!(on_behalf, OnBehalf::Owner(..))
            && !toolbox.is_empty();
        let toolbox = if takes_plans { toolbox.with_plans() } else { toolbox };
        let tool_choice = first_choice(&said.tool_choice, &model, &toolbox);
        let (limits, ours) = match on_behalf {
            OnBehalf::Owner(..) => (OWNERS, SYSTEM),
            OnBehalf::Origin { .. } => (ORIGINS, RUN),
        };
        let limits = Limits { calls: said.max_tool_calls.unwrap_or(limits.calls), ..limits };
        let sources = said.cites.then(|| CitableResults::after(&session.messages.borrow()));
        let cite = if sources.is_some() { CITE } else { "" };
        let plan = if takes_plans { PLAN } else { "" };
        let system = format!("{ours}\n{plan}{cite}\n{}", system.unwrap_or_default());
        Ok(TurnPlan {
            script_calls: Rc::new(Cell::new(limits.calls)),
            limits,
            model,
            toolbox,
            tool_choice,
            max_tokens: said.max_tokens,
            temperature: said.temperature,
            system,
            missing,
            sources,
            shortened: Shortened::default(),
            nonce: Nonce::of_session(&session.id),
            cuts_attachments: false,
            asked: (0, ToolChoice::Auto),
            call_word: drawn()?,
            reading: None,
            forces_step: false,
            answerers: said.answerers.clone(),
            reads_again: false,
            summarising: Summarising::default(),
            unmade: BTreeMap::new(),
            was_reminded: false,
            heard: HeardSoFar::default(),
        })
    }

    /// The tools of the person's turns. A server that is named and not there is an error; it is not left out.
    fn owners_tools(&self, servers: Option<&[String]>) -> Result<Vec<Usable>, ErrorBody> {
        self.must_exist(servers.unwrap_or_default())?;
        Ok(self.host.usable(servers))
    }
}

/// Waits for a turn whose end is told already: whoever has heard it may go on at once.
async fn let_end(session: &Session) {
    let told = session.ongoing().filter(|ongoing| ongoing.log.is_told());
    let Some(ongoing) = told else { return };
    let mut follower = ongoing.log.follow(0);
    let end = async { while follower.next(|_| ()).await.is_some() {} };
    // What takes longer counts as a turn that is still running.
    let _ = tokio::time::timeout(SHORT, end).await;
}

/// How the first answer calls tools. A model that takes none rarely begins by a call, so it has to where the task names what a
/// tool is for.
fn first_choice(wanted: &ToolChoice, model: &ChosenModel, toolbox: &Toolbox) -> ToolChoice {
    let writes_steps = model.tools == Some(false) && model.takes_schemas;
    match wanted {
        ToolChoice::Auto if writes_steps && toolbox.is_for_task() => ToolChoice::Required,
        wanted => wanted.clone(),
    }
}

/// A word that nobody can know.
fn drawn() -> Result<Nonce, ErrorBody> {
    let word = random_token().map_err(|error| internal(&error))?;
    Nonce::new(&word).ok_or_else(|| internal(&std::io::Error::other("too short")))
}

fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn no_tools() -> ErrorBody {
    let message = "`tool_choice` requires a tool, but there is no tool that this model can use; `harbor tools` lists the tools";
    ErrorBody::new(Code::InvalidParams, message).with("field", "tool_choice")
}
