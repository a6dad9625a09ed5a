//! Calls that a model writes as text: in any pieces the same, never from a text that was heard, always an object.
//!
//! Input: the length of the pieces, the length of what was heard; then the text.

use harbor_policy::text_calls::{AnswerReader, HeardCalls, OfferedTools, ReadAnswer, Reading, read_answer};
use harbor_policy::untrusted::Nonce;
use serde_json::Value;

use super::Target;
use super::input::Input;

pub(super) const TEXT_CALLS: Target = Target {
    name: "text_calls",
    run: text_calls,
    corpus: &[
        b"\x07\x00I look.\n<tool_call>\n{\"name\": \"get\", \"arguments\": {\"a\": \"5\"}}\n</tool_call><|im_end|>",
        b"\x01\x00<tool_call>\n<function=get>\n<parameter=a>\n5\n</parameter>\n</function>\n</tool_call>",
        b"\x03\x00<tool_call>get<arg_key>a</arg_key><arg_value>5</arg_value></tool_call>",
        b"\x09\x00```json\n{\"tool\": \"get\", \"parameters\": {\"a\": 5}}\n```",
        b"\x09\x00For instance:\n\n```\n[TOOL_CALLS]get[ARGS]{\"a\":5}\n```\n\nand so on.",
        b"\x20\x00Thought: x\nAction: get\nAction Input: {\"a\": 5}\nObservation: y",
        b"\x05\x00>>>all\nText.>>>get\n{\"a\": 5}",
        b"\x05\x00<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>commentary to=functions.get <|constrain|>json<|message|>{\"a\":5}<|call|>",
        "\u{2}\u{0}<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get\n```json\n{\"a\": 5}\n```<｜tool▁call▁end｜>".as_bytes(),
        b"\x08\x00[get(a=\"\"\"5\"\"\"), get(a='\\u00fc')]",
        b"\x08\x00<get><a>&lt;</a></get>",
        b"\x08\x00[call 7f3a9c2e41b8d605] {\"name\": \"get\", \"arguments\": {\"a\": 5}}",
        b"\x04\x00{\"tool_calls\": [{\"function\": {\"name\": \"get\", \"arguments\": \"{\\\"a\\\": 5}\"}}]}",
        b"\x04\x10`get` is not \"<get>\" and <think>no",
    ],
};

fn text_calls(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (length, heard) = (usize::from(input.byte()).max(1), usize::from(input.byte()));
    let Ok(text) = std::str::from_utf8(input.rest()) else { return };
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#;
    let tools = OfferedTools::of([("get", schema), ("now", "{}")]);
    let nonce = Nonce::new("7f3a9c2e41b8d605").expect("it is one");
    let mut calls = HeardCalls::default();
    calls.add(&text[..text.floor_char_boundary(heard)], &tools);
    let reading = Reading { tools: &tools, nonce: Some(&nonce), takes_native: true, heard: &calls };
    let whole = read_answer(text, reading);
    assert_eq!(in_pieces(text, length, reading), whole, "in pieces, another answer came out");
    for call in &whole.calls {
        assert!(["get", "now"].contains(&call.name.as_str()));
        assert!(serde_json::from_str::<Value>(&call.arguments).is_ok_and(|arguments| arguments.is_object()));
    }
    assert!(
        whole.calls.len() <= 32
            && whole.left.len() <= 1024
            && whole.rest.len() <= text.len() + 2 * whole.calls.len() + 64
    );
    let mut all = calls.clone();
    all.add(text, &tools);
    let reading = Reading { heard: &all, ..reading };
    assert_eq!(read_answer(text, reading).calls, [], "a text that was heard became a call");
}

fn in_pieces(text: &str, length: usize, reading: Reading<'_>) -> ReadAnswer {
    let (mut reader, mut at, mut shown) = (AnswerReader::default(), 0, 0);
    while at < text.len() {
        let end = text.ceil_char_boundary((at + length).min(text.len()));
        shown += reader.add(&text[at..end], reading).len();
        at = end;
    }
    assert!(shown <= text.len() + 128, "more is shown than came");
    reader.end(reading)
}
