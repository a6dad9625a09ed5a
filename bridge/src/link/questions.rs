//! A server's questions while it works on a call, on their way to the maker of the call.
//!
//! ```text
//!  Ask ─► whose call? ─┬─ a client's that can answer ─► Answerer ─► Question ─► answer, or dropped: refused
//!                      │    └─ it cannot, and the server samples ─► a model of the person's, likewise
//!                      └─ nobody's ──────────────────► an event: the supervisor decides
//! ```
//!
//! Owns the promise that each question is answered once. A question of a server of the older generation belongs to no call. It is
//! passed on only while all open calls are of one party, so that nobody is asked about somebody else's.

use std::cell::Cell;
use std::rc::{Rc, Weak};
use std::time::Instant;

use harbor_ipc_proto::json::{Fields, Json};
use harbor_ipc_proto::link::runner::{AskAnswer, ToRunner};
use harbor_policy::sampling;

use super::Link;

/// The methods that may be passed on, and MCP's capability for each.
const METHODS: &[(&str, &str)] = &[(sampling::METHOD, "sampling"), (FORM, "elicitation")];

/// A server may put so many forms to the person during one call; each further one is cancelled at once.
const MOST_FORMS: u32 = 16;
const FORM: &str = "elicitation/create";

/// The calls of a script, which asks whoever runs it. No server may: a client that is a server, too, has no such method.
const SCRIPT: &str = "tools/call";

/// JSON-RPC's number for what the client did not want, in MCP.
pub const REJECTED: i64 = -1;

/// The party that answers a server's questions.
#[derive(Clone)]
pub struct Answerer {
    capabilities: Option<Rc<str>>,
    methods: Rc<[&'static str]>,
    on_question: Rc<dyn Fn(Question)>,
    /// The forms of this call so far.
    forms: Rc<Cell<u32>>,
    /// Answers for the party what the server asks of a model.
    model: Option<Rc<dyn Fn(Question)>>,
}

impl Answerer {
    /// An answerer for these client capabilities of MCP. None if they name no method.
    pub fn new(capabilities: &Json, on_question: impl Fn(Question) + 'static) -> Option<Self> {
        let fields = Fields::parse(capabilities.as_str().as_bytes()).ok()?;
        let can = |name: &str| fields.get(name).filter(|value| value.starts_with('{'));
        let known = METHODS.iter().filter_map(|(method, name)| Some((*method, *name, can(name)?)));
        let (methods, members): (Vec<_>, Vec<_>) =
            known.map(|(method, name, value)| (method, format!("\"{name}\":{value}"))).unzip();
        let capabilities = Some(format!("{{{}}}", members.join(",")).into());
        let on_question = Rc::new(on_question);
        (!methods.is_empty()).then(|| Self {
            capabilities,
            methods: methods.into(),
            on_question,
            forms: Rc::default(),
            model: None,
        })
    }

    /// An answerer for the calls of tools that a script makes.
    #[must_use]
    pub fn of_script(on_call: impl Fn(Question) + 'static) -> Self {
        let on_question = Rc::new(on_call);
        Self { capabilities: None, methods: [SCRIPT].into(), on_question, forms: Rc::default(), model: None }
    }

    /// A party for which `model` answers what a server asks of a model, unless the party does so itself.
    #[must_use]
    pub fn with_model(party: Option<Self>, model: impl Fn(Question) + 'static) -> Self {
        let nobody = || Self {
            capabilities: None,
            methods: [].into(),
            on_question: Rc::new(drop),
            forms: Rc::default(),
            model: None,
        };
        Self { model: Some(Rc::new(model)), ..party.unwrap_or_else(nobody) }
    }

    /// MCP's client capabilities: the questions that the party itself can answer, if there are any. Servers of the generation that
    /// hears of them with each call are not offered a model: there it is on its way out of MCP.
    #[must_use]
    pub fn capabilities(&self) -> Option<&str> {
        self.capabilities.as_deref()
    }

    /// The method, if this answerer can answer it.
    pub(super) fn takes(&self, method: &str) -> Option<&'static str> {
        let own = self.methods.iter().copied().find(|known| *known == method);
        own.or_else(|| (self.model.is_some() && method == sampling::METHOD).then_some(sampling::METHOD))
    }

    pub(super) fn ask(&self, question: Question) {
        if question.method == FORM && self.forms.replace(self.forms.get().saturating_add(1)) >= MOST_FORMS {
            return;
        }
        match &self.model {
            Some(model) if !self.methods.contains(&question.method) => model(question),
            _ => (self.on_question)(question),
        }
    }
}

/// A question with an answerer: the call that it is about, and the method by the name used here.
pub(super) struct RoutedQuestion {
    pub call: u64,
    pub answerer: Answerer,
    pub method: &'static str,
    pub until: Instant,
}

/// A question of a server. Dropped without an answer, it is refused.
#[derive(Debug)]
pub struct Question {
    /// MCP's method.
    pub method: &'static str,
    /// Its parameters, as the server wrote them.
    pub params: Json,
    /// When its call ends without an answer.
    pub until: Instant,
    link: Weak<Link>,
    server: u32,
    call: u64,
    ask: u64,
    answered: Cell<bool>,
}

impl Question {
    /// The question number `ask` of a server about a call.
    pub(super) fn new(
        link: &Rc<Link>,
        (server, call, ask): (u32, u64, u64),
        (method, until): (&'static str, Instant),
        params: Json,
    ) -> Self {
        Self {
            method,
            params,
            until,
            link: Rc::downgrade(link),
            server,
            call,
            ask,
            answered: Cell::new(false),
        }
    }

    /// Answers it.
    pub fn answer(self, answer: AskAnswer<'_>) {
        self.send(answer);
    }

    fn send(&self, answer: AskAnswer<'_>) {
        if !self.answered.replace(true)
            && let Some(link) = self.link.upgrade()
        {
            link.send(&ToRunner::Answer { server: self.server, ask: self.ask, answer });
            link.on_answered(self.call);
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.send(nobody_answers(self.method));
    }
}

/// The answer to a question that nobody answers, in MCP's words.
#[must_use]
pub fn nobody_answers(method: &str) -> AskAnswer<'static> {
    match method {
        FORM => AskAnswer::Result("{\"action\":\"cancel\"}".into()),
        _ => AskAnswer::Refused {
            code: REJECTED,
            message: format!("the client that made this call does not answer {method}").into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities(text: &str) -> Option<String> {
        let answerer = Answerer::new(&Json::from_valid(text.into()), drop);
        answerer.and_then(|answerer| answerer.capabilities().map(ToOwned::to_owned))
    }

    #[test]
    fn only_what_can_be_passed_on_is_a_capability() {
        for text in ["{}", r#"{"roots":{}}"#, r#"{"sampling":true,"elicitation":null}"#, "7"] {
            assert_eq!(capabilities(text), None, "{text}");
        }
        let given = r#"{"roots":{"x":1},"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}}}"#;
        let kept = r#"{"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#;
        assert_eq!(capabilities(given).as_deref(), Some(kept));
        let one = Answerer::new(&Json::from_valid(r#"{"elicitation":{}}"#.into()), drop).unwrap();
        assert_eq!(one.takes("elicitation/create"), Some("elicitation/create"));
        assert_eq!((one.takes("sampling/createMessage"), one.takes("roots/list")), (None, None));
        let nested =
            Answerer::new(&Json::from_valid(r#"{"elicitation":{"sampling":{}}}"#.into()), drop).unwrap();
        assert_eq!(nested.takes("sampling/createMessage"), None);
    }

    #[test]
    fn a_server_puts_so_many_forms_to_the_person_and_no_more() {
        let asked = Rc::new(Cell::new(0));
        let count = asked.clone();
        let answerer = Answerer::new(&Json::from_valid(r#"{"elicitation":{}}"#.into()), move |_| {
            count.set(count.get() + 1);
        })
        .unwrap();
        let question = |method| Question {
            method,
            params: Json::from_valid("{}".into()),
            until: Instant::now(),
            link: Weak::new(),
            server: 0,
            call: 0,
            ask: 0,
            answered: Cell::new(false),
        };
        (0..MOST_FORMS + 5).for_each(|_| answerer.ask(question(FORM)));
        assert_eq!(asked.get(), MOST_FORMS);
    }

    #[test]
    fn a_model_takes_what_is_asked_of_one_unless_the_party_does_and_offers_nothing() {
        let with_model = |text: &str| {
            let party = Answerer::new(&Json::from_valid(text.into()), drop);
            let answerer = Answerer::with_model(party, drop);
            let takes =
                METHODS.iter().map(|(method, _)| answerer.takes(method).is_some()).collect::<Vec<_>>();
            (answerer.capabilities().map(ToOwned::to_owned), takes)
        };
        assert_eq!(with_model("{}"), (None, vec![true, false]));
        let given = r#"{"elicitation":{"form":{}}}"#;
        assert_eq!(with_model(given), (Some(given.to_owned()), vec![true, true]));
        let asked = |text: &str| {
            let heard = Rc::new(Cell::new(""));
            let (party, model) = (heard.clone(), heard.clone());
            let party = Answerer::new(&Json::from_valid(text.into()), move |_| party.set("party"));
            let answerer = Answerer::with_model(party, move |_| model.set("model"));
            let link = Weak::new();
            let (method, until) = (sampling::METHOD, Instant::now());
            let answered = Cell::new(true);
            let params = Json::from_valid("{}".into());
            answerer.ask(Question { method, params, until, link, server: 1, call: 1, ask: 1, answered });
            heard.get()
        };
        assert_eq!(asked(r#"{"elicitation":{}}"#), "model");
        assert_eq!(asked(r#"{"sampling":{},"elicitation":{}}"#), "party");
    }
}
