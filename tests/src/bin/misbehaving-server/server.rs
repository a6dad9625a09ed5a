//! What a server knows, and who takes which message.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use harbor_tests::faults::Settings;

use crate::asks::Asks;
use crate::calls::Calls;
use crate::tasks::Tasks;
use crate::wire::{Journal, Object, Out};
use crate::{asks, contact, offers, tasks, tools};

/// A server. Shared by the main thread and the threads of calls.
#[derive(Debug)]
pub struct Server {
    /// How it was started.
    pub settings: Settings,
    /// Its stdout.
    pub out: Out,
    /// What happened to it.
    pub journal: Journal,
    /// Calls that take time.
    pub calls: Calls,
    /// Its questions to the client.
    pub asks: Asks,
    /// How far the legacy handshake is.
    pub handshake: AtomicU8,
    /// Tools that were added while it ran.
    pub added_tools: AtomicUsize,
    /// How many tool calls came.
    pub called: AtomicUsize,
    /// Calls that are kept back: their ids and results.
    pub kept: Mutex<Vec<(String, String)>>,
    /// Legacy subscriptions: URIs.
    pub subscriptions: Mutex<BTreeSet<String>>,
    /// Modern subscriptions: what each `subscriptions/listen` wants, by its request's id.
    pub listens: Mutex<BTreeMap<String, Object>>,
    /// Tasks.
    pub tasks: Tasks,
}

/// A request of the client.
#[derive(Debug)]
pub struct Request {
    /// Its id, as JSON text.
    pub id: String,
    /// Its method.
    pub method: String,
    /// Its parameters.
    pub params: Object,
}

impl Server {
    /// A server that has said nothing yet.
    pub fn new(settings: Settings) -> Self {
        let journal = Journal::new(settings.journal.clone());
        journal.write(&format!("start {}", std::process::id()));
        Self {
            out: Out::new(settings.fault),
            journal,
            settings,
            calls: Calls::default(),
            asks: Asks::default(),
            handshake: AtomicU8::new(0),
            added_tools: AtomicUsize::new(0),
            called: AtomicUsize::new(0),
            kept: Mutex::default(),
            subscriptions: Mutex::default(),
            listens: Mutex::default(),
            tasks: Mutex::default(),
        }
    }

    /// Takes one line from stdin.
    pub fn on_line(self: &Arc<Self>, line: &[u8]) {
        let Some(message) = Object::read(line) else {
            self.journal.write("unreadable");
            self.out.error("null", -32700, "this line is no JSON object", None);
            return;
        };
        let id = message.raw("id").map(str::to_owned);
        let (method, params) = (message.text("method"), message.object("params"));
        match id {
            Some(id) if !method.is_empty() => self.on_request(&Request { id, method, params }),
            Some(id) => {
                self.journal.write(&format!("answered {id}"));
                self.asks.on_answer(&id, &message);
            }
            None => self.on_notification(&method, &params),
        }
    }

    fn on_request(self: &Arc<Self>, request: &Request) {
        self.journal.write(&format!("request {}", request.method));
        if !contact::admit(self, request) || asks::puts_off(self, request) {
            return;
        }
        match request.method.as_str() {
            "tools/call" => tools::call(self, request),
            _ if tasks::answer(self, request) => {}
            _ if offers::answer(self, request) => {}
            _ => self.out.error(&request.id, -32601, "the double has no such method", None),
        }
    }

    fn on_notification(self: &Arc<Self>, method: &str, params: &Object) {
        self.journal.write(&format!("notification {method}"));
        match method {
            "notifications/initialized" => contact::on_initialized(self),
            "notifications/cancelled" => {
                let id = params.raw("requestId").unwrap_or("?");
                self.journal.write(&format!("cancelled {id} {}", params.text("reason")));
                self.calls.cancel(id);
                self.listens.lock().unwrap().remove(id);
            }
            _ => {}
        }
    }

    /// Answers with a result that has these members (JSON text without braces).
    pub fn complete(&self, id: &str, members: &str) {
        let kind = if self.settings.modern { "\"resultType\":\"complete\"" } else { "" };
        let comma = if kind.is_empty() || members.is_empty() { "" } else { "," };
        self.out.result(id, &format!("{{{kind}{comma}{members}}}"));
    }

    /// Tells that a list has changed, to whoever wanted to know.
    pub fn list_changed(&self, method: &str, filter: &str) {
        self.tell(method, "", |wanted| wanted.value(filter) == true);
    }

    /// Tells that a resource has changed, to whoever subscribed to it.
    pub fn resource_updated(&self, uri: &str) {
        if !self.settings.modern && !self.subscriptions.lock().unwrap().contains(uri) {
            return;
        }
        let members = format!("\"uri\":{}", crate::wire::quoted(uri));
        let wants = |wanted: &Object| {
            let uris = wanted.value("resourceSubscriptions");
            uris.as_array().is_some_and(|uris| uris.iter().any(|known| known == uri))
        };
        self.tell("notifications/resources/updated", &members, wants);
    }

    fn tell(&self, method: &str, members: &str, wants: impl Fn(&Object) -> bool) {
        if !self.settings.modern {
            self.out.notify(method, &format!("{{{members}}}"));
            return;
        }
        let comma = if members.is_empty() { "" } else { "," };
        for (id, _) in self.listens.lock().unwrap().iter().filter(|(_, wanted)| wants(wanted)) {
            let meta = format!("\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}}");
            self.out.notify(method, &format!("{{{meta}{comma}{members}}}"));
        }
    }

    /// Moves the legacy handshake on.
    pub fn advance_handshake(&self, to: u8) {
        self.handshake.store(to, Ordering::Relaxed);
    }
}
