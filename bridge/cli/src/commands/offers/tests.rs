//! Resources and prompts against a bridge with prepared answers.

use std::fs;

use harbor_client::errors::Exit;
use harbor_ipc_proto::client::answer::request_frame;

use super::super::rig::{Ran, command, error};
use super::*;
use crate::args::{Argument, Value};

const RUNNING: &str = r#"{"type":"mcp_list_connections_result","request_id":"1","connections":[{"server_id":"a"},{"server_id":"b"}]}"#;
const SOME: &str =
    r#"[{"uri":"file:///x","mimeType":"text/plain","description":"\nOne.\nAt length.","novel":1e2},5]"#;
const TEMPLATES: &str = r#"[{"uriTemplate":"file:///{name}","name":"any\u202e"}]"#;
const PROMPTED: &str = r#"[{"name":"greet","arguments":[{"name":"who","required":true},{"name":"style"}],"title":"T"},{"name":""}]"#;

fn listed(id: u32, tag: &str, items: &str) -> String {
    format!(r#"{{"type":"mcp_list_{tag}_result","request_id":"{id}","{tag}":{items}}}"#)
}

fn list_of(json: bool, kind: &OfferKind, server: Option<&str>, answers: &[&str]) -> Ran {
    command(json, answers, |client, screen| list(client, kind, server, screen))
}

#[test]
fn resources_and_their_templates_stand_in_one_table() {
    let answers = [listed(1, "resources", SOME), listed(2, "resource_templates", TEMPLATES)];
    let answers: Vec<_> = answers.iter().map(String::as_str).collect();
    let ran = list_of(false, &RESOURCES, Some("a"), &answers);
    assert_eq!(
        ran.printed,
        "SERVER  URI             TYPE        DESCRIPTION\n\
         a       file:///x       text/plain  One.\n\
         a       file:///{name}              any\\u{202e}\n"
    );
    let ran = list_of(true, &RESOURCES, Some("a"), &answers);
    assert_eq!(ran.printed, format!("{{\"resource_templates\":{TEMPLATES},\"resources\":{SOME}}}\n"));
    let ran = list_of(false, &RESOURCES, Some("a"), &[&error("not_connected")]);
    assert_eq!(ran.failure.unwrap(), "no\nstart it: `harbor start a`");
}

#[test]
fn prompts_of_all_servers_and_of_harbor_even_if_one_fails() {
    let failed = error("ERR_TOOL_TIMEOUT").replace("\"1\"", "\"2\"");
    let (none, some) = (listed(2, "prompts", "[]"), listed(3, "prompts", PROMPTED));
    let own = listed(4, "prompts", r#"[{"name":"search","description":"Looks."}]"#);
    let shown = "SERVER  PROMPT  ARGUMENTS    DESCRIPTION\nb       greet   who [style]  T\n\
                 harbor  search               Looks.\n";
    let ran = list_of(false, &PROMPTS, None, &[RUNNING, &none, &some, &own]);
    assert_eq!((ran.printed.as_str(), ran.exit), (shown, Exit::Done));
    let ran = list_of(false, &PROMPTS, None, &[RUNNING, &failed, &some, &own]);
    assert_eq!((ran.printed.as_str(), ran.exit), (shown, Exit::TimedOut));
    let ran = list_of(true, &PROMPTS, None, &[RUNNING, &failed, &some, &own]);
    let own = r#"[{"name":"search","description":"Looks."}]"#;
    assert_eq!(
        ran.printed,
        format!(
            "{{\"servers\":[{{\"error\":{{\"code\":\"ERR_TOOL_TIMEOUT\",\"message\":\"no\",\
             \"hint\":\"allow more time: `--timeout SECONDS`\"}},\"server_id\":\"a\"}},\
             {{\"prompts\":{PROMPTED},\"server_id\":\"b\"}},\
             {{\"prompts\":{own},\"server_id\":\"harbor\"}}]}}\n"
        )
    );
    let nobody = r#"{"type":"mcp_list_connections_result","request_id":"1","connections":[]}"#;
    let none = listed(2, "prompts", "[]");
    assert_eq!(list_of(false, &PROMPTS, None, &[nobody, &none]).printed, "");
    assert_eq!(list_of(false, &RESOURCES, None, &[nobody]).printed, "");
}

#[test]
fn a_prompt_is_shown_with_what_it_takes() {
    let list = listed(1, "prompts", PROMPTED);
    let show = |json, prompt: &str| {
        let wanted = ShownPrompt { server: "a".into(), prompt: prompt.into() };
        command(json, &[&list], |client, screen| show_prompt(client, &wanted, screen))
    };
    assert_eq!(show(false, "greet").printed, "T\n  who: \n  style (optional): \n");
    assert!(show(true, "greet").printed.starts_with(r#"{"arguments":[{"name":"who","#));
    assert!(show(false, "x").failure.unwrap().contains("a has no prompt x"));
}

#[test]
fn a_resource_is_printed_or_saved() {
    let contents =
        r#"{"contents":[{"uri":"u","text":"a\nnote"},{"uri":"u","mimeType":"image/png","blob":"AAEC"}]}"#;
    let answer = format!(r#"{{"type":"mcp_read_resource_result","request_id":"1","resource":{contents}}}"#);
    let place = tempfile::tempdir().unwrap();
    let reading = |save: bool| Reading {
        server: "a".into(),
        uri: "file:///etc/../My Note.md/".into(),
        save: save.then(|| place.path().to_str().unwrap().to_owned()),
    };
    let ran = |json, save| command(json, &[&answer], |client, screen| read(client, &reading(save), screen));
    assert_eq!(ran(false, false).printed, "a\nnote\n[resource u image/png 3 bytes]\n");
    assert_eq!(ran(true, false).printed, format!("{{\"resource\":{contents}}}\n"));
    assert_eq!(
        ran(false, false).asked,
        [
            r#"{"type":"mcp_read_resource","request_id":"1","server_id":"a","uri":"file:///etc/../My Note.md/"}"#
        ]
    );
    let saved = ran(true, true);
    let path = |name: &str| place.path().join(name).display().to_string();
    let (text, image) = (path("My_Note-1.txt"), path("My_Note-2.png"));
    let paths = format!(r#""saved":[{{"path":"{text}"}},{{"path":"{image}"}}]"#);
    assert_eq!(saved.printed, format!("{{\"resource\":{contents},{paths}}}\n"));
    assert_eq!((fs::read(text).unwrap(), fs::read(image).unwrap()), (b"a\nnote".to_vec(), vec![0, 1, 2]));
}

#[test]
fn a_prompt_is_its_messages() {
    let messages = r#"{"messages":[{"role":"user","content":{"type":"text","text":"Hello"}},{"role":"assistant","content":{"type":"image","mimeType":"image/png","data":"AAEC"}},{"role":"x\u001b"}],"novel":0.10}"#;
    let answer = format!(r#"{{"type":"mcp_get_prompt_result","request_id":"1","prompt":{messages}}}"#);
    let arguments = vec![Argument { key: "who".into(), value: Value::Text("Ada".into()) }];
    let wanted = |arguments| Prompt { server: "a".into(), name: "greet".into(), arguments };
    let ran = |json| {
        command(json, &[&answer], |c, s| {
            let wanted = wanted(arguments.clone());
            get(c, &wanted, &prompt_ask(&wanted).unwrap(), s)
        })
    };
    assert_eq!(
        ran(false).printed,
        "user: Hello\n\nassistant: [image image/png 3 bytes]\n\nx\\u{1b}: [nothing]\n"
    );
    assert_eq!(
        ran(false).asked,
        [
            r#"{"type":"mcp_get_prompt","request_id":"1","server_id":"a","prompt_name":"greet","arguments":{"who":"Ada"}}"#
        ]
    );
    assert_eq!(ran(true).printed, format!("{{\"prompt\":{messages}}}\n"));
    let bare =
        String::from_utf8(request_frame("1", &prompt_ask(&wanted(vec![])).unwrap())[4..].to_vec()).unwrap();
    assert!(bare.ends_with(r#""prompt_name":"greet"}"#), "{bare}");
}
