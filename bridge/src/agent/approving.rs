//! Whether a call of a turn may be made, as `policy::approval` sees it.
//!
//! Owns what that has to know: the tool's hints, the session's mode, what the person has said before. Must never decide by itself.

use std::rc::Rc;

use harbor_policy::turn::Verdict;

use super::OnBehalf;
use super::session::{Decision, Mode, Session};
use super::toolbox::{Hints, Planned, What};
use crate::host::Host;

pub(super) struct Approvals {
    session: Rc<Session>,
    mode: Option<Mode>,
}

pub(super) struct Judged {
    pub verdict: Verdict,
    pub why: String,
}

impl Approvals {
    pub fn new(session: &Rc<Session>, on_behalf: &OnBehalf) -> Self {
        let mode = match on_behalf {
            OnBehalf::Owner(..) => Some(session.head.borrow().mode),
            OnBehalf::Origin(..) => None,
        };
        Self { session: session.clone(), mode }
    }

    pub fn judge(&self, planned: &Planned, host: &Host) -> Judged {
        let run = Judged { verdict: Verdict::Run, why: String::new() };
        let What::Tool(usable, _) = &planned.what else { return run };
        if !host.is_as_told(&usable.source, &usable.tool.name, &usable.tool.hash) {
            let why = "The tool is not what you were told of any more.".to_owned();
            return Judged { verdict: Verdict::Refuse, why };
        }
        let reads = Hints::of(&usable.tool).reads;
        match self.mode {
            Some(Mode::Ask) if !reads && !self.session.allowed.borrow().contains(&planned.shown.tool) => {
                Judged { verdict: Verdict::Ask, why: "it may change something".into() }
            }
            Some(Mode::Reads) if !reads => Judged {
                verdict: Verdict::Refuse,
                why: "It may change something, and nobody is here who could be asked.".into(),
            },
            _ => run,
        }
    }

    /// Takes in what the person has said: whether the call may be made.
    pub fn decide(&mut self, planned: &Planned, decision: &Decision) -> bool {
        if matches!(decision, Decision::Session | Decision::Always) {
            self.session.allowed.borrow_mut().insert(planned.shown.tool.clone());
        }
        !matches!(decision, Decision::No(_))
    }

    pub fn leaves(&self, _planned: &Planned) -> Option<String> {
        None
    }

    pub fn note_result(&mut self, _planned: &Planned) {}
}
