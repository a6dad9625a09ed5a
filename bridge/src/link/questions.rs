//! A server's questions while it works on a call, on their way to the maker of the call.
//!
//! ```text
//!  Ask ─► whose call? ─┬─ a client's that can answer ─► Answerer ─► Question ─► answer, or dropped: refused
//!                      └─ nobody's ──────────────────► an event: the supervisor decides
//! ```
//!
//! Owns the promise that each question is answered once. A question of a server of the older generation belongs to no call. It is
//! passed on only while all open calls are of one party, so that nobody is asked about somebody else's.

use std::cell::Cell;
use std::rc::{Rc, Weak};

use harbor_ipc_proto::json::{Fields, Json};
use harbor_ipc_proto::link::runner::{AskAnswer, ToRunner};

use super::Link;

/// The methods that may be passed on, and MCP's capability for each.
const METHODS: &[(&str, &str)] =
    &[("sampling/createMessage", "sampling"), ("elicitation/create", "elicitation")];

/// JSON-RPC's number for what the client did not want, in MCP.
const REJECTED: i64 = -1;

/// The party that answers a server's questions.
#[derive(Clone)]
pub struct Answerer {
    capabilities: Rc<str>,
    methods: Rc<[&'static str]>,
    on_question: Rc<dyn Fn(Question)>,
}

impl Answerer {
    /// An answerer for these client capabilities of MCP. None if they name no method.
    pub fn new(capabilities: &Json, on_question: impl Fn(Question) + 'static) -> Option<Self> {
        let fields = Fields::parse(capabilities.as_str().as_bytes()).ok()?;
        let can = |name: &str| fields.get(name).filter(|value| value.starts_with('{'));
        let known = METHODS.iter().filter_map(|(method, name)| Some((*method, *name, can(name)?)));
        let (methods, members): (Vec<_>, Vec<_>) =
            known.map(|(method, name, value)| (method, format!("\"{name}\":{value}"))).unzip();
        let capabilities = format!("{{{}}}", members.join(",")).into();
        let on_question = Rc::new(on_question);
        (!methods.is_empty()).then(|| Self { capabilities, methods: methods.into(), on_question })
    }

    /// MCP's client capabilities: the questions that it can answer.
    #[must_use]
    pub fn capabilities(&self) -> &str {
        &self.capabilities
    }

    /// The method, if this answerer can answer it.
    pub(super) fn takes(&self, method: &str) -> Option<&'static str> {
        self.methods.iter().copied().find(|known| *known == method)
    }

    pub(super) fn ask(&self, question: Question) {
        (self.on_question)(question);
    }
}

/// A question with an answerer: the call that it is about, and the method by the name used here.
pub(super) struct RoutedQuestion {
    pub call: u64,
    pub answerer: Answerer,
    pub method: &'static str,
}

/// A question of a server. Dropped without an answer, it is refused.
#[derive(Debug)]
pub struct Question {
    /// MCP's method.
    pub method: &'static str,
    /// Its parameters, as the server wrote them.
    pub params: Json,
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
        method: &'static str,
        params: Json,
    ) -> Self {
        Self { method, params, link: Rc::downgrade(link), server, call, ask, answered: Cell::new(false) }
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
        "elicitation/create" => AskAnswer::Result("{\"action\":\"cancel\"}".into()),
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
        answerer.map(|answerer| answerer.capabilities().to_owned())
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
}
