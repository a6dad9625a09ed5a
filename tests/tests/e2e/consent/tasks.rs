//! Twelve ordinary tasks: what they are asked about, in mode `ask`, by a person who gives the widest yes that is offered.

use serde_json::{Value, json};

use super::scene::{Calls, Held, Scene};

/// The widest yes first.
pub const SAYS: [&str; 3] = ["chat_server", "flow", "once"];

struct Task {
    name: &'static str,
    typed: &'static str,
    calls: Calls,
    asked: &'static [&'static str],
}

fn task(
    name: &'static str,
    typed: &'static str,
    calls: &[(&'static str, Value)],
    asked: &'static [&'static str],
) -> Task {
    Task { name, typed, calls: calls.to_vec(), asked }
}

/// The servers as `harbor install` leaves them.
fn servers(scene: &Scene) {
    let none = json!({});
    let reads = |tools: &[&str]| json!({"reads": tools});
    scene.server(
        "filesystem",
        Held::Files,
        &["list?", "read?", "info?", "move", "create_directory", "delete!"],
        &none,
    );
    scene.server(
        "git",
        Held::Files,
        &["log", "diff", "show", "status", "write"],
        &reads(&["log", "diff", "show", "status"]),
    );
    scene.server("memory", Held::Closed, &["search?", "create", "add"], &none);
    scene.server("time", Held::Closed, &["now"], &none);
    scene.server("fetch", Held::Web, &["fetch"], &reads(&["fetch"]));
    scene.server("search", Held::Api, &["q?", "extract?"], &none);
    scene.server("mail", Held::Account, &["search", "read"], &reads(&["search", "read"]));
    scene.server("calendar", Held::Account, &["freebusy", "create"], &reads(&["freebusy"]));
    scene.server(
        "sqlite",
        Held::Files,
        &["list_tables", "describe", "query"],
        &reads(&["list_tables", "describe", "query"]),
    );
    scene.server("chart", Held::Web, &["draw"], &none);
    scene.server("slack", Held::Account, &["post"], &none);
    scene.server("word", Held::Files, &["create", "heading", "paragraph", "table", "picture", "save"], &none);
}

fn tasks() -> Vec<Task> {
    vec![
        task(
            "read a folder and summarise",
            "summarise the folder",
            &[
                ("filesystem_list", json!({"path": "."})),
                ("filesystem_read", json!({"path": "a.md"})),
                ("filesystem_read", json!({"path": "b.md"})),
                ("filesystem_read", json!({"path": "c.md"})),
                ("filesystem_info", json!({"path": "a.md"})),
            ],
            &[],
        ),
        task(
            "fetch a page that was typed, note it",
            "fetch https://example.com/a?b=1 and note it",
            &[
                ("fetch_fetch", json!({"url": "https://example.com/a?b=1"})),
                ("memory_search", json!({"q": "example"})),
                ("memory_create", json!({"name": "a"})),
                ("memory_add", json!({"note": "it says x"})),
                ("time_now", json!({})),
            ],
            &[],
        ),
        task(
            "find mails of Ann, see when I am free, make an event",
            "find mails of Ann and plan",
            &[
                ("mail_search", json!({"q": "Ann"})),
                ("mail_read", json!({"id": "m1"})),
                ("mail_read", json!({"id": "m2"})),
                ("mail_read", json!({"id": "m3"})),
                ("calendar_freebusy", json!({"day": "2026-12-01"})),
                ("calendar_create", json!({"title": "lunch with Ann", "at": "12:30"})),
            ],
            &["leaves", "leaves"],
        ),
        task(
            "changelog from git",
            "write the changelog",
            &[
                ("git_log", json!({})),
                ("git_diff", json!({"a": 1})),
                ("git_show", json!({"a": 1})),
                ("git_status", json!({})),
                ("git_write", json!({"file": "CHANGELOG"})),
            ],
            &["writes"],
        ),
    ]
}

fn more_tasks() -> Vec<Task> {
    let part = |tool, text: &str| (tool, json!({"text": text}));
    vec![
        task(
            "search the web and compare",
            "compare kettles",
            &[
                ("search_q", json!({"q": "kettles"})),
                ("search_extract", json!({"url": "https://a.example/k?id=1"})),
                ("search_extract", json!({"url": "https://b.example/k?id=2"})),
                ("search_q", json!({"q": "kettles"})),
                ("time_now", json!({})),
            ],
            &["leaves"],
        ),
        task(
            "ask a database, draw a chart by a service",
            "draw the sales",
            &[
                ("sqlite_list_tables", json!({})),
                ("sqlite_describe", json!({"table": "t"})),
                ("sqlite_query", json!({"sql": "select 1"})),
                ("sqlite_query", json!({"sql": "select 2"})),
                ("chart_draw", json!({"data": [1, 2]})),
            ],
            &["leaves"],
        ),
        task(
            "what changed, post it to the team",
            "post what changed",
            &[
                ("git_log", json!({})),
                ("git_diff", json!({"a": 1})),
                ("git_show", json!({"a": 1})),
                ("time_now", json!({})),
                ("slack_post", json!({"text": "we changed x"})),
            ],
            &["leaves"],
        ),
        task(
            "write a document of eight parts",
            "write the document",
            &[
                ("word_create", json!({})),
                part("word_heading", "h"),
                part("word_paragraph", "p"),
                part("word_table", "t"),
                part("word_paragraph", "q"),
                part("word_picture", "p"),
                part("word_paragraph", "r"),
                ("word_save", json!({})),
            ],
            &["writes"],
        ),
        task(
            "tidy a folder",
            "tidy up",
            &[
                ("filesystem_list", json!({"path": "."})),
                ("filesystem_move", json!({"from": "a", "to": "b"})),
                ("filesystem_move", json!({"from": "c", "to": "d"})),
                ("filesystem_create_directory", json!({"path": "x"})),
                ("filesystem_delete", json!({"path": "old"})),
            ],
            &["writes", "destroys"],
        ),
    ]
}

#[test]
fn ordinary_tasks_are_asked_about_as_often_as_they_have_to_be() {
    let scene = Scene::new();
    servers(&scene);
    for Task { name, typed, calls, asked } in tasks().into_iter().chain(more_tasks()) {
        let came = scene.does(&scene.chat("ask"), typed, &calls, &SAYS);
        assert_eq!(came.asked, asked, "{name}");
        assert!(came.made.iter().all(|made| *made) && came.made.len() == calls.len(), "{name}: {came:?}");
    }
}
