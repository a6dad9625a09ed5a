//! Changed tools against a bridge with prepared answers.

use harbor_client::errors::Exit;
use harbor_ipc_proto::field::read_object;

use super::super::rig::{Ran, command, complete_object};
use super::*;

const HASH: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn change(tool: &str, before: &str, after: &str, hidden: bool) -> String {
    format!(
        r#"{{"server_id":"time","tool_name":"{tool}","tool_hash":"{HASH}","before":{before},"after":{after},"blocked":true,"hidden_characters":{hidden}}}"#
    )
}

fn now() -> String {
    change(
        "now",
        r#"{"description":"Tells the time.\nIn UTC.","inputSchema":{"type":"object"},"annotations":{"a":1}}"#,
        r#"{"title":"Now","description":"Tells the time.\nAnd reads\u202e all.","inputSchema":{"type":"object"},"annotations":{"a":2}}"#,
        true,
    )
}

fn listed(changes: &[String]) -> String {
    let changes = changes.join(",");
    format!(r#"{{"type":"host_list_tool_changes_result","request_id":"1","changes":[{changes}]}}"#)
}

fn accepted(id: u32) -> String {
    format!(r#"{{"type":"host_accept_tool_change_result","request_id":"{id}","accepted":true}}"#)
}

const SHOWN: &str = r#"time/now: has changed; origins cannot use it until you accept it
  warning: its texts contain hidden or control characters; here they are written as \u{202e}
  title
    + Now
  description
      Tells the time.
    - In UTC.
    + And reads\u{202e} all.
  annotations
      {
    -   "a": 1
    +   "a": 2
      }
"#;

#[test]
fn each_changed_part_is_shown_line_by_line() {
    let ran = command(false, &[&listed(&[now()])], |c, s| show(c, Some("time"), s));
    assert_eq!(ran.printed, format!("{SHOWN}accept it: harbor accept time/now {HASH}\n"));
    assert_eq!(ran.asked, [r#"{"type":"host_list_tool_changes","request_id":"1","server_id":"time"}"#]);
    let ran = command(false, &[&listed(&[])], |c, s| show(c, None, s));
    assert_eq!((ran.printed.as_str(), ran.exit), ("", Exit::Done));
    assert_eq!(ran.asked, [r#"{"type":"host_list_tool_changes","request_id":"1"}"#]);
    let ran = command(true, &[&listed(&[now()])], |c, s| show(c, None, s));
    assert_eq!(
        ran.printed,
        format!("{{\"changes\":[{}],\"servers\":[]}}\n", complete_object("ToolChange", &now()))
    );
}

#[test]
fn whatever_differs_is_shown() {
    let differs =
        |before: &str, after: &str| describe(&read_object(&change("now", before, after, false)).unwrap());
    let shown =
        |lines: &str| format!("time/now: has changed; origins cannot use it until you accept it\n{lines}");
    assert_eq!(differs(r#"{"title":"5"}"#, r#"{"title":5}"#), shown("  title\n    - \"5\"\n    + 5"));
    assert_eq!(differs(r#"{"title":""}"#, "{}"), shown("  title\n    - "));
    assert_eq!(
        differs("{}", r#"{"outputSchema":{"description":"a\u202eb"}}"#),
        shown("  outputSchema\n    + {\n    +   \"description\": \"a\\u202eb\"\n    + }"),
        "escaped by its server: as visible as that"
    );
}

#[test]
fn a_name_is_harmless_to_look_at_and_to_paste() {
    let odd = |name: &str| change(name, "{}", r#"{"title":"\ud800"}"#, false).replace("true", "false");
    let ran = command(false, &[&listed(&[odd("a b'$(x)"), odd("a\\n\\u001b")])], |c, s| show(c, None, s));
    assert_eq!(
        ran.printed,
        format!(
            "time/a b'$(x): has changed; origins can still use it\n  title\n    + \"\\ud800\"\n\
             accept it: harbor accept 'time/a b'\\''$(x)' {HASH}\n\
             \n\
             time/a \\u{{1b}}: has changed; origins can still use it\n  title\n    + \"\\ud800\"\n\
             accept it and all changes of its server: harbor accept time\n"
        )
    );
}

fn accept(json: bool, tool: Option<&str>, hash: Option<&str>, answers: &[&str]) -> Ran {
    let (tool, hash) = (tool.map(str::to_owned), hash.map(str::to_owned));
    let typed = Accept { server: "time".into(), tool, hash };
    command(json, answers, |client, screen| super::accept(client, &typed, screen))
}

fn asked_to_accept(id: u32, tool: &str) -> String {
    format!(
        r#"{{"type":"host_accept_tool_change","request_id":"{id}","server_id":"time","tool_name":"{tool}","tool_hash":"{HASH}"}}"#
    )
}

#[test]
fn what_was_looked_at_is_accepted_by_its_hash() {
    let ran = accept(false, Some("now"), Some(HASH), &[&accepted(1)]);
    assert_eq!((ran.printed.as_str(), ran.asked), ("accepted time/now\n", vec![asked_to_accept(1, "now")]));
    let ran = accept(true, Some("now"), Some(HASH), &[&accepted(1)]);
    assert_eq!(
        ran.printed,
        format!(
            "{{\"accepted\":[{{\"server_id\":\"time\",\"tool_hash\":\"{HASH}\",\"tool_name\":\"now\"}}],\"servers\":[]}}\n"
        )
    );
}

#[test]
fn without_a_hash_what_is_accepted_is_shown() {
    let other = change("zone", "{}", r#"{"title":"z"}"#, false);
    let all = listed(&[now(), other]);
    let ran = accept(false, Some("now"), None, &[&all, &accepted(2)]);
    assert_eq!(ran.printed, format!("{SHOWN}accepted time/now\n"));
    assert_eq!(ran.asked[1..], [asked_to_accept(2, "now")]);
    let ran = accept(false, None, None, &[&all, &accepted(2), &accepted(3)]);
    assert!(ran.printed.starts_with(&format!("{SHOWN}accepted time/now\ntime/zone: ")), "{}", ran.printed);
    assert!(ran.printed.ends_with("  title\n    + z\naccepted time/zone\n"), "{}", ran.printed);
    assert_eq!(ran.asked[1..], [asked_to_accept(2, "now"), asked_to_accept(3, "zone")]);
}

#[test]
fn a_server_that_is_another_program_is_accepted_as_it_was_shown() {
    let program = r#"{"server_id":"time","before":"npm:time","after":"npm:tiem\u202e","since":1}"#;
    let all = listed(&[now()]).replace("]}", &format!("],\"servers\":[{program}]}}"));
    let done = r#"{"type":"host_accept_server_change_result","request_id":"2","accepted":true}"#;
    let ran = accept(false, None, None, &[&all, done]);
    let shown = "time: is a different program; origins cannot use it until you accept it\n  - npm:time\n  + npm:tiem\\u{202e}\n";
    assert_eq!(ran.printed, format!("{shown}{SHOWN}accepted time\n"));
    let asked = "{\"type\":\"host_accept_server_change\",\"request_id\":\"2\",\"server_id\":\"time\",\"program\":\"npm:tiem\u{202e}\"}";
    assert_eq!(ran.asked[1..], [asked]);
    let ran = command(false, &[&all], |c, s| show(c, Some("time"), s));
    assert!(
        ran.printed.starts_with(&format!("{shown}accept it: harbor accept time\n\ntime/now: ")),
        "{}",
        ran.printed
    );
}

#[test]
fn nothing_to_accept_is_not_found() {
    let ran = accept(false, Some("nov"), None, &[&listed(&[now()])]);
    assert_eq!((ran.exit, ran.asked.len()), (Exit::NotFound, 1));
    assert_eq!(
        ran.failure.unwrap(),
        "time has no changed tool nov; did you mean now?\n`harbor tools --changed` shows what has changed"
    );
    let ran = accept(true, None, None, &[&listed(&[])]);
    assert_eq!((ran.exit, ran.printed.as_str()), (Exit::NotFound, ""));
}

#[test]
fn a_tool_that_has_changed_again_is_not_accepted_unseen() {
    let again = r#"{"type":"error","request_id":"1","error":{"code":"invalid_params","message":"it is another one by now","details":{"field":"tool_hash","tool_hash":"ff"}}}"#;
    let ran = accept(false, Some("now"), Some(HASH), &[again]);
    assert_eq!((ran.printed.as_str(), ran.exit), ("", Exit::Usage));
    assert_eq!(
        ran.failure.unwrap(),
        "it is another one by now\n`harbor tools --changed time` shows its present hash"
    );
}
