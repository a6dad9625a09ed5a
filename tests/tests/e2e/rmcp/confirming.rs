//! An AI client's call of a tool that says that it destroys: the person is asked by a form of its client.

use harbor_tests::rmcp_server::Generation::{self, Newer, Older};
use harbor_tests::{Bridge, Double, Home, LIMIT};
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ElicitRequestParams, ElicitResult, ElicitationAction, JsonObject,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::client::{AiClient, Heard, Way};

const TOOLS: &str = r#"[
    {"name":"drop","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}},
    {"name":"mild","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}},
    {"name":"note","inputSchema":{"type":"object"},"annotations":{"destructiveHint":false}},
    {"name":"plain","inputSchema":{"type":"object"}}
]"#;

const DECLINED: &str = "the person refused this call of s/drop; nothing was done";

fn double(home: &Home) -> Double {
    // The person knows better of two.
    Double::sound(home).offering(TOOLS).supervision(&json!({"destroys": ["note"], "writes": ["mild"]}))
}

async fn call(client: &AiClient, tool: &str, arguments: Value) -> CallToolResult {
    let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
    let params = CallToolRequestParams::new(format!("s__{tool}")).with_arguments(arguments);
    timeout(LIMIT, client.service.call_tool(params)).await.expect("an answer within the limit").unwrap()
}

/// What the person was asked, and the answers to choose from.
async fn asked(client: &mut AiClient) -> (String, Value) {
    let Heard::Elicitation(ElicitRequestParams::FormElicitationParams { message, requested_schema, .. }) =
        client.hear().await
    else {
        panic!("it was not asked by a form");
    };
    let answers = serde_json::to_value(requested_schema).unwrap()["properties"]["answer"]["enum"].take();
    (message, answers)
}

fn text(result: &CallToolResult) -> &str {
    result.content[0].as_text().map(|text| text.text.as_str()).unwrap_or_else(|| panic!("{result:?}"))
}

fn accept(answer: &str) -> ElicitResult {
    ElicitResult::new(ElicitationAction::Accept).with_content(json!({"answer": answer}))
}

/// Runs with a client that gives this answer, in both generations and by both ways.
fn with(answer: &Option<ElicitResult>, case: impl AsyncFn(&mut AiClient, &Bridge, &Double)) {
    for way in [Way::Stdio, Way::Http] {
        for generation in [Older, Newer] {
            let home = Home::new();
            let bridge = Bridge::start(&home);
            let double = double(&home);
            bridge.add_and_connect("s", &double);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let both: (Generation, Generation) = (generation, Older);
                let mut client = AiClient::answering(&home, way, both, answer.clone()).await;
                case(&mut client, &bridge, &double).await;
                client.end().await;
            });
        }
    }
}

/// How the questions ended, as the audit log has it.
fn outcomes(bridge: &Bridge) -> Vec<(Value, Value)> {
    let lines = bridge.audit(&json!({"origin": "client://ai"})).into_iter();
    let lines = lines.filter(|line| line["event"] == "consent");
    lines.map(|line| (line["asked_tools"].clone(), line["outcome"].clone())).collect()
}

#[test]
fn each_call_that_may_destroy_something_is_asked_about_and_made_after_a_yes() {
    with(&Some(accept("Allow this call")), async |client, bridge, double| {
        for path in ["/a", "/b"] {
            let arguments = json!({"path": path});
            let dropped = call(client, "drop", arguments.clone()).await;
            assert_eq!(dropped.structured_content, Some(arguments.clone()));
            let (message, answers) = asked(client).await;
            assert_eq!(
                message,
                format!(
                    "ai wants to call s/drop: it may delete or overwrite something. The call's arguments:\npath: {path}\n"
                )
            );
            assert_eq!(
                answers,
                json!([
                    "Allow this call",
                    "Allow all calls of this tool for 10 minutes",
                    "Always allow this tool"
                ])
            );
        }
        // The person's word counts more than the tool's.
        call(client, "note", json!({})).await;
        asked(client).await;
        for tool in ["mild", "plain"] {
            assert_eq!(call(client, tool, json!({"n": 1})).await.structured_content, Some(json!({"n": 1})));
        }
        assert_eq!(double.journal().count("call drop"), 2);
        let dropped = (json!(["s/drop"]), json!("allowed"));
        assert_eq!(outcomes(bridge), [dropped.clone(), dropped, (json!(["s/note"]), json!("allowed"))]);
    });
}

#[test]
fn a_no_is_told_and_nothing_is_called() {
    with(&Some(ElicitResult::new(ElicitationAction::Decline)), async |client, bridge, double| {
        let refused = call(client, "drop", json!({})).await;
        assert_eq!((refused.is_error, text(&refused)), (Some(true), DECLINED));
        asked(client).await;
        assert_eq!(double.journal().count("call drop"), 0);
        assert_eq!(outcomes(bridge), [(json!(["s/drop"]), json!("denied"))]);
    });
}

#[test]
fn a_yes_for_a_while_is_asked_for_once_for_each_tool() {
    with(&Some(accept("Allow all calls of this tool for 10 minutes")), async |client, _, double| {
        for _ in 0..3 {
            call(client, "drop", json!({})).await;
        }
        asked(client).await;
        call(client, "note", json!({})).await;
        asked(client).await;
        assert_eq!(double.journal().count("call drop"), 3);
    });
}

#[test]
fn where_nobody_can_be_asked_the_call_is_refused_and_the_way_out_is_named() {
    with(&None, async |client, bridge, double| {
        let refused = call(client, "drop", json!({"n": 1})).await;
        assert!(text(&refused).contains("`harbor approvals`"), "{refused:?}");
        assert_eq!(double.journal().count("call drop"), 0);
        assert_eq!(outcomes(bridge), [(json!(["s/drop"]), json!("dismissed"))]);
        assert_eq!(call(client, "plain", json!({"n": 1})).await.structured_content, Some(json!({"n": 1})));
    });
}

#[test]
fn nobody_is_asked_about_a_call_that_was_denied() {
    with(&Some(accept("Allow this call")), async |client, bridge, double| {
        // By then it has its first grants.
        call(client, "plain", json!({})).await;
        let owner = bridge.speaking_for("client://ai");
        owner.grant(harbor_tests::client::CALL, "DENY", &json!({}));
        let refused = call(client, "drop", json!({})).await;
        assert!(text(&refused).contains("was denied mcp:tools.call"), "{refused:?}");
        assert_eq!(double.journal().count("call drop"), 0);
    });
}
