//! The tool `browser_batch`: several calls in one, up to the first failure or dialog.
//!
//! ```text
//!  steps ─► next: a tool and its arguments ─► the host makes that call ─► take: its result
//!    ▲                                                                     │
//!    └────────── it went well, and no dialog came ◄────────────────────────┘
//! ```
//!
//! Owns what ends it, and its answer. Must never change what a step has answered.

use std::sync::Arc;
use std::vec::IntoIter;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::json::Json;
use serde_json::{Value, json};

use super::arguments::{self, MAX_ARGUMENTS};
use super::tools::BATCH;
use crate::host::source::Steps;
use crate::link::Failure;

/// The most steps.
const MOST: usize = 200;

/// After answers of this many bytes together no further step is begun.
const FULL: usize = 300_000;

/// A batch under way.
#[derive(Debug)]
pub(super) struct Batch {
    left: IntoIter<(Arc<str>, String)>,
    /// The tool of the step that was begun last.
    tool: Arc<str>,
    content: Vec<Value>,
    results: Vec<Value>,
    bytes: usize,
    ended: Option<BatchEnd>,
}

/// The reason why the steps behind are not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchEnd {
    Failure,
    Dialog,
    Full,
    Time,
}

impl BatchEnd {
    const fn word(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Dialog => "dialog",
            Self::Full => "full",
            Self::Time => "time",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::Failure => "the last step failed",
            Self::Dialog => "the page showed a dialog in the last step",
            Self::Full => "the answer is as long as it may be",
            Self::Time => "the time of the call is over",
        }
    }
}

impl Batch {
    /// Reads the arguments.
    ///
    /// # Errors
    /// When they are no list of steps.
    pub fn read(schema: &Value, given: &str) -> Result<Self, Failure> {
        let wrong = |at: &str, why: &str| Failure::InvalidArguments(at.to_owned(), why.to_owned());
        if given.len() > MAX_ARGUMENTS {
            return Err(wrong("", "longer than a browser accepts"));
        }
        let arguments: Value = serde_json::from_str(given).unwrap_or_default();
        arguments::check(schema, &arguments).map_err(|(at, why)| wrong(&at, &why))?;
        let steps = arguments["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
        if steps.is_empty() || steps.len() > MOST {
            return Err(wrong("/steps", &format!("expected 1 to {MOST} steps")));
        }
        let step = |(at, step): (usize, &Value)| match step["tool"].as_str() {
            Some(tool) if tool != BATCH => {
                let arguments = step.get("arguments").map_or_else(|| "{}".to_owned(), Value::to_string);
                Ok((Arc::from(tool), arguments))
            }
            _ => Err(wrong(&format!("/steps/{at}/tool"), "expected another tool of the browser")),
        };
        let left = steps.iter().enumerate().map(step).collect::<Result<Vec<_>, _>>()?.into_iter();
        let (content, results) = (Vec::new(), Vec::new());
        Ok(Self { left, tool: BATCH.into(), content, results, bytes: 0, ended: None })
    }

    fn note(&mut self, is_error: bool, structured: Value, content: Vec<Value>) {
        let number = self.results.len() + 1;
        let heading = format!("## Step {number}: {}{}", self.tool, if is_error { " failed" } else { "" });
        self.content.push(json!({"type": "text", "text": heading}));
        self.content.extend(content);
        self.results.push(json!({"tool": &*self.tool, "isError": is_error, "structuredContent": structured}));
    }
}

impl Steps for Batch {
    fn next(&mut self) -> Option<(Arc<str>, String)> {
        let step = if self.ended.is_none() { self.left.next()? } else { return None };
        self.tool = step.0.clone();
        Some(step)
    }

    fn take(&mut self, came: Result<Json, ErrorBody>) {
        match came {
            Err(error) => {
                let structured = json!({"error": {"code": error.code.as_str(), "message": error.message}});
                self.note(true, structured, vec![json!({"type": "text", "text": error.message})]);
                self.ended = Some(BatchEnd::Failure);
            }
            Ok(result) => {
                self.bytes += result.as_str().len();
                let mut result: Value = serde_json::from_str(result.as_str()).unwrap_or_default();
                let is_error = result["isError"] == true;
                let structured = result["structuredContent"].take();
                let has_dialog = structured["dialogs"].as_u64().is_some_and(|dialogs| dialogs > 0);
                let content = result["content"].as_array_mut().map(std::mem::take).unwrap_or_default();
                self.note(is_error, structured, content);
                self.ended = match (is_error, has_dialog) {
                    (true, _) => Some(BatchEnd::Failure),
                    (_, true) => Some(BatchEnd::Dialog),
                    _ => (self.bytes > FULL).then_some(BatchEnd::Full),
                };
            }
        }
    }

    fn run_out(&mut self) {
        self.ended = Some(BatchEnd::Time);
    }

    fn whole(self: Box<Self>) -> Json {
        let (made, left) = (self.results.len(), self.left.len());
        let ended = self.ended.filter(|end| left > 0 || *end == BatchEnd::Failure);
        let is_error = ended == Some(BatchEnd::Failure);
        let said = match ended {
            None => format!("All {made} steps were done."),
            Some(end) => {
                format!(
                    "{made} of {} steps were begun; {}, so none behind it was.",
                    made + left,
                    end.sentence()
                )
            }
        };
        let mut content = vec![json!({"type": "text", "text": said})];
        content.extend(self.content);
        let structured = json!({
            "result": said,
            "steps": self.results,
            "begun": made,
            "of": made + left,
            "stopped": ended.map(BatchEnd::word),
        });
        let result = json!({"content": content, "structuredContent": structured, "isError": is_error});
        Json::from_valid(result.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tools::Tools;
    use super::*;

    fn batch(given: &Value) -> Result<Batch, Failure> {
        Batch::read(Tools::new().schema(BATCH).unwrap(), &given.to_string())
    }

    fn went(text: &str, dialogs: u32) -> Result<Json, ErrorBody> {
        let structured = json!({"result": text, "dialogs": dialogs});
        let result = json!({"content": [{"type": "text", "text": text}], "structuredContent": structured});
        Ok(Json::from_valid(result.to_string()))
    }

    fn whole(batch: Batch) -> Value {
        serde_json::from_str(Box::new(batch).whole().as_str()).unwrap()
    }

    #[test]
    fn what_is_no_list_of_steps_is_refused() {
        let step = json!({"tool": "browser_click"});
        for (given, at) in [
            (json!({}), ""),
            (json!({"steps": []}), "/steps"),
            (json!({"steps": vec![step.clone(); MOST + 1]}), "/steps"),
            (json!({"steps": [{"tool": BATCH}]}), "/steps/0/tool"),
            (json!({"steps": [step, {"arguments": {}}]}), "/steps/1"),
            (json!({"steps": [{"tool": "x", "arguments": []}]}), "/steps/0/arguments"),
        ] {
            let Err(Failure::InvalidArguments(found, _)) = batch(&given) else { panic!("{given}") };
            assert_eq!(found, at, "{given}");
        }
    }

    #[test]
    fn a_dialog_ends_it_and_each_step_has_its_answer() {
        let steps = vec![json!({"tool": "browser_click", "arguments": {"target": "e1"}}); MOST];
        let mut batch = batch(&json!({"steps": steps})).unwrap();
        for (text, dialogs) in [("one", 0), ("two", 0), ("three", 1)] {
            assert_eq!(batch.next().unwrap(), ("browser_click".into(), r#"{"target":"e1"}"#.into()));
            batch.take(went(text, dialogs));
        }
        assert_eq!(batch.next(), None);
        let whole = whole(batch);
        assert_eq!(whole["structuredContent"]["stopped"], "dialog");
        assert_eq!(
            (&whole["structuredContent"]["begun"], &whole["structuredContent"]["of"]),
            (&json!(3), &json!(MOST))
        );
        assert_eq!(whole["structuredContent"]["steps"][2]["structuredContent"]["result"], "three");
        assert_eq!(whole["content"].as_array().unwrap().len(), 7);
        assert_eq!(whole["isError"], false);
    }

    #[test]
    fn a_failure_ends_it_also_the_last_one_and_so_does_a_long_answer() {
        let one = json!({"steps": [{"tool": "x"}]});
        let mut failing = batch(&one).unwrap();
        assert_eq!(failing.next().unwrap().1, "{}");
        failing.take(Err(ErrorBody::new(harbor_ipc_proto::codes::Code::ToolNotAllowed, "no")));
        let failed = whole(failing);
        assert_eq!(
            (&failed["isError"], &failed["structuredContent"]["stopped"]),
            (&json!(true), &json!("failure"))
        );
        let mut done = batch(&one).unwrap();
        done.next().unwrap();
        done.take(went("x", 1));
        assert_eq!(whole(done)["structuredContent"]["stopped"], Value::Null);
        let mut long = batch(&json!({"steps": [{"tool": "x"}, {"tool": "y"}]})).unwrap();
        long.next().unwrap();
        long.take(went(&"x".repeat(FULL), 0));
        assert_eq!((long.next(), whole(long)["structuredContent"]["stopped"].clone()), (None, json!("full")));
    }
}
