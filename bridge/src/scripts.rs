//! Scripts that AI clients, and models in turns, have Harbor run to call many tools at once.
//!
//! ```text
//!  script ─► harbor-runner-js, in a sandbox without network ─► its answer
//!               └─ tools/call ─► fewer than 64? ─► a call of its principal, as any other ─► the result, into the script
//! ```
//!
//! Owns the script's limits. Each of its calls goes the one road: permission, consent, limits and audit log judge it by itself, and the
//! conversation that it belongs to holds what the script has read before. Must never call anything in another way, or log a word of a
//! script.

mod of_clients;

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::{Fields, Json};
use harbor_ipc_proto::link::runner::AskAnswer;
use harbor_ipc_proto::source_id::SourceId;
use harbor_ipc_proto::strings::put_str;
use harbor_policy::program::JS_RUNNER;
use harbor_policy::tool_name;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::host::invalid;
use crate::link::{
    Answerer, Audience, CallError, CallParty, CallResult, EndReport, Question, ServerAnswer, TIME_TO_ANSWER,
    TimeLimit,
};
use crate::store::workplaces::Workplaces;
use crate::supervisor::{StartError, Supervisor};

pub use self::of_clients::ClientCalls;

/// Scripts that can run at once.
const MOST: u32 = 8;

/// The longest script, in bytes.
const MAX_SCRIPT: usize = 256 * 1024;

/// The calls that a script may make.
const MOST_CALLS: u32 = 64;

/// The time that it may take while none of its calls is open.
const OWN_TIME: Duration = Duration::from_secs(30);

/// The time that it may take in all.
const WHOLE_TIME: Duration = Duration::from_secs(600);

/// The time that one of its calls may take. The person answers within it, too.
const CALL_TIME: Duration = TIME_TO_ANSWER.saturating_sub(Duration::from_secs(10));

/// The longest answer, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// JSON-RPC's number for a call that was refused, in the range left to implementations.
const REFUSED: i64 = -32000;

/// The text around a script: its lines keep their numbers.
const AROUND: (&str, &str) = ("import { run } from \"harbor:code\"; await run(async (tools) => {", "\n});\n");

/// The scripts.
#[derive(Debug)]
pub struct Scripts {
    supervisor: Rc<Supervisor>,
    places: Workplaces,
}

/// A call that a script asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct ScriptCall {
    /// The source that has the tool.
    pub source: SourceId,
    /// The tool, as its source names it.
    pub tool: Arc<str>,
    /// JSON object.
    pub arguments: String,
}

/// The calls of one script: its principal's.
pub trait ScriptCalls: 'static {
    /// Makes a call on the one road. Gives MCP's CallToolResult, else the error that the script is told.
    fn call(self: Rc<Self>, call: ScriptCall) -> impl Future<Output = Result<Json, ErrorBody>>;
}

/// How a script ended.
#[derive(Debug)]
pub struct ScriptEnd {
    /// MCP's CallToolResult.
    pub result: Json,
    /// How many calls it made.
    pub calls: u32,
}

impl Scripts {
    /// Scripts in short-lived directories of this home.
    #[must_use]
    pub fn new(supervisor: Rc<Supervisor>) -> Rc<Self> {
        let places = Workplaces::new(supervisor.scripts_directory(), "script", MOST);
        Rc::new(Self { supervisor, places })
    }

    /// Runs one for `party`. Dropping this ends it, and its calls.
    ///
    /// # Errors
    /// When it is too long, too many run, or none can be started. What the script does wrong is a result that says so.
    pub async fn run(
        &self,
        script: &str,
        party: CallParty,
        calls: Rc<impl ScriptCalls>,
    ) -> Result<ScriptEnd, ErrorBody> {
        if script.len() > MAX_SCRIPT || script.contains('\0') {
            return Err(invalid("script", "a text of at most 256 KiB without NUL characters"));
        }
        let place = self.places.take("scripts run already; wait until one has ended").await?;
        let text = format!("{}{script}{}", AROUND.0, AROUND.1);
        let server = self.supervisor.script(&place.name, text, OWN_TIME, place.root.clone());
        let server =
            server.ok_or_else(|| ErrorBody::new(Code::Internal, "a script got a name that none can have"))?;
        let (asked, questions) = mpsc::unbounded_channel();
        let answerer = Answerer::of_script(move |question| drop(asked.send(question)));
        let audience = Audience { party: Some(party), answerer: Some(answerer), ..Audience::default() };
        let limit = TimeLimit::fixed(WHOLE_TIME);
        let running = RunningScript { calls, made: 0 };
        running.until(server.run_code(limit, audience), questions).await
    }
}

/// A script that runs.
struct RunningScript<C> {
    calls: Rc<C>,
    made: u32,
}

impl<C: ScriptCalls> RunningScript<C> {
    /// Makes its calls until it has ended, or its own time is over.
    async fn until(
        mut self,
        run: impl Future<Output = Result<CallResult, StartError>>,
        questions: mpsc::UnboundedReceiver<Question>,
    ) -> Result<ScriptEnd, ErrorBody> {
        let ended = within_own_time(run, questions, |question, open| self.begin(question, open)).await;
        let result = match ended {
            Some(ended) => outcome(ended)?,
            None => failed(&format!("the script took more than {} s besides its calls", OWN_TIME.as_secs())),
        };
        Ok(ScriptEnd { result, calls: self.made })
    }

    fn begin(&mut self, question: Question, open: &mut JoinSet<()>) {
        if self.made >= MOST_CALLS {
            return question.answer(refusal(format!("a script makes at most {MOST_CALLS} calls")));
        }
        self.made += 1;
        let call = match call_of(&question.params) {
            Ok(call) => call,
            Err(error) => return question.answer(refusal(error.message)),
        };
        let calls = self.calls.clone();
        open.spawn_local(async move {
            question.answer(match tokio::time::timeout(CALL_TIME, calls.call(call)).await {
                Ok(Ok(result)) => AskAnswer::Result(result.into_string().into()),
                Ok(Err(error)) => refusal(error.message),
                Err(_) => refusal(format!("it had no answer within {} s", CALL_TIME.as_secs())),
            });
        });
    }
}

/// Runs until the end, beginning each call that is asked for. None if the time is over that may pass while no call is open.
async fn within_own_time<R, Q>(
    run: impl Future<Output = R>,
    mut asked: mpsc::UnboundedReceiver<Q>,
    mut begin: impl FnMut(Q, &mut JoinSet<()>),
) -> Option<R> {
    tokio::pin!(run);
    let (mut open, mut left) = (JoinSet::new(), OWN_TIME);
    loop {
        let (began, is_own) = (Instant::now(), open.is_empty());
        tokio::select! {
            biased;
            ended = &mut run => return Some(ended),
            Some(call) = asked.recv() => begin(call, &mut open),
            Some(_) = open.join_next() => {}
            () = tokio::time::sleep(left), if is_own => return None,
        }
        if is_own {
            left = left.saturating_sub(began.elapsed());
        }
    }
}

/// The call that a script asks for.
///
/// # Errors
/// A sentence for the script's author.
fn call_of(params: &Json) -> Result<ScriptCall, ErrorBody> {
    let wrong = |what: String| ErrorBody::new(Code::InvalidParams, what);
    let fields =
        Fields::parse(params.as_str().as_bytes()).map_err(|_| wrong("a call is an object".into()))?;
    let name = fields.get("name").and_then(|name| serde_json::from_str::<String>(name).ok());
    let name = name.ok_or_else(|| wrong("a call has the name of its tool".into()))?;
    let (source, tool) = tool_name::split(&name)
        .map_err(|_| wrong(format!("there is no tool {name:.200}: use tools.SERVER.TOOL(…)")))?;
    let arguments = fields.get("arguments").unwrap_or("{}");
    if !arguments.starts_with('{') {
        return Err(wrong(format!("the arguments of {name:.200} are no object")));
    }
    Ok(ScriptCall { source, tool: tool.into(), arguments: arguments.to_owned() })
}

fn refusal(message: impl Into<Cow<'static, str>>) -> AskAnswer<'static> {
    AskAnswer::Refused { code: REFUSED, message: message.into() }
}

/// The result that its principal is told.
///
/// # Errors
/// When its interpreter was not there.
fn outcome(ended: Result<CallResult, StartError>) -> Result<Json, ErrorBody> {
    let answer = match ended {
        Ok(Ok(answer)) => answer,
        Ok(Err(CallError::Ended(report))) => return Ok(failed(&words_of(&report))),
        Ok(Err(CallError::Timeout | CallError::Unanswered)) => {
            return Ok(failed(&format!("the script took more than {} s", WHOLE_TIME.as_secs())));
        }
        Ok(Err(CallError::RunnerLost | CallError::Congested)) => {
            return Err(ErrorBody::new(Code::ConnectionFailed, "the script's process is gone; try again"));
        }
        Err(StartError::Failed(report)) if report.exit_code.is_some() => {
            return Ok(failed(&words_of(&report)));
        }
        Err(StartError::Failed(report)) => {
            let why = format!("no script can be run: {}", report.message);
            return Err(ErrorBody::new(Code::ConnectionFailed, why));
        }
        Err(StartError::Stopped) => {
            return Err(ErrorBody::new(Code::ConnectionFailed, "the script was stopped while it started"));
        }
    };
    Ok(match answer {
        ServerAnswer::Result(result) | ServerAnswer::ToolError(result) => match result.as_str().len() {
            bytes if bytes > MAX_ANSWER => failed(&format!(
                "the script's answer has {bytes} bytes, and at most {MAX_ANSWER} are taken; return less"
            )),
            _ => result,
        },
        _ => failed("the script's interpreter gave no answer"),
    })
}

/// The last line of its stderr, which says what ended it.
fn words_of(report: &EndReport) -> String {
    let tail = report.stderr_tail.trim_end();
    let tail = tail.strip_prefix(JS_RUNNER).and_then(|said| said.strip_prefix(": ")).unwrap_or(tail);
    if tail.is_empty() { report.message.clone() } else { tail.to_owned() }
}

/// A result that says what was wrong.
fn failed(words: &str) -> Json {
    let mut out = b"{\"content\":[{\"type\":\"text\",\"text\":".to_vec();
    put_str(&mut out, words);
    out.extend_from_slice(b"}],\"isError\":true}");
    Json::from_valid(String::from_utf8(out).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of a script that is ready after `ready`, with a call of that length at its beginning.
    async fn ends(ready: u64, call: u64) -> bool {
        let (ask, asked) = mpsc::unbounded_channel();
        ask.send(Duration::from_secs(call)).unwrap();
        let run = tokio::time::sleep(Duration::from_secs(ready));
        let begin = |call, open: &mut JoinSet<()>| drop(open.spawn_local(tokio::time::sleep(call)));
        within_own_time(run, asked, begin).await.is_some()
    }

    #[tokio::test(flavor = "local", start_paused = true)]
    async fn a_script_has_its_own_time_and_that_of_its_calls() {
        assert!(ends(29, 0).await);
        assert!(!ends(31, 0).await);
        assert!(ends(149, 120).await);
        assert!(!ends(151, 120).await);
    }

    #[test]
    fn what_is_no_call_of_a_tool_is_told() {
        let of = |params: &str| call_of(&Json::from_valid(params.into()));
        let call = of(r#"{"name":"time/now","arguments":{"n":1e2}}"#).unwrap();
        let called = (call.source.as_str(), &*call.tool, call.arguments.as_str());
        assert_eq!(called, ("time", "now", r#"{"n":1e2}"#));
        for (params, said) in [
            ("[]", "a call is an object"),
            ("{}", "the name of its tool"),
            (r#"{"name":"time"}"#, "tools.SERVER.TOOL"),
            (r#"{"name":"time/now","arguments":7}"#, "are no object"),
        ] {
            let why = of(params).unwrap_err().message;
            assert!(why.contains(said), "{params}: {why}");
        }
    }
}
