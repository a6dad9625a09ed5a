//! The tool `browser_find` with a meaning: the page is read, a model names places in it, and these are shown.
//!
//! ```text
//!  the page's lines ◄─ extension ─► meaning, lines ─► model (by the host) ─► refs ─┬─► extension ─► these places
//!                                            └─ no model, or nothing usable ─► words ┘
//! ```
//!
//! Owns the order, and the time of all together. Must never ask a model by itself, nor show anything that the extension has
//! not marked as the page's.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::json::Json;
use harbor_policy::browser_tools::FIND;
use harbor_policy::page_search::{
    LONGEST_MEANING, MOST_PAGE, UnreadReason, pattern_of_refs, pattern_of_words,
};
use harbor_policy::tabs::Holder;
use harbor_policy::tabs::typed::site_in;
use serde_json::{Value, json};

use super::results::{failed, result, wrong};
use super::source::Browser;
use crate::link::{FoundPlaces, PageSearch, ServerAnswer, TimeLimit, WantedPlaces};
use crate::supervisor::UnansweredReason;

/// The part of a call's time that is kept back for what comes after the model.
const SPARE: Duration = Duration::from_secs(3);

/// The places that the model has named.
const NAMED: &str = "A language model of the person's has read the page and named what is shown here; what the page no longer has is \
                     left out.";

/// The model has found nothing.
const NOTHING: &str =
    "A language model of the person's has read the page, and nothing in it is meant by that.";

/// The model got the beginning and the end of the page only.
const CUT: &str = " The page is too long for it: it has read a part only.";

impl Browser {
    /// The meaning that a call looks for.
    ///
    /// # Errors
    /// When it names another thing, too, or says nothing.
    pub(super) fn meaning_of(name: &str, arguments: &Value) -> Result<Option<String>, ServerAnswer> {
        let Some(meaning) = arguments["meaning"].as_str().filter(|_| name == FIND) else { return Ok(None) };
        let meaning = meaning.trim();
        if !(arguments["text"].is_null() && arguments["regex"].is_null()) {
            return Err(wrong("/meaning", "expected one of text, regex and meaning"));
        }
        if meaning.is_empty() || meaning.chars().count() > LONGEST_MEANING {
            return Err(wrong("/meaning", &format!("expected 1 to {LONGEST_MEANING} characters")));
        }
        Ok(Some(meaning.to_owned()))
    }

    /// Shows the places of a page that are meant.
    pub(super) async fn find_meaning(
        &self,
        meaning: String,
        (holder, session): (&Holder, &Arc<str>),
        tab: Option<u64>,
        limit: TimeLimit,
        search: Option<&PageSearch>,
    ) -> Result<ServerAnswer, UnansweredReason> {
        let begun = Instant::now();
        let until = begun + limit.quiet.saturating_sub(limit.used + SPARE);
        let whole = (FIND, json!({"meaning": meaning, "maxChars": MOST_PAGE}), Rc::default());
        let answer = self.ask(whole, (holder, session), tab, limit).await?;
        let answer = self.hidden(session, &self.hides(session), self.told(session, answer));
        let read = match &answer {
            ServerAnswer::Result(result) => page_of(result, &meaning),
            _ => None,
        };
        let Some((page, is_whole)) = read else { return Ok(answer) };
        let found = match search {
            Some(search) => tokio::time::timeout_at(until.into(), search(page, until)).await,
            None => Ok(Err(UnreadReason::NoModel)),
        };
        let found = found.unwrap_or(Err(UnreadReason::Late));
        let cut = |read: bool| if is_whole && read { "" } else { CUT };
        let (pattern, said, by) = match found {
            Ok(FoundPlaces { refs, is_whole }) if refs.is_empty() => {
                let said = format!("{NOTHING}{}", cut(is_whole));
                return Ok(result_of(&said));
            }
            Ok(FoundPlaces { refs, is_whole }) => {
                (pattern_of_refs(&refs), format!("{NAMED}{}", cut(is_whole)), json!({"by": "model"}))
            }
            Err(why) => {
                let Some(pattern) = pattern_of_words(&meaning) else {
                    return Ok(failed(
                        why.word(),
                        &format!("{}, and there is no word to search for", why.sentence()),
                    ));
                };
                let said = format!("This is a search for the words only: {}.", why.sentence());
                (pattern, said, json!({"by": "words", "why": why.word()}))
            }
        };
        let left = TimeLimit { used: limit.used + begun.elapsed(), ..limit };
        let tab = self.tabs.borrow().meant(session, tab).unwrap_or(tab);
        let places = (FIND, json!({"regex": pattern}), Rc::default());
        let answer = self.ask(places, (holder, session), tab, left).await?;
        Ok(with_words(answer, &said, by))
    }
}

/// The page in an answer of the extension, and whether it is all of it. None if there is none.
fn page_of(result: &Json, meaning: &str) -> Option<(WantedPlaces, bool)> {
    let result: Value = serde_json::from_str(result.as_str()).ok()?;
    let told = &result["structuredContent"];
    let page = told["page_text"].as_str()?.to_owned();
    let from = told["page"]["url"].as_str().and_then(site_in).unwrap_or_else(|| "a page".to_owned());
    Some((WantedPlaces { meaning: meaning.to_owned(), from, page }, told["whole"] == true))
}

fn result_of(said: &str) -> ServerAnswer {
    result(&json!({"result": said, "found": {"by": "model"}}))
}

/// An answer with Harbor's own words before it.
fn with_words(answer: ServerAnswer, said: &str, by: Value) -> ServerAnswer {
    let ServerAnswer::Result(result) = &answer else { return answer };
    let Ok(mut told) = serde_json::from_str::<Value>(result.as_str()) else { return answer };
    if let Some(content) = told["content"].as_array_mut() {
        content.insert(0, json!({"type": "text", "text": said}));
    }
    if let Some(structured) = told["structuredContent"].as_object_mut() {
        let before = structured.get("result").and_then(Value::as_str).unwrap_or_default();
        let whole = format!("{said} {before}");
        structured.insert("result".into(), whole.trim_end().into());
        structured.insert("found".into(), by);
    }
    ServerAnswer::Result(Json::from_valid(told.to_string()))
}
