//! The facts for consent about a call of the browser's: which page it tells something, and whether it tells it anything.
//!
//! ```text
//!  caller, chat ─► session ─► tab ─► its address ─┬─► the name `browser:HOST` of what is read there
//!  arguments: url ────────────────────────────────┘
//! ```
//!
//! Owns this reading. Must never begin a session, nor take an address from a page's own words.

use std::sync::Arc;

use super::source::Browser;
use super::tools::LOOKS;
use crate::host::asker::Caller;
use crate::host::consent::requested_call::{About, RequestedCall};
use harbor_policy::consent::addresses::page_name;
use harbor_policy::tabs::Holder;
use serde_json::Value;

/// Arguments that hold Harbor's own values, or that Harbor tells no page.
const IDS: &[&str] = &[
    "action",
    "amount",
    "background",
    "boxes",
    "button",
    "depth",
    "direction",
    "doubleClick",
    "element",
    "endElement",
    "endTarget",
    "index",
    "load",
    "maxChars",
    "modifiers",
    "region",
    "scale",
    "since",
    "slowly",
    "snapshot",
    "startElement",
    "startTarget",
    "submit",
    "tabId",
    "tabIds",
    "target",
    "timeout",
    "type",
];

impl Browser {
    /// The facts about a call.
    pub(super) fn about_call(&self, wish: &RequestedCall<'_>) -> About {
        let arguments: Value = serde_json::from_str(wish.arguments).unwrap_or_default();
        let here = self.place(&holder_of(wish), arguments["tabId"].as_u64());
        let urls = arguments["urls"].as_array().into_iter().flatten().chain(arguments.get("url"));
        let there: Vec<_> = urls.filter_map(Value::as_str).map(page_name).collect();
        // Several pages at once do not count as one page.
        let (place, within) = match there.first() {
            None => (here, true),
            Some(first) if there.iter().all(|name| name == first) => {
                (first.clone(), first.is_some() && *first == here)
            }
            Some(_) => (None, false),
        };
        About {
            name: Some(place.unwrap_or_else(|| "browser".to_owned())),
            within,
            looks: LOOKS.contains(&&**wish.tool) && there.is_empty(),
            ids: IDS,
        }
    }

    /// The name of what is read on the page in the tab that the call means.
    fn place(&self, holder: &Holder, asked: Option<u64>) -> Option<String> {
        let tabs = self.tabs.borrow();
        let session = tabs.session_of_holder(holder)?;
        let tab = tabs.meant(&session.id, asked).ok().flatten()?;
        page_name(tabs.place(tab)?)
    }
}

fn holder_of(wish: &RequestedCall<'_>) -> Holder {
    match (wish.caller, wish.chat) {
        (Caller::Owner(..), Some(chat)) => Holder::Conversation(chat.id.clone()),
        (Caller::Owner(..), None) => Holder::Owner,
        (Caller::Origin(asker), _) => {
            Holder::Client { origin: Arc::clone(&asker.origin.shared()), connection: asker.sender.client }
        }
    }
}
