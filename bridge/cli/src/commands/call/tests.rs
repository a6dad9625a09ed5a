//! Calls against a bridge with prepared answers.

use harbor_policy::origin::Origin;

use super::super::rig::{Ran, command, complete_object};
use super::*;
use crate::args::{Arguments, Asker};

const CONNECTED: &str = r#"{"type":"connect_server_result","request_id":"3","server":{}}"#;
const STOPPED: &str = r#"{"type":"error","request_id":"1","error":{"code":"ERR_SERVER_UNAVAILABLE","message":"time is stopped","details":{"cause":"stopped","state":"stopped","sent":false}}}"#;
const TOOLS: &str =
    r#"{"type":"mcp_list_tools_result","request_id":"2","tools":[{"name":"now"},{"name":"zone"}]}"#;
const UNKNOWN: &str = r#"{"type":"error","request_id":"1","error":{"code":"ERR_TOOL_NOT_FOUND","message":"there is no tool time/zones","details":{"server_id":"time"}}}"#;

const NOON: &str = r#"{"content":[{"type":"text","text":"noon"}]}"#;

fn result(result: &str) -> String {
    format!(r#"{{"type":"mcp_call_tool_result","request_id":"1","result":{result}}}"#)
}

fn typed(tool: &str, arguments: Option<&str>) -> Call {
    let (timeout, max_timeout) = (Some(Duration::from_millis(1500)), Some(Duration::from_secs(9)));
    let arguments = arguments.map_or(Arguments::Nothing, |text| Arguments::Json(text.into()));
    Call {
        server: "time".into(),
        tool: tool.into(),
        arguments,
        timeout,
        max_timeout,
        asker: None,
        save: None,
    }
}

fn called_for(asker: Option<Asker>, json: bool, answers: &[&str]) -> Ran {
    let call = Call { asker, ..typed("now", Some("{}")) };
    let ask = ask(&call, false).unwrap();
    command(json, answers, |client, screen| run(client, &call, &ask, screen))
}

fn called(json: bool, tool: &str, answers: &[&str]) -> Ran {
    let call = typed(tool, Some(r#" {"b":1.0,"a":12345678901234567890} "#));
    let ask = ask(&call, false).unwrap();
    command(json, answers, |client, screen| run(client, &call, &ask, screen))
}

#[test]
fn the_call_is_the_first_request_and_the_arguments_pass_as_they_were_typed() {
    let ran = called(false, "now", &[&result(NOON)]);
    assert_eq!((ran.printed.as_str(), ran.exit, ran.asked.len()), ("noon\n", Exit::Done, 1));
    let sent = r#"{"type":"mcp_call_tool","request_id":"1","server_id":"time","tool_name":"now","arguments":{"b":1.0,"a":12345678901234567890},"timeout_ms":1500,"max_timeout_ms":9000,"unless_stopped":true}"#;
    assert!(ran.asked[0].starts_with(sent), "{}", ran.asked[0]);
}

#[test]
fn a_stopped_server_is_started_and_called_once_more() {
    let (connected, answer) = (CONNECTED.replace("\"3\"", "\"2\""), result(NOON).replace("\"1\"", "\"3\""));
    let ran = called(false, "now", &[STOPPED, &connected, &answer]);
    assert_eq!((ran.printed.as_str(), ran.exit), ("noon\n", Exit::Done));
    let types: Vec<_> =
        ran.asked.iter().map(|ask| Payload::parse(ask.as_bytes()).unwrap().text("type")).collect();
    assert_eq!(types, ["mcp_call_tool", "connect_server", "mcp_call_tool"]);
    assert_eq!(ran.asked[0], ran.asked[2].replace("\"3\"", "\"1\""));
    let again = STOPPED.replace("\"1\"", "\"3\"");
    let ran = called(false, "now", &[STOPPED, &connected, &again]);
    assert_eq!((ran.exit, ran.asked.len()), (Exit::Unavailable, 3), "not a third time");
}

#[test]
fn a_call_that_was_open_when_its_server_was_stopped_is_not_sent_again() {
    let ran = called(false, "now", &[&STOPPED.replace("\"sent\":false", "\"sent\":true"), CONNECTED]);
    assert_eq!((ran.exit, ran.asked.len()), (Exit::Unavailable, 1));
    assert!(ran.failure.unwrap().starts_with("time is stopped\n"));
}

#[test]
fn a_server_that_failed_is_not_started() {
    for cause in ["spawn_failed", "crashed", "starting"] {
        let failed = STOPPED.replace("\"stopped\"", &format!("\"{cause}\"")).replace("is stopped", "is down");
        let ran = called(false, "now", &[&failed, CONNECTED]);
        assert_eq!((ran.exit, ran.asked.len()), (Exit::Unavailable, 1));
        assert_eq!(
            ran.failure.unwrap(),
            format!("time is down ({cause})\ntry again: `harbor start time`; log: `harbor logs time`")
        );
    }
}

#[test]
fn the_bridge_is_given_up_after_it_should_have_ended_the_call() {
    let seconds = |timeout: Option<u64>, most: Option<u64>, progress| {
        let (timeout, max_timeout) = (timeout.map(Duration::from_secs), most.map(Duration::from_secs));
        limit(&Call { timeout, max_timeout, ..typed("now", None) }, progress).as_secs()
    };
    let more = (QUEUE_WAIT + GRACE).as_secs();
    assert_eq!(seconds(Some(3), None, false), 3 + more);
    assert_eq!(seconds(Some(3), None, true), 600 + more);
    assert_eq!(seconds(Some(900), None, true), 900 + more);
    assert_eq!(seconds(Some(3), Some(9), true), 9 + more);
    assert_eq!(seconds(None, None, false), 3600 + more, "the definition decides");
}

#[test]
fn as_json_the_result_stays_as_the_server_wrote_it() {
    let text = r#"{"z":[],"content":[],"a":1.10}"#;
    let ran = called(true, "now", &[&result(text)]);
    assert_eq!(ran.printed, format!("{{\"result\":{text}}}\n"));
}

#[test]
fn a_tool_that_fails_is_told_from_a_tool_that_is_not_there() {
    let failed = result(r#"{"content":[{"type":"text","text":"broken"}],"isError":true}"#);
    for json in [false, true] {
        let ran = called(json, "now", &[&failed]);
        assert_eq!((ran.exit, ran.failure, ran.asked.len()), (Exit::ToolFailed, None, 1));
        assert!(ran.printed.contains("broken"));
        let ran = called(json, "zones", &[UNKNOWN, TOOLS]);
        assert_eq!((ran.exit, ran.printed.as_str()), (Exit::NotFound, ""));
        assert_eq!(
            ran.failure.unwrap(),
            "there is no tool time/zones; did you mean zone?\n`harbor tools time` shows the tools of time"
        );
    }
    let message = called(false, "now", &[UNKNOWN, TOOLS]).failure.unwrap();
    assert!(message.starts_with("there is no tool time/zones\n"), "it is there by now: {message}");
    let spoiled = TOOLS.replace("[{", "[5,{");
    let message = called(false, "zones", &[UNKNOWN, &spoiled]).failure.unwrap();
    assert!(message.starts_with("there is no tool time/zones; did you mean zone?\n"), "{message}");
    let unlisted = r#"{"type":"error","request_id":"2","error":{"code":"not_connected","message":"no"}}"#;
    let message = called(false, "zones", &[UNKNOWN, unlisted]).failure.unwrap();
    assert!(message.starts_with("there is no tool time/zones\n"), "{message}");
}

#[test]
fn for_an_origin_the_call_is_judged_as_the_origins() {
    let asker = |profile: Option<&str>| {
        let origin = Origin::parse("client://x").unwrap();
        Some(Asker { origin, profile: profile.map(str::to_owned) })
    };
    let answer = format!(
        r#"{{"type":"host_call_tool_result","request_id":"1","result":{NOON},"provenance":{{"serverId":"time"}}}}"#
    );
    let ran = called_for(asker(None), false, &[&answer]);
    assert_eq!((ran.printed.as_str(), ran.exit), ("noon\n", Exit::Done));
    let sent = r#"{"type":"host_call_tool","request_id":"1","origin":"client://x","tool_name":"time/now","args":{},"timeout_ms":1500,"max_timeout_ms":9000"#;
    assert!(ran.asked[0].starts_with(sent), "{}", ran.asked[0]);
    let ran = called_for(asker(Some("work")), true, &[&answer]);
    assert_eq!(
        ran.printed,
        format!(
            "{{\"provenance\":{},\"result\":{NOON}}}\n",
            complete_object("Provenance", r#"{"serverId":"time"}"#)
        )
    );
    assert!(ran.asked[0].contains(r#""profile":"work","tool_name""#), "{}", ran.asked[0]);

    let ran = called_for(asker(None), false, &[STOPPED, CONNECTED]);
    assert_eq!((ran.exit, ran.asked.len()), (Exit::Unavailable, 1), "it starts nothing");
    assert_eq!(ran.failure.unwrap(), "time is stopped\nstart it: `harbor start time`");
    let changed = r#"{"type":"error","request_id":"1","error":{"code":"ERR_TOOL_NOT_ALLOWED","message":"no","details":{"reason":"tool_changed"}}}"#;
    let ran = called_for(asker(None), false, &[changed]);
    assert_eq!(ran.exit, Exit::Denied);
    assert_eq!(
        ran.failure.unwrap(),
        "no\n`harbor tools --changed time` shows the change, and how to accept it"
    );
}

#[test]
fn arguments_are_checked_before_anything_is_asked() {
    for text in ["", "{", "[1]", "7", "{} {}", "{\"a\":}"] {
        let failure = ask(&typed("now", Some(text)), false).unwrap_err();
        assert_eq!(failure.exit(), Exit::Usage, "{text}");
    }
    assert!(ask(&typed("now", None), false).is_ok());
}

#[test]
fn progress_is_wanted_where_it_is_shown() {
    let asked = |shown| {
        let Calling::Own(ask) = ask(&typed("now", None), shown).unwrap() else { panic!("not our own") };
        ask.progress
    };
    assert_eq!((asked(true), asked(false)), (Some(true), None));
}
