//! The lines of a machine that serves one request of the generation without sessions.
//!
//! ```text
//!  any request:   its answer ─► the end of the stream;   everything else ─► the stream
//!  subscription:  acknowledged ─► held ─► a list of each kind ─► acknowledged ─► the stream
//!                 list_changed ─► the stream, and another list of that kind
//! ```
//!
//! Owns the additions that a subscription needs. A machine tells of changes only in lists that it has given;
//! and the lists that a client without a session asks for go to other machines. So this asks for lists of its
//! own, and drops their answers.

use harbor_ipc_proto::json::Fields;
use tokio::sync::mpsc::Sender;

use super::routes::{LineKind, Said, put};
use crate::driver::Lines;
use crate::write::MODERN;

/// The kinds of things that can change: name in a subscription, notification, method that lists them.
const KINDS: [(&str, &str, &str); 3] = [
    ("toolsListChanged", "\"notifications/tools/list_changed\"", "tools/list"),
    ("promptsListChanged", "\"notifications/prompts/list_changed\"", "prompts/list"),
    ("resourcesListChanged", "\"notifications/resources/list_changed\"", "resources/list"),
];

const ACKNOWLEDGED: &str = "\"notifications/subscriptions/acknowledged\"";

/// The place for the lines of one request.
#[derive(Debug)]
pub struct Alone {
    /// The request's id, JSON text.
    id: String,
    stream: Sender<Said>,
    /// The line that is sent once everything that is subscribed to is listed.
    held: Option<Vec<u8>>,
    /// Methods of the lists that are still to be asked for.
    to_list: Vec<&'static str>,
    /// The list that is on its way.
    listing: Option<String>,
    lists: u64,
}

impl Alone {
    pub fn new(id: String, stream: Sender<Said>) -> Self {
        Self { id, stream, held: None, to_list: Vec::new(), listing: None, lists: 0 }
    }

    /// Asks for the next list, or returns the line that had to wait for the lists.
    fn go_on(&mut self) -> Option<Vec<u8>> {
        if self.listing.is_some() {
            return None;
        }
        match self.to_list.pop() {
            Some(method) => Some(self.list(method)),
            None => {
                if let Some(line) = self.held.take() {
                    let _ = put(&self.stream, line);
                }
                None
            }
        }
    }

    fn list(&mut self, method: &str) -> Vec<u8> {
        self.lists += 1;
        let id = format!("\"harbor/{}\"", self.lists);
        let meta = format!(
            "{{\"io.modelcontextprotocol/protocolVersion\":\"{MODERN}\",\
             \"io.modelcontextprotocol/clientCapabilities\":{{}}}}"
        );
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{\"_meta\":{meta}}}}}\n"
        );
        self.listing = Some(id);
        line.into_bytes()
    }

    fn told(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        let fields = Fields::parse(&line).unwrap_or_default();
        let method = fields.get("method").unwrap_or_default();
        if method == ACKNOWLEDGED {
            self.to_list = acknowledged(&fields);
            self.held = Some(line);
            return self.go_on();
        }
        let changed = KINDS.iter().find(|(_, told, _)| *told == method).map(|(.., list)| *list);
        let _ = put(&self.stream, line);
        self.to_list.extend(changed);
        self.go_on()
    }
}

impl Lines for Alone {
    fn pass(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        match LineKind::of(&line) {
            LineKind::Answer(id) if id == self.id => {
                let _ = self.stream.try_send(Said::Answer(line));
                None
            }
            LineKind::Answer(id) => {
                self.listing.take_if(|listing| *listing == id);
                self.go_on()
            }
            _ => self.told(line),
        }
    }
}

/// The lists of what was subscribed to.
fn acknowledged(fields: &Fields<'_>) -> Vec<&'static str> {
    let params =
        fields.get("params").and_then(|params| Fields::parse(params.as_bytes()).ok()).unwrap_or_default();
    let kinds = params
        .get("notifications")
        .and_then(|kinds| Fields::parse(kinds.as_bytes()).ok())
        .unwrap_or_default();
    KINDS.iter().filter(|(name, ..)| kinds.get(name) == Some("true")).map(|(.., list)| *list).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use tokio::sync::mpsc::channel;

    fn line(message: &Value) -> Vec<u8> {
        message.to_string().into_bytes()
    }

    /// The list that it wants; its id and method.
    fn wanted(heard: Option<Vec<u8>>) -> (Value, String) {
        let asked: Value = serde_json::from_slice(&heard.unwrap()).unwrap();
        (asked["id"].clone(), asked["method"].as_str().unwrap().to_owned())
    }

    #[test]
    fn an_answer_ends_and_everything_else_is_passed_on() {
        let (sender, mut stream) = channel(8);
        let mut alone = Alone::new("1".into(), sender);
        let progress = line(&json!({"method": "notifications/progress", "params": {"progressToken": 1}}));
        let (other, answer) =
            (line(&json!({"id": null, "error": {}})), line(&json!({"id": 1, "result": {}})));
        for line in [&progress, &other, &answer] {
            assert_eq!(alone.pass(line.clone()), None);
        }
        assert_eq!(stream.try_recv(), Ok(Said::Line(progress)));
        assert_eq!(stream.try_recv(), Ok(Said::Answer(answer)));
    }

    #[test]
    fn a_subscription_begins_with_lists_and_lists_again_what_has_changed() {
        let (sender, mut stream) = channel(8);
        let mut alone = Alone::new("1".into(), sender);
        let kinds =
            json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": false});
        let begun = line(
            &json!({"method": "notifications/subscriptions/acknowledged", "params": {"notifications": kinds}}),
        );
        let (first, method) = wanted(alone.pass(begun.clone()));
        assert_eq!(method, "prompts/list");
        let (second, method) = wanted(alone.pass(line(&json!({"id": first, "error": {}}))));
        assert_eq!(method, "tools/list");
        assert!(stream.try_recv().is_err(), "not yet");
        assert_eq!(alone.pass(line(&json!({"id": second, "result": {}}))), None);
        assert_eq!(stream.try_recv(), Ok(Said::Line(begun)));
        let changed = line(&json!({"method": "notifications/tools/list_changed"}));
        assert_eq!(wanted(alone.pass(changed.clone())).1, "tools/list");
        assert_eq!(alone.pass(changed.clone()), None, "one list at a time");
        assert_eq!(stream.try_recv(), Ok(Said::Line(changed)));
    }
}
