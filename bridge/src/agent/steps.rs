//! Tools for models that cannot call any: each answer is one step, a JSON object that a schema forces.
//!
//! ```text
//!  tools ─► a schema: {tool, arguments} or {answer}; their definitions as text
//!  history ─► calls as the steps that they were, results as what the person tells
//!  {"tool": …} ─► a call       {"answer": …} ─► the answer
//! ```
//!
//! Owns this form. Must never read a step from anything but a whole answer that the schema forced: a result's or a page's
//! text is no step.

use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::model::{ModelMessage, ModelTool, Part, Role, ToolCall, ToolResult};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

const STEPS: &str = include_str!("prompts/steps.md");

/// The longest escape in a JSON string, a pair of surrogates: so much of it may be cut off.
const LONGEST_ESCAPE: usize = 12;

/// The id's start for a call that the model gave none.
const ID: &str = "step_";

/// The schema of a step. With `must_call`, the step must be a call.
pub(super) fn schema(tools: &[ModelTool], must_call: bool) -> String {
    let call = |tool: &ModelTool| {
        let arguments: Value =
            serde_json::from_str(&tool.schema).unwrap_or_else(|_| json!({"type": "object"}));
        object(&json!({"tool": {"const": tool.name}, "arguments": arguments}), &["tool", "arguments"])
    };
    let mut steps: Vec<Value> = tools.iter().map(call).collect();
    if !must_call {
        steps.push(object(&json!({"answer": {"type": "string"}}), &["answer"]));
    }
    match steps.len() {
        1 => steps.remove(0).to_string(),
        _ => json!({"oneOf": steps}).to_string(),
    }
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The tools as text, for the end of the model's instructions.
pub(super) fn told(tools: &[ModelTool]) -> String {
    let tool = |tool: &ModelTool| {
        let definition = json!({"name": tool.name, "description": tool.description});
        format!("{definition} with arguments by {}", tool.schema)
    };
    let tools: Vec<_> = tools.iter().map(tool).collect();
    format!("{STEPS}\n{}", tools.join("\n"))
}

/// The conversation without calls and results, in case the model's template does not know them. `written` is the form of a call.
pub(super) fn messages(
    messages: Vec<ModelMessage>,
    written: impl Fn(&ToolCall) -> String,
) -> Vec<ModelMessage> {
    messages.into_iter().map(|one| message(one, &written)).collect()
}

fn message(
    ModelMessage { role, parts }: ModelMessage,
    written: &impl Fn(&ToolCall) -> String,
) -> ModelMessage {
    let mut said = Vec::new();
    for part in parts {
        match part {
            Part::ToolCall(call) => said.push(Part::Text(written(&call))),
            Part::ToolResult(ToolResult { name, text, images, is_error, .. }) => {
                let what = if is_error { "failed" } else { "answered" };
                said.push(Part::Text(format!("{name} {what}:\n{text}")));
                said.extend(images.into_iter().map(Part::Image));
            }
            part => said.push(part),
        }
    }
    ModelMessage { role: if role == Role::Tool { Role::User } else { role }, parts: said }
}

/// A call as the step that it was.
pub(super) fn step(call: &ToolCall) -> String {
    format!(r#"{{"tool":{},"arguments":{}}}"#, Json::string(&call.name).as_str(), call.arguments)
}

#[derive(Deserialize)]
struct StepAnswer<'a> {
    tool: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    answer: Option<String>,
}

/// Reads an answer that was forced into a step: the same message, with its call or its text. An answer that is no step is
/// a text.
pub(super) fn read(message: ModelMessage, number: usize) -> ModelMessage {
    let text = message.text();
    let part = match serde_json::from_str::<StepAnswer<'_>>(text.trim()) {
        Ok(StepAnswer { tool: Some(name), arguments, answer: None }) => Part::ToolCall(ToolCall {
            id: format!("{ID}{number}"),
            name,
            arguments: arguments.map_or_else(|| "{}".to_owned(), |arguments| arguments.get().to_owned()),
        }),
        Ok(StepAnswer { tool: None, answer: Some(answer), .. }) => Part::Text(answer),
        _ => Part::Text(text),
    };
    let others = message.parts.into_iter().filter(|part| !matches!(part, Part::Text(_)));
    ModelMessage { role: message.role, parts: others.chain([part]).collect() }
}

/// The part of an answer that had come when its step was cut off; none if it was no answer.
pub(super) fn begun_answer(text: &str) -> Option<String> {
    let after = |text: &'_ str, mark: &str| text.trim_start().strip_prefix(mark).map(ToOwned::to_owned);
    let rest = after(&after(&after(text, "{")?, "\"answer\"")?, ":")?;
    let rest = after(&rest, "\"")?;
    let whole = |end: usize| {
        let end = rest.floor_char_boundary(rest.len().checked_sub(end)?);
        serde_json::from_str(&format!("\"{}\"", &rest[..end])).ok()
    };
    (0..=LONGEST_ESCAPE).find_map(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_answer_that_is_cut_off_its_text_stays() {
        for (step, text) in [
            (r#"{ "answer":"Time is a very"#, Some("Time is a very")),
            (r#"{"answer" : "a\"#, Some("a")),
            (r#"{"answer":"a\ud83d\ude0"#, Some("a")),
            (r#"{"answer":"a\n1""#, Some("a\n1")),
            (r#"{"answer":""#, Some("")),
            (r#"{"answer":1"#, None),
            (r#"{"tool":"now","arguments":{"zo"#, None),
            ("noon", None),
        ] {
            assert_eq!(begun_answer(step).as_deref(), text, "{step}");
        }
    }

    fn tool(name: &str) -> ModelTool {
        let schema = r#"{"type":"object","properties":{"zone":{"type":"string"}}}"#;
        ModelTool { name: name.into(), description: "Tells".into(), schema: schema.into() }
    }

    fn answer(text: &str) -> ModelMessage {
        ModelMessage { role: Role::Assistant, parts: vec![Part::Text(text.into())] }
    }

    #[test]
    fn a_step_is_a_call_or_an_answer_and_all_else_is_text() {
        let call = |name: &str, arguments: &str| {
            vec![Part::ToolCall(ToolCall {
                id: "step_7".into(),
                name: name.into(),
                arguments: arguments.into(),
            })]
        };
        let of = |text: &str| read(answer(text), 7).parts;
        assert_eq!(of(r#" {"tool":"now","arguments":{"zone":"UTC"}}"#), call("now", r#"{"zone":"UTC"}"#));
        assert_eq!(of(r#"{"tool":"now"}"#), call("now", "{}"));
        assert_eq!(of(r#"{"answer":"noon"}"#), [Part::Text("noon".into())]);
        for text in ["noon", r#"{"tool":"now","answer":"x"}"#, r#"x {"tool":"now"}"#, "[]"] {
            assert_eq!(of(text), [Part::Text(text.into())]);
        }
    }

    #[test]
    fn the_schema_has_each_tool_and_the_answer() {
        let both: Value = serde_json::from_str(&schema(&[tool("a"), tool("b")], false)).unwrap();
        assert_eq!(both["oneOf"].as_array().unwrap().len(), 3);
        assert_eq!(both["oneOf"][1]["properties"]["tool"]["const"], "b");
        let one: Value = serde_json::from_str(&schema(&[tool("a")], true)).unwrap();
        assert_eq!(one["properties"]["arguments"]["properties"]["zone"]["type"], "string");
        assert!(
            told(&[tool("a")])
                .ends_with(r#"with arguments by {"type":"object","properties":{"zone":{"type":"string"}}}"#)
        );
    }

    #[test]
    fn calls_and_results_are_told_as_text() {
        let call = ToolCall { id: "1".into(), name: "now".into(), arguments: r#"{"zone":"UTC"}"#.into() };
        let result = ToolResult {
            call_id: "1".into(),
            name: "now".into(),
            text: "noon".into(),
            images: vec![],
            is_error: false,
        };
        let told = messages(
            vec![
                ModelMessage { role: Role::Assistant, parts: vec![Part::ToolCall(call)] },
                ModelMessage { role: Role::Tool, parts: vec![Part::ToolResult(result)] },
            ],
            step,
        );
        assert_eq!(told[0].parts, [Part::Text(r#"{"tool":"now","arguments":{"zone":"UTC"}}"#.into())]);
        assert_eq!(
            (told[1].role, &told[1].parts[0]),
            (Role::User, &Part::Text("now answered:\nnoon".into()))
        );
    }
}
