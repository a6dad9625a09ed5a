//! Sites that the person wants to be asked about first.
//!
//! ```text
//!  call with an address ─ its host is on `askFirst`, nothing said yet ─► the extension asks the person ─► yes, no, or nothing
//! ```
//!
//! Owns the meaning of an answer: a yes or a no holds for the session; without an answer, nothing is opened. Must never
//! open an address by itself: `source` judges it once more.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::json::Fields;
use harbor_policy::tabs::Holder;
use harbor_policy::tabs::urls::{UrlDenialReason, host_in};
use serde_json::{Value, json};

use super::results::{denied, stopped};
use super::source::Browser;
use crate::link::{ServerAnswer, TimeLimit};

/// The extension's name for the question. No caller can use it: it is not among the tools.
const QUESTION: &str = "ask_site";

/// The part of a call's time that is kept back: without an answer, the caller must be told so before its time is over.
pub(super) const SPARE: Duration = Duration::from_secs(2);

impl Browser {
    /// The address to open, if this session may open it.
    pub(super) fn judged(&self, session: &str, url: &str) -> Result<String, UrlDenialReason> {
        let tabs = self.tabs.borrow();
        self.kit.config.now().sites.judge(url, |host| tabs.get(session)?.said(host))
    }

    /// The answer for the caller. A page that led to a forbidden address may be open for a moment before it
    /// is left; nothing of it is told.
    pub(super) fn told(&self, session: &str, answer: ServerAnswer) -> ServerAnswer {
        let (ServerAnswer::Result(result) | ServerAnswer::ToolError(result)) = &answer else { return answer };
        let (tab, url) = page_of(result.as_str()).unwrap_or_default();
        if self.tabs.borrow().place(tab).is_none() {
            // A tab that the person has released was there before.
            self.tabs.borrow_mut().came(tab, Some(&url));
        }
        match self.judged(session, &url) {
            Err(why @ (UrlDenialReason::Blocked | UrlDenialReason::AskFirst | UrlDenialReason::Refused)) => {
                denied("address", &why.to_string())
            }
            _ => answer,
        }
    }

    /// Asks the person about the addresses of a call that need it. Returns the rest of the call's time.
    ///
    /// # Errors
    /// The caller's answer, if the person has stopped the session meanwhile.
    pub(super) async fn ask_about_sites(
        &self,
        (holder, session): (&Holder, &Arc<str>),
        arguments: &Value,
        limit: TimeLimit,
    ) -> Result<TimeLimit, ServerAnswer> {
        let begun = Instant::now();
        let urls = arguments["urls"].as_array().into_iter().flatten().chain([&arguments["url"]]);
        let asking = TimeLimit { quiet: limit.quiet.saturating_sub(SPARE), ..limit };
        for url in urls.filter_map(Value::as_str) {
            let (Err(UrlDenialReason::AskFirst), Some(host)) = (self.judged(session, url), host_in(url))
            else {
                continue;
            };
            let question = (QUESTION, json!({"host": host}), Rc::default());
            match self.ask(question, (holder, session), None, asking).await {
                Ok(ServerAnswer::Result(result)) => {
                    if let Some(is_yes) = answer_in(result.as_str()) {
                        self.tabs.borrow_mut().answered(session, host, is_yes);
                    }
                }
                // Its session is over.
                Ok(_) if self.tabs.borrow().get(session).is_none() => return Err(stopped()),
                // Nobody has answered: the address is judged as before.
                _ => {}
            }
        }
        Ok(TimeLimit { used: limit.used + begun.elapsed(), ..limit })
    }
}

/// The person's answer, if the result has one.
pub(super) fn answer_in(result: &str) -> Option<bool> {
    match structured(result)?.get("allowed")? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// The tab that a result is about, and the address of its page.
fn page_of(result: &str) -> Option<(u64, String)> {
    let structured = structured(result)?;
    let page = Fields::parse(structured.get("page")?.as_bytes()).ok()?;
    Some((page.get("tab_id")?.parse().ok()?, serde_json::from_str(page.get("url")?).ok()?))
}

/// A result's part for programs. Nothing else of it is read, and pictures may be large.
fn structured(result: &str) -> Option<Fields<'_>> {
    let fields = Fields::parse(result.as_bytes()).ok()?;
    Fields::parse(fields.get("structuredContent")?.as_bytes()).ok()
}
