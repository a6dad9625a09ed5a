//! A client that calls tools for as long as the run goes on, and looks at every answer.
//!
//! ```text
//!  connect ─► a few requests at once ─► each one's answer judged ─► … ─► closed: connect again
//! ```
//!
//! Must never let a request go without noting how it ended.

use std::thread;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::{
    Cancel, ListServers, McpCallTool, McpCallToolResult, McpGetLogs, McpListConnections, McpListTools, Ping,
    Request,
};
use harbor_ipc_proto::field::read_object;
use harbor_tests::client::server_id;
use harbor_tests::{Answer, ErrorValue, LIMIT, Pending};
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::link::{Link, Way};
use crate::servers::Subject;
use crate::stage::Stage;

/// Between two batches, so that the callers do not take the machine from the servers.
const PAUSE: Duration = Duration::from_millis(2);

/// A call that lasts longer than anybody waits for it.
const FOR_EVER_MS: u64 = 60_000;

/// A call's timeout, its time in the queue, and what a busy machine and stopped processes add.
const SLOWEST: Duration = Duration::from_secs(25);

/// What a request is to come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// The word comes back.
    Echo,
    /// An answer after a while.
    Sleep,
    /// A timeout.
    TooLong,
    /// It is cancelled at once.
    Cancelled,
    /// Something that the bridge knows by itself, or asks the server for.
    Look,
}

/// A request without its answer.
struct Open<'a> {
    act: Act,
    subject: &'a Subject,
    word: String,
    begun: Instant,
    pending: Pending,
}

/// Calls until the run is over. The name makes its words its own.
pub fn run(stage: &Stage, name: &str, way: Way, mut dice: Dice) {
    let mut words = (1..).map(|number: u64| format!("{name}-{number}"));
    while let Some(link) = Link::open(stage, way) {
        while !stage.is_over() && batch(stage, &link, &mut dice, &mut words) {
            thread::sleep(PAUSE);
        }
        link.finish(stage);
    }
}

/// Some requests at once; false when the connection is of no more use.
fn batch(stage: &Stage, link: &Link, dice: &mut Dice, words: &mut impl Iterator<Item = String>) -> bool {
    let mut open = Vec::new();
    let count = 1 + dice.below(4);
    for word in words.by_ref().take(usize::try_from(count).unwrap_or(1)) {
        send(stage, link, dice, word, &mut open);
    }
    // A client that goes away in mid-call.
    if dice.happens(1) {
        link.close();
    }
    let mut lives = true;
    for one in open {
        let outcome = one.pending.wait(LIMIT);
        lives &=
            !matches!(&outcome, Err(error) if ["closed", "shutting_down"].contains(&error.code.as_str()));
        one.judge(stage, outcome);
    }
    if !lives && !link.wait_closed(LIMIT) {
        stage.tally.broke("a bridge that is shutting down keeps its connections".into());
    }
    lives
}

fn send<'a>(stage: &'a Stage, link: &Link, dice: &mut Dice, word: String, open: &mut Vec<Open<'a>>) {
    let subject = dice.one_of(&stage.subjects).expect("there are servers");
    let act = dice.weighted(weights(subject)).unwrap_or(Act::Echo);
    let pending = submit(stage, link, &request(subject, act, &word, dice));
    let target = pending.id.clone();
    open.push(Open { act, subject, word: word.clone(), begun: Instant::now(), pending });
    if act == Act::Cancelled {
        let pending = submit(stage, link, &Cancel { target }.into());
        open.push(Open { act: Act::Look, subject, word, begun: Instant::now(), pending });
    }
}

fn submit(stage: &Stage, link: &Link, ask: &Request) -> Pending {
    stage.tally.sent();
    link.send_any(ask)
}

fn weights(subject: &Subject) -> &'static [(Act, u64)] {
    if subject.double {
        &[(Act::Echo, 70), (Act::Sleep, 12), (Act::TooLong, 4), (Act::Cancelled, 6), (Act::Look, 8)]
    } else {
        &[(Act::Echo, 92), (Act::Look, 8)]
    }
}

fn request(subject: &Subject, act: Act, word: &str, dice: &mut Dice) -> Request {
    let sleep = |ms: u64, timeout: u64| {
        let call = subject.call("sleep", &json!({"ms": ms, "word": word}));
        McpCallTool { timeout_ms: Some(timeout), ..call }
    };
    match act {
        Act::Look => return look(subject, dice),
        Act::Sleep => sleep(20 + dice.below(300), 2000),
        Act::TooLong => sleep(FOR_EVER_MS, 200 + dice.below(800)),
        Act::Cancelled => sleep(FOR_EVER_MS, 2000),
        Act::Echo => McpCallTool { timeout_ms: Some(1000 + dice.below(1000)), ..subject.echo(word) },
    }
    .into()
}

fn look(subject: &Subject, dice: &mut Dice) -> Request {
    let server_id = server_id(subject.id);
    let looks: [Request; 5] = [
        ListServers {}.into(),
        Ping { echo: None }.into(),
        McpListConnections {}.into(),
        McpListTools { server_id: (&server_id).into(), wait_ms: None }.into(),
        McpGetLogs { server_id, limit: None, follow: None }.into(),
    ];
    dice.one_of(&looks).cloned().unwrap_or(Ping { echo: None }.into())
}

impl Open<'_> {
    fn judge(&self, stage: &Stage, outcome: Result<Answer, ErrorValue>) {
        let after = self.begun.elapsed();
        if after > SLOWEST {
            stage.tally.broke(format!("{:?} of {} took {after:?}", self.act, self.subject.id));
        }
        match outcome {
            Ok(answer) => {
                if !self.is_right(&answer) {
                    stage.tally.broke(format!("{:?} {} was answered: {}", self.act, self.word, answer.text));
                }
                stage.tally.ended("result", after);
            }
            Err(error) => {
                if !self.may_end(&error) {
                    stage.tally.broke(format!("{:?} of {} ended: {error:?}", self.act, self.subject.id));
                }
                stage.tally.ended(&name(&error), after);
            }
        }
    }

    fn is_right(&self, answer: &Answer) -> bool {
        match self.act {
            Act::Echo => called(answer).is_some_and(|called| self.subject.is_echo(&called, &self.word)),
            Act::Sleep => called(answer).is_some_and(|called| is_slept(&called)),
            Act::TooLong | Act::Cancelled => false,
            Act::Look => true,
        }
    }

    fn may_end(&self, error: &ErrorValue) -> bool {
        let mine = error.request_id == self.pending.id;
        mine && match error.code.as_str() {
            "closed" | "shutting_down" | "ERR_TOOL_TIMEOUT" => true,
            "ERR_SERVER_UNAVAILABLE" => error.details["cause"].is_string(),
            "cancelled" => self.act == Act::Cancelled,
            "not_connected" => self.act == Act::Look,
            _ => false,
        }
    }
}

fn called(answer: &Answer) -> Option<McpCallToolResult> {
    read_object(&answer.text).ok()
}

fn is_slept(called: &McpCallToolResult) -> bool {
    let result: Value = serde_json::from_str(called.result.as_str()).unwrap_or_default();
    result["content"][0]["text"] == "slept"
}

fn name(error: &ErrorValue) -> String {
    let cause = error.details["cause"].as_str().map(|cause| format!(" ({cause})"));
    format!("{}{}", error.code, cause.unwrap_or_default())
}
