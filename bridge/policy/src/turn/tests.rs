//! The machine event by event, and in every order.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const LIMITS: Limits = Limits { rounds: 3, calls: 4, tokens: 1000, time: 10_000 };

fn wanted(fingerprint: u64, reads: bool) -> Wanted {
    Wanted { fingerprint, reads }
}

fn answered(calls: &[Wanted]) -> Event {
    Event::Answered { calls: calls.to_vec(), tokens: 10 }
}

/// A turn that has just been answered with these calls, and what it wants done.
fn calling(calls: &[Wanted]) -> (Turn, Vec<Action>) {
    let (mut turn, begun) = Turn::begin(LIMITS, 0);
    assert_eq!(begun, [Action::Ask { last: None }]);
    let actions = turn.on(answered(calls), 1);
    (turn, actions)
}

#[test]
fn a_text_alone_is_the_end() {
    let (_, actions) = calling(&[]);
    assert_eq!(actions, [Action::End(Why::Done)]);
}

#[test]
fn a_request_is_asked_once_in_each_other_form_in_each_round() {
    let (mut turn, _) = Turn::begin(LIMITS, 0);
    let (shorter, in_words) = (Event::Adapted(RequestForm::Shorter), Event::Adapted(RequestForm::InWords));
    assert_eq!(turn.on(shorter.clone(), 1), [Action::Ask { last: None }]);
    assert_eq!(turn.clone().on(shorter.clone(), 2), [Action::End(Why::Failed)]);
    assert_eq!(turn.on(in_words.clone(), 2), [Action::Ask { last: None }]);
    for again in [&shorter, &in_words] {
        assert_eq!(turn.clone().on(again.clone(), 2), [Action::End(Why::Failed)]);
    }
    assert_eq!(turn.on(answered(&[wanted(1, true)]), 2), [Action::Judge(0)]);
    assert_eq!(turn.on(shorter.clone(), 2), []);
    assert_eq!(turn.on(Event::Judged(0, Verdict::Run), 2), [Action::Run(0)]);
    assert_eq!(turn.on(Event::Ended(0, 7), 3), [Action::Ask { last: None }]);
    assert_eq!(turn.on(shorter, 4), [Action::Ask { last: None }]);
}

#[test]
fn a_summary_counts_its_tokens_and_is_no_round() {
    let (mut turn, _) = Turn::begin(LIMITS, 0);
    assert_eq!(turn.on(Event::Summarised(400), 1), [Action::Ask { last: None }]);
    assert_eq!(turn.on(Event::Summarised(600), 1), [Action::Ask { last: Some(Why::Tokens) }]);
    assert_eq!((turn.rounds(), turn.on(answered(&[]), 2)), (1, vec![Action::End(Why::Tokens)]));
    assert_eq!(turn.on(Event::Summarised(1), 3), []);
}

#[test]
fn calls_that_only_read_run_beside_each_other_and_others_one_by_one() {
    let (mut turn, actions) = calling(&[wanted(1, true), wanted(2, true)]);
    assert_eq!(actions, [Action::Judge(0), Action::Judge(1)]);
    assert_eq!(turn.on(Event::Judged(1, Verdict::Run), 2), [Action::Run(1)]);
    assert_eq!(turn.on(Event::Judged(0, Verdict::Run), 2), [Action::Run(0)]);
    assert_eq!(turn.on(Event::Ended(1, 7), 3), []);
    assert_eq!(turn.on(Event::Ended(0, 7), 3), [Action::Ask { last: None }]);

    let (mut turn, actions) = calling(&[wanted(1, true), wanted(2, false), wanted(3, true)]);
    assert_eq!(actions, [Action::Judge(0)]);
    assert_eq!(
        turn.on(Event::Judged(0, Verdict::Refuse), 2),
        [Action::Settle(0, Unmade::Refused), Action::Judge(1)]
    );
    assert_eq!(turn.on(Event::Judged(1, Verdict::Ask), 2), [Action::AskPerson(1)]);
    assert_eq!(turn.on(Event::Decided(1, true), 3), [Action::Run(1)]);
    assert_eq!(turn.on(Event::Decided(1, true), 3), [], "a yes is used once");
    assert_eq!(turn.on(Event::Ended(1, 7), 4), [Action::Judge(2)]);
}

#[test]
fn at_a_limit_the_last_answer_has_no_tools() {
    let (mut turn, _) = Turn::begin(LIMITS, 0);
    for round in 0..3 {
        assert_eq!(turn.on(answered(&[wanted(round, true)]), 1), [Action::Judge(0)]);
        assert_eq!(turn.on(Event::Judged(0, Verdict::Run), 1), [Action::Run(0)]);
        let last = (round == 2).then_some(Why::Rounds);
        assert_eq!(turn.on(Event::Ended(0, 7), 1), [Action::Ask { last }]);
    }
    assert_eq!(turn.clone().on(answered(&[]), 1), [Action::End(Why::Rounds)]);
    let calls_again = turn.on(answered(&[wanted(9, true)]), 1);
    assert_eq!(calls_again, [Action::Settle(0, Unmade::TooMany), Action::End(Why::Rounds)]);
}

#[test]
fn calls_beyond_the_limit_have_a_result_too() {
    let all: Vec<_> = (0..6).map(|call| wanted(call, true)).collect();
    let (mut turn, actions) = calling(&all);
    assert_eq!(actions[..2], [Action::Settle(4, Unmade::TooMany), Action::Settle(5, Unmade::TooMany)]);
    for call in 0..4 {
        assert_eq!(turn.on(Event::Judged(call, Verdict::Run), 2), [Action::Run(call)]);
    }
    let actions: Vec<_> = (0..4).flat_map(|call| turn.on(Event::Ended(call, 7), 3)).collect();
    assert_eq!(actions, [Action::Ask { last: Some(Why::Calls) }]);
}

#[test]
fn who_repeats_itself_is_told_and_then_ended() {
    let (mut turn, _) = Turn::begin(Limits { rounds: 99, calls: 99, ..LIMITS }, 0);
    for time in 1..=5 {
        let _ = turn.on(answered(&[wanted(1, true)]), 1);
        let _ = turn.on(Event::Judged(0, Verdict::Run), 1);
        let actions = turn.on(Event::Ended(0, 7), 1);
        let last = (time == 5).then_some(Why::Repeats);
        match time {
            1 | 2 => assert_eq!(actions, [Action::Ask { last }]),
            _ => assert_eq!(actions, [Action::Remark(0, time), Action::Ask { last }]),
        }
    }
}

#[test]
fn stopping_gives_each_open_call_a_result_and_later_events_do_nothing() {
    let (mut turn, _) = calling(&[wanted(1, true), wanted(2, true), wanted(3, true)]);
    let _ = turn.on(Event::Judged(0, Verdict::Run), 2);
    let _ = turn.on(Event::Judged(1, Verdict::Ask), 2);
    let _ = turn.on(Event::Ended(0, 7), 2);
    let stopped = [
        Action::Cancel,
        Action::Settle(1, Unmade::Stopped),
        Action::Settle(2, Unmade::Stopped),
        Action::End(Why::Stopped),
    ];
    assert_eq!(turn.on(Event::Stopped, 3), stopped);
    for event in [Event::Ended(1, 7), Event::Decided(1, true), answered(&[]), Event::Stopped, Event::Tick] {
        assert_eq!(turn.on(event, 99_999), []);
    }
    assert_eq!(turn.deadline(), None);
}

#[test]
fn time_in_which_only_the_person_is_waited_for_does_not_count() {
    let (mut turn, _) = calling(&[wanted(1, false)]);
    assert_eq!(turn.deadline(), Some(10_000));
    let _ = turn.on(Event::Judged(0, Verdict::Ask), 2000);
    assert_eq!(turn.deadline(), None);
    assert_eq!(turn.on(Event::Tick, 50_000), []);
    let _ = turn.on(Event::Decided(0, true), 1_002_000);
    assert_eq!(turn.deadline(), Some(1_010_000));
    let late = turn.on(Event::Tick, 1_010_000);
    let last = Action::Ask { last: Some(Why::Time) };
    assert_eq!(late, [Action::Cancel, Action::Settle(0, Unmade::Late), last]);
    assert_eq!(turn.deadline(), Some(1_010_000 + GRACE));
    assert_eq!(turn.on(Event::Tick, 1_010_000 + GRACE), [Action::Cancel, Action::End(Why::Time)]);
}

fn event() -> impl Strategy<Value = Event> {
    let call = 0..4_usize;
    let verdict = prop_oneof![Just(Verdict::Run), Just(Verdict::Ask), Just(Verdict::Refuse)];
    prop_oneof![
        4 => (vec((0..3_u64, any::<bool>()), 0..5), 0..400_u64).prop_map(|(calls, tokens)| {
            let calls = calls.into_iter().map(|(call, reads)| wanted(call, reads)).collect();
            Event::Answered { calls, tokens }
        }),
        8 => (call.clone(), verdict).prop_map(|(call, verdict)| Event::Judged(call, verdict)),
        4 => (call.clone(), any::<bool>()).prop_map(|(call, yes)| Event::Decided(call, yes)),
        8 => (call, 0..2_u64).prop_map(|(call, result)| Event::Ended(call, result)),
        1 => Just(Event::Failed),
        1 => Just(Event::Stopped),
        2 => Just(Event::Tick),
    ]
}

/// What the driver has seen of one answer.
#[derive(Default)]
struct Ledger {
    /// Calls without a result.
    open: BTreeSet<usize>,
    judging: BTreeSet<usize>,
    asking: BTreeSet<usize>,
    running: BTreeSet<usize>,
    ended: bool,
    rounds: u32,
    runs: u32,
}

impl Ledger {
    fn take(&mut self, action: Action) {
        assert!(!self.ended, "{action:?} behind the end");
        match action {
            Action::Ask { .. } => {
                assert!(self.open.is_empty(), "the model is asked with {:?} open", self.open);
                self.rounds += 1;
            }
            Action::Judge(call) => assert!(self.judging.insert(call)),
            Action::AskPerson(call) => assert!(self.asking.insert(call)),
            Action::Run(call) => {
                assert!(self.running.insert(call));
                self.runs += 1;
            }
            Action::Settle(call, _) => {
                assert!(self.open.remove(&call), "{call} has two results");
                self.running.remove(&call);
            }
            Action::Remark(call, _) => assert!(!self.open.contains(&call)),
            Action::Cancel => {}
            Action::End(_) => {
                assert!(self.open.is_empty(), "it ends with {:?} open", self.open);
                self.ended = true;
            }
        }
    }
}

proptest! {
    /// Whatever happens in whatever order, each call has one result before the model is asked again or the turn ends, nothing
    /// runs that was not said to, and no limit is passed.
    #[test]
    fn every_call_has_exactly_one_result(events in vec((event(), 0..3000_u64), 0..60)) {
        let (mut turn, actions) = Turn::begin(LIMITS, 0);
        let (mut ledger, mut now) = (Ledger::default(), 0);
        actions.into_iter().for_each(|action| ledger.take(action));
        for (event, passed) in events {
            now += passed;
            match &event {
                Event::Answered { calls, .. } if matches!(turn.state, State::Asking { .. }) => {
                    ledger = Ledger { rounds: ledger.rounds, runs: ledger.runs, ..Ledger::default() };
                    ledger.open = (0..calls.len()).collect();
                }
                // The driver's own: a call that runs has its result.
                Event::Ended(call, _) if ledger.running.contains(call) && ledger.open.contains(call) => {
                    ledger.open.remove(call);
                }
                Event::Ended(call, _) => prop_assert!(
                    !matches!(&turn.state, State::Calling(calls) if calls.get(*call).is_some_and(|call| call.state == CallState::Running))
                ),
                _ => {}
            }
            turn.on(event, now).into_iter().for_each(|action| ledger.take(action));
            prop_assert_eq!(ledger.ended, turn.state == State::Ended);
        }
        prop_assert!(ledger.rounds <= LIMITS.rounds + 1);
        prop_assert!(ledger.runs <= LIMITS.calls);
        // Whatever it waits for, stopping ends it.
        if !ledger.ended {
            turn.on(Event::Stopped, now).into_iter().for_each(|action| ledger.take(action));
            prop_assert!(ledger.ended);
        }
    }
}
