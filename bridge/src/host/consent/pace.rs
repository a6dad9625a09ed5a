//! How often an origin may have the person asked: three questions without a yes, then silence for the day.
//!
//! Owns these counts, which a yes ends. Must never count what was not shown.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;

/// Questions without a yes before there is silence.
const MOST: u32 = 3;

/// How long the silence lasts, in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Most origins that are remembered.
const ORIGINS: usize = 4096;

#[derive(Debug, Clone, Copy, Default)]
struct Pace {
    unconfirmed: u32,
    at: u64,
}

/// The counts of all origins.
#[derive(Debug, Default)]
pub(super) struct Paces(RefCell<HashMap<Arc<str>, Pace>>);

impl Paces {
    /// Checks that an origin may have the person asked at `now`, in milliseconds. `waiting` of its questions
    /// wait already.
    ///
    /// # Errors
    /// The error for an origin that may not ask.
    pub fn may_ask(&self, origin: &str, waiting: usize, now: u64) -> Result<(), ErrorBody> {
        if waiting >= MOST as usize {
            let message = "other calls already wait for the person's answer: wait for those first";
            return Err(ErrorBody::new(Code::RateLimited, message));
        }
        let paces = self.0.borrow();
        let is_silent = paces
            .get(origin)
            .is_some_and(|pace| pace.unconfirmed >= MOST && now.saturating_sub(pace.at) < DAY);
        match is_silent {
            false => Ok(()),
            true => {
                let message = "the person did not allow the last three calls that needed a question: Harbor shows no \
                               more questions today";
                Err(ErrorBody::new(Code::PermissionDenied, message).with("reason", "asked_too_often"))
            }
        }
    }

    /// A question of an origin was answered, or not.
    pub fn note(&self, origin: &Arc<str>, is_yes: bool, now: u64) {
        let mut paces = self.0.borrow_mut();
        if is_yes {
            paces.remove(origin);
            return;
        }
        if paces.len() >= ORIGINS {
            paces.retain(|_, pace| now.saturating_sub(pace.at) < DAY);
        }
        let pace = paces.entry(origin.clone()).or_default();
        let is_over = now.saturating_sub(pace.at) >= DAY;
        *pace = Pace { unconfirmed: if is_over { 1 } else { pace.unconfirmed + 1 }, at: now };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_questions_without_a_yes_are_enough_for_a_day() {
        let (paces, site) = (Paces::default(), Arc::<str>::from("https://a.example"));
        for at in 0..3 {
            assert!(paces.may_ask(&site, 2, at).is_ok());
            paces.note(&site, false, at);
        }
        assert!(paces.may_ask(&site, 0, 5).is_err() && paces.may_ask("https://b.example", 0, 5).is_ok());
        assert!(paces.may_ask(&site, 0, DAY + 2).is_ok());
        paces.note(&site, true, DAY + 2);
        paces.note(&site, false, DAY + 3);
        assert!(paces.may_ask(&site, 0, DAY + 4).is_ok());
        assert!(paces.may_ask(&site, 3, DAY + 4).is_err(), "three wait");
    }
}
