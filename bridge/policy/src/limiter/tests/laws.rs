//! Any sequence of requests and ends: what always holds, and the same from a model that is simple and slow.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;

use super::*;

/// One origin, done slowly: the next is of the lane whose last turn, or arrival, is longest ago.
#[derive(Debug, Default)]
struct Model {
    held: Vec<CallTicket>,
    waiting: Vec<(u64, CallTicket)>,
    turns: BTreeMap<u64, usize>,
    clock: usize,
}

impl Model {
    fn of_lane(&self, lane: u64) -> Vec<CallTicket> {
        self.waiting.iter().filter(|(its, _)| *its == lane).map(|(_, ticket)| *ticket).collect()
    }

    fn turn(&mut self, lane: u64) {
        self.clock += 1;
        self.turns.insert(lane, self.clock);
    }

    fn request(&mut self, lane: u64, limits: &CallLimits, ticket: CallTicket, now: Millis) -> Decision {
        if limits.concurrent == 0 || (self.held.len() < limits.concurrent as usize && self.waiting.is_empty())
        {
            self.held.push(ticket);
            return Decision::Admitted(ticket);
        }
        let mut displaced = None;
        if self.waiting.len() >= limits.queue as usize {
            let lengths = (0..LANES).map(|lane| self.of_lane(lane).len());
            let longest = lengths.max().unwrap();
            if limits.queue == 0 || longest < self.of_lane(lane).len() + 2 {
                return Decision::Refused(LimitRefusalReason::TooManyAtOnce);
            }
            // Of several, that whose turn is last.
            let mut candidates: Vec<_> =
                (0..LANES).filter(|lane| self.of_lane(*lane).len() == longest).collect();
            candidates.sort_by_key(|lane| self.turns[lane]);
            let out = *self.of_lane(*candidates.last().unwrap()).last().unwrap();
            self.waiting.retain(|(_, ticket)| *ticket != out);
            displaced = Some(out);
        }
        if self.of_lane(lane).is_empty() {
            self.turn(lane);
        }
        self.waiting.push((lane, ticket));
        Decision::Queued { ticket, deadline: now + limits.queue_wait_ms, displaced }
    }

    fn finish(&mut self, ticket: CallTicket, concurrent: u32) -> Vec<CallTicket> {
        let before = (self.held.len(), self.waiting.len());
        self.held.retain(|held| *held != ticket);
        self.waiting.retain(|(_, waiting)| *waiting != ticket);
        if before == (self.held.len(), self.waiting.len()) {
            return Vec::new();
        }
        let mut admitted = Vec::new();
        while concurrent == 0 || self.held.len() < concurrent as usize {
            let lanes = (0..LANES).filter(|lane| !self.of_lane(*lane).is_empty());
            let Some(lane) = lanes.min_by_key(|lane| self.turns[lane]) else { break };
            let next = self.of_lane(lane)[0];
            self.waiting.retain(|(_, waiting)| *waiting != next);
            self.turn(lane);
            self.held.push(next);
            admitted.push(next);
        }
        admitted
    }
}

const LANES: u64 = 4;

#[derive(Debug, Clone)]
enum Step {
    Request {
        origin: usize,
        lane: u64,
        limits: usize,
    },
    /// Of any ticket so far, also a second time.
    Finish(prop::sample::Index),
    /// Of one that is held or waits.
    FinishOpen(prop::sample::Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let request = (0usize..2, 0..LANES, 0usize..3).prop_map(|(origin, lane, limits)| Step::Request {
        origin,
        lane,
        limits,
    });
    let finish = any::<prop::sample::Index>();
    let step = prop_oneof![
        5 => request,
        1 => finish.clone().prop_map(Step::Finish),
        4 => finish.prop_map(Step::FinishOpen),
    ];
    prop::collection::vec(step, 0..250)
}

fn limits() -> impl Strategy<Value = CallLimits> {
    (0u32..4, 0u32..7).prop_map(|(concurrent, queue)| CallLimits { concurrent, queue, ..TWO })
}

/// What has been given out, and what has come of it.
#[derive(Default)]
struct Ledger {
    tickets: Vec<CallTicket>,
    open: Vec<CallTicket>,
    admitted: HashSet<CallTicket>,
    held: usize,
    acquired: usize,
    released: usize,
}

impl Ledger {
    fn admit(&mut self, ticket: CallTicket) {
        assert!(self.admitted.insert(ticket), "admitted twice");
        (self.acquired, self.held) = (self.acquired + 1, self.held + 1);
    }

    fn close(&mut self, ticket: CallTicket) {
        let before = self.open.len();
        self.open.retain(|open| *open != ticket);
        if before > self.open.len() && self.admitted.contains(&ticket) {
            (self.released, self.held) = (self.released + 1, self.held - 1);
        }
    }

    fn note(&mut self, decision: Decision) {
        match decision {
            Decision::Admitted(ticket) => self.admit(ticket),
            Decision::Queued { displaced, .. } => displaced.into_iter().for_each(|out| self.close(out)),
            Decision::Refused(_) => return,
        }
        let (Decision::Admitted(ticket) | Decision::Queued { ticket, .. }) = decision else { return };
        self.tickets.push(ticket);
        self.open.push(ticket);
    }
}

const ORIGINS: [&str; 2] = ["https://a.example", "client://b"];

proptest! {
    #[test]
    fn every_decision_is_the_models(steps in steps(), choices in prop::array::uniform3(limits()), same in any::<bool>()) {
        let mut limiter = Limiter::default();
        let mut models = [Model::default(), Model::default()];
        let mut concurrent = [0; 2];
        let mut ledger = Ledger::default();
        for step in steps {
            let ticket = match step {
                Step::Request { origin, lane, limits } => {
                    let limits = choices[if same { 0 } else { limits }];
                    concurrent[origin] = limits.concurrent;
                    let decision = limiter.request(ORIGINS[origin], lane, "time", &limits, None, 7);
                    let next = CallTicket(ledger.tickets.len() as u64 + 1);
                    prop_assert_eq!(decision, models[origin].request(lane, &limits, next, 7));
                    ledger.note(decision);
                    None
                }
                Step::Finish(index) if !ledger.tickets.is_empty() => Some(*index.get(&ledger.tickets)),
                Step::FinishOpen(index) if !ledger.open.is_empty() => Some(*index.get(&ledger.open)),
                Step::Finish(_) | Step::FinishOpen(_) => None,
            };
            if let Some(ticket) = ticket {
                ledger.close(ticket);
                let admitted = limiter.finish(ticket);
                let wanted: Vec<_> =
                    (0..2).flat_map(|origin| models[origin].finish(ticket, concurrent[origin])).collect();
                prop_assert_eq!(&admitted, &wanted);
                admitted.into_iter().for_each(|ticket| ledger.admit(ticket));
            }
            for (origin, model) in ORIGINS.iter().zip(&models) {
                let (held, waiting) = (limiter.held(origin) as usize, limiter.waiting(origin) as usize);
                prop_assert_eq!((held, waiting), (model.held.len(), model.waiting.len()));
                prop_assert!(held > 0 || waiting == 0, "somebody's finish admits who waits");
                if same {
                    prop_assert!(choices[0].concurrent == 0 || held <= choices[0].concurrent as usize);
                    prop_assert!(waiting <= choices[0].queue as usize);
                }
            }
            prop_assert_eq!(ledger.released + ledger.held, ledger.acquired);
            prop_assert_eq!(limiter.calls.len(), ledger.open.len());
        }
        // Who is admitted ends, and nobody gives up: so everybody who waits is admitted.
        while let Some(ticket) = ledger.open.iter().copied().find(|open| ledger.admitted.contains(open)) {
            ledger.close(ticket);
            limiter.finish(ticket).into_iter().for_each(|ticket| ledger.admit(ticket));
        }
        prop_assert_eq!((ledger.open, ledger.held, ledger.released), (vec![], 0, ledger.acquired));
        prop_assert_eq!(ORIGINS.map(|origin| (limiter.held(origin), limiter.waiting(origin))), [(0, 0); 2]);
        limiter.purge(7);
        prop_assert!(limiter.calls.is_empty() && ORIGINS.iter().all(|origin| limiter.origins.get(origin).is_none()));
    }

    /// A lane's first call waits for at most one turn of each other lane, whatever they do meanwhile.
    #[test]
    fn a_first_call_waits_one_turn_of_each_other_lane(
        before in prop::collection::vec(0..LANES - 1, 0..30),
        meanwhile in prop::collection::vec(prop::collection::vec(0..LANES - 1, 0..4), 40),
    ) {
        let mut limiter = Limiter::default();
        let limits = CallLimits { concurrent: 1, queue: 8, ..TWO };
        let mut running = admitted(ask(&mut limiter, 0, &limits));
        let mut lanes = BTreeMap::new();
        let mut arrive = |limiter: &mut Limiter, lane| {
            let decision = ask(limiter, lane, &limits);
            if let Decision::Queued { ticket, .. } = decision { lanes.insert(ticket, lane); }
            decision
        };
        for lane in before { arrive(&mut limiter, lane); }
        let Decision::Queued { ticket: first, .. } = arrive(&mut limiter, LANES - 1) else {
            panic!("three lanes leave room for a fourth among eight")
        };
        let mut turns = Vec::new();
        for arriving in meanwhile {
            for lane in arriving {
                let Decision::Queued { displaced, .. } = arrive(&mut limiter, lane) else { continue };
                prop_assert_ne!(displaced, Some(first));
            }
            let Some(next) = limiter.finish(running).pop() else { break };
            if next == first { break; }
            turns.push(next);
            running = next;
        }
        prop_assert_eq!(limiter.waiting(SITE), limiter.calls.len() as u32 - 1);
        let turns: Vec<_> = turns.iter().map(|ticket| lanes[ticket]).collect();
        let once: HashSet<_> = turns.iter().collect();
        prop_assert_eq!(once.len(), turns.len(), "{:?}", turns);
    }

    /// Whatever the clock does, every call is decided, places are kept, and deadlines do not lie in the past.
    #[test]
    fn clocks_that_jump_do_no_harm(
        times in prop::collection::vec(prop_oneof![0u64..200_000, Just(u64::MAX), any::<u64>()], 1..100),
        per_minute in 0u32..5,
    ) {
        let mut limiter = Limiter::default();
        let limits = CallLimits { per_minute: Some(per_minute), ..TWO };
        let mut ledger = Ledger::default();
        for now in times {
            let decision = limiter.request(SITE, now % 3, "time", &limits, Some(4), now);
            ledger.note(decision);
            match decision {
                Decision::Queued { deadline, .. } => prop_assert!(deadline >= now),
                Decision::Refused(LimitRefusalReason::TooManyPerMinute { retry_after_ms }
                    | LimitRefusalReason::ServerTooManyPerMinute { retry_after_ms }) =>
                    prop_assert!((1..=60_000).contains(&retry_after_ms)),
                _ => {}
            }
            limiter.purge(now);
            prop_assert_eq!(limiter.held(SITE) as usize, ledger.held);
            if now % 2 == 0 && let Some(ticket) = ledger.open.first().copied() {
                ledger.close(ticket);
                limiter.finish(ticket).into_iter().for_each(|ticket| ledger.admit(ticket));
            }
        }
    }
}
