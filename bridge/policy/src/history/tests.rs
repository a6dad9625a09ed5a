//! What of a broken conversation is repaired and how, and that what may be sent stays as it is.

use harbor_ipc_proto::model::{MAX_IMAGE, Opaque};
use proptest::prelude::*;

use super::*;

fn said(role: Role, parts: Vec<Part>) -> ModelMessage {
    ModelMessage { role, parts }
}

fn text(text: &str) -> Part {
    Part::Text(text.into())
}

fn call(id: &str) -> Part {
    Part::ToolCall(ToolCall { id: id.into(), name: "t".into(), arguments: "{}".into() })
}

fn result(id: &str, text: &str) -> Part {
    let (call_id, name, text) = (id.into(), "t".into(), text.into());
    Part::ToolResult(ToolResult { call_id, name, text, images: Vec::new(), is_error: false })
}

fn missing(id: &str) -> Part {
    let (call_id, name, text) = (id.into(), "t".into(), NO_RESULT.into());
    Part::ToolResult(ToolResult { call_id, name, text, images: Vec::new(), is_error: true })
}

fn image(data: &str) -> Image {
    Image { media_type: "image/png".into(), data: data.into() }
}

fn user(words: &str) -> ModelMessage {
    said(Role::User, vec![text(words)])
}

fn assistant(ids: &[&str]) -> ModelMessage {
    said(Role::Assistant, ids.iter().map(|id| call(id)).collect())
}

fn tools(parts: Vec<Part>) -> ModelMessage {
    said(Role::Tool, parts)
}

#[test]
fn each_call_has_one_result_directly_behind_it() {
    let good = vec![
        user("q"),
        assistant(&["a", "b"]),
        tools(vec![result("b", "2")]),
        tools(vec![result("a", "1")]),
        said(Role::Assistant, vec![text("done")]),
    ];
    assert_eq!((check(&good), check(&[])), (Ok(()), Ok(())));
    assert_eq!(repair(good.clone()), good);
    for (messages, why) in [
        (vec![assistant(&["a"])], Broken::NoResult),
        (vec![assistant(&["a"]), user("x"), tools(vec![result("a", "")])], Broken::NoResult),
        (vec![tools(vec![result("a", "")])], Broken::NoCall),
        (vec![assistant(&["a"]), tools(vec![result("a", ""), result("a", "")])], Broken::NoCall),
        (vec![assistant(&["a", "a"])], Broken::DoubledId),
        (vec![assistant(&[""])], Broken::Id),
        (vec![assistant(&["functions.get:0"])], Broken::Id),
        (
            vec![said(Role::User, vec![Part::Image(image(""))])],
            Broken::Part(InvalidMessagesReason::ImageData),
        ),
    ] {
        assert_eq!(check(&messages), Err(why), "{messages:?}");
        assert_eq!(check(&repair(messages)), Ok(()));
    }
}

#[test]
fn what_is_missing_is_said_and_what_is_too_much_is_dropped() {
    let broken = vec![
        user("q"),
        assistant(&["a", "b"]),
        tools(vec![result("b", "2"), result("z", "?")]),
        user("go on"),
    ];
    let wanted =
        vec![user("q"), assistant(&["a", "b"]), tools(vec![missing("a"), result("b", "2")]), user("go on")];
    assert_eq!(repair(broken), wanted);
    let late = vec![assistant(&["a"]), user("well?"), tools(vec![result("a", "1"), result("a", "2")])];
    assert_eq!(repair(late), [assistant(&["a"]), tools(vec![result("a", "1")]), user("well?")]);
}

#[test]
fn a_doubled_id_is_split_and_each_keeps_its_result() {
    let doubled = vec![
        assistant(&["a", "a", ""]),
        tools(vec![result("a", "1"), result("a", "2"), result("", "3")]),
        assistant(&["a", "call_harbor_1"]),
        tools(vec![result("a", "4"), result("call_harbor_1", "5")]),
    ];
    let wanted = [
        assistant(&["a", "call_harbor_2", "call_harbor_3"]),
        tools(vec![result("a", "1"), result("call_harbor_2", "2"), result("call_harbor_3", "3")]),
        assistant(&["call_harbor_4", "call_harbor_1"]),
        tools(vec![result("call_harbor_4", "4"), result("call_harbor_1", "5")]),
    ];
    assert_eq!(repair(doubled), wanted);
    let unanswered = vec![assistant(&["a"]), assistant(&["a"]), tools(vec![result("a", "of the second")])];
    let wanted = [
        assistant(&["a"]),
        tools(vec![missing("a")]),
        assistant(&["call_harbor_1"]),
        tools(vec![result("call_harbor_1", "of the second")]),
    ];
    assert_eq!(repair(unanswered), wanted);
}

#[test]
fn pictures_that_cannot_be_sent_become_a_sentence() {
    let shown = |images: Vec<Image>, words: &str| {
        let (call_id, name, text) = ("a".into(), "t".into(), words.into());
        vec![
            assistant(&["a"]),
            tools(vec![Part::ToolResult(ToolResult { call_id, name, text, images, is_error: false })]),
        ]
    };
    let huge = image(&"A".repeat(MAX_IMAGE * 2));
    assert_eq!(
        repair(shown(vec![huge.clone(), image("AAAA")], "seen")),
        shown(vec![image("AAAA")], &format!("seen\n{NO_PICTURE}"))
    );
    assert_eq!(repair(vec![said(Role::User, vec![Part::Image(huge)])]), [user(NO_PICTURE)]);
    let mut many = vec![said(Role::User, vec![Part::Image(image("AAAA")); 2])];
    many.extend(shown(vec![image("BBBB"); MAX_IMAGES - 1], ""));
    let mut wanted = many.clone();
    wanted[0].parts[0] = text(OLD_PICTURE);
    assert_eq!(repair(many), wanted);
    let mut wanted = shown(vec![image("BBBB"); MAX_IMAGES], OLD_PICTURE);
    wanted.insert(0, user(OLD_PICTURE));
    let mut many = shown(vec![image("BBBB"); MAX_IMAGES + 1], "");
    many.insert(0, said(Role::User, vec![Part::Image(image("AAAA"))]));
    assert_eq!(repair(many), wanted);
}

#[test]
fn nothing_that_was_said_is_dropped_when_it_stands_in_a_wrong_place() {
    let opaque = Part::Opaque(Opaque { provider: "p".into(), model: "m".into(), json: "{}".into() });
    let mixed = vec![
        said(Role::User, vec![text("q"), opaque.clone(), call("x"), result("x", "forged")]),
        said(Role::Assistant, vec![opaque, text("a"), Part::Image(image("AAAA"))]),
    ];
    let wanted =
        [user("q"), said(Role::Assistant, vec![mixed[1].parts[0].clone(), text("a"), text(NO_PICTURE)])];
    assert_eq!(repair(mixed), wanted);
}

fn part() -> impl Strategy<Value = Part> {
    let id = prop::sample::select(vec!["", "a", "b", "c", "call_harbor_1", "x.y", LONG]);
    let picture = prop::sample::select(vec!["AAAA", "", "no base64!"]).prop_map(image);
    let images = prop::collection::vec(picture.clone(), 0..5);
    prop_oneof![
        1 => Just(text("words")),
        1 => picture.prop_map(Part::Image),
        3 => id.clone().prop_map(call),
        3 => (id, images).prop_map(|(id, images)| {
            let (call_id, name, text) = (id.into(), "t".into(), "said".into());
            Part::ToolResult(ToolResult { call_id, name, text, images, is_error: false })
        }),
        1 => Just(Part::Reasoning("thought".into())),
    ]
}

const LONG: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

fn message() -> impl Strategy<Value = ModelMessage> {
    let role =
        prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Assistant, Role::Tool]);
    (role, prop::collection::vec(part(), 0..4)).prop_map(|(role, parts)| ModelMessage { role, parts })
}

fn texts(messages: &[ModelMessage]) -> usize {
    let spoken =
        messages.iter().filter(|message| message.role != Role::Tool).flat_map(|message| &message.parts);
    spoken.filter(|part| **part == text("words")).count()
}

proptest! {
    #[test]
    fn whatever_is_repaired_may_be_sent_and_then_stays(messages in prop::collection::vec(message(), 0..10)) {
        let repaired = repair(messages.clone());
        prop_assert_eq!(check(&repaired), Ok(()), "{:?}", repaired);
        prop_assert_eq!(texts(&repaired), texts(&messages), "no words are lost");
        prop_assert_eq!(repair(repaired.clone()), repaired);
    }

    #[test]
    fn what_may_be_sent_stays_as_it_is(rounds in prop::collection::vec(0_usize..4, 0..6), cut: usize) {
        let mut messages = vec![user("q")];
        for (round, calls) in rounds.iter().enumerate() {
            let ids: Vec<_> = (0..*calls).map(|at| format!("c{round}_{at}")).collect();
            messages.push(said(Role::Assistant, ids.iter().map(|id| call(id)).chain([text("x")]).collect()));
            messages.extend(ids.iter().rev().map(|id| tools(vec![result(id, "y")])));
        }
        prop_assert_eq!(check(&messages), Ok(()));
        prop_assert_eq!(repair(messages.clone()), messages.clone());
        // A session whose end was never written loads all the same.
        messages.truncate(cut % (messages.len() + 1));
        prop_assert_eq!(check(&repair(messages)), Ok(()));
    }
}
