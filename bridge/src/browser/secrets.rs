//! Secrets that a tool types by name: inserted on the way to the extension, removed from everything that comes back.
//!
//! ```text
//!  {"secret": "NAME"} ─► policy::tabs::typed, by where the tab is ─► {"secret", "site", "value"} ─► extension
//!                              what is said in this session from now on ─► [NAME] ◄──────┘
//! ```
//!
//! Owns the moment at which a value is in a call. Must never let one into an answer, an event or a log.

use std::borrow::Cow;
use std::sync::Arc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::json::Json;
use harbor_policy::redaction::Redactor;
use harbor_policy::tabs::typed::{self, NamedSecret, Untyped};
use serde_json::{Value, json};

use super::results::{denied, failed, wrong};
use super::source::Browser;
use crate::link::ServerAnswer;

/// The refusal where a script could wait for the secret.
const SCRIPTED: &str = "scripts of yours have run on this site, so no secret of the person is typed there";

impl Browser {
    fn may_type(&self, session: &str, site: &str) -> bool {
        let mut tabs = self.tabs.borrow_mut();
        let principal = tabs.get(session).map(|session| session.holder.principal().to_owned());
        principal.is_some_and(|principal| tabs.scripts().may_type(&principal, site))
    }

    /// Puts the secrets that a call names in their places.
    ///
    /// # Errors
    /// The answer for the caller if one may not be typed there.
    pub(super) async fn put_secrets_in(
        &self,
        session: &str,
        tab: Option<u64>,
        arguments: &mut Value,
    ) -> Result<(), ServerAnswer> {
        let named = typed::named(arguments);
        if named.is_empty() {
            return Ok(());
        }
        let kept = self.kit.secrets.of(typed::KEPT).await;
        let kept = kept.map_err(|error| failed("secrets", &format!("could not {error}")))?;
        let now = wall_clock();
        let keys = kept.0.iter().filter(|(_, kept)| !kept.is_expired(now)).map(|(key, _)| key.as_str());
        for NamedSecret { name, at } in named {
            let kind =
                at.strip_suffix("/value").and_then(|field| arguments.pointer(&format!("{field}/type")));
            if kind.is_some_and(|kind| kind != "textbox") {
                return Err(wrong(&at, "a secret is typed into a textbox"));
            }
            // Looked up only now: reading the file may have taken a while.
            let url = tab.and_then(|tab| self.tabs.borrow().place(tab).map(str::to_owned));
            let judged = typed::judge(keys.clone(), &name, url.as_deref());
            let (key, site) = judged.map_err(|why| denied("secret", &sentence(why, &name)))?;
            let (Some(secret), Some(place)) = (kept.0.get(&key), arguments.pointer_mut(&at)) else {
                continue;
            };
            if !self.may_type(session, &site) {
                return Err(denied("secret", SCRIPTED));
            }
            self.tabs.borrow_mut().hide(session, &name, &secret.value);
            *place = json!({"secret": name, "site": site, "value": secret.value.expose()});
        }
        Ok(())
    }

    /// The redactor for the secrets that were typed in a session.
    pub(super) fn hides(&self, session: &str) -> Arc<Redactor> {
        self.tabs.borrow().get(session).map_or_else(Arc::default, |session| session.hides())
    }

    /// An answer without the secrets that were typed in its session. `before`: the redactor from before the
    /// call, for a session that is over.
    pub(super) fn hidden(&self, session: &str, before: &Arc<Redactor>, answer: ServerAnswer) -> ServerAnswer {
        let now = self.hides(session);
        let hides = if now.is_empty() { before } else { &now };
        match answer {
            ServerAnswer::Result(result) => ServerAnswer::Result(without(result, hides)),
            ServerAnswer::ToolError(result) => ServerAnswer::ToolError(without(result, hides)),
            other => other,
        }
    }
}

/// The result without secrets. Each text is redacted by itself: a page's title is a JSON string inside a JSON string.
fn without(result: Json, hides: &Redactor) -> Json {
    if hides.is_empty() {
        return result;
    }
    let Ok(mut value) = serde_json::from_str(result.as_str()) else { return result };
    hide(&mut value, hides);
    Json::from_valid(value.to_string())
}

fn hide(value: &mut Value, hides: &Redactor) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(hidden) = hides.redact(text) {
                *text = hidden;
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| hide(one, hides)),
        Value::Object(all) => all.values_mut().for_each(|one| hide(one, hides)),
        _ => {}
    }
}

fn sentence(why: Untyped, name: &str) -> String {
    match why {
        Untyped::NoSite => "the tab shows no web site: go to the site that the secret is for".to_owned(),
        Untyped::NotKept => format!(
            "there is no secret {name:.100} for this site; the person can store one: `harbor secrets set browser NAME \
             --site ORIGIN`"
        ),
    }
}
