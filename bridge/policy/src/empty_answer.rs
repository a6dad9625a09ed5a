//! An answer without a text and without a call: whether that is one, and what the person is told otherwise.
//!
//! Owns these sentences. Must never call such an answer good, but where the request itself allows it.

use harbor_ipc_proto::model::{Finish, Options};

/// The parts that have come instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emptiness {
    /// True if the model has told thoughts.
    pub thought: bool,
    /// True if it began a call that is not whole.
    pub began_call: bool,
}

/// Why an empty answer is none; none if it is one, since it may end before its first word. `raw` is the provider's own word for how
/// it ended.
#[must_use]
pub fn why(empty: Emptiness, finish: Finish, raw: Option<&str>, options: &Options) -> Option<String> {
    let Emptiness { thought, began_call } = empty;
    let limit = match (options.max_tokens, options.context_window) {
        (Some(most), _) => format!("its limit of {most} tokens (--max-tokens, `max_tokens`)"),
        (None, Some(window)) => format!("the end of its window of {window} tokens"),
        (None, None) => "its provider's limit of tokens".to_owned(),
    };
    match finish {
        // The person is told the provider's own word.
        Finish::Error => None,
        Finish::Length if thought => Some(format!(
            "the model only thought, and was cut off at {limit}; raise it, or have the model think less"
        )),
        Finish::Length if began_call => {
            Some(format!("the model was cut off in the midst of a call, at {limit}"))
        }
        Finish::Length => Some(format!("the model was cut off before its first word, at {limit}")),
        Finish::Stop | Finish::ToolCalls if raw == Some("load") => {
            Some("the provider was asked nothing: it has loaded the model, and no more".to_owned())
        }
        Finish::Stop | Finish::ToolCalls if thought => {
            Some("the model only thought, and gave no answer; ask again, or have it think less".to_owned())
        }
        // The first thing that it wanted to say may have been one of these texts.
        Finish::Stop | Finish::ToolCalls if !options.stop.is_empty() => None,
        Finish::Stop | Finish::ToolCalls => {
            Some("the model gave no answer: neither a text nor a call".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Emptiness = Emptiness { thought: false, began_call: false };

    #[test]
    fn each_way_to_say_nothing_has_its_words() {
        let thoughts = Emptiness { thought: true, began_call: false };
        let call = Emptiness { thought: false, began_call: true };
        let most = Options { max_tokens: Some(40), ..Options::default() };
        let none = Options::default();
        let rows = [
            (thoughts, Finish::Stop, None, &none, "only thought, and gave no answer"),
            (
                thoughts,
                Finish::Length,
                None,
                &most,
                "only thought, and was cut off at its limit of 40 tokens",
            ),
            (call, Finish::Length, None, &most, "in the midst of a call, at its limit of 40"),
            (NOTHING, Finish::Length, None, &none, "before its first word, at its provider's limit"),
            (NOTHING, Finish::Stop, Some("load"), &none, "was asked nothing"),
            (NOTHING, Finish::Stop, Some("stop"), &none, "neither a text nor a call"),
        ];
        for (empty, finish, raw, options, wanted) in rows {
            let why = why(empty, finish, raw, options).unwrap();
            assert!(why.contains(wanted), "{why}");
        }
        let window = Options { context_window: Some(8192), ..Options::default() };
        assert!(why(thoughts, Finish::Length, None, &window).unwrap().contains("window of 8192 tokens"));
    }

    #[test]
    fn an_answer_may_end_before_its_first_word_where_the_request_allows_it() {
        let stops = Options { stop: vec!["\n".into()], ..Options::default() };
        assert_eq!(why(NOTHING, Finish::Stop, None, &stops), None);
        assert!(why(NOTHING, Finish::Length, None, &stops).is_some());
        assert_eq!(why(NOTHING, Finish::Error, Some("content_filter"), &Options::default()), None);
    }
}
