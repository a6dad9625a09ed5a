//! Which part of a request a model refuses, and the request without it. Pure.
//!
//! ```text
//!  400, 422: "`temperature` is deprecated for this model" ─► Setting ─► left out, or written in another way
//! ```
//!
//! Owns the words of such refusals. Must never take a value out of range for a setting that the model does not know: the person
//! hears of that.

use harbor_ipc_proto::link::model::Chat;
use harbor_ipc_proto::model::{Dialect, Options, Setting};

use crate::provider_http::Refusal;
use crate::turns::{has_bare_calls, sends_thoughts};

/// Words that say that a setting is not known, or not for this model.
const REFUSED: [&str; 13] = [
    "deprecated",
    "unsupported",
    "not supported",
    "not support",
    "unknown",
    "unrecognized",
    "unexpected",
    "not permitted",
    "not allowed",
    "not accept",
    "only the default",
    "cannot both",
    "extra inputs",
];

/// Words that say that something is missing.
const MISSING: [&str; 6] = ["missing", "required", "must be", "must contain", "expected", "passed back"];

/// Leaves a setting out. The length of the answer and thoughts are written by the dialect.
pub fn leave_out(options: &mut Options, setting: Setting) {
    match setting {
        Setting::TopP => options.top_p = None,
        Setting::Temperature => options.temperature = None,
        Setting::Stop => options.stop.clear(),
        Setting::Effort => options.reasoning_effort = None,
        Setting::MaxTokens
        | Setting::MaxCompletionTokens
        | Setting::Thoughts
        | Setting::CallsWithoutThoughts
        | Setting::Tools => {}
    }
}

/// The setting of this request that the refusal is about; none if it is about something else.
pub fn refused(chat: &Chat, refusal: &Refusal) -> Option<Setting> {
    if !matches!(refusal.failure.status, Some(400 | 422)) {
        return None;
    }
    let message = refusal.failure.message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let is_new = |setting: &Setting| !chat.options.refused.contains(setting);
    if has_word(&message, "reasoning_content") {
        let lacks = says(&MISSING) && has_bare_calls(chat);
        let all = [
            (Setting::Thoughts, !lacks && sends_thoughts(chat)),
            (Setting::CallsWithoutThoughts, has_bare_calls(chat)),
        ];
        return all
            .into_iter()
            .find(|(setting, is_sent)| *is_sent && is_new(setting))
            .map(|(setting, _)| setting);
    }
    if !says(&REFUSED) {
        return None;
    }
    let about = refusal.about.to_ascii_lowercase();
    let mut sent = Setting::ALL.iter().copied().filter(|setting| is_sent(chat, *setting) && is_new(setting));
    let named = |setting: &Setting| words(*setting).iter().any(|word| about == *word);
    sent.clone()
        .find(named)
        .or_else(|| sent.find(|setting| words(*setting).iter().any(|word| quotes(&message, word))))
}

fn is_sent(chat: &Chat, setting: Setting) -> bool {
    let asked = &chat.options;
    // The format of the others has one name for it.
    let has_cap = asked.max_tokens.is_some() && chat.target.dialect == Dialect::Chat;
    match setting {
        Setting::TopP => asked.top_p.is_some(),
        Setting::Temperature => asked.temperature.is_some(),
        Setting::Stop => !asked.stop.is_empty(),
        Setting::Effort => asked.reasoning_effort.is_some(),
        Setting::MaxTokens | Setting::MaxCompletionTokens => {
            has_cap && crate::dialect::chat::cap(chat) == Some(setting)
        }
        // Without its tools a request asks for something else: the bridge decides.
        Setting::Thoughts | Setting::CallsWithoutThoughts | Setting::Tools => false,
    }
}

/// The names that a setting has in requests and refusals.
fn words(setting: Setting) -> &'static [&'static str] {
    match setting {
        Setting::TopP => &["top_p"],
        Setting::Temperature => &["temperature"],
        Setting::Stop => &["stop", "stop_sequences"],
        Setting::Effort => &[
            "reasoning_effort",
            "thinking",
            "think",
            "effort",
            "reasoning",
            "enable_thinking",
            "chat_template_kwargs",
        ],
        Setting::MaxTokens => &["max_tokens"],
        Setting::MaxCompletionTokens => &["max_completion_tokens"],
        Setting::Thoughts | Setting::CallsWithoutThoughts => &["reasoning_content"],
        Setting::Tools => &["tools"],
    }
}

/// True if a message is about the word, not only has it in a sentence: `stop` is a word of its own.
fn quotes(message: &str, word: &str) -> bool {
    let quoted = ["'", "\"", "`"].iter().any(|quote| message.contains(&format!("{quote}{word}{quote}")));
    quoted || (word != "stop" && has_word(message, word))
}

fn has_word(message: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    message
        .match_indices(word)
        .any(|(at, _)| !message[..at].ends_with(is_part) && !message[at + word.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::link::model::{Cause, Failure};
    use harbor_ipc_proto::model::{Kind, Opaque, Part, Role};

    use super::*;
    use crate::dialect::tests::{call, chat, message, text};
    use crate::failure::failed;

    fn refusal(message: &str, about: &str) -> Refusal {
        let failure = Failure { status: Some(400), ..failed(Cause::Refused, message) };
        Refusal { about: about.into(), ..Refusal::from(failure) }
    }

    fn asked() -> Chat {
        let mut chat = chat(vec![message(Role::User, vec![text("q")])]);
        chat.options = Options {
            temperature: Some(0.7),
            top_p: Some(0.9),
            max_tokens: Some(9),
            stop: vec!["x".into()],
            reasoning_effort: Some("low".into()),
            ..Options::default()
        };
        chat
    }

    #[test]
    fn the_refused_setting_is_found_in_the_words_of_providers() {
        let of = |message: &str, about: &str| refused(&asked(), &refusal(message, about));
        let rows = [
            ("`temperature` is deprecated for this model", "", Setting::Temperature),
            (
                "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.",
                "temperature",
                Setting::Temperature,
            ),
            ("`temperature` and `top_p` cannot both be specified for this model.", "", Setting::TopP),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                "max_tokens",
                Setting::MaxTokens,
            ),
            ("Unsupported parameter: 'stop' is not supported with this model.", "stop", Setting::Stop),
            ("\"m\" does not support thinking", "", Setting::Effort),
            ("Unrecognized request argument supplied: reasoning_effort", "", Setting::Effort),
            ("body -> top_p: Extra inputs are not permitted", "", Setting::TopP),
        ];
        for (message, about, wanted) in rows {
            assert_eq!(of(message, about), Some(wanted), "{message}");
        }
        for other in [
            "temperature: Input should be less than or equal to 1",
            "this model does not support tools",
            "max_tokens is too large: 9. This model supports at most 4 completion tokens",
            "the server had to stop: not supported",
        ] {
            assert_eq!(of(other, ""), None, "{other}");
        }
        let unavailable = Refusal::from(Failure { status: Some(503), ..refusal(rows[0].0, "").failure });
        assert_eq!(refused(&asked(), &unavailable), None);
        let mut again = asked();
        again.options.refused.push(Setting::MaxTokens);
        let newer = refusal("max_completion_tokens: unknown field", "");
        assert_eq!(refused(&again, &newer), Some(Setting::MaxCompletionTokens));
        again.options.refused.push(Setting::MaxCompletionTokens);
        assert_eq!(refused(&again, &newer), None, "nothing is refused twice");
    }

    #[test]
    fn thoughts_are_missed_or_not_wanted() {
        let thoughts =
            |json: &str| Part::Opaque(Opaque { provider: "p".into(), model: "m".into(), json: json.into() });
        let of = |parts: Vec<Part>, message_: &str| {
            let mut chat = chat(vec![message(Role::User, vec![text("q")]), message(Role::Assistant, parts)]);
            chat.target.kind = Kind::DeepSeek;
            refused(&chat, &refusal(message_, ""))
        };
        let missing = "The `reasoning_content` in the thinking mode must be passed back to the API.";
        let unwanted = "messages.1.reasoning_content: Extra inputs are not permitted";
        let with = || vec![thoughts(r#"{"reasoning_content":"hm"}"#), call("a", "t", "{}")];
        assert_eq!(of(vec![call("a", "t", "{}")], missing), Some(Setting::CallsWithoutThoughts));
        assert_eq!(of(with(), unwanted), Some(Setting::Thoughts));
        assert_eq!(of(with(), missing), Some(Setting::Thoughts));
        assert_eq!(of(vec![text("a")], missing), None);
    }
}
