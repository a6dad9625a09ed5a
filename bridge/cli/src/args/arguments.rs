//! The arguments of a tool or a prompt, as words: `key=value`, `key:=JSON`, `key=@FILE`.
//!
//! Owns the rules for a word, and the sentence about a wrong word. Must never read a file: that is done when
//! the command runs. A value may be a secret, so only its key is repeated.

use harbor_ipc_proto::json::Json;
use serde_json::value::RawValue;

/// The arguments of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arguments {
    Nothing,
    /// JSON text, not checked yet.
    Json(String),
    Stdin,
    Words(Vec<Argument>),
}

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    pub key: String,
    pub value: Value,
}

/// The value behind the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Text(String),
    /// Valid JSON text, as it was typed.
    Json(Json),
    /// The path of a file whose text it is.
    File(String),
}

impl Arguments {
    /// Reads the words behind the name of a tool.
    pub(super) fn read(words: &[&String]) -> Result<Self, String> {
        match words {
            [] => Ok(Self::Nothing),
            [only] if *only == "-" => Ok(Self::Stdin),
            [only] if is_json(only) => Ok(Self::Json((*only).clone())),
            // JSON of another kind, or a variable of the shell that is not set: said where objects are checked.
            [only] if only.is_empty() || only.starts_with(['[', '"']) => Ok(Self::Json((*only).clone())),
            many => match many.iter().position(|word| is_json(word) || *word == "-") {
                Some(0) => Err(both(many[1])),
                Some(at) => Err(both(many[at])),
                None => Ok(Self::Words(arguments(many)?)),
            },
        }
    }
}

fn is_json(word: &str) -> bool {
    word.trim_start().starts_with('{')
}

fn both(word: &str) -> String {
    let key = word.split_once('=').map_or(word, |(key, _)| key.trim_end_matches(':'));
    let named = if is_json(word) { "{…}" } else { key };
    format!("{named}: use either one JSON object or key=value words")
}

/// The arguments, each key once.
pub fn arguments(words: &[&String]) -> Result<Vec<Argument>, String> {
    let mut read: Vec<Argument> = Vec::new();
    for word in words {
        let argument = argument(word)?;
        if read.iter().any(|other| other.key == argument.key) {
            return Err(format!("{}: this argument is given twice", argument.key));
        }
        read.push(argument);
    }
    Ok(read)
}

fn argument(word: &str) -> Result<Argument, String> {
    let (key, value) =
        word.split_once('=').ok_or_else(|| format!("{word}: use key=value, key:=JSON or key=@FILE"))?;
    let (key, value) = match (key.strip_suffix(':'), value.strip_prefix('@')) {
        (Some(key), _) => (key, Value::Json(json(key, value)?)),
        (None, Some("")) => return Err(format!("{key}=@: a file name must follow the @")),
        (None, Some(path)) => (key, Value::File(path.to_owned())),
        (None, None) => (key, Value::Text(value.to_owned())),
    };
    match key.is_empty() {
        true => Err(format!("{word}: the argument's name is missing")),
        false => Ok(Argument { key: key.to_owned(), value }),
    }
}

fn json(key: &str, text: &str) -> Result<Json, String> {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(_) => Ok(Json::from_valid(text.trim().to_owned())),
        Err(error) => Err(format!("{key}: not JSON: {error}; for text use {key}=…")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(line: &[&str]) -> Result<Arguments, String> {
        let words: Vec<_> = line.iter().map(|&word| word.to_owned()).collect();
        Arguments::read(&words.iter().collect::<Vec<_>>())
    }

    fn complaint(line: &[&str]) -> String {
        read(line).unwrap_err()
    }

    #[test]
    fn words_are_texts_json_and_files() {
        let argument = |key: &str, value| Argument { key: key.into(), value };
        let text = |text: &str| Value::Text(text.into());
        let json = |text: &str| Value::Json(Json::from_valid(text.into()));
        assert_eq!(
            read(&["zone=UTC", "n:=3", "list:= [\"a\",1e2] ", "e=", "sum=a=b", "t=@/a b", "a.b-c:d=x:=y"]),
            Ok(Arguments::Words(vec![
                argument("zone", text("UTC")),
                argument("n", json("3")),
                argument("list", json("[\"a\",1e2]")),
                argument("e", text("")),
                argument("sum", text("a=b")),
                argument("t", Value::File("/a b".into())),
                argument("a.b-c:d", text("x:=y")),
            ]))
        );
        assert_eq!(read(&[]), Ok(Arguments::Nothing));
        assert_eq!(read(&["-"]), Ok(Arguments::Stdin));
        for object in [" {\"a=b\":1}", "[1]", ""] {
            assert_eq!(read(&[object]), Ok(Arguments::Json(object.into())), "{object}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_by_its_key() {
        for (line, said) in [
            (&["UTC"][..], "UTC: use key=value, key:=JSON or key=@FILE"),
            (&["a=1", "b"], "b: use key=value, key:=JSON or key=@FILE"),
            (&["a=1", "b=2", "a:=3"], "a: this argument is given twice"),
            (&["{}", "zone=UTC"], "zone: use either one JSON object or key=value words"),
            (&["n:=1", "{\"a\":1}"], "{…}: use either one JSON object"),
            (&["-", "n:=1"], "n: use either one JSON object"),
            (&["n:=1", "-"], "-: use either one JSON object"),
            (&["=1"], "=1: the argument's name is missing"),
            (&[":=1"], ":=1: the argument's name is missing"),
            (&["a=@"], "a=@: a file name must follow the @"),
            (&["flag:=yes"], "flag: not JSON: expected value at line 1 column 1; for text use flag=…"),
            (&["n:="], "n: not JSON: "),
            (&["n:=1 2"], "n: not JSON: "),
        ] {
            let complaint = complaint(line);
            assert!(complaint.starts_with(said), "{complaint}");
        }
        assert!(!complaint(&["key:=hunter2"]).contains("hunter2"), "a value may be a secret");
    }

    proptest! {
        #[test]
        fn any_words_are_survived(line in prop::collection::vec("[a:=@{}\\[\\]\"1 -]{0,8}|\\PC{0,8}", 0..4)) {
            let words: Vec<&str> = line.iter().map(String::as_str).collect();
            let _ = read(&words);
        }
    }
}
