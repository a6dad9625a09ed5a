//! Resources and prompts, as they are typed: listed, or one of them wanted.
//!
//! Owns the words `read` and `get`. Must never judge a URI or a name: they are the server's.

use super::arguments::{Argument, Value, arguments};
use super::values::checked_id;
use super::{Command, Words};

/// Whose resources or prompts are wanted: of all that run when absent.
pub type Whose = Option<String>;

/// A resource that is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub server: String,
    pub uri: String,
    /// The directory for what it holds.
    pub save: Option<String>,
}

/// A prompt that is to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    pub server: String,
    pub name: String,
    /// Texts all.
    pub arguments: Vec<Argument>,
}

impl Words {
    pub(super) fn resources(&self) -> Result<Command, String> {
        let (words, save) = (self.all_plain(), self.save()?);
        match &words[..] {
            [verb, server, uri] if *verb == "read" => {
                let (server, uri) = (checked_id(server)?, (*uri).clone());
                Ok(Command::ReadResource(Reading { server, uri, save }))
            }
            [verb, _, _, word, ..] if *verb == "read" => Err(format!("unexpected argument {word}")),
            [verb, ..] if *verb == "read" => Err("which resource? Name its server and its URI".into()),
            _ if save.is_some() => Err("--save goes with `read` only".into()),
            words => Ok(Command::Resources(whose(words, "read")?)),
        }
    }

    pub(super) fn prompts(&self) -> Result<Command, String> {
        let words = self.all_plain();
        match &words[..] {
            [verb, server, name, rest @ ..] if *verb == "get" => {
                let arguments = arguments(rest)?;
                if let Some(wrong) = arguments.iter().find(|one| matches!(one.value, Value::Json(_))) {
                    return Err(format!("{}: a prompt takes texts only: use key=text", wrong.key));
                }
                Ok(Command::GetPrompt(Prompt {
                    server: checked_id(server)?,
                    name: (*name).clone(),
                    arguments,
                }))
            }
            [verb, ..] if *verb == "get" => Err("which prompt? Name its server and its name".into()),
            words => Ok(Command::Prompts(whose(words, "get")?)),
        }
    }
}

fn whose(words: &[&String], verb: &str) -> Result<Whose, String> {
    match words {
        [] => Ok(None),
        [server] => checked_id(server).map(Some),
        [_, word, ..] => Err(format!("unexpected argument {word}; did you mean {verb} in front?")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{command, complaint};
    use super::*;

    #[test]
    fn listed_or_one_of_them() {
        let server = || "files".to_owned();
        let (uri, name) = ("file:///a b".to_owned(), "greet".to_owned());
        assert_eq!(command(&["resources"]), Command::Resources(None));
        assert_eq!(command(&["resources", "files"]), Command::Resources(Some(server())));
        assert_eq!(
            command(&["resources", "read", "files", &uri, "--save", "d"]),
            Command::ReadResource(Reading { server: server(), uri, save: Some("d".into()) })
        );
        assert_eq!(command(&["prompts"]), Command::Prompts(None));
        assert_eq!(command(&["prompts", "files"]), Command::Prompts(Some(server())));
        let argument = |key: &str, value| Argument { key: key.into(), value };
        let arguments =
            vec![argument("who", Value::Text("Ada".into())), argument("-t", Value::File("/x".into()))];
        assert_eq!(
            command(&["prompts", "get", "files", "greet", "who=Ada", "--", "-t=@/x"]),
            Command::GetPrompt(Prompt { server: server(), name, arguments })
        );
    }

    #[test]
    fn what_is_missing_or_too_much_is_named() {
        for (line, said) in [
            (&["resources", "read"][..], "which resource? Name its server and its URI"),
            (&["resources", "read", "files"], "which resource? Name its server and its URI"),
            (&["resources", "read", "files", "u", "v"], "unexpected argument v"),
            (&["resources", "read", "a b", "u"], "\"a b\" is no server's name"),
            (&["resources", "files", "u"], "unexpected argument u; did you mean read in front?"),
            (&["resources", "files", "--save", "d"], "--save goes with `read` only"),
            (&["prompts", "get", "files"], "which prompt? Name its server and its name"),
            (&["prompts", "get", "files", "greet", "who"], "who: an argument is key=text"),
            (&["prompts", "get", "files", "greet", "n:=1"], "n: a prompt takes texts only: use key=text"),
            (&["prompts", "files", "greet"], "unexpected argument greet; did you mean get in front?"),
        ] {
            let complaint = complaint(line);
            assert!(complaint.starts_with(said), "{complaint}");
        }
    }
}
