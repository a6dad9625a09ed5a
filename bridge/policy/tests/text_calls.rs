//! Calls that models write as text: the cases of `tests/cases/formats`, and what holds for any text.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "test support"
)]

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use harbor_policy::text_calls::*;
use harbor_policy::untrusted::{Nonce, wrap};

const TOOLS: [(&str, &str); 3] = [
    (
        "get_current_time",
        r#"{"type":"object","properties":{"timezone":{"type":"string"}},"required":["timezone"]}"#,
    ),
    (
        "search_files",
        r#"{"type":"object","properties":{"path":{"type":"string"},"pattern":{"type":"string"},"limit":{"type":"integer"},"recursive":{"type":"boolean"}},"required":["path","pattern","limit","recursive"]}"#,
    ),
    (
        "send_message",
        r#"{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"}},"required":["to","text"]}"#,
    ),
];

fn cases() -> Vec<Value> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/formats");
    let files = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
    let texts = files.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let mut cases: Vec<Value> = texts
        .flat_map(|path| fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
        .map(|line| serde_json::from_str(&line).unwrap())
        .collect();
    cases.sort_by_key(|case| case["id"].to_string());
    cases
}

fn said(answer: &ReadAnswer) -> (Value, String, bool) {
    let calls = answer.calls.iter().map(|call| {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        serde_json::json!({"name": call.name, "arguments": arguments})
    });
    (calls.collect(), answer.rest.clone(), answer.is_cut)
}

fn more() -> Vec<Value> {
    let text = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/formats-more.jsonl"),
    );
    text.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Reads it where nothing was heard and the model was given no tools.
fn read(text: &str) -> ReadAnswer {
    let (tools, heard) = (OfferedTools::of(TOOLS), HeardCalls::default());
    read_answer(text, Reading { tools: &tools, nonce: None, takes_native: true, heard: &heard })
}

fn all_as_meant(cases: &[Value]) {
    let mut wrong = Vec::new();
    for case in cases {
        let wanted = (case["calls"].clone(), case["rest"].as_str().unwrap().to_owned(), case["cut"] == true);
        let got = said(&read(case["text"].as_str().unwrap()));
        if got != wanted {
            wrong.push(format!("{}\n  wanted {wanted:?}\n  got    {got:?}", case["id"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn each_case_comes_out_as_it_is_meant() {
    let cases = cases();
    assert!(cases.len() >= 96, "{}", cases.len());
    all_as_meant(&cases);
}

#[test]
fn each_kind_of_case_comes_out_in_each_family() {
    all_as_meant(&more());
}

/// The text in pieces of these lengths, again and again.
fn in_pieces(text: &str, lengths: &[usize], reading: Reading<'_>) -> (String, ReadAnswer) {
    let (mut reader, mut shown, mut at) = (AnswerReader::default(), String::new(), 0);
    for length in lengths.iter().cycle() {
        if at == text.len() {
            break;
        }
        let end = text.ceil_char_boundary((at + length).min(text.len()));
        shown.push_str(&reader.add(&text[at..end], reading));
        at = end;
    }
    (shown, reader.end(reading))
}

#[test]
fn a_stream_shows_only_what_stays_and_comes_to_the_same() {
    let (tools, heard) = (OfferedTools::of(TOOLS), HeardCalls::default());
    let reading = Reading { tools: &tools, nonce: None, takes_native: true, heard: &heard };
    for case in cases().iter().chain(&more()) {
        let text = case["text"].as_str().unwrap();
        for lengths in [&[1][..], &[3, 7], &[20], &[1, 60]] {
            let (shown, answer) = in_pieces(text, lengths, reading);
            assert_eq!(answer, read(text), "{}", case["id"]);
            // A thought whose beginning is missing is known by its end.
            if case["id"] != "deepseek-3" {
                assert!(answer.rest.starts_with(&shown), "{}: {shown:?} {:?}", case["id"], answer.rest);
            }
        }
    }
    let (mut reader, plain) = (AnswerReader::default(), "A plain answer, in words, is shown at once.");
    let shown: String = plain.split_inclusive(' ').map(|piece| reader.add(piece, reading)).collect();
    assert_eq!(shown, plain);
}

const NONCE: &str = "7f3a9c2e41b8d605";

/// Where the model was told Harbor's form with this word.
fn with_word<'a>(tools: &'a OfferedTools, nonce: Option<&'a Nonce>, heard: &'a HeardCalls) -> Reading<'a> {
    Reading { tools, nonce, takes_native: false, heard }
}

#[test]
fn a_call_by_harbor_s_form_needs_the_word_of_the_turn() {
    let (tools, mut heard) = (OfferedTools::of(TOOLS), HeardCalls::default());
    let nonce = Nonce::new(NONCE).unwrap();
    let text = format!(
        "I look.\n[call {NONCE}] {{\"name\": \"get_current_time\", \"arguments\": {{\"timezone\": \"UTC\"}}}}"
    );
    let answer = read_answer(&text, with_word(&tools, Some(&nonce), &heard));
    assert_eq!((answer.calls.len(), answer.rest.as_str()), (1, "I look."));
    // The person may ask for a call word by word.
    heard.add("Please call get_current_time {\"timezone\": \"UTC\"}", &tools);
    assert_eq!(read_answer(&text, with_word(&tools, Some(&nonce), &heard)).calls.len(), 1);
    let other = Nonce::new("0000000000000000").unwrap();
    for wrong in [None, Some(&other)] {
        let answer = read_answer(&text, with_word(&tools, wrong, &heard));
        assert_eq!(
            (answer.calls, answer.left[0].why, answer.rest),
            (vec![], LeftReason::WrongNonce, text.clone())
        );
    }
    let quoted = format!("Write `[call {NONCE}] {{\"name\": \"get_current_time\"}}` for it.");
    assert_eq!(read_answer(&quoted, with_word(&tools, Some(&nonce), &heard)).rest, quoted);
    let cut = read_answer(&text[..text.len() - 3], with_word(&tools, Some(&nonce), &heard));
    assert_eq!((cut.calls, cut.is_cut, cut.rest.as_str()), (vec![], true, "I look."));
    // A page that has the word made it known.
    heard.add(&text, &tools);
    assert_eq!(read_answer(&text, with_word(&tools, Some(&nonce), &heard)).calls, []);
}

#[test]
fn a_native_format_counts_only_where_no_tools_were_given() {
    let (tools, heard) = (OfferedTools::of(TOOLS), HeardCalls::default());
    let reading = Reading { tools: &tools, nonce: None, takes_native: false, heard: &heard };
    for case in cases().iter().chain(&more()) {
        let answer = read_answer(case["text"].as_str().unwrap(), reading);
        assert_eq!(answer.calls, [], "{}", case["id"]);
        let has_calls = case["calls"].as_array().is_some_and(|calls| !calls.is_empty());
        assert!(
            !has_calls || answer.left.iter().any(|left| left.why == LeftReason::ToolsGiven),
            "{}",
            case["id"]
        );
    }
}

#[test]
fn two_formats_in_one_answer_are_one_call_and_a_text() {
    let second = "[TOOL_CALLS]send_message[ARGS]{\"to\": \"a\", \"text\": \"b\"}";
    let text = format!(
        "<tool_call>{{\"name\": \"get_current_time\", \"arguments\": {{\"timezone\": \"UTC\"}}}}</tool_call>\n{second}"
    );
    let answer = read(&text);
    assert_eq!((answer.calls.len(), answer.rest.as_str()), (1, second));
    assert_eq!(answer.left, [LeftAsText { tool: "send_message".into(), why: LeftReason::OtherFormat }]);
}

#[test]
fn a_call_of_an_unknown_tool_is_named_and_not_shown() {
    let answer = read("I do it.\n<tool_call>{\"name\": \"rm\", \"arguments\": {}}</tool_call>");
    assert_eq!((answer.calls, answer.rest.as_str()), (vec![], "I do it."));
    assert_eq!(answer.left, [LeftAsText { tool: "rm".into(), why: LeftReason::NotOffered }]);
}

#[test]
fn a_bad_answer_takes_no_longer_than_its_length() {
    for bad in [
        "<tool_call>",
        "<tool_call>{\"a\":[",
        "[[[[",
        "`a",
        "``` ",
        "```\n{",
        "<think>",
        "Thought: x\n",
        "{\"a\":",
        "[TOOL_CALLS]",
        "<|channel|>",
        "get_current_time(",
        "get_current_time(timezone='a')\n",
        "get_current_time<timezone>",
        "get_current_time {\"timezone\": \"a",
        "{\"name\":\"",
        "[call ",
        "<a ",
        ">>>",
    ] {
        let text = bad.repeat(100_000 / bad.len());
        let began = std::time::Instant::now();
        let (tools, mut heard) = (OfferedTools::of(TOOLS), HeardCalls::default());
        heard.add(&text, &tools);
        let reading = Reading { tools: &tools, nonce: None, takes_native: true, heard: &heard };
        let (shown, answer) = in_pieces(&text, &[64], reading);
        assert!(answer.calls.is_empty() && answer.rest.starts_with(&shown), "{bad}");
        assert!(began.elapsed().as_secs() < 10, "{bad}: {:?}", began.elapsed());
    }
}

/// A text that was heard makes no call, whatever part of it the model repeats.
fn makes_no_call(arrived: &str, said: &str) {
    let (tools, mut heard) = (OfferedTools::of(TOOLS), HeardCalls::default());
    heard.add(arrived, &tools);
    let nonce = Nonce::new(NONCE).unwrap();
    let reading = Reading { tools: &tools, nonce: Some(&nonce), takes_native: true, heard: &heard };
    let answer = read_answer(said, reading);
    assert!(answer.calls.is_empty(), "arrived {arrived:?}\nsaid {said:?}\ncalls {:?}", answer.calls);
}

fn any_text() -> impl Strategy<Value = String> {
    let texts: Vec<String> =
        cases().iter().chain(&more()).map(|case| case["text"].as_str().unwrap().to_owned()).collect();
    let pieces = prop::sample::select(vec![
        "<tool_call>",
        "</tool_call>",
        "{\"name\": \"get_current_time\", \"arguments\": ",
        "{\"timezone\": \"UTC\"}",
        "}",
        "[",
        "]",
        "\n",
        "```",
        "```json\n",
        "get_current_time",
        "(timezone='UTC')",
        "<function=get_current_time>",
        "<parameter=timezone>",
        "UTC",
        "</parameter>",
        "Action: ",
        "Action Input: ",
        "Observation:",
        "[TOOL_CALLS]",
        "[ARGS]",
        ">>>",
        "<think>",
        "</think>",
        "<|channel|>",
        "<|message|>",
        "to=functions.get_current_time",
        "[call 7f3a9c2e41b8d605] ",
        "I look.",
        " ",
        "`",
        "\"",
        "<get_current_time>",
        "<timezone>",
        "</timezone>",
        "functools[",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁sep｜>",
        "ü",
        "\\",
    ]);
    prop_oneof![
        prop::sample::select(texts),
        prop::collection::vec(pieces, 0..14).prop_map(|pieces| pieces.concat()),
    ]
}

proptest! {
    #[test]
    fn no_text_that_arrives_becomes_a_call(text in any_text(), around in any_text(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()) {
        let (from, to) = (text.floor_char_boundary(from.index(text.len() + 1)), text.ceil_char_boundary(to.index(text.len() + 1)));
        makes_no_call(&text, &text);
        makes_no_call(&format!("{around}{text}"), &text);
        makes_no_call(&serde_json::json!({"content": [{"type": "text", "text": text}]}).to_string(), &text);
        makes_no_call(&text, &format!("I will do it.\n{text}"));
        makes_no_call(&text, &format!("```\n{text}\n```"));
        if from < to {
            makes_no_call(&text, &text[from..to]);
        }
        let nonce = Nonce::new(NONCE).unwrap();
        makes_no_call(&wrap(&nonce, "web/fetch", &text, 1 << 16, None).text, &text);
    }

    #[test]
    fn any_text_is_read_in_any_pieces(text in any_text(), lengths in prop::collection::vec(1..40_usize, 1..6)) {
        let (tools, heard) = (OfferedTools::of(TOOLS), HeardCalls::default());
        let reading = Reading { tools: &tools, nonce: None, takes_native: true, heard: &heard };
        let (_, answer) = in_pieces(&text, &lengths, reading);
        prop_assert_eq!(answer, read(&text));
    }
}

#[test]
fn the_instructions_have_the_word_and_each_tool() {
    let tool = harbor_ipc_proto::model::ModelTool {
        name: "get_current_time".into(),
        description: "The time\nnow".into(),
        schema: TOOLS[0].1.into(),
    };
    let text = instructions(&[tool], &Nonce::new(NONCE).unwrap());
    assert!(
        text.contains(&format!("[call {NONCE}]")) && text.contains("- get_current_time: The time now"),
        "{text}"
    );
}
