//! Sessions, step by step and at random.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn client(origin: &str, token: Option<&str>) -> Holder {
    Holder::Client { origin: origin.into(), token_id: token.map(Into::into) }
}

fn begin(tabs: &mut Tabs, holder: &Holder, id: &str, now: Millis) -> Arc<str> {
    tabs.session_of(holder, "name", || id.into(), now)
}

/// A call of the holder's in this connection.
fn called(tabs: &mut Tabs, holder: &Holder, connection: u64, id: &str, now: Millis) -> Arc<str> {
    let id = begin(tabs, holder, id, now);
    tabs.attend(&id, connection);
    id
}

#[test]
fn each_holder_has_one_session_with_tabs_of_its_own() {
    let mut tabs = Tabs::default();
    let (a, b) = (client("client://a", None), client("client://b", None));
    let (one, two) = (begin(&mut tabs, &a, "one", 0), begin(&mut tabs, &b, "two", 0));
    assert_eq!(begin(&mut tabs, &a, "other", 5), one);
    assert_ne!(tabs.get(&one).unwrap().colour, tabs.get(&two).unwrap().colour);
    assert_eq!(tabs.meant(&one, None), Ok(None));
    assert_eq!(tabs.open(Some("one"), None, 7), Ok(one.clone()));
    assert_eq!(tabs.open(Some("two"), None, 7), Err(NotTaken::Foreign));
    assert_eq!(tabs.open(None, Some(7), 8), Ok(one.clone()), "a popup joins its opener");
    assert_eq!(tabs.open(None, Some(99), 9), Err(NotTaken::NoSession), "the person's own tab");
    assert_eq!(tabs.open(Some("no"), Some(7), 9), Err(NotTaken::NoSession));
    assert_eq!(tabs.meant(&one, None), Ok(Some(7)), "a popup does not become the current one");
    assert_eq!((tabs.meant(&two, Some(7)), tabs.meant(&one, Some(8))), (Err(NotYours), Ok(Some(8))));
    assert_eq!((tabs.select(&two, 8), tabs.select(&one, 8)), (Err(NotYours), Ok(())));
    assert_eq!(tabs.part(8), Some(one.clone()));
    assert_eq!(tabs.meant(&one, None), Ok(Some(7)), "it falls back");
    assert_eq!(tabs.part(8), None);
    (0..MOST_TABS as u64 - 1).for_each(|tab| drop(tabs.open(Some("one"), None, 100 + tab).unwrap()));
    assert_eq!(tabs.open(None, Some(7), 1000), Err(NotTaken::Full));
}

#[test]
fn a_session_outlives_its_connections_for_a_while() {
    let mut tabs = Tabs::default();
    let a = client("client://a", None);
    assert_eq!(
        (called(&mut tabs, &a, 1, "one", 0), called(&mut tabs, &a, 2, "two", 1)),
        ("one".into(), "one".into())
    );
    tabs.open(Some("one"), None, 7).unwrap();
    assert!(tabs.join("one", &a, 3, 2).unwrap().is_none(), "a third connection has it already");
    let other_token = client("client://a", Some("t"));
    assert_eq!(tabs.join("one", &other_token, 4, 3).unwrap_err(), NotYours);
    // It stays with those that are left.
    [1, 3].into_iter().for_each(|gone| tabs.leave(gone, 5));
    assert_eq!((tabs.due(), &*called(&mut tabs, &a, 2, "two", 6)), (Some(1 + IDLE), "one"));
    tabs.leave(2, 10);
    assert_eq!(tabs.due(), Some(10 + GRACE));
    for stranger in [client("client://b", None), other_token, Holder::Owner] {
        assert_eq!(tabs.join("one", &stranger, 5, 20).unwrap_err(), NotYours);
    }
    // Who comes back has to name it, and not while another connection works in a newer one.
    [6, 7].into_iter().for_each(|connection| drop(called(&mut tabs, &a, connection, "two", 20)));
    assert_eq!(tabs.join("one", &a, 6, 25).unwrap_err(), NotYours);
    tabs.leave(7, 26);
    assert_eq!(&*tabs.join("one", &a, 6, 30).unwrap().unwrap().id, "two");
    assert_eq!(&*called(&mut tabs, &a, 6, "three", 40), "one");
    assert_eq!(tabs.meant("one", None), Ok(Some(7)));
    tabs.leave(6, 50);
    assert!(tabs.expire(49 + GRACE).is_empty());
    assert_eq!(tabs.expire(50 + GRACE)[0].tabs(), [7]);
    assert_eq!((tabs.of_tab(7).is_none(), tabs.due()), (true, None));
}

/// Over HTTP each request may be a connection of its own.
#[test]
fn a_client_with_a_token_goes_on_by_itself_and_another_token_is_another_client() {
    let mut tabs = Tabs::default();
    let (token, newer) = (client("client://a", Some("t")), client("client://a", Some("u")));
    for connection in 1..5 {
        assert_eq!(&*called(&mut tabs, &token, connection, &format!("s{connection}"), connection), "s1");
        tabs.leave(connection, connection);
        assert_eq!(tabs.due(), Some(connection + GRACE));
    }
    assert_eq!(&*called(&mut tabs, &newer, 5, "newer", 5), "newer");
    assert_eq!(&*called(&mut tabs, &client("client://a", None), 6, "none", 6), "none");
    assert_eq!(tabs.expire(4 + GRACE).len(), 1);
    assert_eq!(&*called(&mut tabs, &token, 7, "anew", 7), "anew");
}

#[test]
fn a_conversation_keeps_its_session_while_nobody_is_there() {
    let mut tabs = Tabs::default();
    let (talk, other) = (Holder::Conversation("t".into()), Holder::Conversation("u".into()));
    begin(&mut tabs, &talk, "one", 0);
    tabs.attend("one", 1);
    tabs.leave(1, 10);
    assert_eq!(tabs.due(), Some(10 + GRACE));
    // The person is back, in another connection.
    assert_eq!(&*begin(&mut tabs, &talk, "two", 20), "one");
    tabs.attend("one", 2);
    tabs.leave(1, 30);
    assert_eq!(tabs.due(), Some(20 + IDLE));
    tabs.leave(2, 40);
    // Another conversation goes on with it.
    assert!(tabs.join("one", &other, 4, 50).unwrap().is_none());
    assert_eq!(&*begin(&mut tabs, &talk, "three", 60), "three");
    assert_eq!(&*tabs.end_of(&other).unwrap().id, "one");
    assert_eq!((tabs.end_of(&other).is_none(), tabs.all().count()), (true, 1));
    // One that nobody attends is over by itself, and leaves nothing behind.
    tabs.attend("three", 3);
    tabs.leave(3, 70);
    assert_eq!(tabs.expire(70 + GRACE).len(), 1);
    assert_eq!(&*begin(&mut tabs, &talk, "four", 80), "four");
}

#[test]
fn nobody_calls_for_half_an_hour() {
    let mut tabs = Tabs::default();
    begin(&mut tabs, &Holder::Owner, "one", 0);
    tabs.count_call("one", true, 10);
    assert!(tabs.due().is_none() && tabs.expire(10 + 2 * IDLE).is_empty(), "a call is open");
    tabs.count_call("one", false, 20);
    assert_eq!((tabs.due(), tabs.expire(20 + IDLE).len()), (Some(20 + IDLE), 1));
}

#[test]
fn who_was_stopped_is_refused_for_a_while() {
    let mut tabs = Tabs::default();
    let holder = client("client://a", Some("t"));
    begin(&mut tabs, &holder, "one", 0);
    assert!(!tabs.is_stopped(&holder, 0) && tabs.stop("one", 5).is_some() && tabs.stop("one", 5).is_none());
    assert!(tabs.is_stopped(&client("client://a", Some("u")), 6), "another token is no way around it");
    assert!(!tabs.is_stopped(&client("client://b", Some("t")), 6));
    assert!(tabs.is_stopped(&holder, 4 + STOPPED) && !tabs.is_stopped(&holder, 5 + STOPPED));
}

#[test]
fn names_fit_a_groups_title() {
    let mut tabs = Tabs::default();
    let id = begin(&mut tabs, &Holder::Owner, "one", 0);
    for (given, name) in [(" a\nb ", "a b"), ("", "Harbor"), (&"ä".repeat(99), &"ä".repeat(MAX_NAME))] {
        tabs.rename(&id, given);
        assert_eq!(tabs.get(&id).unwrap().name, name);
    }
}

#[test]
fn the_newest_events_stay() {
    let mut tabs = Tabs::default();
    let id = begin(&mut tabs, &Holder::Owner, "one", 0);
    for number in 0..250_u64 {
        tabs.note(&id, TabEvent { at: number, what: "x".into(), tab: None, url: None, text: None });
    }
    let events = &tabs.get(&id).unwrap().events;
    let numbers: Vec<_> = events.since(0).map(|(number, event)| (number, event.at)).collect();
    assert_eq!((numbers.len(), numbers[0], events.next()), (MOST_EVENTS, (50, 50), 250));
    assert_eq!(events.since(248).count(), 2);
}

#[derive(Debug, Clone)]
enum Step {
    Begin(u64),
    Open(u8, u64),
    Popup(u64, u64),
    Part(u64),
    Select(u8, u64),
    Leave(u64),
    Join(u8, u64),
    Stop(u8),
    Call(u8, bool),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let (session, tab, connection) = (0..6_u8, 0..50_u64, 0..4_u64);
    prop_oneof![
        connection.clone().prop_map(Step::Begin),
        (session.clone(), tab.clone()).prop_map(|(s, t)| Step::Open(s, t)),
        (tab.clone(), tab.clone()).prop_map(|(o, t)| Step::Popup(o, t)),
        tab.clone().prop_map(Step::Part),
        (session.clone(), tab).prop_map(|(s, t)| Step::Select(s, t)),
        connection.clone().prop_map(Step::Leave),
        (session.clone(), connection).prop_map(|(s, c)| Step::Join(s, c)),
        session.clone().prop_map(Step::Stop),
        (session, any::<bool>()).prop_map(|(s, b)| Step::Call(s, b)),
        (0..IDLE).prop_map(Step::Wait),
    ]
}

proptest! {
    /// Whatever happens: a tab is of one session, the current one is among its tabs, and no session has too many.
    #[test]
    fn a_tab_is_of_one_session(steps in prop::collection::vec(step(), 0..120)) {
        // Two of the connections are of a client without a token, the others of clients with one each.
        let of = |connection: u64| {
            client("client://a", (connection > 1).then(|| connection.to_string()).as_deref())
        };
        let (mut tabs, mut now, mut ids) = (Tabs::default(), 0, Vec::<Arc<str>>::new());
        for step in steps {
            let id = |number: u8| ids.get(usize::from(number)).cloned().unwrap_or_else(|| "none".into());
            match step {
                Step::Begin(connection) => {
                    let new: Arc<str> = format!("s{}", ids.len()).into();
                    let got = called(&mut tabs, &of(connection), connection, &new, now);
                    if got == new {
                        ids.push(new);
                    }
                }
                Step::Open(session, tab) => drop(tabs.open(Some(&id(session)), None, tab)),
                Step::Popup(opener, tab) => drop(tabs.open(None, Some(opener), tab)),
                Step::Part(tab) => drop(tabs.part(tab)),
                Step::Select(session, tab) => _ = tabs.select(&id(session), tab),
                Step::Leave(connection) => tabs.leave(connection, now),
                Step::Join(session, connection) => drop(tabs.join(&id(session), &of(connection), connection, now)),
                Step::Stop(session) => drop(tabs.stop(&id(session), now)),
                Step::Call(session, begins) => tabs.count_call(&id(session), begins, now),
                Step::Wait(time) => {
                    now += time;
                    tabs.expire(now);
                }
            }
            let mut seen = HashSet::new();
            for session in tabs.all() {
                prop_assert!(session.tabs().len() <= MOST_TABS);
                prop_assert!(session.current().is_none_or(|tab| session.tabs().contains(&tab)));
                prop_assert_eq!(session.current().is_none(), session.tabs().is_empty());
                for tab in session.tabs() {
                    prop_assert!(seen.insert(*tab), "two have {}", tab);
                    prop_assert_eq!(&tabs.of_tab(*tab).unwrap().id, &session.id);
                }
            }
            let holders: HashSet<_> = tabs.of_holder.values().collect();
            prop_assert_eq!(holders.len(), tabs.of_holder.len());
            prop_assert!(holders.iter().all(|id| tabs.sessions.contains_key(&***id)));
        }
    }
}
