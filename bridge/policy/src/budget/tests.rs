//! What is kept and what is used agree with a plain sum, whatever happens in which order.

use proptest::prelude::*;

use super::*;

const NOON: u64 = 20_000 * DAY + DAY / 2;
const PAGE: &str = "https://example.com";

#[test]
fn an_origin_has_its_day_and_the_person_has_no_bound() {
    let mut budgets = Budgets::default();
    let first = budgets.reserve(PAGE, OF_AN_ORIGIN - 10, NOON).unwrap();
    let refused = budgets.reserve(PAGE, 11, NOON);
    let wanted = BudgetRefusalReason::Exceeded { of_everybody: false, left: 10, retry_after_ms: DAY / 2 };
    assert_eq!(refused, Err(wanted));
    assert!(budgets.reserve(PAGE, 10, NOON).is_ok());
    assert!(budgets.reserve("https://other.example", OF_AN_ORIGIN, NOON).is_ok(), "each has its own");
    assert!(budgets.reserve(OWNER, 10_000_000, NOON).is_ok());
    // What was kept and not taken is there again; settling twice changes nothing.
    budgets.settle(first, 100, NOON);
    budgets.settle(first, 100, NOON);
    let standing = Standing { limit: Some(OF_AN_ORIGIN), is_set: false, used: 100, reserved: 10 };
    assert_eq!(budgets.standing(PAGE, NOON), standing);
    assert_eq!(budgets.standing(PAGE, NOON + DAY), Standing { used: 0, ..standing }, "kept over midnight");
}

#[test]
fn a_person_sets_more_less_or_a_bound_for_everybody() {
    let mut budgets = Budgets::default();
    budgets.set(PAGE, Some(5));
    assert!(budgets.reserve(PAGE, 6, NOON).is_err());
    budgets.set(PAGE, None);
    assert!(budgets.reserve(PAGE, 6, NOON).is_ok());
    assert!(!budgets.is_bounded(OWNER) && budgets.is_bounded(PAGE));
    budgets.set(EVERYBODY, Some(100));
    assert!(budgets.is_bounded(OWNER));
    budgets.note_used(OWNER, 90, NOON);
    let refused = budgets.reserve(OWNER, 5, NOON);
    let wanted = BudgetRefusalReason::Exceeded { of_everybody: true, left: 4, retry_after_ms: DAY / 2 };
    assert_eq!(refused, Err(wanted), "the page's 6 count");
    let names: Vec<_> = budgets.all(NOON).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [EVERYBODY, PAGE, OWNER]);
    assert!(budgets.reserve(OWNER, 5, NOON + DAY).is_ok(), "it is another day");
}

#[test]
fn too_many_at_once_and_too_many_in_a_minute_are_refused() {
    let mut budgets = Budgets::default();
    let open: Vec<_> = (0..ORIGINS_PACE.at_once).map(|_| budgets.reserve(PAGE, 1, NOON).unwrap()).collect();
    assert_eq!(budgets.reserve(PAGE, 1, NOON), Err(BudgetRefusalReason::TooManyAtOnce));
    open.into_iter().for_each(|ticket| budgets.settle(ticket, 1, NOON));
    for _ in ORIGINS_PACE.at_once..ORIGINS_PACE.per_minute {
        let ticket = budgets.reserve(PAGE, 1, NOON).unwrap();
        budgets.settle(ticket, 1, NOON);
    }
    let refused = budgets.reserve(PAGE, 1, NOON).unwrap_err();
    let BudgetRefusalReason::TooManyPerMinute { retry_after_ms } = refused else { panic!("{refused:?}") };
    assert!(budgets.reserve(PAGE, 1, NOON + retry_after_ms - 1).is_err());
    assert!(budgets.reserve(PAGE, 1, NOON + retry_after_ms).is_ok());
}

#[derive(Debug, Clone)]
enum Step {
    Reserve(u64),
    /// The open request of this number takes this share of what is kept for it, in percent.
    Settle(usize, u64),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u64..20_000).prop_map(Step::Reserve),
        (0usize..8, 0u64..=100).prop_map(|(which, share)| Step::Settle(which, share)),
        prop_oneof![0u64..30_000, 0u64..DAY * 2].prop_map(Step::Wait),
    ]
}

proptest! {
    /// No more is ever used of one day than the limit, what is used and kept is the sum of the requests, and nothing is kept
    /// once all are over.
    #[test]
    fn the_accounts_are_the_sum_of_their_requests(steps in prop::collection::vec(step(), 0..200)) {
        let (mut budgets, mut now) = (Budgets::default(), NOON);
        let (mut open, mut used, mut day): (Vec<(BudgetTicket, u64)>, u64, u64) = (Vec::new(), 0, NOON / DAY);
        for step in steps {
            match step {
                Step::Reserve(tokens) => match budgets.reserve(PAGE, tokens, now) {
                    Ok(ticket) => open.push((ticket, tokens)),
                    Err(BudgetRefusalReason::Exceeded { left, retry_after_ms, .. }) => {
                        let kept: u64 = open.iter().map(|(_, tokens)| tokens).sum();
                        prop_assert!(left < tokens && left == OF_AN_ORIGIN.saturating_sub(used + kept));
                        prop_assert_eq!((now + retry_after_ms) % DAY, 0);
                    }
                    Err(BudgetRefusalReason::TooManyAtOnce) => prop_assert!(open.len() >= ORIGINS_PACE.at_once as usize),
                    Err(BudgetRefusalReason::TooManyPerMinute { retry_after_ms }) => prop_assert!(retry_after_ms <= 60_000),
                },
                Step::Settle(which, share) if which < open.len() => {
                    let (ticket, tokens) = open.swap_remove(which);
                    budgets.settle(ticket, tokens * share / 100, now);
                    used += tokens * share / 100;
                }
                Step::Settle(..) => {}
                Step::Wait(time) => now += time,
            }
            if day != now / DAY {
                (day, used) = (now / DAY, 0);
            }
            let kept: u64 = open.iter().map(|(_, tokens)| tokens).sum();
            for name in [PAGE, EVERYBODY] {
                let standing = budgets.standing(name, now);
                prop_assert_eq!((standing.used, standing.reserved), (used, kept));
            }
            prop_assert!(used + kept <= OF_AN_ORIGIN);
        }
    }
}
