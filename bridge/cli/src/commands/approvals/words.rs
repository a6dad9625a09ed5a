//! Questions about calls, and answers that stand, in words.
//!
//! Owns the words for the one who acts, and for the calls that a yes covers. Must never show more than one
//! line, whatever others have written into it.

use harbor_ipc_proto::client::{Approval, StandingAnswer};

use super::super::ids::short;
use crate::table::flatten;

/// The person, among those on whose behalf something is done.
const OWNER: &str = "owner";

/// The reason of a question about a server that wants a language model's answer.
const SAMPLING: &str = "sampling";

/// The reason of a question about a plan, and the cover of an approved one.
const PLAN: &str = "plan";

/// The party that makes the call.
pub fn who(question: &Approval) -> String {
    let whom = flatten(&question.principal);
    match &*question.who {
        "chat" => "your model".into(),
        "run" => format!("a model that works for {whom}"),
        "page" => format!("the page {whom} itself"),
        "client" => format!("the AI client {}", whom.strip_prefix("client://").unwrap_or(&whom)),
        "server" => format!("the server {}", whom.strip_prefix("server:").unwrap_or(&whom)),
        other => format!("{whom} ({})", flatten(other)),
    }
}

/// The thing that is wanted, and the words for its fields.
pub fn wanted(question: &Approval) -> String {
    match &*question.reason {
        SAMPLING => "to have a language model answer".into(),
        PLAN => "to work by a plan".into(),
        _ => format!("to call {}", flatten(&question.tool)),
    }
}

/// The private data that would leave and whom it would reach, or the files that would be handed over.
pub fn leaving(question: &Approval) -> Option<String> {
    let source = question.tool.split('/').next().unwrap_or_default();
    let names = names(&question.private);
    match &*question.reason {
        "leaves" => Some(format!("this would tell {} something that comes from: {names}", flatten(source))),
        "files" => Some(format!("this would hand over: {names}")),
        _ => None,
    }
}

/// Private names in a line.
pub fn names(private: &[String]) -> String {
    private.iter().map(|name| flatten(name)).collect::<Vec<_>>().join(", ")
}

/// The calls that a yes to a question covers. For a client's first use these are all tools of a source.
pub fn covered_by(question: &Approval, word: &str) -> String {
    let source = flatten(question.tool.split('/').next().unwrap_or_default());
    match (&*question.reason, word) {
        ("first_use", "ten_minutes") => format!("all tools of {source} for ten minutes"),
        ("first_use", "always") => format!("all tools of {source} from now on"),
        ("starts", "once") => format!("starting {source} now"),
        ("starts", "always") => {
            format!("starting servers for calls of {} from now on", flatten(&question.principal))
        }
        (SAMPLING, "once") => "this answer".into(),
        (PLAN, "once") => "calls within this plan, until the model has answered".into(),
        ("reading", "always") => {
            let client = flatten(&question.principal);
            format!("all that {client} asks of your models from now on")
        }
        (SAMPLING, "always") => format!("all that {source} asks of your models from now on"),
        _ => covered(word),
    }
}

/// The calls that a yes of this word covers.
pub fn covered(word: &str) -> String {
    match word {
        "once" => "this call".into(),
        "chat_tool" => "this tool in this chat".into(),
        "chat_server" => "this server in this chat: its tools that write".into(),
        "flow" => "this flow in this chat".into(),
        "pair" => "this flow as long as the client is connected".into(),
        "ten_minutes" => "this tool for ten minutes".into(),
        "always" => "this tool from now on".into(),
        other => flatten(other),
    }
}

/// The calls that a standing answer covers.
pub fn covers(answer: &StandingAnswer) -> String {
    let from = names(&answer.private);
    match &*answer.covers {
        "once" => "the same call, once".into(),
        PLAN => "calls within this plan, until the model has answered".into(),
        "flow" => format!("anything from {from}, in this chat"),
        "pair" => format!("anything from {from}, while it stays connected"),
        other => covered(other),
    }
}

/// The one for whom the answer stands.
pub fn whose(answer: &StandingAnswer) -> String {
    match &answer.session_id {
        _ if answer.principal != OWNER => answer.principal.clone(),
        Some(session) => format!("you, chat {}", short(session)),
        None => "you".into(),
    }
}

/// The words of a question's answers as they are typed behind `--for`.
pub fn offered(question: &Approval) -> Vec<String> {
    let yes = question.answers.iter().filter(|answer| !matches!(answer.as_str(), "no" | "never"));
    yes.map(|answer| flatten(answer).replace('_', "-")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::rig::typed;
    use super::*;

    #[test]
    fn who_acts_is_said_truly() {
        let said = |who: &str, principal: &str| {
            let text = format!(r#"{{"who":"{who}","principal":"{principal}"}}"#);
            super::who(&typed::<Approval>(&text))
        };
        assert_eq!(said("chat", "owner"), "your model");
        assert_eq!(said("run", "https://a.example"), "a model that works for https://a.example");
        assert_eq!(said("page", "https://a.example"), "the page https://a.example itself");
        assert_eq!(said("client", "client://cursor"), "the AI client cursor");
        assert_eq!(said("client", "client://x\\u001b\\ny"), "the AI client x\\u{1b} y");
        assert_eq!(said("server", "server:time"), "the server time");
        assert_eq!(said("new", "owner"), "owner (new)");
    }

    #[test]
    fn what_would_leave_is_named_with_where_it_would_go() {
        let of = |reason: &str| {
            let text = format!(
                r#"{{"tool":"gmail/send","reason":"{reason}","private":["files","browser:a.example"]}}"#
            );
            leaving(&typed::<Approval>(&text))
        };
        let said = "this would tell gmail something that comes from: files, browser:a.example";
        assert_eq!((of("leaves").as_deref(), of("writes")), (Some(said), None));
        assert_eq!(of("files").as_deref(), Some("this would hand over: files, browser:a.example"));
    }

    #[test]
    fn what_a_server_wants_of_a_model_is_no_call() {
        let question = typed::<Approval>(r#"{"tool":"s/sampling/createMessage","reason":"sampling"}"#);
        assert_eq!(wanted(&question), "to have a language model answer");
        assert_eq!(covered_by(&question, "once"), "this answer");
        assert_eq!(covered_by(&question, "always"), "all that s asks of your models from now on");
        let call = typed::<Approval>(r#"{"tool":"s/t","reason":"writes"}"#);
        assert_eq!(
            (wanted(&call).as_str(), covered_by(&call, "once").as_str()),
            ("to call s/t", "this call")
        );
    }

    #[test]
    fn a_plan_is_no_call() {
        let question = typed::<Approval>(r#"{"tool":"update_plan","reason":"plan"}"#);
        let covered = "calls within this plan, until the model has answered";
        assert_eq!(
            (wanted(&question).as_str(), covered_by(&question, "once").as_str()),
            ("to work by a plan", covered)
        );
        let standing = typed::<StandingAnswer>(r#"{"covers":"plan","what":"a.example, files, write"}"#);
        assert_eq!(covers(&standing), covered);
    }

    #[test]
    fn an_answer_that_stands_says_what_and_for_whom() {
        let of = |text: &str| {
            let answer = typed::<StandingAnswer>(text);
            (covers(&answer), whose(&answer))
        };
        let said = |covers: &str, whose: &str| (covers.to_owned(), whose.to_owned());
        assert_eq!(
            of(r#"{"covers":"flow","principal":"owner","session_id":"0123456789","private":["a","b"]}"#),
            said("anything from a, b, in this chat", "you, chat 01234567")
        );
        assert_eq!(of(r#"{"covers":"always","principal":"owner"}"#), said("this tool from now on", "you"));
        assert_eq!(
            of(r#"{"covers":"pair","principal":"client://x","session_id":"7","private":["a"]}"#),
            said("anything from a, while it stays connected", "client://x")
        );
    }

    #[test]
    fn what_may_be_typed_behind_for_is_the_yes_answers() {
        let question = typed::<Approval>(r#"{"answers":["once","chat_tool","ten_minutes","no","never"]}"#);
        assert_eq!(offered(&question), ["once", "chat-tool", "ten-minutes"]);
        assert_eq!(
            (covered("ten_minutes"), covered("new\n")),
            ("this tool for ten minutes".into(), "new".into())
        );
    }
}
