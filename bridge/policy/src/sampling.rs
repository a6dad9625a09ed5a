//! A server's request for a language model's answer (MCP's sampling), and the answer, in MCP's form.
//!
//! ```text
//!  params ─► Sampled: the server's own words ─► setting, or the person's yes ─► ModelPermit ─► model ─► result
//! ```
//!
//! Owns the bounds, and the rule who may have a model answer. Must never let anything else than the server's own words through: no
//! other server's context, no tools.

use harbor_ipc_proto::client::Sampling;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::model::{ModelMessage, Options, Part, Role};
use harbor_ipc_proto::server_id::ServerId;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::access::{self, ModelPermit};

/// MCP's method.
pub const METHOD: &str = "sampling/createMessage";

/// The most tokens of an answer.
pub const MOST_TOKENS: u32 = 1000;

/// The most messages, and the most bytes of their text.
const MOST_MESSAGES: usize = 100;
const MOST_TEXT: usize = 256 * 1024;

/// Longer JSON has more text, however it is written: an escaped byte takes six.
const MOST_JSON: usize = 8 * MOST_TEXT;

/// The most texts that end an answer, the most bytes of one, and the most names of models that are looked at.
const MOST_STOPS: usize = 4;
const MOST_STOP: usize = 256;
const MOST_HINTS: usize = 8;

/// Bytes of the text that the person is shown.
const MOST_SHOWN: usize = 16 * 1024;

/// Before a server's name, where it has a model asked.
const SERVER: &str = "server:";

/// A server's words to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The conversation, with the instructions first.
    pub messages: Vec<ModelMessage>,
    /// Names of models that it would like, the best first.
    pub hints: Vec<String>,
    /// The settings of the answer.
    pub options: Options,
    /// True if it asked for the context of other servers, which it does not get.
    pub wants_context: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    messages: Vec<SaidMessage>,
    #[serde(default)]
    model_preferences: Option<Preferences>,
    #[serde(default)]
    system_prompt: Option<String>,
    #[serde(default)]
    include_context: Option<String>,
    #[serde(default)]
    temperature: Option<f64>,
    #[serde(default)]
    max_tokens: Option<f64>,
    #[serde(default)]
    stop_sequences: Option<Vec<String>>,
    #[serde(default)]
    tools: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct SaidMessage {
    role: String,
    content: SamplingContent,
}

/// One block of content, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum SamplingContent {
    One(Block),
    Several(Vec<Block>),
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize)]
struct Preferences {
    #[serde(default)]
    hints: Vec<ModelHint>,
}

#[derive(Deserialize)]
struct ModelHint {
    #[serde(default)]
    name: Option<String>,
}

impl Sampled {
    /// Reads the parameters of such a request.
    ///
    /// # Errors
    /// The sentence for the server that says what is wrong with them.
    pub fn read(params: &str) -> Result<Self, &'static str> {
        const TOO_LONG: &str = "it is too long: at most 100 messages with 256 kB of text in all";
        if params.len() > MOST_JSON {
            return Err(TOO_LONG);
        }
        let params: Params = serde_json::from_str(params).map_err(
            |_| "these are no parameters of sampling/createMessage: `messages` with `role` and `content`",
        )?;
        if params.tools.is_some() {
            return Err("no tools can be used here: the client has not declared sampling.tools");
        }
        if params.messages.len() > MOST_MESSAGES {
            return Err(TOO_LONG);
        }
        let system = params.system_prompt.filter(|text| !text.is_empty());
        let mut messages: Vec<_> = system.map(|text| message(Role::System, vec![text])).into_iter().collect();
        for said in params.messages {
            messages.push(said.read()?);
        }
        if !messages.iter().any(|message| message.role == Role::User) {
            return Err("there is no message of the role `user`");
        }
        if texts(&messages).map(|(_, text)| text.len()).sum::<usize>() > MOST_TEXT {
            return Err(TOO_LONG);
        }
        let hints = params.model_preferences.map(|wishes| wishes.hints).unwrap_or_default();
        let stops = params.stop_sequences.unwrap_or_default().into_iter();
        Ok(Self {
            messages,
            hints: hints.into_iter().filter_map(|hint| hint.name).take(MOST_HINTS).collect(),
            options: Options {
                max_tokens: Some(tokens(params.max_tokens)),
                temperature: params.temperature.map(|wished| wished.clamp(0.0, 2.0)),
                stop: stops.filter(|text| (1..=MOST_STOP).contains(&text.len())).take(MOST_STOPS).collect(),
                ..Options::default()
            },
            wants_context: params.include_context.is_some_and(|of_whom| of_whom != "none"),
        })
    }

    /// The words as the person is shown them, a JSON object: speaker by speaker, from the beginning, as far as there is room.
    #[must_use]
    pub fn shown(&self) -> String {
        let (mut shown, mut left, mut unshown) = (Vec::new(), MOST_SHOWN, 0);
        let member =
            |key: &str, text: &str| format!("{}:{}", Json::string(key).as_str(), Json::string(text).as_str());
        for (at, (role, text)) in texts(&self.messages).enumerate() {
            let part = text.get(..text.floor_char_boundary(left)).unwrap_or_default();
            (left, unshown) = (left - part.len(), unshown + text.len() - part.len());
            if !part.is_empty() {
                shown.push(member(&format!("{} {}", at + 1, word(role)), part));
            }
        }
        if unshown > 0 {
            shown.push(member("…", &format!("and {unshown} bytes more")));
        }
        format!("{{{}}}", shown.join(","))
    }
}

impl SaidMessage {
    fn read(self) -> Result<ModelMessage, &'static str> {
        let role = match &*self.role {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => return Err("a message's role is `user` or `assistant`"),
        };
        let blocks = match self.content {
            SamplingContent::One(block) => vec![block],
            SamplingContent::Several(blocks) => blocks,
        };
        let text = |block: Block| block.text.filter(|_| block.r#type == "text");
        let texts: Option<Vec<_>> = blocks.into_iter().map(text).collect();
        let texts = texts.filter(|texts| !texts.is_empty());
        Ok(message(
            role,
            texts.ok_or("only text can be answered here, no images, sound or results of tools")?,
        ))
    }
}

fn message(role: Role, texts: Vec<String>) -> ModelMessage {
    ModelMessage { role, parts: texts.into_iter().map(Part::Text).collect() }
}

/// Each text, with its speaker.
fn texts(messages: &[ModelMessage]) -> impl Iterator<Item = (Role, &str)> {
    messages.iter().flat_map(|message| message.parts.iter().filter_map(|part| text_of(message.role, part)))
}

fn text_of(role: Role, part: &Part) -> Option<(Role, &str)> {
    match part {
        Part::Text(text) => Some((role, text)),
        _ => None,
    }
}

fn word(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant | Role::Tool => "assistant",
    }
}

/// The most tokens of an answer, as far as they are allowed.
fn tokens(wished: Option<f64>) -> u32 {
    let most = f64::from(MOST_TOKENS);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 1 to 1000")]
    wished.map_or(MOST_TOKENS, |wished| wished.clamp(1.0, most) as u32)
}

/// The permit to have a model answer a server: by its setting, or by the person's yes to this one request.
#[must_use]
pub fn permit(setting: Sampling, is_yes: bool) -> Option<ModelPermit> {
    let may = match setting {
        Sampling::Allow => true,
        Sampling::Ask => is_yes,
        Sampling::Deny => false,
    };
    may.then(access::model_permit)
}

/// The principal that pays for what a server has a model say.
#[must_use]
pub fn principal(server: &ServerId) -> String {
    format!("{SERVER}{server}")
}

/// The server that is this principal.
#[must_use]
pub fn server_of(principal: &str) -> Option<ServerId> {
    principal.strip_prefix(SERVER).and_then(ServerId::parse)
}

/// Where a model runs, as far as the person has to know before anything goes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// On this machine.
    Here,
    /// At this host.
    At(&'a str),
    /// Somewhere else, by a program on this machine.
    Beyond,
}

/// Why the person is asked: which model would answer, and where the server's words would go.
#[must_use]
pub fn why(model: &str, place: Place<'_>) -> String {
    let goes = match place {
        Place::Here => "what it says stays on this machine".to_owned(),
        Place::At(host) => format!("what it says leaves this machine, for {host}"),
        Place::Beyond => "what it says leaves this machine: that model runs elsewhere".to_owned(),
    };
    format!("it wants your model {model} to answer it; {goes}")
}

/// MCP's result: what a model has said, and whether the limit of tokens has cut it off.
#[must_use]
pub fn result(text: &str, model: &str, is_cut: bool) -> String {
    let stop_reason = if is_cut { "maxTokens" } else { "endTurn" };
    let content = json!({"type": "text", "text": text});
    json!({"role": "assistant", "content": content, "model": model, "stopReason": stop_reason}).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn read(params: &Value) -> Result<Sampled, &'static str> {
        Sampled::read(&params.to_string())
    }

    fn said(role: &str, text: &str) -> Value {
        json!({"role": role, "content": {"type": "text", "text": text}})
    }

    #[test]
    fn a_servers_words_become_a_conversation() {
        let sampled = read(&json!({
            "messages": [said("user", "Hi"), {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                said("user", "Go on")],
            "systemPrompt": "Be brief.", "includeContext": "thisServer", "temperature": 7, "maxTokens": 5, "stopSequences": ["", "x"],
            "modelPreferences": {"hints": [{"name": "m"}, {}, {"name": "n"}], "costPriority": 1}, "metadata": {"x": [1]},
        }))
        .unwrap();
        let texts: Vec<_> = texts(&sampled.messages).map(|(role, text)| (word(role), text)).collect();
        assert_eq!(
            texts,
            [
                ("system", "Be brief."),
                ("user", "Hi"),
                ("assistant", "a"),
                ("assistant", "b"),
                ("user", "Go on")
            ]
        );
        assert_eq!(sampled.messages.len(), 4);
        assert_eq!((sampled.hints, sampled.wants_context), (vec!["m".to_owned(), "n".into()], true));
        let Options { max_tokens, temperature, stop, .. } = sampled.options;
        assert_eq!((max_tokens, temperature, stop), (Some(5), Some(2.0), vec!["x".into()]));
    }

    #[test]
    fn no_more_tokens_than_a_thousand() {
        let most = |wished: Value| {
            let params = json!({"messages": [said("user", "Hi")], "maxTokens": wished});
            read(&params).unwrap().options.max_tokens
        };
        assert_eq!(
            [json!(1e9), json!(1000), json!(0), json!(-3), Value::Null].map(most),
            [1000, 1000, 1, 1, 1000].map(Some)
        );
    }

    #[test]
    fn what_no_model_of_harbors_answers_is_refused_in_words() {
        let of = |messages: Value| read(&json!({ "messages": messages })).unwrap_err();
        let image =
            json!([{"role": "user", "content": {"type": "image", "data": "aaaa", "mimeType": "image/png"}}]);
        assert!(of(image).contains("only text"));
        assert!(of(json!([{"role": "user", "content": []}])).contains("only text"));
        assert!(of(json!([said("system", "x")])).contains("role"));
        assert!(
            of(json!([])).contains("no message")
                && of(json!([said("assistant", "x")])).contains("no message")
        );
        assert!(of(json!(vec![said("user", "x"); 101])).contains("too long"));
        assert!(of(json!([said("user", &"x".repeat(MOST_TEXT + 1))])).contains("too long"));
        assert!(read(&json!({"messages": vec![said("user", "x"); 100]})).is_ok());
        assert!(read(&json!({"messages": [said("user", &"x".repeat(MOST_TEXT))]})).is_ok());
        let tools = json!({"messages": [said("user", "x")], "tools": []});
        assert!(read(&tools).unwrap_err().contains("no tools"));
        for wrong in ["", "7", "{}", "[]", r#"{"messages":7}"#, r#"{"messages":[],"messages":[]}"#] {
            assert!(Sampled::read(wrong).unwrap_err().contains("parameters"), "{wrong}");
        }
        assert!(Sampled::read(&" ".repeat(MOST_JSON + 1)).unwrap_err().contains("too long"));
    }

    #[test]
    fn the_person_is_shown_the_beginning_and_how_much_more_there_is() {
        let long = format!("{}ä", "x".repeat(MOST_SHOWN - 3));
        let params = json!({"messages": [said("user", &long), said("user", "the end")], "systemPrompt": "s"});
        let shown: Value = serde_json::from_str(&read(&params).unwrap().shown()).unwrap();
        assert_eq!((&shown["1 system"], shown["2 user"].as_str()), (&json!("s"), Some(&*long)));
        assert_eq!(shown["…"], "and 7 bytes more");
        let split = json!({"messages": [said("user", &format!("x{}", "ä".repeat(MOST_SHOWN)))]});
        let shown: Value = serde_json::from_str(&read(&split).unwrap().shown()).unwrap();
        assert_eq!(shown["1 user"].as_str().map(str::len), Some(MOST_SHOWN - 1));
        let short = json!({"messages": [said("user", "Hi")]});
        assert_eq!(read(&short).unwrap().shown(), r#"{"1 user":"Hi"}"#);
    }

    #[test]
    fn a_model_is_asked_by_the_setting_or_by_a_yes() {
        let may = |setting| [false, true].map(|is_yes| permit(setting, is_yes).is_some());
        assert_eq!(Sampling::ALL.map(may), [[false, true], [true, true], [false, false]]);
        let id = ServerId::parse("time").unwrap();
        assert_eq!(principal(&id), "server:time");
        assert_eq!(server_of("server:time"), Some(id));
        assert_eq!((server_of("time"), server_of("server:a/b"), server_of("owner")), (None, None, None));
    }

    #[test]
    fn where_the_words_go_is_said() {
        assert_eq!(
            why("a:m", Place::At("api.example.com")),
            "it wants your model a:m to answer it; what it says leaves this machine, for api.example.com"
        );
        assert!(why("a:m", Place::Here).ends_with("stays on this machine"));
        assert!(why("a:m", Place::Beyond).contains("leaves this machine"));
    }

    #[test]
    fn an_answer_is_in_mcps_form() {
        let written: Value = serde_json::from_str(&result("a \"b\"", "m", false)).unwrap();
        let content = json!({"type": "text", "text": "a \"b\""});
        assert_eq!(
            written,
            json!({"role": "assistant", "content": content, "model": "m", "stopReason": "endTurn"})
        );
        assert!(result("", "m", true).contains("maxTokens"));
    }
}
