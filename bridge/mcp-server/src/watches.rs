//! Notifications to the AI client: lists and resources have changed.
//!
//! ```text
//!  older generation: initialized, resources/subscribe ─┐
//!                                                      ├─► notifications, of a list once until it is asked for again
//!  newer generation: subscriptions/listen ─────────────┘
//! ```
//!
//! Owns who wants which of them. Pure: it gives lines to write, and says what the bridge has to be asked.

use std::collections::{BTreeMap, BTreeSet};

use harbor_ipc_proto::json::Fields;
use harbor_ipc_proto::strings::put_str;

use super::directory::McpList;
use super::target::Target;
use super::write;

/// A list that changes, and MCP's words for it: the notification, and the wish to hear of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    Tools,
    Resources,
    Prompts,
}

impl Change {
    pub const ALL: [Self; 3] = [Self::Tools, Self::Resources, Self::Prompts];

    fn of(kind: McpList) -> Self {
        match kind {
            McpList::Tools => Self::Tools,
            McpList::Resources | McpList::Templates => Self::Resources,
            McpList::Prompts => Self::Prompts,
        }
    }

    pub fn notification(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
        }
    }

    fn wish(self) -> &'static str {
        match self {
            Self::Tools => "toolsListChanged",
            Self::Resources => "resourcesListChanged",
            Self::Prompts => "promptsListChanged",
        }
    }
}

/// A subscription of the newer generation.
#[derive(Debug, Default)]
struct Listening {
    changes: BTreeSet<Change>,
    uris: BTreeSet<String>,
}

/// The client's wishes for notifications.
#[derive(Debug, Default)]
pub struct Watches {
    /// True if the client is told of changed lists without having asked for it.
    initialized: bool,
    /// Subscriptions by their ids, JSON text.
    listening: BTreeMap<String, Listening>,
    /// Resources of the older generation's subscriptions.
    own: BTreeSet<String>,
    /// The resources that the bridge tells of, by the client's URI.
    followed: BTreeMap<String, Target>,
    /// Lists that the client has had since it was last told of a change.
    had: BTreeSet<Change>,
}

impl Watches {
    /// The client has ended its handshake.
    pub fn initialize(&mut self) {
        self.initialized = true;
    }

    /// Begins a subscription. Returns the line that acknowledges it, and its resources.
    pub fn listen(&mut self, id: &str, fields: &Fields<'_>) -> (Vec<u8>, Vec<String>) {
        let wanted = fields.get("notifications").and_then(|wanted| Fields::parse(wanted.as_bytes()).ok());
        let wanted = wanted.unwrap_or_default();
        let is_wanted = |change: &Change| wanted.get(change.wish()) == Some("true");
        let changes: BTreeSet<_> = Change::ALL.into_iter().filter(is_wanted).collect();
        let uris = wanted.get("resourceSubscriptions").and_then(|uris| serde_json::from_str(uris).ok());
        let uris: BTreeSet<String> = uris.unwrap_or_default();
        let mut heard: Vec<_> = changes.iter().map(|change| format!("\"{}\":true", change.wish())).collect();
        if !uris.is_empty() {
            let uris = serde_json::to_string(&uris).unwrap_or_default();
            heard.push(format!("\"resourceSubscriptions\":{uris}"));
        }
        let params = format!("{{{},\"notifications\":{{{}}}}}", write::of_subscription(id), heard.join(","));
        let line = write::notification("notifications/subscriptions/acknowledged", Some(&params));
        let missing = uris.iter().filter(|uri| !self.followed.contains_key(*uri)).cloned().collect();
        self.listening.insert(id.to_owned(), Listening { changes, uris });
        (line, missing)
    }

    /// Ends a subscription of the newer generation, if it is one. Returns the resources that the bridge need not report any more.
    pub fn end(&mut self, id: &str) -> Vec<Target> {
        self.listening.remove(id);
        self.take_unwanted()
    }

    /// The older generation subscribes.
    pub fn subscribe(&mut self, uri: &str) {
        self.own.insert(uri.to_owned());
    }

    /// It gives that up; likewise.
    pub fn unsubscribe(&mut self, uri: &str) -> Vec<Target> {
        self.own.remove(uri);
        self.take_unwanted()
    }

    /// Notes that the bridge reports a resource from now on. Returns the resources that no client wants any more.
    pub fn follow(&mut self, uri: &str, target: Target) -> Vec<Target> {
        self.followed.insert(uri.to_owned(), target);
        self.take_unwanted()
    }

    /// All resources that the client wants to hear of. Another bridge must be asked for them again.
    pub fn wanted(&self) -> BTreeSet<String> {
        let of_listening = self.listening.values().flat_map(|listening| &listening.uris);
        self.own.iter().chain(of_listening).cloned().collect()
    }

    fn take_unwanted(&mut self) -> Vec<Target> {
        let (own, listening) = (&self.own, &self.listening);
        let is_wanted = |uri: &String| {
            own.contains(uri) || listening.values().any(|listening| listening.uris.contains(uri))
        };
        self.followed.extract_if(.., |uri, _| !is_wanted(uri)).map(|(_, target)| target).collect()
    }

    /// The client has a list, or knows why it has none: the next change is news.
    pub fn note_list(&mut self, kind: McpList) {
        self.had.insert(Change::of(kind));
    }

    /// The lines that say that another list can be had: once, until there is a request for it.
    pub fn changed(&mut self, change: Change) -> Vec<Vec<u8>> {
        if !self.had.contains(&change) {
            return Vec::new();
        }
        let own = self.initialized.then(|| write::notification(change.notification(), None));
        let subscribed = self.listening.iter().filter(|(_, listening)| listening.changes.contains(&change));
        let of_subscription = subscribed.map(|(id, _)| {
            let params = format!("{{{}}}", write::of_subscription(id));
            write::notification(change.notification(), Some(&params))
        });
        let lines: Vec<_> = own.into_iter().chain(of_subscription).collect();
        // Who subscribes later has been told nothing yet.
        if !lines.is_empty() {
            self.had.remove(&change);
        }
        lines
    }

    /// The lines that say that a resource has changed.
    pub fn updated(&self, target: &Target) -> Vec<Vec<u8>> {
        let uris = self.followed.iter().filter(|(_, followed)| *followed == target).map(|(uri, _)| uri);
        let mut lines = Vec::new();
        for uri in uris {
            if self.own.contains(uri) {
                lines.push(updated(uri, ""));
            }
            let listening = self.listening.iter().filter(|(_, listening)| listening.uris.contains(uri));
            let meta = listening.map(|(id, _)| format!("{},", write::of_subscription(id)));
            lines.extend(meta.map(|meta| updated(uri, &meta)));
        }
        lines
    }
}

fn updated(uri: &str, meta: &str) -> Vec<u8> {
    let mut params = format!("{{{meta}\"uri\":").into_bytes();
    put_str(&mut params, uri);
    params.push(b'}');
    let params = String::from_utf8(params).unwrap_or_default();
    write::notification("notifications/resources/updated", Some(&params))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_nobody_was_told_of_leaves_the_next_one_to_be_told() {
        let mut watches = Watches::default();
        watches.note_list(McpList::Tools);
        assert_eq!(watches.changed(Change::Tools), [b""; 0]);
        let fields = Fields::parse(br#"{"notifications":{"toolsListChanged":true}}"#).unwrap();
        let _ = watches.listen("7", &fields);
        let params = format!("{{{}}}", write::of_subscription("7"));
        let told = write::notification("notifications/tools/list_changed", Some(&params));
        assert_eq!(watches.changed(Change::Tools), [told]);
        assert_eq!(watches.changed(Change::Tools), [b""; 0], "once, until it asks for the list");
    }
}
