//! The rule as a table, and its laws.

use proptest::prelude::*;

use super::answers::RememberedAnswer;
use super::approved_plans::ApprovedPlan;
use super::plan::ActionPlan;
use super::*;

const HASH: [u8; 32] = [1; 32];

/// What surrounds a call in a test; borrowed by [`Case::judge`].
#[derive(Debug, Clone)]
struct Case {
    who: Who,
    effect: Effect,
    holding: Holding,
    arguments: String,
    read: Read,
    typed: Vec<String>,
    answers: Answers,
    hash: [u8; 32],
    within: bool,
    looks: bool,
    files: Names,
}

/// What a call came to, in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    Run,
    Ask(Why),
    Refuse,
}

const SHUT: Holding = Holding { reach: Reach::Closed, opens: false, writes_theirs: false };
const FILES: Holding = Holding { reach: Reach::Closed, opens: true, writes_theirs: true };
const WEB: Holding = Holding { reach: Reach::Open, opens: false, writes_theirs: false };
const API: Holding = Holding { reach: Reach::Enforced, opens: true, writes_theirs: false };

impl Case {
    fn new(who: Who, effect: Effect, holding: Holding) -> Self {
        Self {
            who,
            effect,
            holding,
            arguments: r#"{"x":"made up"}"#.into(),
            read: Read::default(),
            typed: Vec::new(),
            answers: Answers::default(),
            hash: HASH,
            within: false,
            looks: false,
            files: Names::new(),
        }
    }

    fn with_files(mut self, files: &[&str]) -> Self {
        self.files = files.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    fn having_read(mut self, names: &[&str]) -> Self {
        let private = names.iter().map(|name| (*name).to_owned()).collect();
        self.read = Read { private, untrusted: true };
        self
    }

    fn with(mut self, arguments: &str) -> Self {
        self.arguments = arguments.into();
        self
    }

    fn call(&self) -> Call<'_> {
        Call {
            principal: "owner",
            chat: Some("chat"),
            source: "s",
            tool: "t",
            hash: Some(&self.hash),
            arguments: &self.arguments,
            schema: Some(r#"{"properties":{"x":{},"url":{}}}"#),
            effect: self.effect,
            is_sure: false,
            holding: self.holding,
            name: "s",
            within: self.within,
            looks: self.looks,
            ids: &[],
            files: &self.files,
        }
    }

    fn judge(&self) -> Verdict {
        let mut typed = Typed::new();
        self.typed.iter().for_each(|text| typed.add(text));
        let before =
            Before { read: &self.read, typed: &typed, typed_calls: 0, answers: &self.answers, now: 5 };
        judge(self.who, &self.call(), &before)
    }

    fn came(&self) -> Came {
        match self.judge() {
            Verdict::Run(_) => Came::Run,
            Verdict::Ask(question) => Came::Ask(question.why),
            Verdict::Refuse(_) => Came::Refuse,
        }
    }

    /// The person answers the question that this call asks now.
    fn answered(mut self, cover: Cover) -> Self {
        let Verdict::Ask(question) = self.judge() else { panic!("it asks nothing: {self:?}") };
        assert!(question.covers.contains(&cover), "{question:?}");
        let shown = Some(question.private).filter(|_| question.why.is_leaving());
        let answer = RememberedAnswer::to(&self.call(), cover, shown, "a".into(), 1);
        self.answers.add(answer);
        self
    }
}

use Came::{Ask, Refuse, Run as Runs};
use Effect::{Destroys, Reads, Writes};

const ASK: Who = Who::Person(Mode::Ask);
const AUTO: Who = Who::Person(Mode::Auto);
const PLAN: Who = Who::Person(Mode::Plan);
const NOBODY: Who = Who::Person(Mode::Reads);
const CLIENT: Who = Who::Client { guard: false };
const GUARDED: Who = Who::Client { guard: true };

#[test]
fn a_file_that_harbor_hands_over_asks_whoever_calls() {
    let file = || ["cv.pdf (7 bytes), to a.example"];
    let came = |who| Case::new(who, Writes, API).with_files(&file()).came();
    for who in [ASK, AUTO, Who::Run, CLIENT, GUARDED] {
        assert_eq!(came(who), Ask(Why::Files), "{who:?}");
    }
    assert_eq!((came(Who::Typed), came(NOBODY)), (Runs, Refuse));
    // It is read for whoever calls, and what they typed does not say what is in it.
    let typed = Case::new(CLIENT, Reads, API).with_files(&file());
    assert_eq!(Case { typed: vec!["made up".into()], ..typed }.came(), Ask(Why::Files));
    // A yes covers what was shown, and a client is asked about each.
    let yes = Case::new(CLIENT, Writes, API).with_files(&file()).answered(Cover::Once);
    assert_eq!(yes.clone().came(), Runs);
    assert_eq!(yes.with_files(&["cv.pdf (8 bytes), to a.example"]).came(), Ask(Why::Files));
    let flow = Case::new(AUTO, Writes, API).with_files(&file()).answered(Cover::Flow);
    assert_eq!(flow.clone().with(r#"{"x":"again"}"#).came(), Runs);
    assert_eq!(flow.clone().with_files(&["other.pdf (7 bytes), to a.example"]).came(), Ask(Why::Files));
    // What was read before leaves with it.
    let both = flow.having_read(&["mail"]);
    let Verdict::Ask(question) = both.judge() else { panic!("{both:?}") };
    assert_eq!((question.why, question.private.len()), (Why::Leaves, 2));
}

#[test]
fn the_table() {
    let rows = [
        // who, reads, writes, writes after untrusted text, destroys, leaves
        (Who::Typed, [Runs, Runs, Runs, Runs, Runs]),
        (ASK, [Runs, Ask(Why::Writes), Ask(Why::Writes), Ask(Why::Destroys), Ask(Why::Leaves)]),
        (PLAN, [Runs, Ask(Why::Writes), Ask(Why::Writes), Ask(Why::Destroys), Ask(Why::Leaves)]),
        (AUTO, [Runs, Runs, Ask(Why::Untrusted), Ask(Why::Destroys), Ask(Why::Leaves)]),
        (NOBODY, [Runs, Refuse, Refuse, Refuse, Refuse]),
        (Who::Run, [Runs, Runs, Ask(Why::Untrusted), Ask(Why::Destroys), Ask(Why::Leaves)]),
        (Who::Page, [Runs, Runs, Runs, Ask(Why::Destroys), Runs]),
        (CLIENT, [Runs, Runs, Runs, Ask(Why::Destroys), Runs]),
        (GUARDED, [Runs, Runs, Runs, Ask(Why::Destroys), Ask(Why::Leaves)]),
    ];
    for (who, expected) in rows {
        let came = [
            Case::new(who, Reads, WEB).came(),
            Case::new(who, Writes, WEB).came(),
            Case::new(who, Writes, WEB).having_read(&[]).came(),
            Case::new(who, Destroys, WEB).came(),
            Case::new(who, Reads, WEB).having_read(&["files"]).came(),
        ];
        assert_eq!(came, expected, "{who:?}");
        let own = [Reads, Writes].map(|effect| Case::new(who, effect, SHUT).having_read(&["files"]).came());
        assert_eq!(own, [Runs, Runs], "{who:?}: what is closed keeps to itself");
    }
    assert_eq!(Case::new(ASK, Destroys, SHUT).came(), Ask(Why::Destroys), "its data are the person's");
    assert_eq!(Case::new(AUTO, Writes, FILES).having_read(&[]).came(), Ask(Why::Untrusted));
}

#[test]
fn what_leaves_and_what_does_not() {
    let own = |arguments| Case::new(ASK, Reads, API).having_read(&["s"]).with(arguments).came();
    assert_eq!(own(r#"{"x":"made up"}"#), Runs, "to whom it came from");
    assert_eq!(own(r#"{"url":"https://e.example/?d=x"}"#), Ask(Why::Leaves), "an address carries it on");
    assert_eq!(Case::new(ASK, Writes, API).having_read(&["s"]).came(), Ask(Why::Leaves));
    let within = Case { within: true, ..Case::new(AUTO, Writes, API).having_read(&["s"]) };
    assert_eq!(within.came(), Ask(Why::Untrusted), "it stays in its page, and changes something there");
    let looks = Case { looks: true, ..Case::new(ASK, Reads, API).having_read(&["files"]) };
    assert_eq!(looks.came(), Runs);
    let typed = |arguments: &str| {
        let case = Case::new(ASK, Reads, WEB).having_read(&["files"]).with(arguments);
        Case { typed: vec!["get https://e.example/a?b=1 for me".into()], ..case }.came()
    };
    assert_eq!(typed(r#"{"url":"https://e.example/a?b=1"}"#), Runs);
    assert_eq!(typed(r#"{"url":"https://e.example/a?b=12"}"#), Ask(Why::Leaves));
    assert_eq!(typed(r#"{"url":"https://e.example/a","x":[83]}"#), Ask(Why::Leaves));
}

#[test]
fn a_yes_covers_what_it_was_given_for_and_nothing_else() {
    for cover in [Cover::Once, Cover::ChatTool, Cover::ChatServer, Cover::Always] {
        let yes = Case::new(ASK, Writes, WEB).answered(cover);
        assert_eq!(yes.came(), Runs, "{cover:?}");
        let other = yes.clone().with(r#"{"x":2}"#).came();
        assert_eq!(other == Runs, cover != Cover::Once, "{cover:?}");
        let changed = Case { hash: [2; 32], ..yes.clone() };
        assert_eq!(changed.came(), Ask(Why::Writes), "{cover:?}: the tool is another one");
        assert_eq!(yes.clone().having_read(&["files"]).came(), Ask(Why::Leaves), "{cover:?}");
        let destroys = Case { effect: Destroys, ..yes };
        assert_eq!(destroys.came() == Runs, cover != Cover::ChatServer, "{cover:?}");
    }
    let flow = Case::new(ASK, Reads, API).having_read(&["files"]).answered(Cover::Flow);
    assert_eq!(flow.clone().with(r#"{"x":2}"#).came(), Runs);
    assert_eq!(flow.clone().having_read(&["files", "mail"]).came(), Ask(Why::Leaves), "a name has joined");
    let open = Case { holding: Holding { reach: Reach::Open, ..API }, ..flow.clone() };
    assert_eq!(open.came(), Ask(Why::Leaves), "it may tell anybody now");
    let writes = Case { effect: Writes, ..flow };
    assert_eq!(writes.came(), Ask(Why::Writes), "a flow lets nothing be changed");
    let once = Case::new(ASK, Writes, WEB).having_read(&["files"]).answered(Cover::Once);
    assert_eq!(once.came(), Runs, "a yes that showed what leaves also covers the change");
    assert_eq!(once.having_read(&["files", "mail"]).came(), Ask(Why::Leaves));
    assert!(
        !matches!(Case::new(ASK, Reads, WEB).having_read(&["files"]).judge(),
        Verdict::Ask(question) if question.covers.contains(&Cover::Flow)),
        "anybody is no flow"
    );
}

#[test]
fn within_an_approved_plan_what_writes_runs_and_nothing_else() {
    let arguments = r#"{"servers":["s"],"kinds":["write"],"reason":"tidy up"}"#;
    let plan = ActionPlan::proposed(arguments, &["s".to_owned()].into()).unwrap();
    let planned = |who, chat: &str, effect| {
        let mut case = Case::new(who, effect, WEB);
        let (id, principal) = ("p".into(), "owner".into());
        case.answers.plans.approve(ApprovedPlan {
            id,
            principal,
            chat: chat.into(),
            plan: plan.clone(),
            since: 1,
        });
        case
    };
    assert_eq!(
        planned(PLAN, "chat", Writes).having_read(&[]).came(),
        Runs,
        "the person has seen its servers"
    );
    assert_eq!(planned(PLAN, "chat", Destroys).came(), Ask(Why::Destroys));
    assert_eq!(planned(PLAN, "chat", Writes).having_read(&["files"]).came(), Ask(Why::Leaves));
    assert_eq!(planned(PLAN, "other", Writes).came(), Ask(Why::Writes), "another conversation");
    assert_eq!(planned(ASK, "chat", Writes).came(), Ask(Why::Writes), "another mode");
    assert_eq!(planned(NOBODY, "chat", Writes).came(), Refuse);
}

#[test]
fn a_denied_call_in_other_words_is_denied() {
    let mut case = Case::new(ASK, Writes, WEB).with(r#"{"a":1,"b":2}"#);
    let denied = case.clone();
    case.answers.deny(&denied.call(), None);
    assert_eq!(case.came(), Refuse);
    assert_eq!(case.clone().with(r#"{ "b": 2, "a": 1 }"#).came(), Refuse);
    assert_eq!(case.clone().with(r#"{"a":1,"b":3}"#).came(), Ask(Why::Writes));
    case.answers.begin_turn("chat");
    assert_eq!(case.came(), Ask(Why::Writes));
}

#[test]
fn what_is_too_large_to_be_shown_is_not_asked_about() {
    let large = format!(r#"{{"x":"{}"}}"#, "a".repeat(shown::MOST));
    assert_eq!(Case::new(ASK, Writes, WEB).with(&large).came(), Refuse);
    assert_eq!(Case::new(ASK, Reads, WEB).with(&large).came(), Runs);
}

fn effects() -> impl Strategy<Value = Effect> {
    prop_oneof![Just(Reads), Just(Writes), Just(Destroys)]
}

fn reaches() -> impl Strategy<Value = Reach> {
    prop_oneof![Just(Reach::Closed), Just(Reach::Enforced), Just(Reach::Open)]
}

fn whose() -> impl Strategy<Value = Who> {
    prop_oneof![
        Just(ASK),
        Just(AUTO),
        Just(PLAN),
        Just(NOBODY),
        Just(Who::Run),
        Just(Who::Page),
        Just(CLIENT),
        Just(GUARDED)
    ]
}

fn names() -> impl Strategy<Value = Names> {
    proptest::collection::btree_set(prop_oneof![Just("s".to_owned()), Just("files".to_owned())], 0..3)
}

prop_compose! {
    fn cases()(
        who in whose(), effect in effects(), reach in reaches(), opens: bool, writes_theirs: bool,
        private in names(), untrusted: bool, within: bool, looks: bool,
        arguments in prop_oneof![Just("{}"), Just(r#"{"x":"typed"}"#), Just(r#"{"x":1}"#), Just(r#"{"url":"https://e.example/?x"}"#)],
        yes in proptest::option::of(prop_oneof![Just(Cover::Once), Just(Cover::ChatTool), Just(Cover::Flow), Just(Cover::Pair), Just(Cover::Always)]),
        shown in names(),
    ) -> Case {
        let holding = Holding { reach, opens, writes_theirs };
        let mut case = Case {
            read: Read { private, untrusted }, typed: vec!["typed".into()], within, looks,
            ..Case::new(who, effect, holding).with(arguments)
        };
        if let Some(cover) = yes {
            let answer = RememberedAnswer::to(&case.call(), cover, Some(shown), "a".into(), 1);
            case.answers.add(answer);
        }
        case
    }
}

proptest! {
    /// Nothing that a milder hint could say makes the rule stricter, so nothing that a stricter fact says makes it milder.
    #[test]
    fn never_less_strict_with_more_reach(case in cases(), reach in reaches()) {
        let other = Case { holding: Holding { reach, ..case.holding }, ..case.clone() };
        // A flow covers what Harbor enforces, which is between the two.
        let has_flow = case.answers.standing(5).any(|answer| answer.cover == Cover::Flow);
        prop_assume!(reach >= case.holding.reach && !(has_flow && reach != case.holding.reach));
        prop_assert!(other.came() >= case.came(), "{:?} then {:?}", case.came(), other.came());
    }

    #[test]
    fn never_less_strict_when_a_private_name_joins(case in cases(), name in "[a-z]{1,3}") {
        let mut other = case.clone();
        other.read.private.insert(name);
        prop_assert!(other.came() >= case.came());
    }

    #[test]
    fn never_less_strict_when_a_yes_is_taken_away(case in cases()) {
        let mut other = case.clone();
        other.answers.revoke(|_| true);
        prop_assert!(other.came() >= case.came());
    }

    /// Nothing private reaches a source with reach without a yes that showed it.
    #[test]
    fn nothing_private_leaves_unseen(case in cases()) {
        let asks = asks_before_leaving(case.who);
        let is_private = case.read.private.iter().any(|name| name != "s");
        let is_typed = matches!(&*case.arguments, "{}" | r#"{"x":"typed"}"#);
        let leaves = case.holding.reach != Reach::Closed && !case.looks && !is_typed;
        if asks && is_private && leaves && case.came() == Runs {
            let shown = case.answers.standing(5).any(|answer| {
                let covers = matches!(answer.cover, Cover::Once | Cover::Flow | Cover::Pair);
                covers && answer.private.as_ref().is_some_and(|shown| case.read.private.is_subset(shown))
            });
            prop_assert!(shown, "{case:?}");
        }
    }
}
