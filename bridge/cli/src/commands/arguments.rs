//! The arguments of a tool or a prompt, as one JSON object.
//!
//! Owns reading stdin and the files that are named. Must never write JSON anew that was typed: numbers and order would
//! change.

use std::fs::File;
use std::io::{self, Read};

use harbor_client::errors::Failure;
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::frame::MAX_CLIENT_FRAME;
use harbor_ipc_proto::json::Json;
use serde_json::value::RawValue;

use crate::args::{Argument, Arguments, Value};

/// The object for a tool. None if no argument was typed.
pub fn given(arguments: &Arguments) -> Result<Option<JsonObject>, Failure> {
    match arguments {
        Arguments::Nothing => Ok(None),
        Arguments::Json(text) => object(text.trim()).map(Some),
        Arguments::Stdin => {
            let mut text = String::new();
            io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::Io("read the arguments", error))?;
            object(text.trim()).map(Some)
        }
        Arguments::Words(words) => built(words).map(Some),
    }
}

/// The text of a JSON object, as it was typed.
fn object(text: &str) -> Result<JsonObject, Failure> {
    let wrong = |what: String| Failure::Usage(format!("the arguments are not a JSON object: {what}"));
    serde_json::from_str::<&RawValue>(text).map_err(|error| wrong(error.to_string()))?;
    match text.starts_with('{') {
        true => Ok(JsonObject(Json::from_valid(text.to_owned()))),
        false => Err(wrong("they must start with {".into())),
    }
}

/// The object of these words.
pub fn built(words: &[Argument]) -> Result<JsonObject, Failure> {
    let members: Result<Vec<_>, Failure> = words.iter().map(member).collect();
    Ok(JsonObject(Json::from_valid(format!("{{{}}}", members?.join(",")))))
}

fn member(argument: &Argument) -> Result<String, Failure> {
    let value = match &argument.value {
        Value::Text(text) => Json::string(text),
        Value::Json(json) => json.clone(),
        Value::File(path) => Json::string(&file(&argument.key, path)?),
    };
    Ok(format!("{}:{}", Json::string(&argument.key).as_str(), value.as_str()))
}

/// The text of a file, which may be endless.
fn file(key: &str, path: &str) -> Result<String, Failure> {
    let wrong = |what: String| Failure::Usage(format!("{key}=@{path}: {what}"));
    let mut text = String::new();
    let most = MAX_CLIENT_FRAME as u64;
    let read = File::open(path).and_then(|file| file.take(most + 1).read_to_string(&mut text));
    read.map_err(|error| wrong(format!("cannot read its text: {error}")))?;
    match text.len() as u64 > most {
        true => Err(wrong(format!("it is larger than the {} MiB that a message may have", most >> 20))),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn argument(key: &str, value: Value) -> Argument {
        Argument { key: key.into(), value }
    }

    #[test]
    fn words_become_an_object_in_their_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        fs::write(&path, "line\n\"quoted\"").unwrap();
        let words = [
            argument("z\"", Value::Text("a\nb".into())),
            argument("n", Value::Json(Json::from_valid("12345678901234567890.10".into()))),
            argument("t", Value::File(path.to_str().unwrap().into())),
        ];
        let text = r#"{"z\"":"a\nb","n":12345678901234567890.10,"t":"line\n\"quoted\""}"#;
        assert_eq!(given(&Arguments::Words(words.to_vec())).unwrap().unwrap().0.as_str(), text);
        assert_eq!(given(&Arguments::Nothing).unwrap(), None);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image");
        fs::write(&path, [0xff, 0xfe]).unwrap();
        for path in [path.to_str().unwrap(), "/nonexistent", "/dev"] {
            let failure = built(&[argument("t", Value::File(path.into()))]).unwrap_err();
            let message = failure.message().unwrap();
            assert!(message.starts_with(&format!("t=@{path}: cannot read its text: ")), "{message}");
        }
        let endless = built(&[argument("t", Value::File("/dev/zero".into()))]).unwrap_err();
        assert_eq!(
            endless.message().unwrap(),
            "t=@/dev/zero: it is larger than the 64 MiB that a message may have"
        );
    }

    #[test]
    fn json_must_be_an_object() {
        for text in ["", "{", "[1]", "7", "{} {}", "{\"a\":}"] {
            assert!(matches!(given(&Arguments::Json(text.into())), Err(Failure::Usage(_))), "{text}");
        }
        let object = given(&Arguments::Json(" {\"b\":1.0,\"a\":2} ".into())).unwrap().unwrap();
        assert_eq!(object.0.as_str(), "{\"b\":1.0,\"a\":2}");
    }
}
