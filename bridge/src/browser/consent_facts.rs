//! The facts for consent about a call of the browser's: which page it tells something, and whether it tells it anything.
//!
//! ```text
//!  caller, chat ─► session ─► tab ─► its address ─┬─► the name `browser:HOST` of what is read there
//!  arguments: url ────────────────────────────────┘
//! ```
//!
//! Owns this reading. Must never begin a session, nor take an address from a page's own words.

use std::rc::Rc;
use std::time::Duration;

use super::files::{CarriedFile, labels, paths_of, take};
use super::results::failed;
use super::source::Browser;
use super::tools::{DOWNLOADS, LOOKS, WITH_FILES};
use crate::host::asker::Caller;
use crate::host::consent::requested_call::{About, RequestedCall};
use crate::link::ServerAnswer;
use harbor_policy::consent::Names;
use harbor_policy::consent::addresses::page_name;
use harbor_policy::tabs::Holder;
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

/// How long a disk may take to open the files of a call.
const OPENING: Duration = Duration::from_secs(10);

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
    "id",
    "index",
    "load",
    "maxChars",
    "modifiers",
    "offset",
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
        let holder = holder_of(wish);
        let here = match &**wish.tool {
            DOWNLOADS => self.download_place(&holder, &arguments),
            _ => self.place(&holder, arguments["tabId"].as_u64()),
        };
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

    /// The name of the page that a download came from.
    fn download_place(&self, holder: &Holder, arguments: &Value) -> Option<String> {
        let tabs = self.tabs.borrow();
        let session = tabs.session_of_holder(holder)?;
        page_name(&session.downloads.get(arguments["id"].as_u64())?.url)
    }

    /// The files that a call would hand over, in words for the person. They are noted, so that no others are.
    pub(super) async fn files_shown(&self, wish: &RequestedCall<'_>) -> Names {
        let tool = &**wish.tool;
        let holder = holder_of(wish);
        let files = match tool {
            DOWNLOADS => {
                let session = self.tabs.borrow().session_of_holder(&holder).map(|session| session.id.clone());
                let arguments: Value = serde_json::from_str(wish.arguments).unwrap_or_default();
                session.map(|session| self.download_shown(&session, &arguments)).unwrap_or_default()
            }
            _ if WITH_FILES.contains(&tool) => {
                let arguments: Value = serde_json::from_str(wish.arguments).unwrap_or_default();
                let site = self.site(&holder, arguments["tabId"].as_u64());
                let allowed = self.kit.config.now().sites.uploads.clone();
                let paths = paths_of(&arguments);
                let labels = labels(&allowed, &paths, &site);
                timeout(OPENING, labels).await.unwrap_or_default()
            }
            _ => Names::new(),
        };
        if !files.is_empty() {
            self.shown_files.borrow_mut().note(&holder, wish.arguments, files.clone());
        }
        files
    }

    /// Opens the files of a call, and names the site for which they are. `given`: its arguments, as they were judged.
    ///
    /// # Errors
    /// The answer for the caller, where one of them may not or cannot be handed over.
    pub(super) async fn open_files(
        &self,
        name: &str,
        holder: &Holder,
        (arguments, given): (&mut Value, &str),
    ) -> Result<Rc<Vec<CarriedFile>>, ServerAnswer> {
        if !WITH_FILES.contains(&name) {
            return Ok(Rc::default());
        }
        let site = self.site(holder, arguments["tabId"].as_u64());
        let allowed = self.kit.config.now().sites.uploads.clone();
        let opening = take(&allowed, arguments, &site);
        let opened = timeout(OPENING, opening).await;
        let (files, names) =
            opened.unwrap_or_else(|_| Err(failed("unreadable", "the disk does not answer")))?;
        if !self.shown_files.borrow().has(holder, given, &names) {
            return Err(failed(
                "file_changed",
                "a file or the page changed while the person was asked; call again",
            ));
        }
        if !names.is_empty() {
            arguments["site"] = Value::from(site);
        }
        Ok(files)
    }

    /// The origin of the page in the tab that a call means.
    fn site(&self, holder: &Holder, asked: Option<u64>) -> String {
        let tabs = self.tabs.borrow();
        let session = tabs.session_of_holder(holder);
        let tab = session.and_then(|session| tabs.meant(&session.id, asked).ok().flatten());
        let url = tab.and_then(|tab| Url::parse(tabs.place(tab)?).ok());
        url.map_or_else(|| "no page".to_owned(), |url| url.origin().ascii_serialization())
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
            Holder::Client { origin: asker.origin.shared(), token_id: asker.sender.token_id.clone() }
        }
    }
}
