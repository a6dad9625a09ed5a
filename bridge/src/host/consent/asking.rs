//! Questions about calls: opened, shown wherever the person may be, answered once.
//!
//! ```text
//!  Asked ─► waiting ─┬─ approvals_answer, from anywhere ─┬─► Decision
//!                    ├─ the form of an AI client ────────┘
//!                    ├─ its caller leaves ─► gone: the guard is dropped
//!                    └─ its time is over ──► missed: a yes still lets the same call through when it is made again
//! ```
//!
//! Owns which questions are open. Must never answer one for the person.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::{Approval, ApprovalField};
use harbor_policy::consent::answers::{A_WHILE, Cover};
use harbor_policy::consent::{Names, Why, shown};
use tokio::sync::oneshot;

use super::chat::Chat;
use super::requested_call::QuestionedCall;
use crate::host::asker::{Asker, Caller};
use crate::host::news::{HostEvent, Listeners};

/// Most questions that may be open or missed.
const MOST: usize = 256;

/// The word for a server that wants a language model's answer, among those who act.
pub(super) const SERVER: &str = "server";

/// The person's answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Yes, and the calls that this covers.
    Yes(Cover),
    /// No, and the text that the model gets.
    No(Option<String>),
    /// No, and never again for this client and source.
    Never,
    /// No answer while it was waited for.
    Silence,
    /// Nobody was there to be asked.
    Nobody,
}

/// Asks the person by the form of an AI client, and returns the answer.
pub type Form = Rc<dyn Fn(&Approval) -> Pin<Box<dyn Future<Output = Option<Decision>>>>>;

/// The subject of a question.
#[derive(Debug)]
pub(super) enum QuestionSubject {
    /// A call, or what a server asks of a model.
    Call(Box<QuestionedCall>),
    /// A plan, as the JSON object that is shown.
    Plan(String),
}

impl QuestionSubject {
    /// The arguments in full, a JSON object.
    pub fn arguments(&self) -> &str {
        match self {
            Self::Call(wanted) => &wanted.arguments,
            Self::Plan(shown) => shown,
        }
    }
}

/// A question.
#[derive(Debug)]
pub(super) struct OpenApproval {
    pub approval: Approval,
    pub subject: QuestionSubject,
    /// The origin that asks, where it is one.
    pub asker: Option<Asker>,
    /// The private names that were shown.
    pub shown: Option<Names>,
    /// The connection whose request it is about.
    pub client: u64,
    answer: RefCell<Option<oneshot::Sender<Decision>>>,
    /// The time since which nobody has waited for an answer.
    missed: Cell<u64>,
}

/// The questions that are open, and those that were missed.
#[derive(Debug)]
pub(super) struct OpenApprovals {
    open: RefCell<BTreeMap<String, Rc<OpenApproval>>>,
    /// Connections that show questions to the person.
    faces: Cell<u32>,
    listeners: Rc<Listeners>,
}

/// While this exists, a connection shows questions.
#[derive(Debug)]
pub struct QuestionDisplayGuard(Rc<OpenApprovals>);

impl Drop for QuestionDisplayGuard {
    fn drop(&mut self) {
        self.0.faces.set(self.0.faces.get().saturating_sub(1));
    }
}

/// While this exists, a question is open.
struct OpenApprovalGuard<'a> {
    questions: &'a OpenApprovals,
    asked: Rc<OpenApproval>,
    chat: Option<Rc<Chat>>,
    stays: bool,
}

impl Drop for OpenApprovalGuard<'_> {
    fn drop(&mut self) {
        self.asked.missed.set(wall_clock());
        if !self.stays {
            self.questions.open.borrow_mut().remove(&self.asked.approval.id);
        }
        self.questions.tell(&self.asked, self.chat.as_deref(), false);
    }
}

impl OpenApprovals {
    pub fn new(listeners: Rc<Listeners>) -> Self {
        Self { listeners, open: RefCell::default(), faces: Cell::default() }
    }

    pub fn face(self: &Rc<Self>) -> QuestionDisplayGuard {
        self.faces.set(self.faces.get() + 1);
        QuestionDisplayGuard(self.clone())
    }

    /// Asks, and waits for the answer. Dropping the future takes the question back.
    pub async fn ask(
        &self,
        asked: OpenApproval,
        receiver: oneshot::Receiver<Decision>,
        (chat, form): (Option<Rc<Chat>>, Option<Form>),
        patience: Duration,
    ) -> Decision {
        let asked = Rc::new(asked);
        self.make_room();
        self.open.borrow_mut().insert(asked.approval.id.clone(), asked.clone());
        let is_seen =
            chat.is_some() && asked.approval.session_id.is_some() || self.faces.get() > 0 || form.is_some();
        let mut open = OpenApprovalGuard { questions: self, asked: asked.clone(), chat, stays: false };
        // A question that ends with its chat does not stay: no later call could use the answer.
        let may_stay = matches!(&*asked.approval.who, "page" | "client" | SERVER);
        if !is_seen {
            open.stays = may_stay;
            return Decision::Nobody;
        }
        self.tell(&asked, open.chat.as_deref(), true);
        let formed = async {
            match form {
                // A form that was closed without an answer leaves the
                // question to others that show it.
                Some(form) => match form(&asked.approval).await {
                    Some(decision) => decision,
                    None if self.faces.get() == 0 => Decision::Silence,
                    None => std::future::pending().await,
                },
                None => std::future::pending().await,
            }
        };
        let decision = tokio::select! {
            biased;
            answer = receiver => answer.unwrap_or(Decision::Silence),
            decision = formed => decision,
            () = tokio::time::sleep(patience) => Decision::Silence,
        };
        open.stays = decision == Decision::Silence && may_stay;
        decision
    }

    /// Takes an answer. Returns the question, and true if it was still waited for.
    pub fn answer(&self, id: &str, decision: &Decision) -> Option<(Rc<OpenApproval>, bool)> {
        let asked = self.open.borrow_mut().remove(id)?;
        let waits =
            asked.answer.borrow_mut().take().is_some_and(|sender| sender.send(decision.clone()).is_ok());
        Some((asked, waits))
    }

    /// The question with this id.
    pub fn find(&self, id: &str) -> Option<Rc<OpenApproval>> {
        self.open.borrow().get(id).cloned()
    }

    /// All questions that wait or were missed, the oldest first.
    pub fn all(&self) -> Vec<Rc<OpenApproval>> {
        let now = wall_clock();
        self.open.borrow_mut().retain(|_, asked| asked.is_waiting() || now < asked.missed.get() + A_WHILE);
        let mut all: Vec<_> = self.open.borrow().values().cloned().collect();
        all.sort_by(|a, b| (a.approval.since, &a.approval.id).cmp(&(b.approval.since, &b.approval.id)));
        all
    }

    /// How many questions of an origin wait.
    pub fn waiting_of(&self, principal: &str) -> usize {
        let is_of = |asked: &&Rc<OpenApproval>| asked.approval.principal == principal && asked.is_waiting();
        self.open.borrow().values().filter(is_of).count()
    }

    /// Drops the missed questions of a principal: a newer one stands for them.
    pub fn forget_missed(&self, principal: &str) {
        let is_missed = |asked: &OpenApproval| asked.approval.principal == principal && !asked.is_waiting();
        self.open.borrow_mut().retain(|_, asked| !is_missed(asked));
    }

    /// Drops the oldest missed questions where there are too many.
    fn make_room(&self) {
        let missed = self.all().into_iter().filter(|asked| !asked.is_waiting());
        let many = self.open.borrow().len().saturating_sub(MOST - 1);
        missed.take(many).for_each(|asked| drop(self.open.borrow_mut().remove(&asked.approval.id)));
    }

    fn tell(&self, asked: &OpenApproval, chat: Option<&Chat>, waits: bool) {
        let approval = &asked.view();
        chat.iter().for_each(|chat| chat.tell(approval, waits));
        self.listeners.tell(&HostEvent::Question { approval, client: asked.client, waits });
    }
}

impl OpenApproval {
    /// A question about the call that a caller wants, and the receiver of its answer.
    pub fn new(
        approval: Approval,
        wanted: QuestionedCall,
        shown: Option<Names>,
        caller: &Caller,
    ) -> (Self, oneshot::Receiver<Decision>) {
        let (sender, receiver) = oneshot::channel();
        let asker = match caller {
            Caller::Owner(..) => None,
            Caller::Origin(asker) => Some(asker.clone()),
        };
        let (client, answer) = (caller.sender().client, RefCell::new(Some(sender)));
        let subject = QuestionSubject::Call(Box::new(wanted));
        (Self { approval, subject, asker, shown, client, answer, missed: Cell::default() }, receiver)
    }

    /// A question about what a server asks of a model during a call of the connection `client`.
    pub fn about_model(
        approval: Approval,
        wanted: QuestionedCall,
        client: u64,
    ) -> (Self, oneshot::Receiver<Decision>) {
        Self::without_caller(approval, QuestionSubject::Call(Box::new(wanted)), client)
    }

    /// A question about a plan in a turn of the connection `client`.
    pub fn about_plan(approval: Approval, shown: String, client: u64) -> (Self, oneshot::Receiver<Decision>) {
        Self::without_caller(approval, QuestionSubject::Plan(shown), client)
    }

    fn without_caller(
        approval: Approval,
        subject: QuestionSubject,
        client: u64,
    ) -> (Self, oneshot::Receiver<Decision>) {
        let (sender, receiver) = oneshot::channel();
        let answer = RefCell::new(Some(sender));
        (
            Self { approval, subject, asker: None, shown: None, client, answer, missed: Cell::default() },
            receiver,
        )
    }

    /// True if a server wants a language model's answer.
    pub fn is_about_model(&self) -> bool {
        *self.approval.reason == *Why::Sampling.word()
    }

    /// True if a client wants a language model to read a page.
    pub fn is_about_reading(&self) -> bool {
        *self.approval.reason == *Why::Reading.word()
    }

    /// True if the question is about a source that its client was not given.
    pub fn is_first_use(&self) -> bool {
        *self.approval.reason == *Why::FirstUse.word()
    }

    /// True if a stopped server would be started for it.
    pub fn is_about_start(&self) -> bool {
        *self.approval.reason == *Why::Starts.word()
    }

    /// True if its caller still waits.
    pub fn is_waiting(&self) -> bool {
        self.answer.borrow().as_ref().is_some_and(|sender| !sender.is_closed())
    }

    /// The question in its present state.
    pub fn view(&self) -> Approval {
        let state = match &*self.answer.borrow() {
            None => "answered",
            Some(sender) if sender.is_closed() => "missed",
            Some(_) => "waiting",
        };
        Approval { state: state.into(), ..self.approval.clone() }
    }
}

/// The arguments of a call in the form for the person.
pub(super) fn fields(arguments: &str) -> Vec<ApprovalField> {
    let shown = shown::fields(arguments).into_iter();
    shown.map(|shown::Field { key, text, bytes }| ApprovalField { key, text, bytes }).collect()
}
