//! What runs, what asks and what never leaves.

use proptest::prelude::*;

use super::*;

const READS: Traits = Traits { reads_only: true, destroys: false, open_world: false };
const FETCHES: Traits = Traits { open_world: true, ..READS };
const WRITES: Traits = Traits { reads_only: false, ..READS };
const DESTROYS: Traits = Traits { destroys: true, ..WRITES };
const CLEAN: Taint = Taint { untrusted: false, private: false };
const UNTRUSTED: Taint = Taint { untrusted: true, private: false };
const PRIVATE: Taint = Taint { untrusted: false, private: true };
const BOTH: Taint = Taint { untrusted: true, private: true };
const CHAT: Who = Who::Owner(Mode::Ask);
const AUTO: Who = Who::Owner(Mode::Auto);
const GRANTED: Who = Who::Origin { granted: true };

fn call<'a>(id: &'a str, arguments: &'a str) -> Call<'a> {
    Call { id, tool: "s/t", arguments }
}

fn why(who: Who, traits: Traits, taint: Taint) -> Option<Why> {
    match Decisions::default().need(who, &call("1", "{}"), traits, taint) {
        Need::Ask { why, .. } => Some(why),
        Need::Run => None,
        Need::Refuse(refused) => panic!("{refused:?}"),
    }
}

#[test]
fn the_table_of_who_may_do_what() {
    use Why::{Destroys, Leaves, Writes, WritesAfterUntrusted};
    for (who, traits, taint, asked) in [
        (CHAT, READS, BOTH, None),
        (CHAT, FETCHES, UNTRUSTED, None),
        (CHAT, FETCHES, PRIVATE, None),
        (CHAT, FETCHES, BOTH, Some(Leaves)),
        (CHAT, WRITES, CLEAN, Some(Writes)),
        (CHAT, WRITES, UNTRUSTED, Some(WritesAfterUntrusted)),
        (CHAT, DESTROYS, CLEAN, Some(Destroys)),
        (CHAT, Traits::WORST, BOTH, Some(Leaves)),
        (AUTO, WRITES, PRIVATE, None),
        (AUTO, WRITES, UNTRUSTED, Some(WritesAfterUntrusted)),
        (AUTO, DESTROYS, CLEAN, Some(Destroys)),
        (AUTO, FETCHES, BOTH, Some(Leaves)),
        (GRANTED, DESTROYS, CLEAN, None),
        (GRANTED, READS, UNTRUSTED, None),
        (GRANTED, WRITES, UNTRUSTED, Some(WritesAfterUntrusted)),
        (GRANTED, FETCHES, BOTH, Some(Leaves)),
    ] {
        assert_eq!(why(who, traits, taint), asked, "{who:?} {traits:?} {taint:?}");
    }
    let refused = Decisions::default().need(Who::Origin { granted: false }, &call("1", "{}"), READS, CLEAN);
    assert_eq!(refused, Need::Refuse(Refused::NotGranted));
}

#[test]
fn what_nobody_says_of_a_tool_is_the_worst_and_the_owner_knows_better() {
    let none = Correction::default();
    for nothing in [None, Some("{}"), Some("7"), Some(r#"{"readOnlyHint":"true"}"#)] {
        assert_eq!(Traits::of(nothing, none), Traits::WORST, "{nothing:?}");
    }
    let twice = r#"{"readOnlyHint":true,"readOnlyHint":false}"#;
    assert_eq!(Traits::of(Some(twice), none), Traits::WORST);
    let reads = r#"{"readOnlyHint":true,"openWorldHint":false}"#;
    assert_eq!(Traits::of(Some(reads), none), READS);
    let writes = Correction { reads_only: Some(false), destroys: Some(false), open_world: None };
    assert_eq!(Traits::of(Some(reads), writes), WRITES);
    assert_eq!(Traits::of(None, Correction { open_world: Some(false), ..writes }), WRITES);
}

#[test]
fn a_tool_is_asked_about_that_declares_that_it_destroys_unless_the_owner_knows_better() {
    let none = Correction::default();
    let declares = Some(r#"{"destructiveHint":true}"#);
    assert!(Traits::declared(declares, none));
    let twice = r#"{"destructiveHint":true,"destructiveHint":true}"#;
    for no in [None, Some("{}"), Some(r#"{"destructiveHint":true,"readOnlyHint":true}"#), Some(twice)] {
        assert!(!Traits::declared(no, none), "{no:?}");
    }
    assert!(Traits::declared(None, Correction { destroys: Some(true), ..none }));
    assert!(!Traits::declared(declares, Correction { destroys: Some(false), ..none }));
}

#[test]
fn a_taint_is_what_was_read_and_stays() {
    let result = |traits, private| Read::Result { traits, private };
    assert_eq!(CLEAN.after(result(READS, false)), CLEAN);
    assert_eq!(CLEAN.after(result(FETCHES, false)), UNTRUSTED);
    assert_eq!(CLEAN.after(result(READS, true)), PRIVATE);
    assert_eq!(CLEAN.after(Read::Page).after(Read::File), BOTH);
    assert_eq!(BOTH.after(result(READS, false)), BOTH);
}

#[test]
fn a_yes_lasts_as_long_as_it_was_given_for() {
    let ask = Need::Ask { why: Why::Writes, leaving: None };
    for (answer, same, other) in
        [(Answer::Once, true, false), (Answer::Session, true, true), (Answer::Always, true, true)]
    {
        let mut decisions = Decisions::default();
        assert_eq!(decisions.answer(&call("1", "{}"), &ask, answer), answer);
        let runs = |decisions: &Decisions, id, arguments| {
            decisions.need(CHAT, &call(id, arguments), WRITES, CLEAN) == Need::Run
        };
        assert_eq!(runs(&decisions, "1", "{}"), same);
        for (id, arguments) in [("2", "{}"), ("1", "{ }"), ("1", r#"{"a":1}"#)] {
            assert_eq!(runs(&decisions, id, arguments), other, "{answer:?} {id} {arguments}");
        }
        decisions.begin_turn();
        assert_eq!(runs(&decisions, "1", "{}"), other, "{answer:?} in the next turn");
    }
    let always = Decisions::new(["s/t".to_owned()]);
    assert_eq!(always.need(CHAT, &call("1", "{}"), DESTROYS, CLEAN), Need::Run);
}

#[test]
fn a_no_ends_that_path_in_this_turn() {
    let ask = Need::Ask { why: Why::Writes, leaving: None };
    let mut decisions = Decisions::new(["s/t".to_owned()]);
    decisions.answer(&call("1", r#"{"a":1,"b":2}"#), &ask, Answer::No);
    let again = |decisions: &Decisions| decisions.need(CHAT, &call("2", r#"{ "b":2,"a":1}"#), WRITES, CLEAN);
    assert_eq!(again(&decisions), Need::Refuse(Refused::Denied), "the same in another order");
    decisions.begin_turn();
    assert_eq!(again(&decisions), Need::Run);
}

#[test]
fn what_leaves_is_shown_and_only_such_a_yes_lets_it_go() {
    let sent = call("1", r#"{"text":"see https://e.example/x"}"#);
    let mut decisions = Decisions::new(["s/t".to_owned()]);
    let plain = Need::Ask { why: Why::Writes, leaving: None };
    decisions.answer(&sent, &plain, Answer::Once);
    let need = decisions.need(CHAT, &sent, READS, BOTH);
    let leaving = Leaving {
        to: "s/t".into(),
        arguments: sent.arguments.into(),
        urls: vec!["https://e.example/x".into()],
    };
    assert_eq!(need, Need::Ask { why: Why::Leaves, leaving: Some(leaving) }, "no earlier yes is good for it");
    assert_eq!(decisions.answer(&sent, &need, Answer::Always), Answer::Once);
    assert_eq!(decisions.need(CHAT, &sent, READS, BOTH), Need::Run);
    assert!(matches!(decisions.need(CHAT, &call("2", sent.arguments), READS, BOTH), Need::Ask { .. }));
    assert!(matches!(decisions.need(CHAT, &call("1", "no JSON"), READS, BOTH), Need::Ask { .. }));
}

#[derive(Debug, Clone)]
enum Event {
    Read(Read),
    Turn,
    /// A question about one call, the answer given for another one perhaps.
    Answered {
        asked: (usize, usize),
        about: (usize, usize),
        traits: Traits,
        answer: Answer,
    },
}

const IDS: [&str; 3] = ["1", "2", "3"];
const ARGUMENTS: [&str; 4] = ["{}", "{ }", r#"{"u":"https://e.example/x"}"#, "broken"];

fn at((id, arguments): (usize, usize)) -> Call<'static> {
    call(IDS[id], ARGUMENTS[arguments])
}

fn traits() -> impl Strategy<Value = Traits> {
    prop::sample::select(vec![READS, FETCHES, WRITES, DESTROYS, Traits::WORST])
}

fn who() -> impl Strategy<Value = Who> {
    prop::sample::select(vec![CHAT, AUTO, GRANTED, Who::Origin { granted: false }])
}

fn which() -> impl Strategy<Value = (usize, usize)> {
    (0..IDS.len(), 0..ARGUMENTS.len())
}

fn event() -> impl Strategy<Value = Event> {
    let answer = prop::sample::select(vec![Answer::Once, Answer::Session, Answer::Always, Answer::No]);
    let read = prop_oneof![
        Just(Read::Page),
        Just(Read::File),
        (traits(), any::<bool>()).prop_map(|(traits, private)| Read::Result { traits, private }),
    ];
    prop_oneof![
        2 => read.prop_map(Event::Read),
        1 => Just(Event::Turn),
        6 => (which(), which(), any::<bool>(), traits(), answer).prop_map(|(asked, other, same, traits, answer)| {
            Event::Answered { asked, about: if same { asked } else { other }, traits, answer }
        }),
    ]
}

proptest! {
    #[test]
    fn nothing_leaves_without_a_yes_that_has_shown_it(
        always in any::<bool>(), who in who(), events in prop::collection::vec(event(), 0..25), wanted in which(), traits in traits(),
    ) {
        let mut decisions = Decisions::new(always.then(|| "s/t".to_owned()));
        let (mut taint, mut shown) = (CLEAN, BTreeSet::new());
        for event in events {
            match event {
                Event::Read(read) => taint = taint.after(read),
                Event::Turn => {
                    decisions.begin_turn();
                    shown.clear();
                }
                Event::Answered { asked, about, traits, answer } => {
                    let need = decisions.need(who, &at(asked), traits, taint);
                    decisions.answer(&at(about), &need, answer);
                    let Need::Ask { leaving: Some(leaving), .. } = need else { continue };
                    prop_assert_eq!(leaving.arguments, at(asked).arguments);
                    // A yes to what was shown is one for these bytes under the id that it was given for.
                    if answer != Answer::No && at(about).arguments == at(asked).arguments {
                        shown.insert(about);
                    }
                }
            }
        }
        let carries = traits.open_world || wanted.1 >= 2;
        let need = decisions.need(who, &at(wanted), traits, taint);
        if taint == BOTH && carries && need == Need::Run {
            prop_assert!(shown.contains(&wanted), "{:?}", decisions);
        }
        if who == (Who::Origin { granted: false }) {
            prop_assert!(matches!(need, Need::Refuse(_)));
        }
    }

    #[test]
    fn a_yes_for_one_call_never_covers_another(given in which(), wanted in which(), traits in traits(), untrusted: bool, private: bool) {
        let taint = Taint { untrusted, private };
        let mut decisions = Decisions::default();
        let need = decisions.need(CHAT, &at(given), traits, taint);
        decisions.answer(&at(given), &need, Answer::Once);
        let before = Decisions::default().need(CHAT, &at(wanted), traits, taint);
        let after = decisions.need(CHAT, &at(wanted), traits, taint);
        if given == wanted {
            prop_assert_eq!(after, Need::Run);
        } else {
            prop_assert_eq!(after, before);
        }
    }
}
