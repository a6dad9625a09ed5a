//! The lists that a running server offers: fetched after contact, and again whenever it says that they changed.
//!
//! Items stay the text that the server wrote. The flaws of a list are kept beside it, to be told. A server with broken prompts
//! still has its tools, and a list that could not be fetched stays what it was.

use std::cell::{Cell, RefCell};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::{List, Operation};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::link::{Audience, CallError, Failure, Link, ServerAnswer, TimeLimit, ToolList, one_line};

/// How long one list may take.
const LIMIT: Duration = Duration::from_secs(30);

/// How long an unannounced list may take, since some servers do not answer unknown requests.
const UNANNOUNCED_LIMIT: Duration = Duration::from_secs(2);

/// The longest pause between two rounds. It doubles as long as a server tells of changes where there are none.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The bounds of the pause between two rounds. A server that reports changes without end is asked no more often.
const PAUSE: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(1);

/// The part of that pause for each item of the lists: their length takes the bridge's time.
const PAUSE_PER_ITEM: Duration = Duration::from_micros(50);

/// One of the lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// Tools.
    Tools,
    /// Resources.
    Resources,
    /// Resource templates.
    ResourceTemplates,
    /// Prompts.
    Prompts,
}

impl ListKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Resources, Self::ResourceTemplates, Self::Prompts];

    /// The request for it.
    #[must_use]
    pub fn operation(self) -> Operation<'static> {
        match self {
            Self::Tools => Operation::ListTools,
            Self::Resources => Operation::ListResources,
            Self::ResourceTemplates => Operation::ListResourceTemplates,
            Self::Prompts => Operation::ListPrompts,
        }
    }

    /// The list's name in a sentence.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resource templates",
            Self::Prompts => "prompts",
        }
    }

    /// The lists that a server announces by its capabilities.
    fn announced(capabilities: &Json) -> u8 {
        #[derive(Deserialize, Default)]
        struct Capabilities {
            tools: Option<IgnoredAny>,
            resources: Option<IgnoredAny>,
            prompts: Option<IgnoredAny>,
        }
        let said: Capabilities = serde_json::from_str(capabilities.as_str()).unwrap_or_default();
        let resources = Self::Resources.bit() | Self::ResourceTemplates.bit();
        let bits = [
            said.tools.map(|_| Self::Tools.bit()),
            said.resources.map(|_| resources),
            said.prompts.map(|_| Self::Prompts.bit()),
        ];
        bits.into_iter().flatten().fold(0, |all, bits| all | bits)
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The lists that a change of `list` concerns.
    pub(super) fn changed_by(list: List) -> &'static [Self] {
        match list {
            List::Tools => &[Self::Tools],
            List::Resources => &[Self::Resources, Self::ResourceTemplates],
            List::Prompts => &[Self::Prompts],
        }
    }
}

/// A list as text, and its number of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The array.
    pub items: Json,
    /// The number of its items.
    pub count: u32,
    /// The flaws of the items, a sentence each.
    pub flaws: Vec<String>,
    /// The reason why the list could not be fetched the last time.
    pub error: Option<String>,
}

impl Default for Fetched {
    fn default() -> Self {
        Self { items: Json::from_valid("[]".into()), count: 0, flaws: Vec::new(), error: None }
    }
}

/// Tells if a list is another one than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListChange {
    None,
    Some,
}

/// The lists of one start of a server.
#[derive(Debug, Default)]
pub(super) struct Lists {
    lists: RefCell<[Fetched; 4]>,
    /// A bit for each list that the server has announced.
    announced: u8,
    /// Its tools; `None` until they were fetched once.
    tools: RefCell<Option<Rc<ToolList>>>,
    /// True once the tools were fetched, or given up.
    tools_settled: Cell<bool>,
    /// True once they were told of.
    tools_told: Cell<bool>,
    /// A bit for each list that must be fetched.
    wanted: Cell<u8>,
    fetching: Cell<bool>,
    /// The time at which the next round may begin. None before the first.
    next_round: Cell<Option<Instant>>,
    /// The pause before it.
    pause: Cell<Duration>,
    complete: Cell<bool>,
    completed: Notify,
}

impl Lists {
    /// The lists of a server with these capabilities.
    pub(super) fn of(capabilities: &Json) -> Self {
        Self { announced: ListKind::announced(capabilities), ..Self::default() }
    }

    /// True if the server should have such a list. A server that announces no list at all may have tools, as many do.
    fn is_expected(&self, kind: ListKind) -> bool {
        self.announced & kind.bit() != 0 || self.announced == 0 && kind == ListKind::Tools
    }

    /// The list as it was last fetched.
    pub(super) fn get(&self, kind: ListKind) -> Fetched {
        self.lists.borrow()[kind as usize].clone()
    }

    /// A part of a list as it was last fetched, since a whole list may be long.
    pub(super) fn look<T>(&self, kind: ListKind, look: impl FnOnce(&Fetched) -> T) -> T {
        look(&self.lists.borrow()[kind as usize])
    }

    /// Its tools as they were fetched last.
    pub(super) fn tools(&self) -> Option<Rc<ToolList>> {
        self.tools.borrow().clone()
    }

    /// Replaces texts in its tools by `hide`. Tools with such a text in their names are left out; returns their number.
    pub(super) fn hide(&self, hide: impl Fn(&str) -> Option<String>) -> usize {
        let Some(tools) = self.tools() else { return 0 };
        let hidden = tools.hidden(hide);
        let left_out = tools.len() - hidden.len();
        *self.tools.borrow_mut() = Some(Rc::new(hidden));
        left_out
    }

    /// Waits until the tools were fetched once, or given up.
    pub(super) async fn tools_settled(&self) {
        while !self.tools_settled.get() {
            self.completed.notified().await;
        }
    }

    /// True if its tools are told of for the first time.
    pub(super) fn is_first_telling(&self) -> bool {
        !self.tools_told.replace(true)
    }

    /// True if something is being fetched.
    pub(super) fn is_fetching(&self) -> bool {
        self.fetching.get()
    }

    /// Waits until nothing is being fetched.
    pub(super) async fn fetched(&self) {
        while self.fetching.get() {
            self.completed.notified().await;
        }
    }

    fn settle_tools(&self) {
        self.tools_settled.set(true);
        self.completed.notify_waiters();
    }

    /// Waits until all lists were fetched once, or given up.
    pub(super) async fn complete(&self) {
        while !self.complete.get() {
            self.completed.notified().await;
        }
    }

    /// Marks the lists as complete: those who wait go on.
    pub(super) fn mark_complete(&self) {
        self.complete.set(true);
        self.settle_tools();
    }

    /// Notes that these lists must be fetched. True if the caller must fetch them. However often a server
    /// reports changes, one round of requests is under way, and at most one waits.
    pub(super) fn want(&self, kinds: &[ListKind]) -> bool {
        let bits = kinds.iter().fold(0, |bits, kind| bits | kind.bit());
        self.wanted.set(self.wanted.get() | bits);
        !self.fetching.replace(true)
    }

    /// Fetches the wanted lists, all of a round at once, until none is wanted. `tell` hears of each list that is another one than
    /// before, and of each that could not be had.
    pub(super) async fn fetch_wanted(
        &self,
        link: &Rc<Link>,
        server: u32,
        check_output: bool,
        tell: impl Fn(ListKind, Result<ListChange, String>),
    ) {
        loop {
            let is_restless =
                self.next_round.get().is_some_and(|due| Instant::now() < due + self.pause.get());
            if let Some(next_round) = self.next_round.get() {
                tokio::time::sleep_until(next_round).await;
            }
            let wanted = self.wanted.take();
            let fetch = async |kind: ListKind| {
                if wanted & kind.bit() == 0 {
                    return false;
                }
                let operation = match kind {
                    ListKind::Tools => Operation::FetchTools { check_output },
                    kind => kind.operation(),
                };
                let fetched = self.fetch(link, server, kind, operation).await;
                let is_other = matches!(fetched, Ok(ListChange::Some));
                tell(kind, fetched);
                is_other
            };
            let [first, second, third, fourth] = ListKind::ALL;
            let others = tokio::join!(fetch(first), fetch(second), fetch(third), fetch(fourth));
            self.rest(is_restless && others == (false, false, false, false));
            self.mark_complete();
            if self.wanted.get() == 0 {
                self.fetching.set(false);
                return self.completed.notify_waiters();
            }
        }
    }

    /// Sets the pause before the next round. `idly` is true if the last round came right after its pause and changed nothing.
    fn rest(&self, idly: bool) {
        let items = self.lists.borrow().iter().map(|list| list.count).fold(0, u32::saturating_add);
        let shortest = PAUSE_PER_ITEM.saturating_mul(items).clamp(*PAUSE.start(), *PAUSE.end());
        let doubled = self.pause.get().saturating_mul(2).clamp(shortest, LONGEST_PAUSE);
        self.pause.set(if idly { doubled } else { shortest });
        self.next_round.set(Some(Instant::now() + self.pause.get()));
    }

    fn put(&self, kind: ListKind, items: Json, count: u32, flaws: Vec<String>) -> ListChange {
        let list = &mut self.lists.borrow_mut()[kind as usize];
        let before = std::mem::replace(list, Fetched { items, count, flaws, error: None });
        if before.items == list.items { ListChange::None } else { ListChange::Some }
    }

    /// Fetches one list; says why when it could not, and keeps that.
    async fn fetch(
        &self,
        link: &Rc<Link>,
        server: u32,
        kind: ListKind,
        operation: Operation<'_>,
    ) -> Result<ListChange, String> {
        match self.ask(link, server, kind, operation).await {
            Err(_) if !self.is_expected(kind) => Ok(ListChange::None),
            Err(why) => {
                self.lists.borrow_mut()[kind as usize].error = Some(why.clone());
                Err(why)
            }
            fetched => fetched,
        }
    }

    async fn ask(
        &self,
        link: &Rc<Link>,
        server: u32,
        kind: ListKind,
        operation: Operation<'_>,
    ) -> Result<ListChange, String> {
        let limit = if self.is_expected(kind) { LIMIT } else { UNANNOUNCED_LIMIT };
        let call = link.call(server, operation, TimeLimit::fixed(limit), Audience::default());
        match call.map_err(|_| "its runner has ended".to_owned())?.await {
            Ok(ServerAnswer::Tools(items, tools, flaws)) if kind == ListKind::Tools => {
                let count = u32::try_from(tools.len()).unwrap_or(u32::MAX);
                let change = self.put(kind, items, count, flaws);
                *self.tools.borrow_mut() = Some(Rc::new(tools));
                self.settle_tools();
                Ok(change)
            }
            Ok(ServerAnswer::Items(items, count, flaws)) => Ok(self.put(kind, items, count, flaws)),
            // A server without templates may well not know the request for them.
            Ok(ServerAnswer::ServerError { .. }) if kind == ListKind::ResourceTemplates => {
                Ok(ListChange::None)
            }
            Ok(ServerAnswer::ServerError { code, message, .. }) => {
                Err(format!("{} ({code})", one_line(&message)))
            }
            // It has ended meanwhile, and its end says more.
            Ok(ServerAnswer::Failed(Failure::NotConnected)) => Ok(ListChange::None),
            Ok(ServerAnswer::Failed(failure)) => Err(one_line(&failure.in_short())),
            Ok(ServerAnswer::Result(_) | ServerAnswer::ToolError(_) | ServerAnswer::Tools(..)) => {
                Err("the runner sent another kind of answer".into())
            }
            Err(CallError::Timeout | CallError::Unanswered) => Err("the list took too long".into()),
            Err(_) => Ok(ListChange::None),
        }
    }
}
