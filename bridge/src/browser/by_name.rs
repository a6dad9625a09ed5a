//! The tools that are granted by their names: scripts in pages, what the browser keeps for a site, what its pages say to servers.
//!
//! ```text
//!  call ─► the tab's site ─► policy::tabs ─┬─ may ─► the extension does it at that site only
//!                                 ▲        └─ unasked ─► the extension asks the person
//!                                 └──────── yes, no ◄─────────────────────┘
//! ```
//!
//! Owns the meaning of the answer: it holds for the client, the site and the kind of tool as long as the browser is there. Must
//! never let a call go to another site than the one that was asked about: it names the site to the extension.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use harbor_policy::browser_tools::{BODIES, EVALUATE, is_storage};
use harbor_policy::tabs::typed::site_in;
use harbor_policy::tabs::urls::host_in;
use harbor_policy::tabs::{Holder, NoYes};
use serde_json::{Value, json};

use super::asked_sites::{SPARE, answer_in};
use super::results::{denied, stopped};
use super::source::Browser;
use crate::link::{ServerAnswer, TimeLimit};

/// The power over a site of a tool that is granted by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Power {
    /// Runs a script of the client's.
    Scripts,
    /// Uses cookies or what pages store.
    Logins,
    /// Reads what pages and servers say to each other.
    Bodies,
}

impl Power {
    /// What a tool does; none if it is granted as any other.
    fn of(tool: &str) -> Option<Self> {
        match tool {
            EVALUATE => Some(Self::Scripts),
            BODIES => Some(Self::Bodies),
            _ => is_storage(tool).then_some(Self::Logins),
        }
    }

    /// The extension's name for the question. No caller can use it: it is not among the tools.
    const fn question(self) -> &'static str {
        match self {
            Self::Scripts => "ask_evaluate",
            Self::Logins => "ask_storage",
            Self::Bodies => "ask_bodies",
        }
    }

    const fn sentence(self, why: NoYes) -> &'static str {
        match (self, why) {
            (_, NoYes::Secret) => {
                "a secret of the person was typed on this site for you, so no script of yours runs there"
            }
            (Self::Scripts, NoYes::Refused) => "the person does not let you run scripts on this site",
            (Self::Scripts, NoYes::Unasked) => {
                "the person was asked whether you may run scripts on this site, and has not answered"
            }
            (Self::Logins, NoYes::Refused) => {
                "the person does not let you use the cookies and the storage of this site"
            }
            (Self::Logins, NoYes::Unasked) => {
                "the person was asked whether you may use the cookies and the storage of this site, and has not answered"
            }
            (Self::Bodies, NoYes::Refused) => {
                "the person does not let you read what this site's pages ask of servers"
            }
            (Self::Bodies, NoYes::Unasked) => {
                "the person was asked whether you may read what this site's pages ask of servers, and has not answered"
            }
        }
    }
}

impl Browser {
    /// Puts the site at which a tool may be used into its arguments, if it is one of these. Returns the rest of the call's time.
    ///
    /// # Errors
    /// The answer for the caller where it may not be.
    pub(super) async fn may_use(
        &self,
        tool: &str,
        (holder, session): (&Holder, &Arc<str>),
        tab: Option<u64>,
        arguments: &mut Value,
        limit: TimeLimit,
    ) -> Result<TimeLimit, ServerAnswer> {
        let Some(power) = Power::of(tool) else { return Ok(limit) };
        let begun = Instant::now();
        let url = tab.and_then(|tab| self.tabs.borrow().place(tab).map(str::to_owned)).unwrap_or_default();
        let (Some(site), Some(host)) = (site_in(&url), host_in(&url)) else {
            return Err(denied("address", "the tab shows no web site, and this is for web sites only"));
        };
        let mut judged = self.judge_power(power, holder, &site);
        if judged == Err(NoYes::Unasked) {
            let question = (power.question(), json!({"host": host}), Rc::default());
            let asking = TimeLimit { quiet: limit.quiet.saturating_sub(SPARE), ..limit };
            match self.ask(question, (holder, session), None, asking).await {
                Ok(ServerAnswer::Result(result)) => {
                    if let Some(is_yes) = answer_in(result.as_str()) {
                        self.note_answer(power, holder, &site, is_yes);
                    }
                }
                Ok(_) if self.tabs.borrow().get(session).is_none() => return Err(stopped()),
                // Nobody has answered: it is judged as before.
                _ => {}
            }
            judged = self.judge_power(power, holder, &site);
        }
        judged.map_err(|why| denied(reason(why), power.sentence(why)))?;
        arguments["site"] = Value::from(site);
        Ok(TimeLimit { used: limit.used + begun.elapsed(), ..limit })
    }

    fn judge_power(&self, power: Power, holder: &Holder, site: &str) -> Result<(), NoYes> {
        let mut tabs = self.tabs.borrow_mut();
        let (principal, is_owner) = (holder.principal(), *holder == Holder::Owner);
        match power {
            Power::Scripts => tabs.scripts().run(principal, site, is_owner),
            Power::Logins => tabs.logins().judge(principal, site, is_owner),
            Power::Bodies => tabs.bodies().judge(principal, site, is_owner),
        }
    }

    fn note_answer(&self, power: Power, holder: &Holder, site: &str, is_yes: bool) {
        let mut tabs = self.tabs.borrow_mut();
        match power {
            Power::Scripts => tabs.scripts().answered(holder.principal(), site, is_yes),
            Power::Logins => tabs.logins().answered(holder.principal(), site, is_yes),
            Power::Bodies => tabs.bodies().answered(holder.principal(), site, is_yes),
        }
    }
}

const fn reason(why: NoYes) -> &'static str {
    match why {
        NoYes::Secret => "secret",
        NoYes::Refused => "refused",
        NoYes::Unasked => "consent",
    }
}
