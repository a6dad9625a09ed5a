//! Budgets one by one, and any sequence of calls, ends and clocks against a list of what was done.

use proptest::prelude::*;

use super::*;

fn owner(client: u64, origin: &str) -> RunOwner {
    RunOwner { client, origin: origin.into(), profile: "default".into() }
}

fn one_run(max_calls: u32) -> (Runs, RunOwner) {
    let (mut runs, owner) = (Runs::default(), owner(1, "https://a.example"));
    runs.create(owner.clone(), max_calls, "id".into(), 1000).unwrap();
    (runs, owner)
}

fn failure(result: Result<Reservation, BudgetError>) -> Option<BudgetError> {
    result.err()
}

#[test]
fn a_call_is_reserved_and_then_used_or_given_back() {
    let (mut runs, owner) = one_run(2);
    let sent = runs.reserve("id", &owner, None, 1100).unwrap();
    let kept = runs.reserve("id", &owner, None, 1200).unwrap();
    assert_eq!(failure(runs.reserve("id", &owner, None, 1200)), Some(BudgetError::Exceeded));
    runs.settle(sent, true, 1300);
    assert_eq!(failure(runs.reserve("id", &owner, None, 1300)), Some(BudgetError::Exceeded));
    let view = RunView { max_calls: 2, used: 1, reserved: 1, remaining: 0, created_at: 1000, idle_ms: 100 };
    assert_eq!(runs.get("id", &owner, 1400), Some(view));
    runs.settle(kept, false, 1500);
    let view = RunView { reserved: 0, remaining: 1, idle_ms: 0, ..view };
    assert_eq!(runs.end("id", &owner, 1500), Some(view));
    assert_eq!((runs.get("id", &owner, 1500), runs.is_empty()), (None, true));
}

#[test]
fn a_server_has_no_more_of_a_run_than_its_share() {
    let (mut runs, owner) = one_run(5);
    let share = |server: &str| Some(Share { server: server.into(), most: 1 });
    let first = runs.reserve("id", &owner, share("s"), 0).unwrap();
    assert_eq!(failure(runs.reserve("id", &owner, share("s"), 0)), Some(BudgetError::Exceeded));
    runs.settle(first, false, 0);
    let again = runs.reserve("id", &owner, share("s"), 0).unwrap();
    let other = runs.reserve("id", &owner, share("t"), 0).unwrap();
    runs.settle(again, true, 0);
    assert_eq!(failure(runs.reserve("id", &owner, share("s"), 0)), Some(BudgetError::Exceeded));
    runs.settle(other, true, 0);
    assert_eq!(runs.get("id", &owner, 0).map(|view| view.remaining), Some(3));
}

#[test]
fn a_budget_of_nothing_allows_nothing() {
    let (mut runs, owner) = one_run(0);
    assert_eq!(failure(runs.reserve("id", &owner, None, 1000)), Some(BudgetError::Exceeded));
}

#[test]
fn somebody_elses_run_looks_like_none() {
    let (mut runs, mine) = one_run(1);
    let others = [
        RunOwner { client: 2, ..mine.clone() },
        RunOwner { origin: "https://b.example".into(), ..mine.clone() },
        RunOwner { profile: "work".into(), ..mine.clone() },
    ];
    for other in others {
        for id in ["id", "none"] {
            assert_eq!((runs.get(id, &other, 1000), runs.end(id, &other, 1000)), (None, None));
            assert_eq!(failure(runs.reserve(id, &other, None, 1000)), Some(BudgetError::NoSuchRun));
        }
    }
    let _used = runs.reserve("id", &mine, None, 1000).unwrap();
    assert_eq!(failure(runs.reserve("none", &mine, None, 1000)), Some(BudgetError::NoSuchRun));
}

#[test]
fn the_numbers_of_runs_are_bounded() {
    // Eight connections to an origin.
    let origin = |client: u64| format!("a{}", client / 8);
    let mut runs = Runs::default();
    let mut create = |client, origin: &str, id: String| {
        runs.create(owner(client, origin), 5, id, 0).map(|view| view.remaining)
    };
    for client in 0..(MAX_OF_ALL / MAX_OF_ONE) as u64 {
        for i in 0..MAX_OF_ONE {
            assert_eq!(create(client, &origin(client), format!("{client}/{i}")), Ok(5));
        }
        assert_eq!(create(client, &origin(client), "one more".into()), Err(TooMany));
        if client % 8 == 7 {
            assert_eq!(create(99, &origin(client), "one more".into()), Err(TooMany), "of one origin");
        }
    }
    assert_eq!(create(99, "z", "one more".into()), Err(TooMany));
    assert_eq!(runs.end_client(0), MAX_OF_ONE);
    assert_eq!(runs.len(), MAX_OF_ALL - MAX_OF_ONE);
    assert!(runs.create(owner(1, "b"), 5, "one more".into(), 0).is_ok(), "of another origin");
    assert_eq!(runs.create(owner(2, "b"), 9, "one more".into(), 0), Err(TooMany), "the id is taken");
    assert_eq!(runs.get("one more", &owner(1, "b"), 0).map(|view| view.max_calls), Some(5));
}

#[test]
fn what_was_reserved_before_an_end_is_no_part_of_the_next_run() {
    let (mut runs, owner) = one_run(1);
    let reserved = runs.reserve("id", &owner, None, 1000).unwrap();
    assert_eq!(runs.end("id", &owner, 1000).map(|view| view.reserved), Some(1));
    let fresh = runs.create(owner.clone(), 1, "id".into(), 1000).unwrap();
    runs.settle(reserved, true, 1000);
    assert_eq!(runs.get("id", &owner, 1000), Some(fresh));
}

#[test]
fn a_run_is_stale_exactly_when_its_time_is_over_and_nothing_is_reserved() {
    let (mut runs, owner) = one_run(1);
    let reserved = runs.reserve("id", &owner, None, 2000).unwrap();
    assert_eq!(runs.purge(u64::MAX, 500), 0);
    runs.settle(reserved, false, 3000);
    assert_eq!((runs.purge(3499, 500), runs.purge(3500, 500), runs.len()), (0, 1, 0));
}

#[test]
fn a_clock_that_went_back_delays_the_purge_by_no_more_than_the_time_itself() {
    let (mut runs, owner) = one_run(1);
    let reserved = runs.reserve("id", &owner, None, u64::MAX).unwrap();
    runs.settle(reserved, false, u64::MAX);
    assert_eq!(runs.get("id", &owner, 5).map(|view| view.idle_ms), Some(0));
    assert_eq!((runs.purge(5, 500), runs.purge(504, 500), runs.purge(505, 500)), (0, 0, 1));
}

#[derive(Debug, Clone)]
enum Step {
    Create(usize, u32),
    Reserve(usize),
    Settle(prop::sample::Index, bool),
    End(usize),
    EndClient(u64),
    Purge,
    Clock(u64),
}

/// What was done with one run.
#[derive(Debug, Default)]
struct Done {
    max: u32,
    reserved: u32,
    used: u32,
    open: bool,
}

const IDS: [&str; 4] = ["a", "b", "c", "d"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let run = 0..IDS.len();
    let budget = prop_oneof![0u32..6, Just(u32::MAX)];
    let step = prop_oneof![
        2 => (run.clone(), budget).prop_map(|(run, max)| Step::Create(run, max)),
        6 => run.clone().prop_map(Step::Reserve),
        6 => (any::<prop::sample::Index>(), any::<bool>()).prop_map(|(which, spent)| Step::Settle(which, spent)),
        1 => run.prop_map(Step::End),
        1 => (0u64..2).prop_map(Step::EndClient),
        1 => Just(Step::Purge),
        1 => prop_oneof![0u64..1000, Just(u64::MAX)].prop_map(Step::Clock),
    ];
    prop::collection::vec(step, 0..200)
}

/// Two runs for each of two clients.
fn owner_of(run: usize) -> RunOwner {
    owner(run as u64 / 2, "https://a.example")
}

proptest! {
    #[test]
    fn budgets_add_up_whatever_happens(steps in steps()) {
        let (mut runs, mut now) = (Runs::default(), 0);
        // One of each run that ever was, and the one that has the id now.
        let mut done: Vec<Done> = Vec::new();
        let mut current: [Option<usize>; IDS.len()] = [None; IDS.len()];
        let mut reservations: Vec<(Reservation, usize)> = Vec::new();
        for step in steps {
            match step {
                Step::Create(run, max) => {
                    let created = runs.create(owner_of(run), max, IDS[run].into(), now);
                    prop_assert_eq!(created.is_ok(), current[run].is_none());
                    if created.is_ok() {
                        current[run] = Some(done.len());
                        done.push(Done { max, open: true, ..Done::default() });
                    }
                }
                Step::Reserve(run) => match (runs.reserve(IDS[run], &owner_of(run), None, now), current[run]) {
                    (Ok(reservation), Some(which)) => {
                        done[which].reserved += 1;
                        prop_assert!(done[which].used + done[which].reserved <= done[which].max);
                        reservations.push((reservation, which));
                    }
                    (Err(BudgetError::Exceeded), Some(which)) =>
                        prop_assert_eq!(done[which].used + done[which].reserved, done[which].max),
                    (Err(BudgetError::NoSuchRun), None) => {}
                    other => panic!("{other:?}"),
                },
                Step::Settle(which, spent) if !reservations.is_empty() => {
                    let (reservation, which) = reservations.swap_remove(which.index(reservations.len()));
                    runs.settle(reservation, spent, now);
                    done[which].reserved -= 1;
                    done[which].used += u32::from(spent);
                }
                Step::Settle(..) => {}
                Step::End(run) => {
                    let ended = runs.end(IDS[run], &owner_of(run), now);
                    prop_assert_eq!(ended.is_some(), current[run].is_some());
                    if let Some(which) = current[run].take() { done[which].open = false; }
                }
                Step::EndClient(client) => {
                    let mine = (0..IDS.len()).filter(|run| owner_of(*run).client == client);
                    let ended: Vec<_> = mine.filter_map(|run| current[run].take()).collect();
                    prop_assert_eq!(runs.end_client(client), ended.len());
                    for which in ended { done[which].open = false; }
                }
                Step::Purge => {
                    let before: Vec<_> = current.iter().flatten().copied().collect();
                    let purged = runs.purge(now, 500);
                    for (run, current) in current.iter_mut().enumerate() {
                        if runs.get(IDS[run], &owner_of(run), now).is_none()
                            && let Some(which) = current.take() {
                            prop_assert_eq!(done[which].reserved, 0, "it was in use");
                            done[which].open = false;
                        }
                    }
                    prop_assert_eq!(before.iter().filter(|which| !done[**which].open).count(), purged);
                }
                Step::Clock(to) => now = to,
            }
            prop_assert_eq!(runs.len(), current.iter().flatten().count());
            for (run, which) in current.iter().enumerate() {
                let view = runs.get(IDS[run], &owner_of(run), now);
                let counts = view.map(|view| (view.max_calls, view.used, view.reserved, view.remaining));
                let wanted = which.map(|which| &done[which]);
                let wanted = wanted.map(|run| (run.max, run.used, run.reserved, run.max - run.used - run.reserved));
                prop_assert_eq!(counts, wanted);
            }
        }
    }
}
