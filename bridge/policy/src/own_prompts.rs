//! Harbor's own prompts: texts for tasks that people have often, with the kinds of servers that they need.
//!
//! ```text
//!  own_prompts/NAME.md:  title: …, about: …, needs: …      ─► MCP's list of prompts
//!                        argument: NAME! WORDS              a `!` if it must be given
//!                        (an empty line) a text with {NAME} ─► MCP's messages; a line with an argument that is not given is left out
//! ```
//!
//! Owns these texts and how they are filled in. Must never take a value for a part of the text: what stands in braces in a value
//! stays.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde_json::{Value, json};

/// The name under which they are listed, as if a server had them.
pub const SOURCE: &str = "harbor";

/// The `_meta` of each of them: another Harbor has them itself.
pub const META: &str = r#"{"harbor/own":true}"#;

/// The longest value of an argument, in bytes.
const LONGEST: usize = 100_000;

const FILES: [(&str, &str); 6] = [
    ("search", include_str!("own_prompts/search.md")),
    ("calendar", include_str!("own_prompts/calendar.md")),
    ("email", include_str!("own_prompts/email.md")),
    ("summarise", include_str!("own_prompts/summarise.md")),
    ("translate", include_str!("own_prompts/translate.md")),
    ("compare-prices", include_str!("own_prompts/compare-prices.md")),
];

static ALL: LazyLock<Vec<OwnPrompt>> =
    LazyLock::new(|| FILES.into_iter().map(|(name, file)| OwnPrompt::read(name, file)).collect());

/// One of the prompts.
#[derive(Debug, Default)]
struct OwnPrompt {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    needs: &'static str,
    arguments: Vec<OwnArgument>,
    text: &'static str,
}

#[derive(Debug)]
struct OwnArgument {
    name: &'static str,
    is_required: bool,
    about: &'static str,
}

/// The reason why a prompt cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnfitPromptReason {
    /// There is no prompt of this name.
    Unknown,
    /// An argument must be given and is not.
    Missing(&'static str),
    /// There is no such argument, or it is no text.
    Argument(String),
    /// An argument is too long.
    Long(&'static str),
}

impl fmt::Display for UnfitPromptReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => {
                let names: Vec<_> = ALL.iter().map(|prompt| prompt.name).collect();
                write!(f, "Harbor has no such prompt; it has {}", names.join(", "))
            }
            Self::Missing(name) => write!(f, "the prompt needs `{name}`"),
            Self::Argument(name) => write!(f, "the prompt takes no text `{name:.100}`"),
            Self::Long(name) => write!(f, "`{name}` is longer than {LONGEST} bytes"),
        }
    }
}

impl OwnPrompt {
    fn read(name: &'static str, file: &'static str) -> Self {
        let (head, text) = file.split_once("\n\n").unwrap_or((file, ""));
        let mut prompt = Self { name, text: text.trim_end(), ..Self::default() };
        for (key, value) in head.lines().filter_map(|line| line.split_once(": ")) {
            match key {
                "title" => prompt.title = value,
                "about" => prompt.about = value,
                "needs" => prompt.needs = value,
                _ => prompt.arguments.push(OwnArgument::read(value)),
            }
        }
        prompt
    }

    /// Its description: what it does, then the servers that it needs and how to get them.
    fn description(&self) -> String {
        format!("{} Needs {}", self.about, self.needs)
    }

    fn listed(&self) -> Value {
        let argument = |one: &OwnArgument| json!({"name": one.name, "description": one.about, "required": one.is_required});
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description(),
            "arguments": self.arguments.iter().map(argument).collect::<Vec<_>>(),
            "_meta": {"harbor/own": true},
        })
    }

    fn filled(&self, given: &BTreeMap<&str, &str>) -> String {
        let has_all = |line: &&str| names(line).all(|name| given.contains_key(name));
        let lines = self.text.lines().filter(has_all).map(|line| filled_line(line, given));
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl OwnArgument {
    fn read(line: &'static str) -> Self {
        let (name, about) = line.split_once(' ').unwrap_or((line, ""));
        let bare = name.trim_end_matches('!');
        Self { name: bare, is_required: bare.len() < name.len(), about }
    }
}

/// The names in braces in a line.
fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name)
}

fn filled_line(line: &str, given: &BTreeMap<&str, &str>) -> String {
    let mut pieces = line.split('{');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for (name, rest) in pieces.filter_map(|piece| piece.split_once('}')) {
        filled.push_str(given.get(name).copied().unwrap_or_default());
        filled.push_str(rest);
    }
    filled
}

/// MCP's list of the prompts, as a JSON array.
#[must_use]
pub fn list() -> String {
    Value::from(ALL.iter().map(OwnPrompt::listed).collect::<Vec<_>>()).to_string()
}

/// MCP's result of `prompts/get`. `arguments` is a JSON object of texts, if there are any.
///
/// # Errors
/// Why there is none.
pub fn get(name: &str, arguments: Option<&str>) -> Result<String, UnfitPromptReason> {
    let prompt = ALL.iter().find(|prompt| prompt.name == name).ok_or(UnfitPromptReason::Unknown)?;
    let texts: BTreeMap<String, Value> =
        arguments.and_then(|arguments| serde_json::from_str(arguments).ok()).unwrap_or_default();
    let mut given = BTreeMap::new();
    for (name, value) in &texts {
        let known = prompt.arguments.iter().find(|one| one.name == name);
        let (Some(one), Some(text)) = (known, value.as_str()) else {
            return Err(UnfitPromptReason::Argument(name.clone()));
        };
        if text.len() > LONGEST {
            return Err(UnfitPromptReason::Long(one.name));
        }
        given.extend(Some((one.name, text)).filter(|_| !text.trim().is_empty()));
    }
    let missing = prompt.arguments.iter().find(|one| one.is_required && !given.contains_key(one.name));
    if let Some(missing) = missing {
        return Err(UnfitPromptReason::Missing(missing.name));
    }
    let content = json!({"type": "text", "text": prompt.filled(&given)});
    let messages = [json!({"role": "user", "content": content})];
    Ok(json!({"description": prompt.description(), "messages": messages}).to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::curated;

    fn text(name: &str, arguments: &Value) -> Result<String, UnfitPromptReason> {
        let got: Value = serde_json::from_str(&get(name, Some(&arguments.to_string()))?).unwrap();
        Ok(got["messages"][0]["content"]["text"].as_str().unwrap().to_owned())
    }

    #[test]
    fn each_prompt_has_all_its_parts_and_installs_what_is_there() {
        for prompt in &*ALL {
            let OwnPrompt { name, title, about, needs, arguments, text } = prompt;
            assert!([*title, *about, *needs].iter().all(|part| !part.is_empty()), "{name}");
            assert!(arguments.iter().any(|one| one.is_required), "{name}");
            assert!(arguments.iter().all(|one| !one.about.is_empty()), "{name}");
            let asked: Vec<_> = text.lines().flat_map(names).collect();
            assert!(asked.iter().all(|asked| arguments.iter().any(|one| one.name == *asked)), "{name}");
            assert!(arguments.iter().all(|one| asked.contains(&one.name)), "{name}");
            for install in needs.split("`harbor install ").skip(1) {
                let id = install.split('`').next().unwrap();
                assert!(curated::find(id).is_some(), "{name}: {id}");
            }
            assert!(needs.contains("`harbor "), "{name}: how to get it");
        }
        let listed: Value = serde_json::from_str(&list()).unwrap();
        assert_eq!(listed.as_array().unwrap().len(), FILES.len());
        assert_eq!(
            (&listed[0]["arguments"][0]["required"], &*listed[0]["_meta"].to_string()),
            (&json!(true), META)
        );
    }

    #[test]
    fn lines_of_what_is_not_given_are_left_out_and_values_stay_as_they_are() {
        let text_of = |arguments: Value| text("search", &arguments).unwrap();
        let whole = text_of(json!({"question": "{sites} {x", "sites": "a.example"}));
        assert!(
            whole.starts_with("Find out on the web: {sites} {x\nLook only on these sites: a.example\n\n")
        );
        let short = text_of(json!({"question": "herons", "sites": " "}));
        assert!(short.starts_with("Find out on the web: herons\n\nSearch first"), "{short}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(get("nothing", None), Err(UnfitPromptReason::Unknown));
        assert!(UnfitPromptReason::Unknown.to_string().contains("compare-prices"));
        assert_eq!(get("search", None), Err(UnfitPromptReason::Missing("question")));
        for (arguments, name) in [(json!({"question": 7}), "question"), (json!({"x": "y"}), "x")] {
            assert_eq!(text("search", &arguments), Err(UnfitPromptReason::Argument(name.into())));
        }
        let long = json!({"question": "x".repeat(LONGEST + 1)});
        assert_eq!(text("search", &long), Err(UnfitPromptReason::Long("question")));
    }

    proptest! {
        #[test]
        fn any_value_stands_in_the_text_as_it_is(value in "\\PC{0,40}[a-z{}]\\PC{0,40}") {
            prop_assert!(text("search", &json!({"question": value})).unwrap().contains(&value));
        }
    }
}
