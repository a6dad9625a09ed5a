//! The standing of a server, in the few words that a person needs.
//!
//! ```text
//!  another program than was accepted ────────────────────────────► needs_approval
//!  it cannot start without a key, a passphrase ──────────────────► needs_key
//!  it cannot start before a person signs in ─────────────────────► needs_sign_in
//!  given up, or it fell and is tried again ──────────────────────► failed
//!  it runs, or is on its way up ─────────────────────────────────► running
//!  at rest: a call starts it ─► ready    only a person starts it ─► stopped
//! ```
//!
//! Owns the choice of the word. Must never take the place of the lifecycle's states, which stand beside it for programs.

use crate::lifecycle::State;

/// The thing that a server waits for before it can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A secret that is missing, or a passphrase that opens them.
    Key,
    /// A sign-in at the place where it runs.
    SignIn,
}

/// The facts about a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandingFacts {
    /// The state of the server.
    pub state: State,
    /// True if it is stopped and a call starts it.
    pub wakes_on_demand: bool,
    /// The need of its start, as far as that is known.
    pub need: Option<Need>,
    /// True if it runs another program than the accepted one.
    pub is_other_program: bool,
}

/// `Server.shown_state`: `running`, `ready`, `stopped`, `needs_key`, `needs_sign_in`, `needs_approval` or `failed`.
#[must_use]
pub fn shown(known: StandingFacts) -> &'static str {
    let StandingFacts { state, wakes_on_demand, need, is_other_program } = known;
    if is_other_program {
        return "needs_approval";
    }
    match (state, need) {
        (State::Installing | State::Starting | State::Running, _) => "running",
        (State::Stopped | State::Failed | State::Crashed, Some(Need::Key)) => "needs_key",
        (State::Stopped | State::Failed | State::Crashed, Some(Need::SignIn)) => "needs_sign_in",
        (State::Failed | State::Crashed, None) => "failed",
        (State::Stopped, None) if wakes_on_demand => "ready",
        (State::Stopped | State::Stopping, _) => "stopped",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_says_what_the_person_can_do() {
        let rest = StandingFacts {
            state: State::Stopped,
            wakes_on_demand: true,
            need: None,
            is_other_program: false,
        };
        let by_hand = StandingFacts { wakes_on_demand: false, ..rest };
        let of = |state, need| shown(StandingFacts { state, need, ..by_hand });
        assert_eq!((shown(rest), shown(by_hand)), ("ready", "stopped"));
        assert_eq!(shown(StandingFacts { need: Some(Need::Key), ..rest }), "needs_key");
        assert_eq!(
            shown(StandingFacts { is_other_program: true, state: State::Running, ..rest }),
            "needs_approval"
        );
        assert_eq!((of(State::Failed, None), of(State::Crashed, None)), ("failed", "failed"));
        assert_eq!(of(State::Failed, Some(Need::SignIn)), "needs_sign_in");
        let up = [State::Installing, State::Starting, State::Running];
        assert_eq!(up.map(|state| of(state, Some(Need::Key))), ["running"; 3]);
        assert_eq!(of(State::Stopping, None), "stopped");
    }
}
