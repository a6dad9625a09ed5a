//! A server's question during a call of a turn: a form that the person fills in line by line.
//!
//! ```text
//!  ask ─► who asks what; y or n ─┬─ y ─► a line for each field ─► accept, with the values
//!                                └─ n ─► decline               the end of input ─► cancel
//! ```
//!
//! Owns which lines are a value of a field. Must never send a value that the person has not typed or left at the server's default, nor
//! let the server's words look like a line of ours.

use harbor_client::terminal::reveal;
use harbor_ipc_proto::client::AskPush;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::members::Members;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use crate::inset::inset;
use crate::table::flatten;

/// The fields of a form at most. A longer form is declined.
const MOST_FIELDS: usize = 32;

/// The indentations of the server's words, and of the lines that are broken off them.
const WORDS: (usize, usize) = (4, 6);

/// The questions that the person can answer at a terminal, as MCP's client capabilities.
pub const ANSWERS: &str = "{\"elicitation\":{\"form\":{}}}";

/// A question that waits for the person.
#[derive(Debug)]
pub struct ElicitationForm {
    ask_id: u64,
    server: String,
    message: String,
    fields: Vec<FormField>,
    values: Map<String, Value>,
    /// The field that is asked for; none until the person has said yes.
    at: Option<usize>,
}

/// The next step after a line.
#[derive(Debug, PartialEq)]
pub enum FormStep {
    /// The person is shown this, and types another line.
    Show(String),
    /// The form is over: MCP's result.
    Over(Json),
}

#[derive(Debug)]
struct FormField {
    name: String,
    about: String,
    kind: FieldKind,
    is_required: bool,
    default: Option<Value>,
}

#[derive(Debug, PartialEq)]
enum FieldKind {
    Text,
    Number,
    Whole,
    YesNo,
    /// One of these values, each with its title.
    OneOf(Vec<(String, String)>),
    /// Some of these values.
    SomeOf(Vec<(String, String)>),
}

/// The meaning of a line for a field.
enum LineValue {
    Is(Value),
    LeftOut,
    Wrong,
}

#[derive(Deserialize)]
struct Params<'a> {
    message: String,
    #[serde(rename = "requestedSchema", borrow)]
    schema: Option<Schema<'a>>,
}

#[derive(Deserialize)]
struct Schema<'a> {
    #[serde(borrow)]
    properties: Option<&'a RawValue>,
    #[serde(default)]
    required: Vec<String>,
}

impl ElicitationForm {
    /// The form of a question; none if nobody could fill it in here.
    pub fn of(push: &AskPush) -> Option<Self> {
        let params: Params<'_> = serde_json::from_str(push.params.as_str()).ok()?;
        let schema = params.schema.unwrap_or(Schema { properties: None, required: Vec::new() });
        let mut fields = Vec::new();
        for member in Members::of(schema.properties.map_or("{}", RawValue::get)) {
            let (name, text) = member.ok()?;
            let field = FormField::of(&name, text, schema.required.iter().any(|required| *required == name));
            fields.push(field?);
        }
        let is_short = fields.len() <= MOST_FIELDS;
        is_short.then(|| Self {
            ask_id: push.ask_id,
            server: push.server_id.clone(),
            message: params.message,
            fields,
            values: Map::new(),
            at: None,
        })
    }

    /// The number that `mcp_answer` names.
    pub fn ask_id(&self) -> u64 {
        self.ask_id
    }

    /// The server that asks.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The question.
    pub fn text(&self, width: usize) -> String {
        let head = inset(&format!("? the server {} asks you:", flatten(&self.server)), (0, 4), width);
        let message = inset(&reveal(&self.message), WORDS, width);
        let to = flatten(&self.server);
        format!("\n{head}\n{message}\n  y: answer; what you type goes to {to}\n  n: decline")
    }

    /// Takes a line. The end of input ends the form.
    pub fn read(&mut self, line: Option<&str>, width: usize) -> FormStep {
        let Some(line) = line else { return FormStep::Over(ended("cancel")) };
        let Some(at) = self.at else { return self.begin(line, width) };
        let Some(field) = self.fields.get(at) else { return self.step(at, width) };
        match field.value(line.trim()) {
            LineValue::Is(value) => drop(self.values.insert(field.name.clone(), value)),
            LineValue::LeftOut => {}
            LineValue::Wrong => {
                return FormStep::Show(format!("  that is no answer here\n{}", field.text(width)));
            }
        }
        self.step(at + 1, width)
    }

    fn begin(&mut self, line: &str, width: usize) -> FormStep {
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => self.step(0, width),
            "n" | "no" => FormStep::Over(ended("decline")),
            _ => FormStep::Show("  y: answer\n  n: decline".into()),
        }
    }

    /// Asks for the field `at`, or gives the values if there is none.
    fn step(&mut self, at: usize, width: usize) -> FormStep {
        self.at = Some(at);
        match self.fields.get(at) {
            Some(field) => FormStep::Show(field.text(width)),
            None => {
                let content = Value::Object(std::mem::take(&mut self.values));
                FormStep::Over(Json::from_valid(format!("{{\"action\":\"accept\",\"content\":{content}}}")))
            }
        }
    }
}

/// The result of a form without values.
pub fn ended(action: &str) -> Json {
    Json::from_valid(format!("{{\"action\":\"{action}\"}}"))
}

impl FormField {
    fn of(name: &str, text: &str, is_required: bool) -> Option<Self> {
        let schema: Value = serde_json::from_str(text).ok()?;
        let words = ["title", "description"].map(|key| schema[key].as_str().unwrap_or_default());
        let about = words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(": ");
        let kind = FieldKind::of(&schema)?;
        let default = schema.get("default").filter(|value| !value.is_null()).cloned();
        Some(Self { name: name.to_owned(), about, kind, is_required, default })
    }

    fn text(&self, width: usize) -> String {
        let about = Some(&*self.about).filter(|about| !about.is_empty());
        let mut lines =
            vec![format!("{}{}", self.name, about.map(|about| format!(" ({about})")).unwrap_or_default())];
        if let FieldKind::OneOf(values) | FieldKind::SomeOf(values) = &self.kind {
            lines.extend(values.iter().map(|(value, title)| match title.is_empty() {
                true => format!("- {value}"),
                false => format!("- {value}: {title}"),
            }));
        }
        let shown = |text: &String| inset(&flatten(text), WORDS, width);
        let words = lines.iter().map(shown).collect::<Vec<_>>().join("\n");
        let hint = match (&self.default, self.is_required) {
            (Some(default), _) => format!("{}; nothing: {}", self.kind.hint(), flatten(&plain(default))),
            (None, true) => self.kind.hint().to_owned(),
            (None, false) => format!("{}; nothing: left out", self.kind.hint()),
        };
        format!("{words}\n  {hint}")
    }

    /// The value that a line means.
    fn value(&self, line: &str) -> LineValue {
        match (line.is_empty(), &self.default, self.is_required) {
            (true, Some(default), _) => LineValue::Is(default.clone()),
            (true, None, false) => LineValue::LeftOut,
            (true, None, true) => LineValue::Wrong,
            (false, ..) => self.kind.value(line).map_or(LineValue::Wrong, LineValue::Is),
        }
    }
}

impl FieldKind {
    fn of(schema: &Value) -> Option<Self> {
        let values = |of: &Value| Some(choices(of)).filter(|values| !values.is_empty());
        match (schema["type"].as_str(), values(schema)) {
            (Some("string") | None, Some(values)) => Some(Self::OneOf(values)),
            (Some("string"), None) => Some(Self::Text),
            (Some("number"), _) => Some(Self::Number),
            (Some("integer"), _) => Some(Self::Whole),
            (Some("boolean"), _) => Some(Self::YesNo),
            (Some("array"), _) => values(&schema["items"]).map(Self::SomeOf),
            _ => None,
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Whole => "a whole number",
            Self::YesNo => "yes or no",
            Self::OneOf(_) => "one of these",
            Self::SomeOf(_) => "some of these, with commas",
        }
    }

    fn value(&self, line: &str) -> Option<Value> {
        let is_one = |word: &str, values: &[(String, String)]| values.iter().any(|(value, _)| value == word);
        match self {
            Self::Text => Some(line.into()),
            Self::Number => line.parse().ok().and_then(Number::from_f64).map(Value::Number),
            Self::Whole => line.parse::<i64>().ok().map(Value::from),
            Self::YesNo => match line.to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => Some(true.into()),
                "n" | "no" | "false" => Some(false.into()),
                _ => None,
            },
            Self::OneOf(values) => is_one(line, values).then(|| line.into()),
            Self::SomeOf(values) => {
                let words: Vec<_> = line.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
                words.iter().all(|word| is_one(word, values)).then(|| words.into())
            }
        }
    }
}

/// The values that a schema offers, each with its title, in both forms of MCP.
fn choices(schema: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let titles = schema["enumNames"].as_array();
    let named = schema["enum"].as_array().into_iter().flatten().enumerate().filter_map(|(at, value)| {
        Some((text(value)?, titles.and_then(|titles| text(titles.get(at)?)).unwrap_or_default()))
    });
    let of = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    let titled = of.filter_map(|one| Some((text(&one["const"])?, text(&one["title"]).unwrap_or_default())));
    named.chain(titled).collect()
}

/// A default as it is shown.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::super::rig::typed;
    use super::*;

    fn form(params: &str) -> Option<ElicitationForm> {
        let params = Value::from(params).to_string();
        let text = format!(
            r#"{{"ask_id":3,"request_id":"1","server_id":"s","method":"elicitation/create","params":{params}}}"#
        );
        let mut push: AskPush = typed(&text);
        push.params = Json::from_valid(serde_json::from_str(&params).unwrap());
        ElicitationForm::of(&push)
    }

    const PARAMS: &str = r#"{"message":"Who?\u001b[2J\n  y: yes","requestedSchema":{"type":"object","required":["name"],"properties":{
        "name":{"type":"string","title":"Name"},"age":{"type":"integer","default":7},
        "how":{"type":"string","oneOf":[{"const":"a","title":"First"},{"const":"b"}]},"sure":{"type":"boolean"},
        "some":{"type":"array","items":{"type":"string","enum":["x","y"]}}}}}"#;

    fn last(form: &mut ElicitationForm, lines: &[&str]) -> FormStep {
        let steps = lines.iter().map(|line| form.read(Some(line), 80)).collect::<Vec<_>>();
        steps.into_iter().next_back().unwrap()
    }

    #[test]
    fn a_form_is_filled_in_line_by_line() {
        let mut filled = form(PARAMS).unwrap();
        assert_eq!(
            filled.text(80),
            "\n? the server s asks you:\n    Who?\\u{1b}[2J\n      y: yes\n  y: answer; what you type goes to s\n  n: decline"
        );
        assert_eq!(filled.read(Some("y"), 80), FormStep::Show("    name (Name)\n  a text".into()));
        assert_eq!(
            filled.read(Some(" "), 80),
            FormStep::Show("  that is no answer here\n    name (Name)\n  a text".into())
        );
        assert_eq!(
            filled.read(Some("Ann"), 80),
            FormStep::Show("    age\n  a whole number; nothing: 7".into())
        );
        assert_eq!(
            last(&mut filled, &["x", ""]),
            FormStep::Show("    how\n    - a: First\n    - b\n  one of these; nothing: left out".into())
        );
        let over = last(&mut filled, &["c", "b", "maybe", "no", "x, z", "y,x"]);
        let accepted =
            r#"{"action":"accept","content":{"age":7,"how":"b","name":"Ann","some":["y","x"],"sure":false}}"#;
        assert_eq!(over, FormStep::Over(Json::from_valid(accepted.into())));
    }

    #[test]
    fn a_no_and_the_end_of_input_are_no_values() {
        let over = |lines: &[Option<&str>]| {
            let mut form = form(PARAMS).unwrap();
            lines.iter().map(|line| form.read(*line, 80)).next_back().unwrap()
        };
        assert_eq!(over(&[Some("n")]), FormStep::Over(ended("decline")));
        assert_eq!(over(&[Some("y"), None]), FormStep::Over(ended("cancel")));
        assert!(matches!(over(&[Some("")]), FormStep::Show(_)), "an empty line is no answer");
        let mut empty = form(r#"{"message":"Go on?"}"#).unwrap();
        let accepted = Json::from_valid(r#"{"action":"accept","content":{}}"#.into());
        assert_eq!(empty.read(Some("y"), 80), FormStep::Over(accepted));
    }

    #[test]
    fn what_cannot_be_typed_is_no_form() {
        let with = |property: &str| {
            form(&format!(r#"{{"message":"x","requestedSchema":{{"properties":{{"a":{property}}}}}}}"#))
        };
        assert!(with(r#"{"type":"string"}"#).is_some());
        for property in [r#"{"type":"object"}"#, r#"{"type":"array"}"#, "7", "{}"] {
            assert!(with(property).is_none(), "{property}");
        }
        assert!(form("7").is_none() && form("{}").is_none());
    }
}
