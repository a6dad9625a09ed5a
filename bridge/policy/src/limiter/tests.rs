//! The decisions one by one.

use super::*;

mod laws;

const TWO: CallLimits = CallLimits { concurrent: 2, queue: 4, queue_wait_ms: 1000, per_minute: None };
const SITE: &str = "https://a.example";

fn ask(limiter: &mut Limiter, lane: u64, limits: &CallLimits) -> Decision {
    limiter.request(SITE, lane, "time", limits, None, 0)
}

fn admitted(decision: Decision) -> CallTicket {
    let Decision::Admitted(ticket) = decision else { panic!("{decision:?}") };
    ticket
}

fn queued(decision: Decision) -> CallTicket {
    let Decision::Queued { ticket, deadline: _, displaced: None } = decision else { panic!("{decision:?}") };
    ticket
}

/// A limiter whose two places of [`TWO`] are taken.
fn full() -> (Limiter, [CallTicket; 2]) {
    let mut limiter = Limiter::default();
    let held = [1, 1].map(|lane| admitted(ask(&mut limiter, lane, &TWO)));
    (limiter, held)
}

#[test]
fn beyond_the_places_calls_wait_and_beyond_the_queue_they_are_refused() {
    let (mut limiter, _) = full();
    let decision = limiter.request(SITE, 1, "time", &TWO, None, 500);
    assert_eq!(decision, Decision::Queued { ticket: CallTicket(3), deadline: 1500, displaced: None });
    for _ in 0..3 {
        queued(ask(&mut limiter, 1, &TWO));
    }
    assert_eq!(ask(&mut limiter, 1, &TWO), Decision::Refused(LimitRefusalReason::TooManyAtOnce));
    assert_eq!((limiter.held(SITE), limiter.waiting(SITE)), (2, 4));
    assert_eq!((limiter.held("https://b.example"), limiter.waiting("https://b.example")), (0, 0));
}

#[test]
fn without_a_queue_or_without_time_to_wait_calls_are_refused_at_once() {
    let (mut limiter, _) = full();
    for limits in [CallLimits { queue: 0, ..TWO }, CallLimits { queue_wait_ms: 0, ..TWO }] {
        assert_eq!(ask(&mut limiter, 1, &limits), Decision::Refused(LimitRefusalReason::TooManyAtOnce));
    }
}

#[test]
fn zero_places_mean_no_bound() {
    let mut limiter = Limiter::default();
    for _ in 0..1000 {
        admitted(ask(&mut limiter, 1, &CallLimits { concurrent: 0, queue: 0, ..TWO }));
    }
    assert_eq!(limiter.held(SITE), 1000);
}

#[test]
fn a_lane_that_fills_the_queue_delays_another_by_one_turn() {
    let (mut limiter, [first, second]) = full();
    let hog = [1, 1, 1].map(|lane| queued(ask(&mut limiter, lane, &TWO)));
    let other = queued(ask(&mut limiter, 2, &TWO));
    assert_eq!(limiter.finish(first), [hog[0]]);
    assert_eq!(limiter.finish(second), [other]);
    assert_eq!(limiter.finish(hog[0]), [hog[1]]);
}

#[test]
fn a_full_queue_makes_room_for_a_shorter_lane() {
    let (mut limiter, [first, second]) = full();
    let hog = [1, 1, 1, 1].map(|lane| queued(ask(&mut limiter, lane, &TWO)));
    let newcomers = [2, 2].map(|lane| ask(&mut limiter, lane, &TWO));
    let displacing = |ticket, out| Decision::Queued { ticket, deadline: 1000, displaced: Some(out) };
    assert_eq!(newcomers, [displacing(CallTicket(7), hog[3]), displacing(CallTicket(8), hog[2])]);
    assert_eq!(
        ask(&mut limiter, 2, &TWO),
        Decision::Refused(LimitRefusalReason::TooManyAtOnce),
        "they are equal now"
    );
    assert_eq!(limiter.waiting(SITE), 4);
    assert_eq!((limiter.finish(hog[3]), limiter.waiting(SITE)), (vec![], 4), "it was displaced");
    assert_eq!(limiter.finish(first), [hog[0]]);
    assert_eq!(limiter.finish(second), [CallTicket(7)]);
}

#[test]
fn who_gives_up_leaves_the_queue_and_hands_on_what_it_got_meanwhile() {
    let (mut limiter, [first, second]) = full();
    let waiting = [1, 1, 2].map(|lane| queued(ask(&mut limiter, lane, &TWO)));
    assert_eq!((limiter.finish(waiting[0]), limiter.waiting(SITE)), (vec![], 2));
    assert_eq!(limiter.finish(first), [waiting[1]]);
    assert_eq!(limiter.finish(waiting[1]), [waiting[2]], "it left just when it was admitted");
    assert_eq!((limiter.finish(waiting[2]), limiter.finish(second)), (vec![], vec![]));
    assert_eq!((limiter.held(SITE), limiter.waiting(SITE)), (0, 0));
}

#[test]
fn a_second_finish_changes_nothing() {
    let (mut limiter, [first, _]) = full();
    let waiting = queued(ask(&mut limiter, 1, &TWO));
    assert_eq!(limiter.finish(first), [waiting]);
    assert_eq!((limiter.finish(first), limiter.held(SITE)), (vec![], 2));
}

#[test]
fn other_limits_hold_for_what_comes_later() {
    let (mut limiter, [first, second]) = full();
    let waiting = [1, 1, 1].map(|lane| queued(ask(&mut limiter, lane, &TWO)));
    let one = CallLimits { concurrent: 1, ..TWO };
    let fourth = queued(ask(&mut limiter, 1, &one));
    assert_eq!((limiter.finish(first), limiter.held(SITE)), (vec![], 1), "lowered");
    let three = CallLimits { concurrent: 3, queue: 5, ..TWO };
    let fifth = queued(ask(&mut limiter, 1, &three));
    assert_eq!(limiter.finish(second), waiting, "raised");
    let ready = admitted(ask(&mut limiter, 1, &CallLimits { concurrent: 0, ..TWO }));
    assert_eq!(limiter.finish(ready), [fourth, fifth], "no bound any more");
}

#[test]
fn tokens_of_origin_and_server_are_both_needed() {
    let mut limiter = Limiter::default();
    let limits = |per_minute| CallLimits { concurrent: 1, queue: 0, per_minute: Some(per_minute), ..TWO };
    let mut ask =
        |origin: &str, per_minute, now| limiter.request(origin, 1, "time", &limits(per_minute), Some(3), now);
    let of_origin =
        |retry_after_ms| Decision::Refused(LimitRefusalReason::TooManyPerMinute { retry_after_ms });
    let of_server =
        |retry_after_ms| Decision::Refused(LimitRefusalReason::ServerTooManyPerMinute { retry_after_ms });
    let busy = Decision::Refused(LimitRefusalReason::TooManyAtOnce);

    assert_eq!(ask("a", 2, 0), Decision::Admitted(CallTicket(1)));
    assert_eq!([0; 9].map(|_| ask("a", 2, 0)), [busy; 9], "a refusal takes no token");
    assert_eq!(ask("b", 1, 0), Decision::Admitted(CallTicket(2)));
    assert_eq!([0; 9].map(|_| ask("b", 1, 0)), [of_origin(60_000); 9], "of the server neither");
    assert_eq!(ask("c", 1, 0), Decision::Admitted(CallTicket(3)));
    assert_eq!([0; 9].map(|_| ask("d", 1, 0)), [of_server(20_000); 9], "of the origin neither");
    assert_eq!(ask("d", 1, 20_000), Decision::Admitted(CallTicket(4)));
    assert_eq!(ask("d", 1, 20_000), of_origin(60_000), "the origin is asked first");
}

#[test]
fn idle_origins_and_servers_are_forgotten_once_their_buckets_are_full() {
    let mut limiter = Limiter::default();
    let limits = CallLimits { per_minute: Some(120), ..TWO };
    let ticket = admitted(limiter.request(SITE, 1, "time", &limits, Some(30), 0));
    limiter.purge(u64::MAX);
    assert_eq!((limiter.held(SITE), limiter.servers.get("time").is_some()), (1, false));
    assert_eq!(limiter.finish(ticket), []);
    let ticket = admitted(limiter.request(SITE, 1, "time", &limits, Some(30), 0));
    assert_eq!(limiter.finish(ticket), []);
    let mut known = |now| {
        limiter.purge(now);
        (limiter.origins.get(SITE).is_some(), limiter.servers.get("time").is_some())
    };
    assert_eq!(
        [999, 1000, 1999, 2000].map(&mut known),
        [(true, true), (false, true), (false, true), (false, false)]
    );
    assert!(limiter.calls.is_empty());
}
