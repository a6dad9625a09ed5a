//! The bytes of every message between the bridge and the model worker.

use super::super::codec::{CodecError, get_message, put_message};
use super::*;
use crate::model::{Image, Opaque, Part, Role, ToolCall, ToolResult};

fn bytes<M: Encode>(message: &M) -> Vec<u8> {
    let mut out = Vec::new();
    put_message(&mut out, message);
    out.split_off(4)
}

fn check<M>(message: &M, wanted: &[u8])
where
    M: Encode + PartialEq + std::fmt::Debug + for<'a> BorrowDecode<'a, ()>,
{
    assert_eq!(bytes(message), wanted, "{message:?}");
    assert_eq!(&get_message::<M>(wanted).unwrap(), message);
}

fn target() -> Target {
    Target {
        provider: "p".into(),
        kind: Kind::Anthropic,
        dialect: Dialect::Anthropic,
        base_url: "u".into(),
        allow_private: true,
        key: Some(Secret::new("k".into())),
        socket: Some("s".into()),
    }
}

const TARGET: &[u8] = b"\x01p\x02\x01\x01u\x01\x01\x01k\x01\x01s";

fn messages() -> Vec<ModelMessage> {
    let call = ToolCall { id: "i".into(), name: "n".into(), arguments: "{}".into() };
    let result = ToolResult {
        call_id: "i".into(),
        name: "n".into(),
        text: "t".into(),
        images: vec![image()],
        is_error: true,
    };
    let opaque = Opaque { provider: "p".into(), model: "m".into(), json: "j".into() };
    let message = |role, parts| ModelMessage { role, parts };
    vec![
        message(Role::System, vec![Part::Text("s".into())]),
        message(Role::User, vec![Part::Image(image())]),
        message(
            Role::Assistant,
            vec![Part::Reasoning("r".into()), Part::Opaque(opaque), Part::ToolCall(call)],
        ),
        message(Role::Tool, vec![Part::ToolResult(result)]),
    ]
}

const MESSAGES: &[u8] = b"\x04\x00\x01\x00\x01s\x01\x01\x01\x01m\x01d\
    \x02\x03\x04\x01r\x05\x01p\x01m\x01j\x02\x01i\x01n\x02{}\
    \x03\x01\x03\x01i\x01n\x01t\x01\x01m\x01d\x01";

fn chat() -> Chat {
    let tool = ModelTool { name: "n".into(), description: "d".into(), schema: "{}".into() };
    Chat {
        id: 7,
        target: target(),
        model: "m".into(),
        messages: messages(),
        tools: vec![tool],
        tool_choice: ToolChoice::Tool("n".into()),
        options: Options {
            max_tokens: Some(1),
            temperature: Some(1.0),
            top_p: None,
            stop: vec!["e".into()],
            response_schema: Some("{}".into()),
            reasoning_effort: Some("low".into()),
            context_window: Some(2),
            refused: vec![Setting::Temperature],
        },
        stream: true,
        credit: Some(3),
        limits: ChatLimits { idle_ms: 4, total_ms: 5 },
    }
}

/// Every message once, in wire order, with its bytes. A changed line here is a changed protocol.
#[test]
fn golden_bytes_to_the_worker() {
    let chat_bytes = [
        b"\x07",
        TARGET,
        b"\x01m",
        MESSAGES,
        b"\x01\x01n\x01d\x02{}\x03\x01n",
        b"\x01\x01\x01\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x01\x01e\x01\x02{}\x01\x03low\x01\x02\x01\x01",
        b"\x01\x01\x03\x04\x05",
    ]
    .concat();
    let with = |tag: &[u8], rest: &[u8]| [tag, rest].concat();
    let place = ProviderPort { kind: Kind::Ollama, port: 9 };
    let golden: Vec<(ToModel, Vec<u8>)> = vec![
        (ToModel::Hello { protocol: 1, build: "b".into() }, b"\x00\x01\x01b".to_vec()),
        (ToModel::Shutdown, b"\x01".to_vec()),
        (ToModel::Chat(chat()), with(b"\x02", &chat_bytes)),
        (ToModel::More { id: 1, deltas: 2 }, b"\x03\x01\x02".to_vec()),
        (ToModel::Cancel { id: 1 }, b"\x04\x01".to_vec()),
        (ToModel::Models { id: 1, target: target() }, with(b"\x05\x01", TARGET)),
        (ToModel::Check { id: 1, target: target() }, with(b"\x06\x01", TARGET)),
        (ToModel::Detect { id: 1, places: vec![place] }, b"\x07\x01\x01\x00\x09".to_vec()),
        (ToModel::Count(chat()), with(b"\x08", &chat_bytes)),
        (ToModel::Scale { id: 1, image: image(), longest: 2 }, b"\x09\x01\x01m\x01d\x02".to_vec()),
        (
            ToModel::Transcribe(transcription()),
            [b"\x0a\x01", TARGET, b"\x01m\x01t\x01d\x01\x01l\x00"].concat(),
        ),
        (
            ToModel::Await { id: 1, target: target(), limit_ms: 2 },
            [b"\x0b\x01".as_slice(), TARGET, b"\x02"].concat(),
        ),
        (
            ToModel::Pull { id: 1, target: target(), model: "m".into() },
            [b"\x0c\x01".as_slice(), TARGET, b"\x01m"].concat(),
        ),
    ];
    for (message, wanted) in &golden {
        check(message, wanted);
    }
}

fn transcription() -> Transcription {
    Transcription {
        id: 1,
        target: target(),
        model: "m".into(),
        audio: Audio { media_type: "t".into(), data: "d".into() },
        language: Some("l".into()),
        prompt: None,
    }
}

fn image() -> Image {
    Image { media_type: "m".into(), data: "d".into() }
}

fn failure(cause: Cause) -> Failure {
    Failure { cause, status: Some(200), retry_after_ms: None, message: "w".into() }
}

#[test]
fn golden_bytes_of_events() {
    let usage = Usage {
        input_tokens: Some(1),
        output_tokens: None,
        cached_tokens: Some(2),
        reasoning_tokens: Some(3),
    };
    let start = Event::Start { model: Some("m".into()), dropped_tools: vec!["n".into()] };
    let text = |text: &str| text.to_owned();
    let golden: Vec<(Event, &[u8])> = vec![
        (start, b"\x00\x01\x01m\x01\x01n"),
        (Event::Text(text("t")), b"\x01\x01t"),
        (Event::Reasoning(text("r")), b"\x02\x01r"),
        (Event::Opaque(text("{}")), b"\x03\x02{}"),
        (Event::ToolCallStart { call_id: text("i"), name: text("n") }, b"\x04\x01i\x01n"),
        (Event::ToolCallArguments { call_id: text("i"), text: text("{") }, b"\x05\x01i\x01{"),
        (Event::ToolCallEnd { call_id: text("i"), arguments: text("{}") }, b"\x06\x01i\x02{}"),
        (Event::Usage(usage), b"\x07\x01\x01\x00\x01\x02\x01\x03"),
        (Event::End { finish: Finish::ToolCalls, raw: Some(text("x")) }, b"\x08\x01\x01\x01x"),
        (Event::Error(failure(Cause::Cut)), b"\x09\x0a\x01\xc8\x00\x01w"),
        (Event::Loading, b"\x0a"),
        (Event::Refused(vec![Setting::Stop]), b"\x0b\x01\x02"),
        (Event::Waiting(9), b"\x0c\x09"),
    ];
    for (event, wanted) in golden {
        let message = FromModel::Event { id: 5, event };
        check(&message, &[b"\x01\x05", wanted].concat());
    }
}

#[test]
fn golden_bytes_of_answers() {
    let model = Model {
        id: "m".into(),
        context_window: Some(1),
        max_output: None,
        tools: Some(true),
        vision: Some(false),
        reasoning: None,
        is_remote: true,
        loaded_window: Some(2),
        state: Some(ModelState::Failed),
        exit_code: Some(-1),
        weights: Some(3),
        token_bytes: None,
    };
    let found = Found {
        kind: Kind::Vllm,
        dialect: Dialect::Chat,
        base_url: "u".into(),
        version: None,
        needs_key: true,
    };
    let failed = failure(Cause::NoModel);
    let golden: Vec<(FromModel, &[u8])> = vec![
        (FromModel::Hello { protocol: 1, build: "b".into() }, b"\x00\x01\x01b"),
        (
            FromModel::Models { id: 1, models: vec![model] },
            b"\x02\x01\x01\x01m\x01\x01\x00\x01\x01\x01\x00\x00\x01\x01\x02\x01\x03\x01\x01\x01\x03\x00",
        ),
        (
            FromModel::Checked { id: 1, latency_ms: 2, failure: Some(failed.clone()) },
            b"\x03\x01\x02\x01\x00\x01\xc8\x00\x01w",
        ),
        (FromModel::Detected { id: 1, found: vec![found] }, b"\x04\x01\x01\x06\x00\x01u\x00\x01"),
        (FromModel::Counted { id: 1, input_tokens: 2 }, b"\x05\x01\x02"),
        (FromModel::Failed { id: 1, failure: failed }, b"\x06\x01\x00\x01\xc8\x00\x01w"),
        (FromModel::Scaled { id: 1, image: image() }, b"\x07\x01\x01m\x01d"),
        (
            FromModel::Transcribed {
                id: 1,
                text: "t".into(),
                usage: Usage { input_tokens: Some(2), ..Usage::default() },
            },
            b"\x08\x01\x01t\x01\x02\x00\x00\x00",
        ),
        (FromModel::Pulling { id: 1, status: "s".into(), done: 2, total: 3 }, b"\x09\x01\x01s\x02\x03"),
        (FromModel::Pulled { id: 1 }, b"\x0a\x01"),
    ];
    for (message, wanted) in &golden {
        check(message, wanted);
    }
}

#[test]
fn numbers_of_kinds_and_causes_stay() {
    for (number, kind) in (0u8..).zip(Kind::ALL) {
        check(kind, &[number]);
    }
    for (number, dialect) in (0u8..).zip(Dialect::ALL) {
        check(dialect, &[number]);
    }
    for (number, cause) in (0u8..).zip(Cause::ALL) {
        check(cause, &[number]);
    }
    for (number, setting) in (0u8..).zip(Setting::ALL) {
        check(setting, &[number]);
    }
    let names = Cause::ALL.iter().map(|cause| cause.name()).collect::<Vec<_>>().join(" ");
    assert_eq!(
        names,
        "no_model unauthorized quota rate_limited overloaded context_full refused not_found unreachable timeout cut \
         protocol worker_lost empty"
    );
}

/// A length may lie, and an enum may have no such number: neither allocates or is taken for another message.
#[test]
fn what_is_no_message_is_refused() {
    let mut lying = b"\x02\x07".to_vec();
    lying.extend_from_slice(b"\xfd\xff\xff\xff\xff\xff\xff\xff\xff");
    for wrong in [&lying[..], b"\x09", b"\x03\x01", b""] {
        assert_eq!(get_message::<ToModel>(wrong), Err(CodecError::Malformed), "{wrong:?}");
    }
    assert_eq!(get_message::<ToModel>(b"\x01\x00"), Err(CodecError::TrailingBytes));
    assert!(!format!("{:?}", target()).contains("\"k\""), "a key shows itself to nobody");
}
