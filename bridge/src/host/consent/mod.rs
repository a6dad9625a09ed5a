//! Consent on the one road to a tool: decided by `policy::consent`, asked wherever the person may be, judged again when the
//! answer comes.
//!
//! ```text
//!  call ─► facts (requested_call.rs) ─► judge ─┬─ Run ─────────────────────────────────────► permit
//!                                      ├─ Ask ─► question (asking.rs) ─► answer ─► judge again, twice at most
//!                                      └─ Refuse ─► told why
//! ```
//!
//! Owns the answers that stand, the open questions, and the private names that lie in closed stores. Must never hold a
//! slot or a turn while the person is asked, nor let a call run that was not judged as it is.

pub mod asking;
mod call_refusals;
pub mod chat;
mod connected;
mod first_use;
mod guard;
mod pace;
mod page_search;
pub mod page_search_call;
pub mod plans;
pub mod requested_call;
mod sampling;
pub mod sampling_call;
mod standing;
mod starting;

pub(super) use self::call_refusals::changed_twice;
pub use self::sampling::WantedModel;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use harbor_home::clock::{boot_clock, wall_clock};
use harbor_home::instance::random_token;
use harbor_ipc_proto::client::Approval;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::browser_tools::is_by_name;
use harbor_policy::consent::answers::{Answers, Cover, RememberedAnswer};
use harbor_policy::consent::facts::{Effect, Holding, Reach};
use harbor_policy::consent::typed::Typed;
use harbor_policy::consent::{self, Before, Names, Question, Read, Run, Verdict, Who};

use self::asking::{Decision, Form, OpenApproval, OpenApprovals, QuestionDisplayGuard};
use self::chat::Chat;
use self::connected::Connected;
use self::pace::Paces;
use self::requested_call::{KnownTool, RequestedCall, call};
use super::Host;
use super::asker::Caller;
use super::source::ToolSource;
use super::usable::{listed_effect, said_effect};
use crate::link::Tool;
use crate::store::StoreError;
use crate::store::consent::ConsentTables;

/// How long the person is waited for: in a turn of theirs, for a run of an origin, and at most for any other call.
const OF_PERSON: Duration = Duration::from_secs(24 * 60 * 60);
const OF_RUN: Duration = Duration::from_secs(120);
const AT_MOST: Duration = Duration::from_secs(600);

/// The private name for the contents of closed stores after the record of them was lost.
const LOST: &str = "data before the loss of harbor.db";

/// How often the person is asked about one call at most.
pub(super) const MOST_ASKED: u32 = 2;

/// Consent.
#[derive(Debug)]
pub struct Consent {
    answers: RefCell<Answers>,
    questions: Rc<OpenApprovals>,
    paces: Paces,
    /// The private names that lie in closed stores.
    carried: RefCell<BTreeMap<String, Names>>,
    /// Clients, each with a source that it never gets.
    never: RefCell<BTreeSet<(String, String)>>,
    /// Clients with a guard: the person is asked before something private leaves by their calls.
    guarded: RefCell<BTreeSet<String>>,
    /// AI clients, by name.
    connected: RefCell<BTreeMap<String, Connected>>,
    tables: ConsentTables,
    nothing: Read,
}

/// The judgement of a call, for whoever shows it.
#[derive(Debug)]
pub enum Judged {
    /// It may be made.
    Run,
    /// The person is asked first.
    Ask,
    /// The call is not made, for this reason.
    Refuse(ErrorBody),
}

impl Consent {
    /// Opens consent with the answers that are on disk.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(super) async fn open(
        tables: ConsentTables,
        listeners: Rc<super::news::Listeners>,
    ) -> Result<Self, StoreError> {
        let mut answers = Answers::default();
        for (at, always) in tables.always().await?.into_iter().enumerate() {
            let Some(tool) = always.tool.split_once('/') else { continue };
            let id = random_token().unwrap_or_else(|_| format!("always-{at}"));
            answers.add(RememberedAnswer::always(&always.principal, tool, always.hash, id, always.at));
        }
        Ok(Self {
            answers: RefCell::new(answers),
            questions: Rc::new(OpenApprovals::new(listeners)),
            paces: Paces::default(),
            carried: RefCell::new(tables.carried().await?),
            never: RefCell::new(tables.never().await?),
            guarded: RefCell::new(tables.guarded().await?),
            connected: RefCell::default(),
            tables,
            nothing: Read::default(),
        })
    }

    /// Nobody knows any more what lies in the stores of these sources.
    pub(super) fn lost_carried(&self, sources: impl Iterator<Item = String>) {
        for source in sources {
            let lost = Names::from([LOST.to_owned()]);
            self.carried.borrow_mut().entry(source.clone()).or_default().extend(lost.clone());
            self.store_carried(source, lost);
        }
    }

    /// A connection shows questions to the person from now on.
    pub fn face(&self) -> QuestionDisplayGuard {
        self.questions.face()
    }

    /// A turn of a chat begins.
    pub fn begin_turn(&self, chat: &Chat) {
        self.answers.borrow_mut().begin_turn(&chat.id);
    }

    /// A chat is over: no answer that was given in it stands.
    pub fn end_chat(&self, id: &str) {
        self.answers.borrow_mut().forget(|chat, _| chat == Some(id));
    }

    /// The verdict on a call in the present state.
    fn judge(&self, wish: &RequestedCall<'_>, known: &KnownTool) -> Verdict {
        let (who, principal) = (wish.who(), wish.principal());
        let chat = wish.chat.map(|chat| &*chat.id);
        let call = call((&principal, chat), (wish.source, wish.tool), wish.arguments, known);
        let answers = self.answers.borrow();
        let judge = |read: &Read, typed: &_, typed_calls| {
            let before = Before { read, typed, typed_calls, answers: &answers, now: boot_clock() };
            consent::judge(who, &call, &before)
        };
        match wish.chat {
            Some(chat) => judge(&chat.read(), &chat.typed.borrow(), chat.typed_calls.get()),
            None => judge(&self.nothing, &Typed::new(), 0),
        }
    }

    /// Proof that a call may be made now. The call counts as made.
    pub(super) fn run(&self, wish: &RequestedCall<'_>, known: &KnownTool) -> Option<Run> {
        let Verdict::Run(run) = self.judge(wish, known) else { return None };
        let (principal, chat) = (wish.principal(), wish.chat.map(|chat| &*chat.id));
        let call = call((&principal, chat), (wish.source, wish.tool), wish.arguments, known);
        self.answers.borrow_mut().use_up(&call);
        if let Some(chat) = wish.chat {
            chat.typed_calls.set(chat.typed_calls.get() + u32::from(run.is_typed));
            self.carries(chat, wish, known);
        }
        Some(run)
    }

    /// Notes private names for a closed store that is written after private data was read.
    fn carries(&self, chat: &Chat, wish: &RequestedCall<'_>, known: &KnownTool) {
        let call = call(("", None), (wish.source, wish.tool), wish.arguments, known);
        let names = chat.read().private;
        if names.is_empty() || !consent::stores(&call) {
            return;
        }
        let mut carried = self.carried.borrow_mut();
        let lying = carried.entry(wish.source.to_string()).or_default();
        let new: Names = names.difference(lying).cloned().collect();
        lying.extend(new.iter().cloned());
        drop(carried);
        if !new.is_empty() {
            self.store_carried(wish.source.to_string(), new);
        }
    }

    /// The model of a conversation reads the answer of a call.
    pub(super) fn reads(
        &self,
        chat: &Chat,
        (source, tool): (&SourceId, &str),
        arguments: &str,
        known: &KnownTool,
    ) {
        let call = call(("", None), (source, tool), arguments, known);
        let mut carried = self.carried.borrow().get(source.as_str()).cloned().unwrap_or_default();
        if known.holding.reach != Reach::Closed {
            carried.remove(LOST);
        }
        chat.reads(consent::joins(&call, &carried));
    }

    /// Asks about a call, and waits for the answer.
    async fn ask(
        &self,
        wish: &RequestedCall<'_>,
        known: &KnownTool,
        question: Question,
        (form, patience): (Option<Form>, Duration),
    ) -> Result<Decision, ErrorBody> {
        let who = wish.who();
        let principal = wish.principal();
        let is_new = matches!(question.why, consent::Why::FirstUse | consent::Why::Starts);
        let is_paced = matches!(who, Who::Page | Who::Run) || is_new;
        if is_paced {
            self.paces.may_ask(&principal, self.questions.waiting_of(&principal), wall_clock())?;
        }
        let approval = approval(wish, known, &question, patience)?;
        let shown = Some(question.private).filter(|_| question.why.is_leaving());
        let (asked, receiver) = OpenApproval::new(approval, wish.wanted(known), shown, wish.caller);
        let decision = self.questions.ask(asked, receiver, (wish.chat.cloned(), form), patience).await;
        // A question that nobody was shown does not count.
        if is_paced && decision != Decision::Nobody {
            self.paces.note(&principal, matches!(decision, Decision::Yes(_)), wall_clock());
        }
        Ok(decision)
    }
}

/// The data that a source can reach, open and write. Only known for Harbor's own conversations, since only
/// those have read something that could leave.
pub(super) async fn holding(source: &Rc<dyn ToolSource>, wish: &RequestedCall<'_>) -> Holding {
    match wish.chat {
        Some(_) => source.clone().holding().await,
        None => Holding::UNKNOWN,
    }
}

/// A question in the form for the person.
fn approval(
    wish: &RequestedCall<'_>,
    known: &KnownTool,
    question: &Question,
    patience: Duration,
) -> Result<Approval, ErrorBody> {
    let id = random_token().map_err(|error| call_refusals::no_numbers(&error))?;
    let who = wish.who();
    let tab = match wish.caller {
        Caller::Owner(..) => None,
        Caller::Origin(asker) => asker.tab.as_ref().map(|tab| tab.tab),
    };
    let noes: &[&str] = if question.why == consent::Why::FirstUse { &["no", "never"] } else { &["no"] };
    let answers = question.covers.iter().map(|cover| cover.word()).chain(noes.iter().copied());
    let since = wall_clock();
    Ok(Approval {
        id,
        state: "waiting".into(),
        who: who.word().into(),
        principal: wish.principal().to_string(),
        tab_id: tab,
        own: None,
        session_id: wish.chat.filter(|_| matches!(who, Who::Person(_))).map(|chat| chat.id.to_string()),
        call_id: wish.call_id.map(ToOwned::to_owned),
        tool: format!("{}/{}", wish.source, wish.tool),
        effect: known.effect.word().into(),
        reason: question.why.word().into(),
        why: question.why.sentence().into(),
        private: question.private.iter().cloned().collect(),
        fields: asking::fields(wish.arguments),
        answers: answers.map(ToOwned::to_owned).collect(),
        since,
        until: since.saturating_add(u64::try_from(patience.as_millis()).unwrap_or(u64::MAX)),
    })
}

impl Host {
    /// The facts about a tool or a request and its source, as of now. None while the tool is not known.
    pub(super) async fn known(&self, wish: &RequestedCall<'_>) -> Option<KnownTool> {
        let source = self.sources.get(wish.source)?;
        if wish.is_request {
            return Some(KnownTool::of_request(holding(&source, wish).await));
        }
        let list = source.tools().or_else(|| self.registry.known(&*source))?;
        let tool = list.get(wish.tool)?;
        let holding = holding(&source, wish).await;
        let files = source.files(wish).await;
        Some(self.known_of(wish, Some(tool), (holding, files)))
    }

    /// The facts about a tool of a source with this `holding`, by which these files would be handed over.
    pub(super) fn known_of(
        &self,
        wish: &RequestedCall<'_>,
        tool: Option<&Tool>,
        (holding, files): (Holding, Names),
    ) -> KnownTool {
        let word = self.known_effect(wish.source, wish.tool);
        let effect = match tool {
            Some(tool) => self.effect(wish.source, tool),
            // A tool that is not listed yet counts as the worst, unless the person
            // has named its effect.
            None => said_effect(self, wish.source, wish.tool).unwrap_or(Effect::Destroys),
        };
        let about = self.sources.get(wish.source).map(|source| source.about(wish)).unwrap_or_default();
        let schema = tool.filter(|_| wish.chat.is_some()).and_then(Tool::schema).map(ToOwned::to_owned);
        KnownTool {
            effect,
            is_sure: word.is_some(),
            hash: tool.map(|tool| tool.hash),
            schema,
            holding,
            about,
            files,
        }
    }

    /// The effect of a tool that the person or Harbor's own list has named. None if neither has.
    fn known_effect(&self, source: &SourceId, tool: &str) -> Option<Effect> {
        said_effect(self, source, tool).or_else(|| listed_effect(self, source, tool))
    }

    /// The effect of a tool: by the person's word, else by Harbor's own list, else as the tool says itself.
    #[must_use]
    pub fn effect(&self, source: &SourceId, tool: &Tool) -> Effect {
        // Its source asks the person itself, about each site.
        if is_by_name(source, &tool.name) {
            return Effect::Writes;
        }
        Effect::of(
            tool.annotations(),
            said_effect(self, source, &tool.name),
            listed_effect(self, source, &tool.name),
        )
    }

    /// Judges a call as far as possible before the call is made.
    pub async fn judged(&self, wish: &RequestedCall<'_>) -> Judged {
        let Some(known) = self.known(wish).await else { return Judged::Run };
        if wish.told.is_some_and(|told| Some(told) != known.hash) {
            return Judged::Refuse(call_refusals::changed(wish));
        }
        match self.consent.judge(wish, &known) {
            Verdict::Run(_) => Judged::Run,
            Verdict::Ask(_) => Judged::Ask,
            Verdict::Refuse(why) => Judged::Refuse(call_refusals::refused(wish, why)),
        }
    }

    /// Waits until a call may be made. Asks the person if needed, and returns their yes. Judges the call
    /// again after facts that came later.
    ///
    /// # Errors
    /// Why it may not.
    pub async fn clear(
        &self,
        wish: &RequestedCall<'_>,
        form: Option<Form>,
        time: Duration,
    ) -> Result<Option<Cover>, ErrorBody> {
        let mut yes = None;
        if wish.who() == Who::Typed {
            return Ok(yes);
        }
        for _ in 0..MOST_ASKED {
            let Some(known) = self.known(wish).await else { return Ok(yes) };
            if wish.told.is_some_and(|told| Some(told) != known.hash) {
                return Err(call_refusals::changed(wish));
            }
            let question = match self.consent.judge(wish, &known) {
                Verdict::Run(_) => return Ok(yes),
                Verdict::Refuse(why) => return Err(call_refusals::refused(wish, why)),
                Verdict::Ask(question) => question,
            };
            let patience = match wish.who() {
                Who::Person(_) => OF_PERSON,
                Who::Run => OF_RUN,
                _ => time.min(AT_MOST),
            };
            let (why, shown) = (question.why, question.private.clone());
            let decision = self.consent.ask(wish, &known, question, (form.clone(), patience)).await?;
            self.note_decision_of(wish, &decision).await;
            match decision {
                Decision::Yes(cover) => {
                    yes = Some(cover);
                    self.consent.take(&wish.wanted(&known), cover, shown).await;
                }
                Decision::Never => return Err(call_refusals::declined(wish, None)),
                Decision::No(reason) => {
                    self.consent.deny(&wish.wanted(&known));
                    return Err(call_refusals::declined(wish, reason));
                }
                Decision::Silence => return Err(call_refusals::unanswered(wish, why)),
                Decision::Nobody => return Err(call_refusals::nobody(wish, why)),
            }
        }
        match self.judged(wish).await {
            Judged::Run => Ok(yes),
            Judged::Ask => Err(changed_twice(wish)),
            Judged::Refuse(error) => Err(error),
        }
    }
}
