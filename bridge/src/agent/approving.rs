//! Whether a call of a turn may be made, as `policy::approval` sees it.
//!
//! Owns what that has to know: what the tool says of itself, what the person has said before, what the model has read. Must never decide
//! by itself.

use std::rc::Rc;

use harbor_policy::approval::{Answer, Call, Leaving, Mode as Asks, Need, Read, Who, Why};
use harbor_policy::turn::Verdict;

use super::session::{Decision, Mode, Session};
use super::toolbox::{Planned, What};
use super::{Agent, OnBehalf};
use crate::host::Usable;

/// What is asked for the calls of one turn.
pub(super) struct Approvals {
    session: Rc<Session>,
    agent: Rc<Agent>,
    /// None: a run of an origin.
    mode: Option<Mode>,
    /// Whether the person can be asked.
    asks: bool,
}

/// What becomes of a call, and the words for it.
pub(super) struct Judged {
    pub verdict: Verdict,
    /// Why the person is asked, or what the model is told of a refusal.
    pub why: String,
    /// What would leave this machine.
    pub leaves: Option<String>,
}

impl Judged {
    fn run() -> Self {
        Self { verdict: Verdict::Run, why: String::new(), leaves: None }
    }

    fn refused(why: impl Into<String>) -> Self {
        Self { verdict: Verdict::Refuse, why: why.into(), leaves: None }
    }
}

impl Approvals {
    pub fn new(session: &Rc<Session>, agent: &Rc<Agent>, on_behalf: &OnBehalf) -> Self {
        let (mode, asks) = match on_behalf {
            OnBehalf::Owner(..) => {
                let mode = session.head.borrow().mode;
                (Some(mode), mode != Mode::Reads)
            }
            OnBehalf::Origin { asks, .. } => (None, *asks),
        };
        session.decisions.borrow_mut().begin_turn();
        Self { session: session.clone(), agent: agent.clone(), mode, asks }
    }

    /// Whether a call may be made now.
    pub fn judge(&self, planned: &Planned) -> Judged {
        let What::Tool(usable, _) = &planned.what else {
            return Judged::run();
        };
        if !self.agent.host.is_as_told(&usable.source, &usable.tool.name, &usable.tool.hash) {
            return Judged::refused("The tool is not what you were told of any more, or it is gone.");
        }
        match self.need(planned, usable) {
            Need::Run => Judged::run(),
            Need::Refuse(why) => Judged::refused(why.sentence()),
            Need::Ask { why, leaving } if self.asks => Judged {
                verdict: Verdict::Ask,
                why: sentence(why).to_owned(),
                leaves: leaving.as_ref().map(shown),
            },
            Need::Ask { .. } if self.mode.is_some() => {
                Judged::refused("It may change something, and nobody is here who could be asked.")
            }
            Need::Ask { .. } => Judged::refused(
                "The person would have to be asked for this call, and nobody is here who could ask.",
            ),
        }
    }

    /// Takes in what the person has said: whether the call may be made.
    pub fn decide(&self, planned: &Planned, decision: &Decision) -> bool {
        let What::Tool(usable, _) = &planned.what else { return false };
        let need = self.need(planned, usable);
        let answer = match decision {
            Decision::Once => Answer::Once,
            Decision::Session => Answer::Session,
            Decision::Always => Answer::Always,
            Decision::No(_) | Decision::Silence => Answer::No,
        };
        let lasts = self.session.decisions.borrow_mut().answer(&call(planned), &need, answer);
        if lasts == Answer::Always {
            let (agent, usable) = (self.agent.clone(), usable.clone());
            tokio::task::spawn_local(async move {
                if let Err(error) = agent.always.add(&usable).await {
                    tracing::warn!(%error, "a yes for every session is not stored: it holds until the bridge ends");
                }
            });
        }
        self.need(planned, usable) == Need::Run
    }

    /// The model reads what a tool has answered.
    pub fn note_result(&self, planned: &Planned) {
        let What::Tool(usable, _) = &planned.what else { return };
        let private = self.agent.host.has_private(&usable.source);
        self.session.note_read(Read::Result { traits: usable.traits, private });
    }

    fn need(&self, planned: &Planned, usable: &Usable) -> Need {
        let who = match self.mode {
            // What an origin was granted, `host` has looked at and looks at again.
            None => Who::Origin { granted: true },
            Some(Mode::Auto) => Who::Owner(Asks::Auto),
            Some(Mode::Ask | Mode::Reads) => Who::Owner(Asks::Ask),
        };
        let need =
            self.session.decisions.borrow().need(who, &call(planned), usable.traits, self.session.taint());
        match need {
            // What leaves is shown each time.
            Need::Ask { leaving: None, .. } if self.mode.is_some() && self.agent.always.has(usable) => {
                Need::Run
            }
            need => need,
        }
    }
}

fn call(planned: &Planned) -> Call<'_> {
    Call { id: &planned.shown.id, tool: &planned.shown.tool, arguments: planned.shown.arguments.as_str() }
}

fn sentence(why: Why) -> &'static str {
    match why {
        Why::Writes => "it changes something",
        Why::Destroys => "it may destroy something",
        Why::WritesAfterUntrusted => {
            "it changes something, and the model has read text that nobody vouches for"
        }
        Why::Leaves => {
            "private data may leave this machine, and the model has read text that nobody vouches for"
        }
    }
}

/// All that would leave, as the person is shown it.
fn shown(leaving: &Leaving) -> String {
    match leaving.urls.is_empty() {
        true => leaving.arguments.clone(),
        false => format!("{}\n{}", leaving.urls.join("\n"), leaving.arguments),
    }
}
