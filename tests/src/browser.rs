//! A browser with Harbor's extension in it, as far as the bridge can tell: it speaks over the native host, and does what the test
//! says.
//!
//! Owns the extension's half of the messages about tool sources. A call is answered when the test answers it, never by itself.

use harbor_ipc_proto::client::{
    Hello, SourceCall, SourceCancel, SourceEvent, SourceEventResult, SourceFile, SourceFileResult,
    SourceRegister, SourceResult, SourceSessionEnded,
};
use harbor_ipc_proto::field::{JsonObject, Message as _};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::source_id::SourceId;
use serde_json::{Value, json};

use crate::client::typed;
use crate::{ErrorValue, Home, LIMIT, Relay};

/// The browser.
#[derive(Debug)]
pub struct Browser {
    relay: Relay,
    /// The id that the bridge has given it.
    pub source: String,
}

impl Browser {
    /// Starts the native host, names the browser session, and registers.
    ///
    /// # Panics
    /// When the bridge refuses.
    #[must_use]
    pub fn start(home: &Home, name: &str, session: &str) -> Self {
        Self::able(home, name, session, &[])
    }

    /// A browser with abilities that not every one has.
    ///
    /// # Panics
    /// When the bridge refuses.
    #[must_use]
    pub fn able(home: &Home, name: &str, session: &str, abilities: &[&str]) -> Self {
        let relay = Relay::chrome(home, &[]);
        let hello = Hello {
            protocol: None,
            client: None,
            chunks: None,
            max_frame: None,
            browser_session: Some(session.to_owned()),
        };
        relay.reply(&hello).expect("a session may be named once");
        let register = SourceRegister {
            kind: "browser".into(),
            name: name.to_owned(),
            tools: None,
            abilities: Some(abilities.iter().map(ToString::to_string).collect()),
            origin: None,
            tab_id: None,
        };
        let source = relay.reply(&register).expect("a browser may register").source_id;
        Self { relay, source }
    }

    /// Offers the tools of a page, and gives the source's id.
    ///
    /// # Errors
    /// The bridge's refusal.
    pub fn offer_page(&self, origin: &str, tab: u64, tools: &Value) -> Result<String, ErrorValue> {
        let register = SourceRegister {
            kind: "page".into(),
            name: "A page".into(),
            tools: Some(Json::from_valid(tools.to_string())),
            abilities: None,
            origin: Some(origin.to_owned()),
            tab_id: Some(tab),
        };
        self.relay.reply(&register).map(|registered| registered.source_id)
    }

    /// The next call.
    ///
    /// # Panics
    /// When none comes.
    #[must_use]
    pub fn next_call(&self) -> Called {
        let call: SourceCall = typed(&self.relay.next_push(SourceCall::TAG, LIMIT));
        let arguments = serde_json::from_str(call.arguments.as_str()).expect("arguments are JSON");
        Called { call, arguments }
    }

    /// Waits until the bridge says that nobody waits for this call.
    pub fn wait_for_cancel(&self, called: &Called) {
        let is_it = |push: &Value| typed::<SourceCancel>(push).call_id == called.call.call_id;
        let _ = self.relay.wait_for_push(SourceCancel::TAG, LIMIT, is_it);
    }

    /// The next session that is over.
    ///
    /// # Panics
    /// When none comes.
    #[must_use]
    pub fn next_ended(&self) -> SourceSessionEnded {
        typed(&self.relay.next_push(SourceSessionEnded::TAG, LIMIT))
    }

    /// Answers with a text; whether somebody waits for it.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn answer(&self, called: &Called, text: &str) -> bool {
        self.answer_id(&called.call.call_id, text)
    }

    /// The same for a call with this id.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn answer_id(&self, call_id: &str, text: &str) -> bool {
        self.give(call_id, &json!({"content": [{"type": "text", "text": text}]}))
    }

    /// Answers with something for programs.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn answer_with(&self, called: &Called, structured: &Value) -> bool {
        self.give(&called.call.call_id, &json!({"content": [], "structuredContent": structured}))
    }

    /// The same of a tool that has failed.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn fail_with(&self, called: &Called, structured: &Value) -> bool {
        let result = json!({"content": [], "structuredContent": structured, "isError": true});
        self.give(&called.call.call_id, &result)
    }

    fn give(&self, call_id: &str, result: &Value) -> bool {
        let answer = SourceResult {
            call_id: call_id.to_owned(),
            result: Some(JsonObject(Json::from_valid(result.to_string()))),
            error: None,
        };
        self.relay.reply(&answer).expect("the extension may answer").accepted
    }

    /// Tells of something that has happened.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn tell(&self, event: &str, more: &Value) -> SourceEventResult {
        let mut fields = json!({"source_id": self.source, "event": event});
        for (name, value) in more.as_object().expect("an object of fields") {
            fields[name] = value.clone();
        }
        self.relay.reply(&typed::<SourceEvent>(&fields)).expect("the extension may tell")
    }

    /// Asks for a piece of a file that a call carries.
    ///
    /// # Errors
    /// The bridge's refusal.
    pub fn ask(&self, ask: &SourceFile) -> Result<SourceFileResult, ErrorValue> {
        self.relay.reply(ask)
    }

    /// Opens a tab for the session of this call, and says so.
    ///
    /// # Panics
    /// When the session does not get it.
    pub fn open_tab(&self, called: &Called, tab: u64) {
        let said = self.tell("tab_opened", &json!({"session_id": called.call.session_id, "tab_id": tab}));
        assert!(said.accepted && said.verdict.as_deref() == Some("allowed"), "{said:?}");
    }

    /// The extension, or its browser, is gone.
    pub fn kill(&mut self) {
        self.relay.kill();
    }

    /// Takes the source back.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn unregister(&self) {
        self.take_back(&self.source);
    }

    /// Takes back a source of this connection.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn take_back(&self, source: &str) {
        let source_id = SourceId::parse(source).expect("the bridge gave it");
        let ask = harbor_ipc_proto::client::SourceUnregister { source_id };
        assert!(self.relay.reply(&ask).expect("the extension may").unregistered);
    }
}

/// A call that the extension was sent.
#[derive(Debug)]
pub struct Called {
    /// It.
    pub call: SourceCall,
    /// Its arguments.
    pub arguments: Value,
}

impl Called {
    /// The tool, the tab that is meant, and all tabs of the session.
    #[must_use]
    pub fn shown(&self) -> (&str, Option<u64>, &[u64]) {
        (&self.call.tool_name, self.call.session.tab_id, &self.call.session.tabs)
    }
}
