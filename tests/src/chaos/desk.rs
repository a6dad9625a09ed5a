//! What conversations need: a model that wants as many calls as it is told to, and a server that counts each of them.
//!
//! ```text
//!  "talk-7/3" ─► two calls (talk-7-0, talk-7-1) ─► one more (talk-7-2) ─► "done talk-7"
//! ```
//!
//! Both are of this program, so that what was called is known whatever is killed. Must never answer a call without counting it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use harbor_tests::Scripted;
use harbor_tests::provider::{Provider, Round, Say};
use harbor_tests::scripted::{Asked, result, text};
use serde_json::{Value, json};

/// The server's name.
pub const ID: &str = "desk";

/// How long a call takes: long enough to be hit.
const CALL: Duration = Duration::from_millis(30);

type Counts = Arc<Mutex<BTreeMap<String, u32>>>;

/// Both.
#[derive(Debug)]
pub struct Desk {
    /// The model.
    pub provider: Provider,
    /// The server.
    pub server: Scripted,
    calls: Counts,
}

impl Desk {
    /// Starts them.
    pub fn start() -> Self {
        let calls = Counts::default();
        let server = Scripted::start({
            let calls = calls.clone();
            move |asked, stream| match asked.method() {
                "tools/list" => result(asked, stream, &json!({"tools": [tool()]})),
                "tools/call" => {
                    let word = word_of(asked);
                    *lock(&calls).entry(word.clone()).or_default() += 1;
                    thread::sleep(CALL);
                    result(asked, stream, &text(&answer_to(&word)))
                }
                _ => false,
            }
        });
        Self { provider: Provider::start(said), server, calls }
    }

    /// How often each call came, by its word.
    pub fn calls(&self) -> MutexGuard<'_, BTreeMap<String, u32>> {
        lock(&self.calls)
    }
}

fn lock(calls: &Mutex<BTreeMap<String, u32>>) -> MutexGuard<'_, BTreeMap<String, u32>> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tool() -> Value {
    json!({"name": "look", "description": "Looks.", "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": true, "openWorldHint": false}})
}

fn word_of(asked: &Asked) -> String {
    asked.body["params"]["arguments"]["word"].as_str().unwrap_or_default().to_owned()
}

/// What a call with this word is answered.
pub fn answer_to(word: &str) -> String {
    format!("answer-to-{word}.")
}

/// What the model says in the end to a message with this word.
pub fn done(word: &str) -> String {
    format!("done {word}.")
}

/// A message that is to come to so many calls.
pub fn message(word: &str, calls: u64) -> String {
    format!("{word}/{calls}")
}

/// What the model does next: behind the last message, as many calls as that one wants.
fn said(round: &Round) -> Say {
    let messages = round.body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let at = messages.iter().rposition(|message| message["role"] == "user").unwrap_or_default();
    let wanted = messages[at]["content"].as_str().and_then(wanted);
    let Some((word, calls)) = wanted else { return Say::Text("what?".into()) };
    let made = messages[at..].iter().filter(|message| message["role"] == "tool").count();
    let ids = ["c0", "c1", "c2"].into_iter().enumerate();
    let next = ids.skip(made).take(calls.saturating_sub(made).min(2));
    let next: Vec<_> = next
        .map(|(number, id)| (id, round.tool("look"), json!({"word": format!("{word}-{number}")}).to_string()))
        .collect();
    if next.is_empty() { Say::Text(done(word)) } else { Say::Calls(next) }
}

/// The word and the number of a message, whatever stands around it.
fn wanted(text: &str) -> Option<(&str, usize)> {
    let mut words = text.split_ascii_whitespace().rev();
    words.find_map(|part| part.split_once('/').and_then(|(word, calls)| Some((word, calls.parse().ok()?))))
}
