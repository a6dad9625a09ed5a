//! Streams as providers write them (`runner/model/fixtures`), and what they mean however they are cut.

use harbor_ipc_proto::link::model::Event;
use harbor_ipc_proto::model::{Finish, Usage};
use proptest::prelude::*;

use super::*;

/// A stream and what it is of.
struct Fixture {
    dialect: Dialect,
    bytes: &'static [u8],
}

macro_rules! fixture {
    ($dialect:ident, $file:literal) => {
        Fixture { dialect: Dialect::$dialect, bytes: include_bytes!(concat!("../../fixtures/", $file)) }
    };
}

const CHAT_TEXT: Fixture = fixture!(Chat, "chat-text.sse");
const CHAT_TOOLS: Fixture = fixture!(Chat, "chat-tools.sse");
const CHAT_SAME_INDEX: Fixture = fixture!(Chat, "chat-same-index.sse");
const CHAT_THINK: Fixture = fixture!(Chat, "chat-think.sse");
const CHAT_HALVES: Fixture = fixture!(Chat, "chat-halves.sse");
const CHAT_LATE_NAMES: Fixture = fixture!(Chat, "chat-late-names.sse");
const CHAT_FUNCTION_CALL: Fixture = fixture!(Chat, "chat-function-call.sse");
const CHAT_ERROR: Fixture = fixture!(Chat, "chat-error.sse");
const CHAT_CUT: Fixture = fixture!(Chat, "chat-cut.sse");
const ANTHROPIC_TOOLS: Fixture = fixture!(Anthropic, "anthropic-tools.sse");
const ANTHROPIC_MAX_TOKENS: Fixture = fixture!(Anthropic, "anthropic-max-tokens.sse");
const ANTHROPIC_HALVES: Fixture = fixture!(Anthropic, "anthropic-halves.sse");
const ANTHROPIC_ERROR: Fixture = fixture!(Anthropic, "anthropic-error.sse");
const OLLAMA_TOOLS: Fixture = fixture!(Ollama, "ollama-tools.ndjson");
const OLLAMA_PIECES: Fixture = fixture!(Ollama, "ollama-pieces.ndjson");
const OLLAMA_HALVES: Fixture = fixture!(Ollama, "ollama-halves.ndjson");
const OLLAMA_ERROR: Fixture = fixture!(Ollama, "ollama-error.ndjson");
const RESPONSES_TOOLS: Fixture = fixture!(Responses, "responses-tools.sse");
const RESPONSES_LLAMA: Fixture = fixture!(Responses, "responses-llama.sse");
const RESPONSES_INCOMPLETE: Fixture = fixture!(Responses, "responses-incomplete.sse");
const RESPONSES_FAILED: Fixture = fixture!(Responses, "responses-failed.sse");
const RESPONSES_ERROR: Fixture = fixture!(Responses, "responses-error.sse");
const RESPONSES_CUT: Fixture = fixture!(Responses, "responses-cut.sse");
const RESPONSES_HALVES: Fixture = fixture!(Responses, "responses-halves.sse");
const GEMINI_TOOLS: Fixture = fixture!(Gemini, "gemini-tools.sse");
const GEMINI_TEXT: Fixture = fixture!(Gemini, "gemini-text.sse");
const GEMINI_MAX_TOKENS: Fixture = fixture!(Gemini, "gemini-max-tokens.sse");
const GEMINI_BLOCKED: Fixture = fixture!(Gemini, "gemini-blocked.sse");
const GEMINI_ERROR: Fixture = fixture!(Gemini, "gemini-error.sse");
const GEMINI_CUT: Fixture = fixture!(Gemini, "gemini-cut.sse");
const GEMINI_HALVES: Fixture = fixture!(Gemini, "gemini-halves.sse");

const ALL: [Fixture; 31] = [
    CHAT_TEXT,
    CHAT_TOOLS,
    CHAT_SAME_INDEX,
    CHAT_THINK,
    CHAT_HALVES,
    CHAT_LATE_NAMES,
    CHAT_FUNCTION_CALL,
    CHAT_ERROR,
    CHAT_CUT,
    ANTHROPIC_TOOLS,
    ANTHROPIC_MAX_TOKENS,
    ANTHROPIC_HALVES,
    ANTHROPIC_ERROR,
    OLLAMA_TOOLS,
    OLLAMA_PIECES,
    OLLAMA_HALVES,
    OLLAMA_ERROR,
    RESPONSES_TOOLS,
    RESPONSES_LLAMA,
    RESPONSES_INCOMPLETE,
    RESPONSES_FAILED,
    RESPONSES_ERROR,
    RESPONSES_CUT,
    RESPONSES_HALVES,
    GEMINI_TOOLS,
    GEMINI_TEXT,
    GEMINI_MAX_TOKENS,
    GEMINI_BLOCKED,
    GEMINI_ERROR,
    GEMINI_CUT,
    GEMINI_HALVES,
];

fn stream(dialect: Dialect, kind: Kind) -> Stream {
    let framing = if dialect == Dialect::Ollama { Framing::Lines } else { Framing::Events };
    let tool = ModelTool { name: "time/get".into(), description: String::new(), schema: "{}".into() };
    Stream::new(dialect, kind, framing, &[tool], "n".into())
}

/// What comes of these reads.
fn read<'a>(dialect: Dialect, reads: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Event>, Option<Cause>) {
    read_of(stream(dialect, Kind::OpenAiCompatible), reads)
}

fn read_of<'a>(mut stream: Stream, reads: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Event>, Option<Cause>) {
    let fed = reads.into_iter().try_for_each(|bytes| stream.feed(bytes)).and_then(|()| stream.end());
    if fed.is_err() {
        stream.answer.break_off();
    }
    (stream.answer.take(), fed.err().map(|failure| failure.cause))
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}

fn start(call_id: &str, name: &str) -> Event {
    Event::ToolCallStart { call_id: call_id.into(), name: name.into() }
}

fn more(call_id: &str, text: &str) -> Event {
    Event::ToolCallArguments { call_id: call_id.into(), text: text.into() }
}

fn stop(call_id: &str, arguments: &str) -> Event {
    Event::ToolCallEnd { call_id: call_id.into(), arguments: arguments.into() }
}

fn used(input: u64, output: u64) -> Usage {
    Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() }
}

fn end(finish: Finish, raw: &str) -> Event {
    Event::End { finish, raw: Some(raw.into()) }
}

#[track_caller]
fn means(fixture: &Fixture, wanted: &[Event], failure: Option<Cause>) {
    assert_eq!(read(fixture.dialect, [fixture.bytes]), (wanted.to_vec(), failure));
}

#[test]
fn chat_streams_mean_what_they_say() {
    let usage = Usage { cached_tokens: Some(2), reasoning_tokens: Some(0), ..used(7, 3) };
    means(&CHAT_TEXT, &[text("Grü"), text("ße 🚢"), Event::Usage(usage), end(Finish::Stop, "stop")], None);
    let thought = |text: &str| Event::Reasoning(text.into());
    let zone = r#"{"zone":"\ud83d\udea2"}"#;
    let (one, two) = zone.split_at(zone.find(r"\udea2").unwrap());
    means(
        &CHAT_TOOLS,
        &[
            thought("which "),
            thought("one?"),
            start("a", "time/get"),
            more("a", one),
            more("a", two),
            start("b", "never_offered"),
            more("b", "{}"),
            stop("a", zone),
            stop("b", "{}"),
            Event::Opaque(r#"{"reasoning_content":"which one?"}"#.into()),
            Event::Usage(used(9, 4)),
            end(Finish::ToolCalls, "tool_calls"),
        ],
        None,
    );
    means(&CHAT_THINK, &[thought("hm"), text("yes"), end(Finish::Length, "length")], None);
}

#[test]
fn another_id_or_name_at_a_known_index_is_another_call() {
    let wanted = [
        start("a", "one"),
        more("a", r#"{"n":1}"#),
        start("b", "one"),
        more("b", r#"{"n":2}"#),
        start("call_n_2", "one"),
        more("call_n_2", r#"{"n":3}"#),
        stop("a", r#"{"n":1}"#),
        stop("b", r#"{"n":2}"#),
        stop("call_n_2", r#"{"n":3}"#),
        end(Finish::ToolCalls, "stop"),
    ];
    means(&CHAT_SAME_INDEX, &wanted, None);
}

#[test]
fn names_that_come_late_or_in_pieces_are_of_one_call() {
    let wanted = [
        start("7", "time/get"),
        more("7", r#"{"n":"#),
        more("7", "1}"),
        start("b", "none"),
        start("c", "late"),
        more("c", "{}"),
        stop("7", r#"{"n":1}"#),
        stop("b", "{}"),
        stop("c", "{}"),
        end(Finish::ToolCalls, "tool_calls"),
    ];
    means(&CHAT_LATE_NAMES, &wanted, None);
    let old = [
        start("call_n_0", "one"),
        more("call_n_0", r#"{"n":"#),
        more("call_n_0", "1}"),
        stop("call_n_0", r#"{"n":1}"#),
        end(Finish::ToolCalls, "function_call"),
    ];
    means(&CHAT_FUNCTION_CALL, &old, None);
}

#[test]
fn half_a_character_ends_no_answer() {
    let lone = |text: &str| Event::Reasoning(text.into());
    let wanted = [
        text("ok "),
        text("😀 \u{fffd}"),
        lone("\u{fffd}"),
        start("a", "one"),
        more("a", r#"{"s":""#),
        more("a", "😀\"}"),
        text("\u{fffd}"),
        stop("a", r#"{"s":"😀"}"#),
        Event::Opaque("{\"reasoning_content\":\"\u{fffd}\"}".into()),
        end(Finish::ToolCalls, "stop"),
    ];
    means(&CHAT_HALVES, &wanted, None);
    let thought = r#"{"signature":"s","thinking":"😀","type":"thinking"}"#;
    let wanted =
        [text("ok "), text("😀"), lone("😀"), Event::Opaque(thought.into()), end(Finish::Stop, "end_turn")];
    means(&ANTHROPIC_HALVES, &wanted, None);
    let arguments = "{\"s\":\"\u{fffd}\"}";
    let wanted = [
        text("ok "),
        text("😀"),
        start("7", "one"),
        more("7", arguments),
        stop("7", arguments),
        end(Finish::ToolCalls, "stop"),
    ];
    means(&OLLAMA_HALVES, &wanted, None);
}

#[test]
fn what_has_no_end_of_its_own_keeps_its_text_and_ends_no_call() {
    let half = [text("half"), start("a", "one"), more("a", "{}")];
    means(&CHAT_CUT, &half, Some(Cause::Cut));
    means(&CHAT_ERROR, &half, Some(Cause::Overloaded));
    let used = Event::Usage(used(5, 1));
    means(&ANTHROPIC_ERROR, &[text("half"), used], Some(Cause::Overloaded));
    means(&OLLAMA_ERROR, &[text("half")], Some(Cause::Refused));
    for fixture in &ALL {
        let whole = read(fixture.dialect, [fixture.bytes]).0;
        for at in 0..fixture.bytes.len() {
            let (events, failure) = read(fixture.dialect, [&fixture.bytes[..at]]);
            let has_ended = events.iter().any(|event| matches!(event, Event::End { .. }));
            assert_eq!(has_ended, failure.is_none(), "{at} of {:?}", fixture.dialect);
            assert!(has_ended || events.len() <= whole.len() + 1);
        }
    }
}

#[test]
fn anthropics_streams_mean_what_they_say() {
    let usage = Usage { cached_tokens: Some(5), ..used(66, 20) };
    means(
        &ANTHROPIC_TOOLS,
        &[
            Event::Reasoning("so".into()),
            Event::Opaque(r#"{"signature":"sig==","thinking":"so","type":"thinking"}"#.into()),
            Event::Opaque(r#"{"data":"xyz","type":"redacted_thinking"}"#.into()),
            text("I look – "),
            start("a", "none"),
            stop("a", "{}"),
            start("b", "one"),
            more("b", r#"{"n":"#),
            more("b", "1}"),
            stop("b", r#"{"n":1}"#),
            Event::Usage(usage),
            end(Finish::ToolCalls, "tool_use"),
        ],
        None,
    );
    let half = [
        start("a", "one"),
        more("a", r#"{"n":"#),
        Event::Usage(used(5, 9)),
        end(Finish::Length, "max_tokens"),
    ];
    means(&ANTHROPIC_MAX_TOKENS, &half, None);
}

#[test]
fn ollamas_streams_mean_what_they_say() {
    means(
        &OLLAMA_TOOLS,
        &[
            Event::Reasoning("hm".into()),
            text("Grüße"),
            start("call_n_0", "time/get"),
            more("call_n_0", r#"{"n": 1}"#),
            stop("call_n_0", r#"{"n": 1}"#),
            start("call_n_1", "none"),
            stop("call_n_1", "{}"),
            Event::Opaque(r#"{"thinking":"hm"}"#.into()),
            Event::Usage(used(11, 6)),
            end(Finish::ToolCalls, "stop"),
        ],
        None,
    );
    let pieces = [
        start("a", "one"),
        more("a", r#"{"n":"#),
        more("a", "1}"),
        stop("a", r#"{"n":1}"#),
        end(Finish::ToolCalls, "stop"),
    ];
    means(&OLLAMA_PIECES, &pieces, None);
}

#[test]
fn streams_of_responses_mean_what_they_say() {
    let thought = |text: &str| Event::Reasoning(text.into());
    let own = r#"{"id":"rs","type":"reasoning","encrypted_content":"gAAA=","summary":[{"type":"summary_text","text":"so"},{"type":"summary_text","text":"then"}]}"#;
    let usage = Usage { cached_tokens: Some(2), reasoning_tokens: Some(3), ..used(9, 4) };
    let wanted = [
        thought("so"),
        thought("\n\n"),
        thought("then"),
        Event::Opaque(own.into()),
        start("a", "time/get"),
        more("a", r#"{"n":"#),
        start("b", "none"),
        more("a", "1}"),
        stop("a", r#"{"n":1}"#),
        more("b", r#"{"all":true}"#),
        stop("b", r#"{"all":true}"#),
        Event::Usage(usage),
        end(Finish::ToolCalls, "completed"),
    ];
    means(&RESPONSES_TOOLS, &wanted, None);
    let own = r#"{"id":"rs","summary":[],"type":"reasoning","content":[{"text":"hm","type":"reasoning_text"}],"encrypted_content":""}"#;
    let wanted = [
        thought("hm"),
        text("Grü"),
        text("ße"),
        start("fc_x", "one"),
        more("fc_x", r#"{"n":"#),
        start("fc_y", "one"),
        more("fc_y", "{}"),
        more("fc_x", "1}"),
        Event::Opaque(own.into()),
        stop("fc_x", r#"{"n":1}"#),
        stop("fc_y", "{}"),
        Event::Usage(used(9, 4)),
        end(Finish::ToolCalls, "completed"),
    ];
    means(&RESPONSES_LLAMA, &wanted, None);
    let half = [
        start("a", "one"),
        more("a", r#"{"n":"#),
        Event::Usage(used(5, 9)),
        end(Finish::Length, "max_output_tokens"),
    ];
    means(&RESPONSES_INCOMPLETE, &half, None);
    // llama-server says that an answer is completed which took all tokens that it may.
    let ends = |kind, most| {
        let mut stream = stream(Dialect::Responses, kind);
        stream.set_limit(kind, Some(most));
        read_of(stream, [RESPONSES_LLAMA.bytes]).0.pop().unwrap()
    };
    assert_eq!(ends(Kind::LlamaServer, 4), end(Finish::Length, "completed"));
    assert_eq!(ends(Kind::LlamaServer, 5), end(Finish::ToolCalls, "completed"));
    assert_eq!(ends(Kind::OpenAi, 4), end(Finish::ToolCalls, "completed"));
    means(&RESPONSES_FAILED, &[text("half")], Some(Cause::RateLimited));
    means(&RESPONSES_ERROR, &[text("half")], Some(Cause::Overloaded));
    means(&RESPONSES_CUT, &[text("half")], Some(Cause::Cut));
    means(&RESPONSES_HALVES, &[text("ok "), text("😀"), end(Finish::Stop, "completed")], None);
}

#[test]
fn streams_of_gemini_mean_what_they_say() {
    let own = |json: &str| Event::Opaque(json.into());
    let usage = Usage { cached_tokens: Some(2), reasoning_tokens: Some(7), ..used(9, 11) };
    let wanted = [
        Event::Reasoning("**so**".into()),
        text("Grü"),
        text("ße"),
        own(r#"{"part":"text","thoughtSignature":"s1"}"#),
        own(r#"{"part":"call","thoughtSignature":"s2","id":"g1"}"#),
        start("g1", "time/get"),
        more("g1", r#"{"n":1}"#),
        stop("g1", r#"{"n":1}"#),
        start("call_n_1", "none"),
        more("call_n_1", "{}"),
        stop("call_n_1", "{}"),
        start("call_n_2", "bare"),
        stop("call_n_2", "{}"),
        Event::Usage(usage),
        end(Finish::ToolCalls, "STOP"),
    ];
    means(&GEMINI_TOOLS, &wanted, None);
    let usage = Usage { reasoning_tokens: Some(52), ..used(15, 53) };
    let wanted = [
        text("4"),
        own(r#"{"part":"alone","thoughtSignature":"s"}"#),
        Event::Usage(usage),
        end(Finish::Stop, "STOP"),
    ];
    means(&GEMINI_TEXT, &wanted, None);
    means(&GEMINI_MAX_TOKENS, &[text("half"), end(Finish::Length, "MAX_TOKENS")], None);
    let asked = Event::Usage(Usage { input_tokens: Some(9), ..Usage::default() });
    means(&GEMINI_BLOCKED, &[asked, end(Finish::Error, "PROHIBITED_CONTENT")], None);
    means(&GEMINI_ERROR, &[text("half")], Some(Cause::Overloaded));
    let (events, failure) = read(Dialect::Gemini, [GEMINI_CUT.bytes]);
    assert_eq!((events.first(), failure), (Some(&text("half")), Some(Cause::Cut)));
    let arguments = "{\"s\":\"\u{fffd}\"}";
    let wanted = [
        text("ok "),
        text("😀"),
        start("call_n_0", "one"),
        more("call_n_0", arguments),
        stop("call_n_0", arguments),
        end(Finish::ToolCalls, "STOP"),
    ];
    means(&GEMINI_HALVES, &wanted, None);
}

#[test]
fn answers_that_come_whole_mean_the_same() {
    let whole = |dialect, body: &str| {
        let stream = Stream::new(dialect, Kind::OpenAi, Framing::Whole, &[], "n".into());
        read_of(stream, [body.as_bytes()])
    };
    let chat = r#"{"model":"m","choices":[{"message":{"content":"hi","tool_calls":[{"id":"a","function":
        {"name":"one","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
    let call = [start("a", "one"), more("a", "{}"), stop("a", "{}"), Event::Usage(used(1, 2))];
    let wanted = |raw: &str| [vec![text("hi")], call.to_vec(), vec![end(Finish::ToolCalls, raw)]].concat();
    assert_eq!(whole(Dialect::Chat, chat), (wanted("tool_calls"), None));
    let claude = r#"{"type":"message","content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"a","name":"one",
        "input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}"#;
    let mut without_deltas = wanted("tool_use");
    without_deltas.retain(|event| !matches!(event, Event::ToolCallArguments { .. }));
    assert_eq!(whole(Dialect::Anthropic, claude), (without_deltas, None));
    let responses = r#"{"object":"response","status":"completed","output":[{"type":"message","content":[
        {"type":"output_text","text":"hi"}]},{"type":"function_call","call_id":"a","name":"one","arguments":"{}"}],
        "usage":{"input_tokens":1,"output_tokens":2}}"#;
    assert_eq!(whole(Dialect::Responses, responses), (wanted("completed"), None));
    let gemini = r#"{"candidates":[{"content":{"parts":[{"text":"hi"},{"functionCall":{"id":"a","name":"one","args":{}}}]},
        "finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}}"#;
    let mut with_own = wanted("STOP");
    with_own.insert(1, Event::Opaque(r#"{"part":"call","id":"a"}"#.into()));
    assert_eq!(whole(Dialect::Gemini, gemini), (with_own.clone(), None));
    assert_eq!(whole(Dialect::Gemini, &format!("[{gemini}]")), (with_own, None));
    for dialect in [Dialect::Chat, Dialect::Anthropic, Dialect::Responses, Dialect::Gemini] {
        assert_eq!(
            whole(dialect, r#"{"error":{"type":"overloaded_error","message":"m"}}"#).1,
            Some(Cause::Overloaded)
        );
        assert_eq!(whole(dialect, "{\"half\":").1, Some(Cause::Protocol));
        assert!(whole(dialect, "{}").1.is_some());
    }
}

#[test]
fn what_the_provider_thought_before_a_call_goes_back_to_it() {
    let opaque = |kind| {
        let (events, _) = read_of(stream(Dialect::Chat, kind), [CHAT_TOOLS.bytes]);
        events.into_iter().find_map(|event| if let Event::Opaque(json) = event { Some(json) } else { None })
    };
    assert_eq!(opaque(Kind::DeepSeek).as_deref(), Some(r#"{"reasoning_content":"which one?"}"#));
    assert_eq!(opaque(Kind::LlamaServer).as_deref(), Some(r#"{"reasoning_content":"which one?"}"#));
}

#[test]
fn lines_and_streams_without_end_are_refused() {
    for dialect in Dialect::ALL {
        let piece = vec![b'x'; 1024 * 1024];
        let mut stream = stream(*dialect, Kind::OpenAiCompatible);
        let fed = (0..64).try_for_each(|_| stream.feed(&piece));
        assert_eq!(fed.unwrap_err().cause, Cause::Protocol, "{dialect:?}");
    }
    let mut endless = stream(Dialect::Chat, Kind::OpenAiCompatible);
    let comment = [b": ", vec![b'x'; 1024 * 1024].as_slice(), b"\n\n"].concat();
    let fed = (0..256).try_for_each(|_| endless.feed(&comment));
    assert_eq!(fed.unwrap_err().message, "the answer is too long");
}

#[test]
fn each_split_gives_the_same_events() {
    for fixture in &ALL {
        let whole = read(fixture.dialect, [fixture.bytes]);
        for at in 0..=fixture.bytes.len() {
            let (one, two) = fixture.bytes.split_at(at);
            assert_eq!(read(fixture.dialect, [one, two]), whole, "cut at {at}");
        }
        assert_eq!(read(fixture.dialect, fixture.bytes.chunks(1)), whole, "byte by byte");
    }
}

proptest! {
    #[test]
    fn any_splits_give_the_same_events(which in 0..ALL.len(), sizes in prop::collection::vec(1..200usize, 1..20)) {
        let fixture = &ALL[which];
        let (mut rest, mut reads, mut sizes) = (fixture.bytes, Vec::new(), sizes.iter().cycle());
        while !rest.is_empty() {
            let (one, more) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            reads.push(one);
            rest = more;
        }
        prop_assert_eq!(read(fixture.dialect, reads), read(fixture.dialect, [fixture.bytes]));
    }

    /// No bytes at all make it panic, and none of them end an answer twice.
    #[test]
    fn any_bytes_are_taken(which in 0..ALL.len(), at in any::<prop::sample::Index>(), junk in prop::collection::vec(any::<u8>(), 0..40)) {
        let fixture = &ALL[which];
        let mut bytes = fixture.bytes.to_vec();
        let at = at.index(bytes.len());
        let end = (at + junk.len()).min(bytes.len());
        bytes.splice(at..end, junk);
        let (events, _) = read(fixture.dialect, [bytes.as_slice()]);
        let ends = events.iter().filter(|event| matches!(event, Event::End { .. })).count();
        prop_assert!(ends <= 1);
    }
}
