//! Reads a line of a chat.
//!
//! Owns the commands of a chat. Must never send a mistyped command to a model.

use harbor_policy::suggest::hint;

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub enum Words {
    /// A message for the model.
    Message(String),
    /// The model from now on; which there are, when absent.
    Model(Option<String>),
    /// The servers whose tools may be used from now on; which there are, when absent.
    Tools(Option<Vec<String>>),
    /// Goes with the next message.
    Attach(String),
    /// The last message once more.
    Retry,
    Help,
    Quit,
    Nothing,
    /// A wrong command; the text says why.
    Wrong(String),
}

const NAMES: [&str; 6] = ["/attach", "/help", "/model", "/quit", "/retry", "/tools"];

/// The help for the person.
pub const HELP: &str = "\
/model [ID]      use another model; without ID: list them
/tools [A,B|all] let it use the tools of these servers only; without names: list them
/attach FILE|URL send an image, a text or a page with the next message
/retry           send your last message once more
/quit            leave; so does Ctrl-D
Ctrl-C stops an answer. A message that begins with / needs a space before it.";

pub fn read(line: &str) -> Words {
    if !line.starts_with('/') {
        return match line.trim() {
            "" => Words::Nothing,
            text => Words::Message(text.to_owned()),
        };
    }
    let line = line.trim();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
    match (name, rest) {
        ("/model", model) => Words::Model(model.map(str::to_owned)),
        ("/tools", servers) => Words::Tools(servers.map(servers_in)),
        ("/attach", Some(file)) => Words::Attach(file.to_owned()),
        ("/attach", None) => Words::Wrong("/attach needs a file or an address: /attach FILE".into()),
        ("/retry", None) => Words::Retry,
        ("/help", None) => Words::Help,
        ("/quit", None) => Words::Quit,
        ("/retry" | "/help" | "/quit", Some(_)) => Words::Wrong(format!("{name} takes no argument")),
        _ => {
            let near = hint(name, NAMES);
            Words::Wrong(format!(
                "there is no command {name}{near}; /help lists the commands, and a message that begins with / needs a \
                 space before it"
            ))
        }
    }
}

fn servers_in(text: &str) -> Vec<String> {
    let names = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_message_or_a_command() {
        let message = |text: &str| Words::Message(text.into());
        for (line, meant) in [
            ("hi\n", message("hi")),
            (" /etc/hosts is?", message("/etc/hosts is?")),
            ("  ", Words::Nothing),
            ("/model", Words::Model(None)),
            ("/model  p:m ", Words::Model(Some("p:m".into()))),
            ("/tools a, b", Words::Tools(Some(vec!["a".into(), "b".into()]))),
            ("/attach my file.png", Words::Attach("my file.png".into())),
            ("/retry", Words::Retry),
            ("/quit", Words::Quit),
        ] {
            assert_eq!(read(line), meant, "{line:?}");
        }
        for line in ["/attach", "/quit now", "/modle x", "/etc/hosts", "/"] {
            assert!(matches!(read(line), Words::Wrong(_)), "{line}");
        }
        let Words::Wrong(said) = read("/modle") else { panic!("taken") };
        assert!(said.contains("/model"), "{said}");
        assert!(NAMES.iter().all(|name| *name == "/help" || HELP.contains(name)), "{HELP}");
    }
}
