//! A session between a bridge and a server that are both played here: what goes up, and what goes down.

use std::cell::RefCell;
use std::future::Future as _;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use harbor_child::outbox::{Outbox, Sink};
use harbor_ipc_proto::frame::{FrameDecoder, Popped as Frame};
use harbor_ipc_proto::link::codec::{MAX_MESSAGE, get_message};
use harbor_ipc_proto::link::runner::{AskAnswer, Era, FromRunner, Launch, Operation};
use serde_json::{Value, json};

use super::super::schemas::Schema;
use super::super::{Contacted, Offers};
use super::*;
use crate::mcp::line::Popped;
use crate::to_bridge::Up;

/// What an outbox wrote.
#[derive(Default)]
struct Written(RefCell<Vec<u8>>);

impl Sink for Written {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn poll_writable(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn drain(outbox: &Outbox) -> Vec<u8> {
    let written = Written::default();
    let driving = std::pin::pin!(outbox.drive(&written));
    assert!(driving.poll(&mut Context::from_waker(Waker::noop())).is_pending());
    written.0.take()
}

struct Stage {
    session: Session,
    up: Rc<Up>,
}

impl Stage {
    fn new(era: Era) -> Self {
        Self::offering(era, true)
    }

    fn offering(era: Era, tools: bool) -> Self {
        let up = Rc::new(Up::new());
        let session =
            Session::new(7, "me".into(), up.clone(), &Launch { max_line: 1024 * 1024, ..Launch::default() });
        let offers = Offers { tools, ..Offers::default() };
        *session.contacted.borrow_mut() = Some(Contacted { era, offers });
        Self { session, up }
    }

    /// A session that has fetched these tools.
    fn with(era: Era, check_output: bool, tools: &Value) -> Self {
        let stage = Self::new(era);
        stage.fetch(check_output, tools);
        stage.told();
        stage
    }

    fn fetch(&self, check_output: bool, tools: &Value) {
        self.session.call(1, false, None, &Operation::FetchTools { check_output });
        self.answer(&json!({"tools": tools}));
    }

    fn call(&self, id: u64, tool: &str, arguments: &str) {
        let operation = Operation::CallTool { name: tool.into(), arguments: arguments.into(), task: None };
        self.session.call(id, false, None, &operation);
    }

    /// The requests that the server has read since the last look.
    fn sent(&self) -> Vec<Value> {
        let bytes = drain(&self.session.stdin.borrow());
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    /// Answers the one request that was sent.
    fn answer(&self, result: &Value) {
        let sent = self.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        let line = json!({"jsonrpc": "2.0", "id": sent[0]["id"], "result": result}).to_string();
        self.session.on_line(&Popped::Line(line.as_bytes()));
    }

    /// Refuses the one request that was sent.
    fn refuse(&self, code: i64) {
        let sent = self.sent();
        let error = json!({"code": code, "message": "no"});
        let line = json!({"jsonrpc": "2.0", "id": sent[0]["id"], "error": error}).to_string();
        self.session.on_line(&Popped::Line(line.as_bytes()));
    }

    /// What the bridge was told since the last look.
    fn told(&self) -> Vec<FromRunner<'static>> {
        let mut frames = FrameDecoder::new(MAX_MESSAGE);
        let mut told = Vec::new();
        let bytes = drain(self.up.outbox());
        for piece in bytes.chunks(1000) {
            frames.space()[..piece.len()].copy_from_slice(piece);
            frames.filled(piece.len());
            while let Some(Frame::Frame(body)) = frames.pop() {
                told.push(get_message(Box::leak(body.to_vec().into_boxed_slice())).unwrap());
            }
        }
        told
    }

    /// Sends a call and answers it.
    /// The same with a result's own text.
    fn round_trip_of(&self, tool: &str, result: &str) -> Vec<FromRunner<'static>> {
        self.call(9, tool, "{}");
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}", self.sent()[0]["id"]);
        self.session.on_line(&Popped::Line(line.as_bytes()));
        self.told()
    }

    fn round_trip(&self, tool: &str, result: &Value) -> Vec<FromRunner<'static>> {
        self.call(9, tool, "{}");
        self.answer(result);
        self.told()
    }
}

fn reply(id: u64, outcome: Outcome<'static>) -> FromRunner<'static> {
    FromRunner::Reply { server: 7, id, outcome }
}

fn remark(text: &str) -> FromRunner<'static> {
    FromRunner::Log { server: 7, source: LogSource::Runner, level: None, text: text.to_owned().into() }
}

fn invalid_arguments(path: &'static str, why: &'static str) -> Outcome<'static> {
    Outcome::Failed(CallFailure::InvalidArguments { path: path.into(), why: why.into() })
}

/// What the log says of results of `t` that do not fit.
fn unfit(why: &str) -> FromRunner<'static> {
    remark(&format!("a result of tool \"t\" does not fit its outputSchema: {why}; Harbor passes it on"))
}

fn result(value: &Value) -> Outcome<'static> {
    Outcome::Result(value.to_string().into())
}

/// A tool that wants a number `n`.
fn strict() -> Value {
    json!({"name": "t", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}})
}

/// A tool that gives a number `n`.
fn giving() -> Value {
    let output = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    json!([{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": output}])
}

#[test]
fn the_pages_of_a_fetched_list_go_up_whole_and_taken_apart() {
    let stage = Stage::new(Era::Legacy);
    stage.session.call(1, false, None, &Operation::FetchTools { check_output: false });
    stage.answer(&json!({"tools": [{"name": "a", "title": "A"}, {"title": "none"}], "nextCursor": "x"}));
    stage.answer(&json!({"tools": [{"name": "b"}]}));
    let told = stage.told();
    let [log, FromRunner::Reply { server: 7, id: 1, outcome: Outcome::Tools { items, tools, .. } }] =
        &told[..]
    else {
        panic!("{told:?}")
    };
    assert_eq!(*log, remark("1 items of tools/list are left out; the first because it has no name"));
    assert_eq!(items, r#"[{"name":"a","title":"A"},{"title":"none"},{"name":"b"}]"#);
    assert_eq!(*tools, read_tools(items).0);
    assert_eq!(tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_tool_that_is_nested_too_deep_is_a_remark_and_in_no_list() {
    let stage = Stage::new(Era::Legacy);
    let mut deep = json!({"name": "deep", "inputSchema": []});
    for _ in 0..200 {
        deep["inputSchema"] = json!([deep["inputSchema"].take()]);
    }
    stage.fetch(false, &json!([deep, strict()]));
    let told = stage.told();
    let [log, FromRunner::Reply { outcome: Outcome::Tools { tools, .. }, .. }] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(
        *log,
        remark("1 items of tools/list are left out; the first because it is nested more than 128 deep")
    );
    assert_eq!(tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), ["t"]);
}

#[test]
fn a_tool_whose_name_means_something_else_is_in_no_list_and_a_flaw_says_why() {
    let stage = Stage::new(Era::Legacy);
    let named = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    stage.fetch(false, &json!([named("*"), named("-x"), named("a/../b"), named("__proto__"), strict()]));
    let told = stage.told();
    let [log, FromRunner::Reply { outcome: Outcome::Tools { tools, flaws, .. }, .. }] = &told[..] else {
        panic!("{told:?}")
    };
    let flaw =
        "4 items of tools/list are left out; the first because its name is `*`, which means every tool";
    assert_eq!((log, &flaws[..]), (&remark(flaw), &[flaw.into()][..]));
    assert_eq!(tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), ["t"]);
}

#[test]
fn a_server_that_announces_no_tools_is_asked_and_may_not_know_the_request() {
    let stage = Stage::offering(Era::Legacy, false);
    stage.fetch(true, &json!([strict()]));
    let told = stage.told();
    let [FromRunner::Reply { outcome: Outcome::Tools { tools, .. }, .. }] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!(tools.len(), 1);
    stage.session.call(1, false, None, &Operation::FetchTools { check_output: true });
    stage.refuse(-32601);
    assert_eq!(
        stage.told(),
        [reply(1, Outcome::Tools { items: "[]".into(), tools: Vec::new(), flaws: Vec::new() })]
    );
    stage.session.call(2, false, None, &Operation::FetchTools { check_output: true });
    stage.refuse(-32603);
    let [FromRunner::Reply { outcome: Outcome::ServerError { code: -32603, .. }, .. }] = &stage.told()[..]
    else {
        panic!()
    };
}

#[test]
fn arguments_that_do_not_fit_are_not_sent() {
    for era in [Era::Legacy, Era::Modern] {
        let stage = Stage::with(era, false, &json!([strict()]));
        stage.call(2, "t", r#"{"n":"one"}"#);
        let why = r#"it is not of type "integer""#;
        assert_eq!(stage.told(), [reply(2, invalid_arguments("/n", why))]);
        let task = Operation::CallTool {
            name: "t".into(),
            arguments: r#"{"n":[]}"#.into(),
            task: Some("{}".into()),
        };
        stage.session.call(3, false, None, &task);
        assert_eq!(stage.told(), [reply(3, invalid_arguments("/n", why))]);
        assert_eq!(stage.sent(), Vec::<Value>::new());
        stage.call(5, "t", r#"{"n":1}"#);
        assert_eq!(stage.sent()[0]["params"]["arguments"], json!({"n": 1}));
    }
}

#[test]
fn a_tool_that_is_not_in_the_list_is_called_unchecked() {
    let stage = Stage::new(Era::Legacy);
    stage.call(2, "t", "no JSON at all, which only the bridge's own checks keep away");
    assert_eq!(drain(&stage.session.stdin.borrow()).iter().filter(|byte| **byte == b'\n').count(), 1);
    stage.fetch(false, &json!([strict()]));
    stage.told();
    stage.call(3, "other", r#"{"n":"one"}"#);
    assert_eq!((stage.sent().len(), stage.told()), (1, Vec::new()));
}

#[test]
fn the_newest_fetched_list_counts_and_a_plain_list_does_not() {
    let stage = Stage::with(Era::Legacy, false, &json!([strict()]));
    stage.session.call(2, false, None, &Operation::ListTools);
    stage.answer(&json!({"tools": []}));
    stage.told();
    stage.call(3, "t", r#"{"n":"one"}"#);
    assert_eq!(stage.told(), [reply(3, invalid_arguments("/n", r#"it is not of type "integer""#))]);
    let other = json!({"name": "t", "inputSchema": {"properties": {"n": {"type": "string"}}}});
    stage.fetch(false, &json!([other]));
    stage.told();
    stage.call(4, "t", r#"{"n":"one"}"#);
    assert_eq!(stage.sent().len(), 1);
    stage.fetch(false, &json!([]));
    stage.call(5, "t", r#"{"n":5}"#);
    assert_eq!(stage.sent().len(), 1);
}

#[test]
fn a_schema_that_cannot_be_used_is_a_remark_once_and_no_refusal() {
    let broken =
        json!([{"name": "a\u{202e}", "inputSchema": {"$ref": format!("https://{}", "x".repeat(400))}}]);
    let stage = Stage::with(Era::Legacy, false, &broken);
    for _ in 0..2 {
        stage.call(2, "a\u{202e}", "{}");
        assert_eq!(stage.sent().len(), 1);
    }
    let told = stage.told();
    let [FromRunner::Log { text, .. }] = &told[..] else { panic!("{told:?}") };
    assert!(
        text.starts_with(r#"the arguments of tool "a\u{202e}" are not checked: its schema refers to"#),
        "{text}"
    );
    assert!(text.len() < 260, "{text}");
    stage.fetch(false, &broken);
    stage.told();
    stage.call(3, "a\u{202e}", "{}");
    assert_eq!((stage.sent().len(), stage.told()), (1, Vec::new()), "the same text once more");
}

#[test]
fn large_arguments_are_a_remark_once_and_no_refusal() {
    let stage = Stage::with(Era::Legacy, false, &json!([strict()]));
    let large = json!({"n": "x".repeat(1024 * 1024)}).to_string();
    for _ in 0..2 {
        stage.call(2, "t", &large);
        assert_eq!(stage.sent().len(), 1);
    }
    let text = r#"the arguments of tool "t" were not checked: the data is longer than 1 MiB"#;
    assert_eq!(stage.told(), [remark(text)]);
}

/// JSON that has no value here.
fn unread() -> [String; 4] {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    [deep, "1e999".into(), "7".repeat(5000), r#""\ud800""#.into()]
}

#[test]
fn arguments_that_cannot_be_read_are_a_remark_once_and_no_refusal() {
    for value in unread() {
        let stage = Stage::with(Era::Legacy, false, &json!([strict()]));
        let arguments = format!("{{\"n\":{value}}}");
        for id in 2..4 {
            stage.call(id, "t", &arguments);
            let sent = String::from_utf8(drain(&stage.session.stdin.borrow())).unwrap();
            assert!(sent.contains(&format!("\"arguments\":{arguments}")), "{sent:.200}");
        }
        let text = "the arguments of tool \"t\" were not checked: \
                    the data has a number, a text or a depth that Harbor cannot read";
        assert_eq!(stage.told(), [remark(text)]);
    }
}

#[test]
fn results_that_cannot_be_read_are_a_remark_once_and_no_refusal() {
    for value in unread() {
        let stage = Stage::with(Era::Legacy, true, &giving());
        let result = format!("{{\"structuredContent\":{{\"n\":{value}}}}}");
        let told: Vec<_> = (0..2).flat_map(|_| stage.round_trip_of("t", &result)).collect();
        let text = "the results of tool \"t\" were not checked: \
                    the data has a number, a text or a depth that Harbor cannot read";
        let whole = || reply(9, Outcome::Result(result.clone().into()));
        assert_eq!(told, [remark(text), whole(), whole()]);
    }
}

#[test]
fn a_result_that_does_not_fit_the_output_schema_is_passed_on_and_remarked_on_once() {
    let rows = [
        (r#"{"structuredContent":{"n":"sesame"}}"#, "the rule /properties/n/type is broken"),
        (r#"{"structuredContent":[1,2]}"#, "the rule /type is broken"),
        (r#"{"structuredContent":null}"#, "the rule /type is broken"),
        (r#"{"content":[]}"#, "it has no structuredContent"),
        (
            r#"{"structuredContent":{"n":1},"structuredContent":{"n":"x"}}"#,
            "it has structuredContent or isError twice",
        ),
    ];
    for era in [Era::Legacy, Era::Modern] {
        for (text, why) in rows {
            let stage = Stage::with(era, true, &giving());
            let whole = || reply(9, Outcome::Result(text.into()));
            assert_eq!(stage.round_trip_of("t", text), [unfit(why), whole()], "{text}");
            assert_eq!(stage.round_trip_of("t", text), [whole()], "{text}");
        }
        let fine = [
            json!({"content": [], "structuredContent": {"n": 1}, "isError": false}),
            json!({"content": [], "isError": true}),
            json!({"content": [], "structuredContent": {"n": "x"}, "isError": true}),
            json!({"content": [], "structuredContent": {"n": "x".repeat(64 * 1024)}}),
        ];
        let stage = Stage::with(era, true, &giving());
        for value in fine {
            let text = value.to_string().into();
            let outcome =
                if value["isError"] == true { Outcome::ToolError(text) } else { Outcome::Result(text) };
            assert_eq!(stage.round_trip("t", &value), [reply(9, outcome)]);
        }
    }
}

#[test]
fn results_are_left_alone_where_that_is_not_wanted_or_they_are_a_task() {
    let unchecked = Stage::with(Era::Legacy, false, &giving());
    let value = json!({"structuredContent": {"n": "one"}});
    assert_eq!(unchecked.round_trip("t", &value), [reply(9, result(&value))]);
    let stage = Stage::with(Era::Legacy, true, &giving());
    let task = Operation::CallTool { name: "t".into(), arguments: "{}".into(), task: Some("{}".into()) };
    stage.session.call(9, false, None, &task);
    let handle = json!({"task": {"taskId": "1"}});
    stage.answer(&handle);
    assert_eq!(stage.told(), [reply(9, result(&handle))]);
    stage.call(9, "t", "{}");
    let id = stage.sent()[0]["id"].to_string();
    stage.fetch(true, &json!([]));
    stage.told();
    let line = format!("{{\"id\":{id},\"result\":{value}}}");
    stage.session.on_line(&Popped::Line(line.as_bytes()));
    assert_eq!(stage.told(), [reply(9, result(&value))], "the tool is gone meanwhile");
}

#[test]
fn a_call_that_is_sent_again_has_its_last_result_checked() {
    let stage = Stage::with(Era::Modern, true, &giving());
    stage.call(9, "t", "{}");
    let asks = json!({"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}});
    stage.answer(&asks);
    let told = stage.told();
    let [FromRunner::Ask { ask, .. }] = &told[..] else { panic!("{told:?}") };
    stage.session.answer(*ask, &AskAnswer::Result("{}".into()));
    stage.answer(&json!({"structuredContent": {}}));
    assert_eq!(stage.told()[0], unfit("the rule /required is broken"));
}

#[test]
fn few_schemas_stay_compiled() {
    let tool = |n: usize, patterns: usize| {
        let patterns: serde_json::Map<_, _> =
            (0..patterns).map(|p| (format!("^{p}$"), json!(true))).collect();
        json!({"name": n.to_string(), "inputSchema": {"required": ["a"], "patternProperties": patterns}})
    };
    let list: Vec<_> = (0..40).map(|n| tool(n, 1)).chain((40..44).map(|n| tool(n, 60))).collect();
    let stage = Stage::with(Era::Legacy, false, &json!(list));
    let compiled = || {
        let tools = stage.session.tools.borrow();
        let all = tools.known.iter().filter(|(_, tool)| tool.input.as_ref().is_some_and(Schema::is_compiled));
        let mut names: Vec<usize> = all.map(|(name, _)| name.parse().unwrap()).collect();
        names.sort_unstable();
        names
    };
    let call = |n: usize| {
        stage.call(2, &n.to_string(), "{}");
        let why = r#""a" is a required property"#;
        assert_eq!(stage.told(), [reply(2, invalid_arguments("", why))]);
    };
    assert_eq!(compiled(), Vec::<usize>::new());
    (0..32).for_each(call);
    call(0);
    call(32);
    let kept: Vec<_> = [0].into_iter().chain(2..33).collect();
    assert_eq!(compiled(), kept, "the one that was used the longest ago is gone");
    call(40);
    assert_eq!(compiled().len(), 32);
    call(41);
    assert_eq!(compiled(), [41], "two of them have too many patterns together");
}
