//! What a session has to have kept, whatever was killed. Must not ask anybody: messages and counts come in.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::desk::{answer_to, done};

/// What is wrong with these messages, when the answers to these words have come, and so many calls with each word were made.
pub fn faults(messages: &[Value], answered: &[String], calls: &BTreeMap<String, u32>) -> Vec<String> {
    let lacking = answered.iter().filter(|word| !has_turn(messages, word));
    let mut faults: Vec<_> = lacking.map(|word| format!("{word} was answered, and is not there")).collect();
    let all_made = messages.iter().enumerate().flat_map(|(at, message)| {
        let calls = message["toolCalls"].as_array().map_or(&[][..], Vec::as_slice);
        calls.iter().map(move |call| (at, call))
    });
    faults.extend(all_made.filter_map(|(at, call)| wrong(call, &messages[at..], calls)));
    faults
}

fn text(message: &Value) -> String {
    message["content"].as_str().map_or_else(|| message["content"].to_string(), str::to_owned)
}

fn has_turn(messages: &[Value], word: &str) -> bool {
    let asked = format!("{word}/");
    let at = messages.iter().position(|said| said["role"] == "user" && text(said).contains(&asked));
    let answer = done(word);
    at.is_some_and(|at| {
        messages[at..].iter().any(|said| said["role"] == "assistant" && text(said).contains(&answer))
    })
}

/// A call has one result: what the server has answered, that it is not known, or an error.
fn wrong(call: &Value, behind: &[Value], calls: &BTreeMap<String, u32>) -> Option<String> {
    let arguments = call["arguments"]
        .as_str()
        .map_or_else(|| call["arguments"].clone(), |text| serde_json::from_str(text).unwrap_or_default());
    let word = arguments["word"].as_str().unwrap_or_default();
    let results: Vec<_> = behind.iter().filter(|said| said["toolCallId"] == call["id"]).collect();
    let [told] = results[..] else { return Some(format!("{word} has {} results", results.len())) };
    let (told, made) = (text(told), calls.get(word).copied().unwrap_or_default());
    if told.contains(&answer_to(word)) && made != 1 {
        return Some(format!("{word} is told as done, and was made {made} times"));
    }
    // That a call was not made is said like this; "did not finish" leaves it open.
    (made > 0 && told.contains("was not called") && !told.contains("did not finish"))
        .then(|| format!("{word} was made, and is told as not made: {told}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn conversation(result: &str) -> Vec<Value> {
        let call = json!({"id": "c1", "name": "desk_look", "arguments": {"word": "t-1-0"}});
        vec![
            json!({"role": "user", "content": "t-1/1"}),
            json!({"role": "assistant", "content": "", "toolCalls": [call]}),
            json!({"role": "tool", "toolCallId": "c1", "content": result}),
            json!({"role": "assistant", "content": done("t-1")}),
        ]
    }

    #[test]
    fn what_is_lost_or_told_wrong_is_found() {
        let answered = ["t-1".to_owned()];
        let (once, none) = ([("t-1-0".to_owned(), 1)].into(), BTreeMap::new());
        let whole = conversation(&answer_to("t-1-0"));
        assert_eq!(faults(&whole, &answered, &once), Vec::<String>::new());
        assert_eq!(faults(&whole, &answered, &none), ["t-1-0 is told as done, and was made 0 times"]);
        assert_eq!(faults(&whole[..3], &answered, &once), ["t-1 was answered, and is not there"]);
        assert_eq!(faults(&whole[..2], &[], &once), ["t-1-0 has 0 results"]);
        assert_eq!(faults(&conversation("It may have taken effect"), &answered, &once), Vec::<String>::new());
    }
}
