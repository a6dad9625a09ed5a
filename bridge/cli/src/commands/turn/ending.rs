//! The end of a turn, and the tokens that it used, in words.
//!
//! Owns the advice to the person about it.

use harbor_ipc_proto::client::{ChatSendMessageResult, ChatUsage};

use crate::money::dollars;
use crate::table::flatten;

/// The remark about an end other than an answer. `more`: advice for getting further.
pub fn remark(ended: &str, more: &str) -> Option<String> {
    let what = match ended {
        "done" => return None,
        "stopped" => {
            return Some("harbor: the answer was stopped; the part that arrived stands above".into());
        }
        "rounds" => "the model reached the turn's limit of rounds",
        "calls" => "the model reached its limit of tool calls",
        "tokens" => "the turn reached its limit of tokens",
        "time" => "the turn reached its time limit",
        "repeats" => {
            return Some(
                "harbor: the model repeated the same call with the same result; ask differently, or say what it \
                 lacks".into(),
            );
        }
        other => return Some(format!("harbor: it ended early ({})", flatten(other))),
    };
    Some(format!("harbor: {what}, so it answered with what it had; {more}"))
}

/// `p:m: 12 tokens in, 7 out, $0.0042; 2 tool calls`.
pub fn spent(answer: &ChatSendMessageResult) -> String {
    let whom = match (&answer.provider, &answer.model) {
        (Some(provider), Some(model)) => format!("{provider}:{model}"),
        (Some(one), None) | (None, Some(one)) => one.clone(),
        (None, None) => "in all".into(),
    };
    let calls = match answer.steps.len() {
        0 => String::new(),
        1 => "; 1 tool call".into(),
        calls => format!("; {calls} tool calls"),
    };
    format!("{}: {}{calls}", flatten(&whom), tokens(&answer.usage))
}

/// `12 tokens in, 7 out, $0.0042`. A model on this machine is free, and that is not said each time.
pub fn tokens(usage: &ChatUsage) -> String {
    let about = if usage.exactness == "exact" { "" } else { "about " };
    let cached = match usage.cached_tokens {
        0 => String::new(),
        cached => format!(" ({cached} of them from a cache)"),
    };
    let cost = match usage.cost_microdollars {
        Some(0) => String::new(),
        Some(cost) => format!(", {about}{}", dollars(cost)),
        None => ", price unknown".into(),
    };
    format!("{about}{} tokens in{cached}, {} out{cost}", usage.input_tokens, usage.output_tokens)
}

#[cfg(test)]
mod tests {
    use super::super::super::rig::typed;
    use super::*;

    #[test]
    fn each_end_but_an_answer_says_what_to_do() {
        assert_eq!(remark("done", "x"), None);
        for ended in ["rounds", "calls", "tokens", "time"] {
            assert!(remark(ended, "ask for less").unwrap().ends_with("; ask for less"), "{ended}");
        }
        assert_eq!(remark("new\u{1b}", "x").unwrap(), "harbor: it ended early (new\\u{1b})");
    }

    #[test]
    fn what_it_took_is_said_in_a_line() {
        let answer = typed::<ChatSendMessageResult>(
            r#"{"provider":"p","model":"m","usage":{"input_tokens":12,"output_tokens":7,"cached_tokens":4,"exactness":"estimated"},"steps":[{"tool":"a/b"}]}"#,
        );
        let words = "p:m: about 12 tokens in (4 of them from a cache), 7 out";
        assert_eq!(spent(&answer), format!("{words}, price unknown; 1 tool call"));
        let cost = |microdollars| ChatUsage { cost_microdollars: Some(microdollars), ..answer.usage.clone() };
        assert_eq!(tokens(&cost(4_200)), "about 12 tokens in (4 of them from a cache), 7 out, about $0.0042");
        assert_eq!(format!("p:m: {}", tokens(&cost(0))), words);
    }
}
