//! The tool `browser_evaluate`: where a script of a client's may run.
//!
//! ```text
//!  evaluate ─► the tab's site ─► policy::tabs::scripts ─┬─ may ─► the extension runs it at that site only
//!                                        ▲              └─ unasked ─► the extension asks the person
//!                                        └──────── yes, no ◄─────────────────────┘
//! ```
//!
//! Owns the meaning of the answer: it holds for the client and the site as long as the browser is there. Must never let a script
//! go to another site than the one that was asked about: it names the site to the extension.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use harbor_policy::tabs::typed::site_in;
use harbor_policy::tabs::urls::host_in;
use harbor_policy::tabs::{Holder, NoScript};
use serde_json::{Value, json};

use super::asked_sites::{SPARE, answer_in};
use super::results::denied;
use super::source::{Browser, stopped};
use crate::link::{ServerAnswer, TimeLimit};

/// The extension's name for the question. No caller can use it: it is not among the tools.
const QUESTION: &str = "ask_evaluate";

impl Browser {
    /// Puts the site at which a script may run into its arguments. Returns the rest of the call's time.
    ///
    /// # Errors
    /// The answer for the caller where it may not run.
    pub(super) async fn may_evaluate(
        &self,
        (holder, session): (&Holder, &Arc<str>),
        tab: Option<u64>,
        arguments: &mut Value,
        limit: TimeLimit,
    ) -> Result<TimeLimit, ServerAnswer> {
        let begun = Instant::now();
        let url = tab.and_then(|tab| self.tabs.borrow().place(tab).map(str::to_owned)).unwrap_or_default();
        let (Some(site), Some(host)) = (site_in(&url), host_in(&url)) else {
            return Err(denied("address", "the tab shows no web site, and scripts run on web sites only"));
        };
        let mut judged = self.script(holder, &site);
        if judged == Err(NoScript::Unasked) {
            let question = (QUESTION, json!({"host": host}), Rc::default());
            let asking = TimeLimit { quiet: limit.quiet.saturating_sub(SPARE), ..limit };
            match self.ask(question, (holder, session), None, asking).await {
                Ok(ServerAnswer::Result(result)) => {
                    if let Some(is_yes) = answer_in(result.as_str()) {
                        self.tabs.borrow_mut().scripts().answered(holder.principal(), &site, is_yes);
                    }
                }
                Ok(_) if self.tabs.borrow().get(session).is_none() => return Err(stopped()),
                // Nobody has answered: it is judged as before.
                _ => {}
            }
            judged = self.script(holder, &site);
        }
        judged.map_err(|why| denied(reason(why), sentence(why)))?;
        arguments["site"] = Value::from(site);
        Ok(TimeLimit { used: limit.used + begun.elapsed(), ..limit })
    }

    fn script(&self, holder: &Holder, site: &str) -> Result<(), NoScript> {
        self.tabs.borrow_mut().scripts().run(holder.principal(), site, *holder == Holder::Owner)
    }
}

const fn reason(why: NoScript) -> &'static str {
    match why {
        NoScript::Secret => "secret",
        NoScript::Refused => "refused",
        NoScript::Unasked => "consent",
    }
}

const fn sentence(why: NoScript) -> &'static str {
    match why {
        NoScript::Secret => {
            "a secret of the person was typed on this site for you, so no script of yours runs there"
        }
        NoScript::Refused => "the person does not let you run scripts on this site",
        NoScript::Unasked => {
            "the person was asked whether you may run scripts on this site, and has not answered"
        }
    }
}
