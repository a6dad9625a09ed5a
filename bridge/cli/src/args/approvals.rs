//! Questions about calls and the answers to them, as they are typed.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand, ValueEnum};

use super::values::origin;

/// Commands about questions and their answers.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Approvals {
    /// List the questions that wait, and the answers that stand
    List,
    /// Show a question with all arguments of its call
    Show {
        /// The question's id, or its beginning
        #[arg(value_parser = NonEmptyStringValueParser::new())]
        id: String,
    },
    Yes(Yes),
    No(No),
    Revoke(RevokeAnswer),
}

/// Say yes to a question
///
/// The yes is for this call (once), for this tool in this chat (chat-tool), or for what this server writes in
/// this chat (chat-server). It can be for the same private data to the same server, in this chat (flow) or as
/// long as an AI client is connected (pair). Or it is for this tool, for ten minutes or always. If the
/// question was missed, the same call runs when it is made again.
///
/// Example: `harbor approvals yes 3f2a91c0 --for chat-tool`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Yes {
    /// The question's id, or its beginning
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: String,
    /// The scope of the yes; `harbor approvals show ID` shows the choices
    #[arg(long = "for", value_name = "WHAT", default_value = "once")]
    pub cover: Cover,
}

/// Say no to a question
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct No {
    /// The question's id, or its beginning
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub id: String,
    /// The reason; the model is told
    #[arg(value_name = "REASON")]
    pub reason: Vec<String>,
    /// Do not let this AI client or server ask for this again
    #[arg(long, conflicts_with = "reason")]
    pub never: bool,
}

/// Revoke answers that stand
///
/// Harbor asks again about the calls that they covered, from this moment on.
///
/// Example: `harbor approvals revoke gmail/send`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct RevokeAnswer {
    /// The answer's id or its beginning, or all answers for this tool, server, origin or chat
    #[arg(value_name = "ID|SERVER/TOOL|ORIGIN", value_parser = revocable, required_unless_present = "all")]
    pub what: Option<String>,
    /// All answers
    #[arg(long, conflicts_with = "what")]
    pub all: bool,
}

/// The calls that a yes covers. The help of the command explains each word: here that would make the help
/// longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Cover {
    Once,
    ChatTool,
    ChatServer,
    Flow,
    Pair,
    TenMinutes,
    Always,
}

impl Cover {
    /// Its word in a request.
    pub fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::ChatTool => "chat_tool",
            Self::ChatServer => "chat_server",
            Self::Flow => "flow",
            Self::Pair => "pair",
            Self::TenMinutes => "ten_minutes",
            Self::Always => "always",
        }
    }
}

/// Checks an id, a tool, a server or a session, and leaves it as it is; brings an origin into its stored
/// form.
fn revocable(text: &str) -> Result<String, String> {
    match text {
        "" => Err("it is empty".into()),
        _ if text.contains("://") => origin(text).map(|origin| origin.to_string()),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_behind_for_is_the_one_of_the_request() {
        for cover in Cover::value_variants() {
            let typed = cover.to_possible_value().unwrap();
            assert_eq!(typed.get_name().replace('-', "_"), cover.word());
        }
    }

    #[test]
    fn an_origin_is_revoked_as_it_is_kept() {
        assert_eq!(revocable("https://A.example:443/"), Ok("https://a.example".into()));
        for name in ["client://cursor", "gmail/send", "gmail", "3f2a"] {
            assert_eq!(revocable(name).as_deref(), Ok(name));
        }
        assert!(revocable("").is_err() && revocable("https://a.example/x").is_err());
    }
}
