//! The model against a bridge that is made of frames, and against keys that nobody would type.

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::detail::Tab;
use super::super::draw::{Pen, draw};
use super::super::key::Key;
use super::*;
use crate::commands::rig::{complete, complete_object};

const NOW: u64 = 1_795_262_400_000;

/// A server as the bridge tells it.
pub fn server(id: &str, state: &str, more: &str) -> String {
    let shown = if state == "crashed" { "failed" } else { state };
    format!(
        r#"{{"id":"{id}","label":"{id}","state":"{state}","shown_state":"{shown}","since":{},"busy":false,"restarts":0,"attempt":0,"in_flight":0,"queued":0,"log_lines":0{more}}}"#,
        NOW - 300_000
    )
}

pub fn calls(calls: u64, sum: u64) -> String {
    format!(
        r#","calls":{{"calls":{calls},"failures":0,"failuresByCode":{{}},"durationUs":{{"p50":1200,"p99":25000,"max":30000,"sum":{sum}}},"queuedUs":{{"p50":1,"p99":2,"max":3,"sum":4}}}}"#
    )
}

fn bridge(uptime: u64, total: u64) -> String {
    format!(
        r#"{{"version":"0.1.0","pid":7,"uptime_ms":{uptime},"clients":{{"owner":2,"mcp":1}},"waiting":0{},"usage":{{"memory":13107200,"cpu_permille":3}}}}"#,
        calls(total, total * 2000)
    )
}

/// A model that a bridge has answered.
pub fn known(size: (u16, u16), servers: &[String]) -> Model {
    let mut model = Model::new(size, NOW);
    model.on_connected(NOW);
    let asked = sent(&mut model);
    assert!(
        asked[1].contains(r#""type":"subscribe_status","request_id":"2","interval_ms":1000"#),
        "{asked:?}"
    );
    let status = format!(
        r#"{{"type":"subscribe_status_result","request_id":"2","status":{{"health":{{"state":"ok","reasons":[]}},"limits":{{"queueLength":16,"queueWaitMs":30000}},"bridge":{},"servers":[{}]}}}}"#,
        bridge(7_200_000, 100),
        servers.join(",")
    );
    model.on_frame(complete(&status).as_bytes(), NOW);
    model
}

/// The numbers of `seconds` later.
pub fn numbers(model: &mut Model, seconds: u64, servers: &[String]) {
    let push = format!(
        r#"{{"type":"status_update","category":"numbers","health":{{"state":"ok","reasons":[]}},"bridge":{},"servers":[{}],"agent":{{"running":1,"ended":{{"done":11}},"rounds":30,"calls":20,"input_tokens":40000,"output_tokens":2000,"waiting":1,"answered":{{}}}}}}"#,
        bridge(7_200_000 + seconds * 1000, 100 + seconds * 12),
        servers.join(",")
    );
    model.on_frame(complete(&push).as_bytes(), NOW + seconds * 1000);
}

/// What the model wants to be sent, as text.
pub fn sent(model: &mut Model) -> Vec<String> {
    let mut sent = Vec::new();
    while let Some(out) = model.take_out() {
        if let Out::Frame(frame) = out {
            sent.push(String::from_utf8(frame[4..].to_vec()).unwrap());
        }
    }
    sent
}

pub fn press(model: &mut Model, keys: &str) {
    keys.chars().for_each(|c| model.on_key(Key::Char(c), NOW));
}

fn three() -> Vec<String> {
    vec![server("a", "running", ""), server("b", "stopped", ""), server("c", "failed", "")]
}

#[test]
fn a_key_starts_stops_and_restarts_the_selected_server() {
    let mut model = known((80, 24), &three());
    press(&mut model, "s");
    assert_eq!(
        sent(&mut model),
        [r#"{"type":"connect_server","request_id":"3","server_id":"a","progress":true}"#]
    );
    model.on_key(Key::Down, NOW);
    press(&mut model, "xr");
    let asked = sent(&mut model);
    assert_eq!(asked[0], r#"{"type":"disconnect_server","request_id":"4","server_id":"b"}"#);
    assert!(asked[1].ends_with(r#""server_id":"b","progress":true,"restart":true}"#), "{asked:?}");
    assert_eq!(model.open.len(), 4, "hello and three deeds");

    model.on_frame(
        br#"{"type":"progress","request_id":"3","progress":1,"message":"restart 1 of 3\u001b"}"#,
        NOW,
    );
    assert_eq!(model.open["3"].news, "restart 1 of 3\\u{1b}");
    model.on_frame(
        complete(r#"{"type":"connect_server_result","request_id":"3","server":{}}"#).as_bytes(),
        NOW,
    );
    assert_eq!(model.remark.as_ref().unwrap().text, "a is running");
    let refused = br#"{"type":"error","request_id":"4","error":{"code":"not_found","message":"no\nsuch \u001b[1mserver"}}"#;
    model.on_frame(refused, NOW);
    let remark = model.remark.clone().unwrap();
    assert_eq!((remark.text.as_str(), remark.bad), ("cannot stop b: no such \\u{1b}[1mserver", true));
    model.on_time(NOW + 15_000);
    assert_eq!(model.remark, Some(remark));
    model.on_time(NOW + 15_001);
    assert_eq!(model.remark, None, "it was said long ago");
}

#[test]
fn what_is_not_answered_in_time_is_waited_for_no_more() {
    let mut model = known((80, 24), &three());
    press(&mut model, "sx");
    let said = |model: &Model| model.remark.as_ref().map(|remark| remark.text.clone());
    let limit = |act: Act| u64::try_from(act.limit().as_millis()).unwrap();
    model.on_time(NOW + limit(Act::Stop));
    assert_eq!(said(&model), None);
    model.on_time(NOW + limit(Act::Stop) + 1);
    let word = "stopping a: no answer within 2 min; it may still happen";
    assert_eq!(said(&model).as_deref(), Some(word));
    assert_eq!(model.open.values().filter_map(Open::act).collect::<Vec<_>>(), [(Act::Start, "a")]);
    model.on_frame(complete(r#"{"type":"disconnect_server_result","request_id":"4"}"#).as_bytes(), NOW);
    assert_eq!(said(&model).as_deref(), Some(word), "nobody waits for that any more");
    model.on_time(NOW + limit(Act::Start) + 1);
    assert!(said(&model).unwrap().starts_with("starting a: no answer within 25 min"), "{:?}", said(&model));
    assert!(model.open.values().all(|open| open.act().is_none()));
}

#[test]
fn a_server_at_work_is_stopped_only_after_a_yes() {
    let busy = vec![server("a", "running", "").replace("\"in_flight\":0", "\"in_flight\":2")];
    let mut model = known((80, 24), &busy);
    press(&mut model, "x");
    assert_eq!((sent(&mut model).len(), model.asked.is_some()), (0, true));
    press(&mut model, "n");
    assert_eq!((sent(&mut model).len(), model.asked.is_some()), (0, false));
    press(&mut model, "ry");
    assert_eq!(sent(&mut model).len(), 1);
    press(&mut model, "s");
    assert_eq!(sent(&mut model).len(), 1, "a start cuts nothing off");
}

#[test]
fn the_selection_stays_with_its_server_and_passes_to_the_one_in_its_place() {
    let mut model = known((80, 24), &three());
    model.on_key(Key::Down, NOW);
    assert_eq!(model.selected.as_deref(), Some("b"));
    let more = [vec![server("aa", "running", "")], three()].concat();
    numbers(&mut model, 1, &more);
    assert_eq!((model.selected.as_deref(), model.at), (Some("b"), 2));
    press(&mut model, "ooo");
    assert_eq!((model.order, model.at), (Order::State, 3));
    press(&mut model, "o");
    model.on_frame(
        complete(r#"{"type":"status_update","category":"server","health":{},"removed":"b"}"#).as_bytes(),
        NOW,
    );
    assert_eq!(model.selected.as_deref(), Some("c"));
    numbers(&mut model, 2, &[]);
    assert_eq!(model.selected, None);
}

#[test]
fn a_filter_shows_what_has_it_in_its_name_until_escape() {
    let mut model = known((80, 24), &three());
    press(&mut model, "/C");
    assert_eq!((model.listed().len(), model.selected.as_deref()), (1, Some("c")));
    press(&mut model, "q");
    assert_eq!((model.listed().len(), &model.selected), (0, &None));
    model.on_key(Key::Backspace, NOW);
    model.on_key(Key::Enter, NOW);
    assert_eq!((model.typing, model.filter.as_str()), (false, "C"));
    model.on_key(Key::Esc, NOW);
    assert_eq!((model.listed().len(), model.take_out()), (3, None));
    model.on_key(Key::Esc, NOW);
    assert_eq!(model.take_out(), Some(Out::Quit));
}

#[test]
fn a_detail_follows_its_log_and_stops_that_when_it_is_left() {
    let mut model = known((40, 10), &three());
    model.on_key(Key::Enter, NOW);
    let asked = sent(&mut model);
    let types: Vec<_> = asked.iter().map(|ask| ask.split('"').nth(3).unwrap()).collect();
    assert_eq!(types, ["mcp_get_logs", "list_servers", "get_sandbox", "mcp_list_tools"]);
    let lines: Vec<_> =
        (0..20).map(|n| format!(r#"{{"timestamp":0,"source":"stderr","text":"line {n}"}}"#)).collect();
    let log = format!(r#"{{"type":"mcp_get_logs_result","request_id":"3","logs":[{}]}}"#, lines.join(","));
    model.on_frame(complete(&log).as_bytes(), NOW);
    press(&mut model, "2");
    let shown = |model: &Model| model.view(NOW).rows.into_iter().map(|row| row.text).collect::<Vec<_>>();
    assert_eq!(shown(&model).last().unwrap(), "line 19");
    model.on_key(Key::PageUp, NOW);
    let push = |text: &str| {
        format!(
            r#"{{"type":"server_log","server_id":"a","timestamp":0,"source":"mcp","level":"info","text":"{text}"}}"#
        )
    };
    model.on_frame(complete(&push("new")).as_bytes(), NOW);
    assert_eq!(shown(&model), ["line 8", "line 9", "line 10", "line 11", "line 12", "line 13"]);
    model.on_key(Key::End, NOW);
    model.on_frame(complete(&push("newer")).as_bytes(), NOW);
    assert_eq!(shown(&model).last().unwrap(), "newer");
    model.on_frame(complete(&push("x").replace("\"a\"", "\"b\"")).as_bytes(), NOW);
    assert_eq!(shown(&model).last().unwrap(), "newer", "another server's");
    model.on_key(Key::Esc, NOW);
    assert!(sent(&mut model)[0].ends_with(r#""server_id":"a","limit":1,"follow":false}"#));
    assert!(model.detail.is_none());
}

#[test]
fn a_reader_of_old_lines_goes_on_seeing_them_while_older_ones_go() {
    let mut model = known((40, 10), &three());
    model.on_key(Key::Enter, NOW);
    press(&mut model, "2");
    let push = |n: u32| {
        format!(r#"{{"type":"server_log","server_id":"a","timestamp":0,"source":"stderr","text":"{n}"}}"#)
    };
    (0..2000).for_each(|n| model.on_frame(complete(&push(n)).as_bytes(), NOW));
    model.on_key(Key::PageUp, NOW);
    let first = |model: &Model| model.view(NOW).rows[0].text.clone();
    let before = first(&model);
    (2000..2100).for_each(|n| model.on_frame(complete(&push(n)).as_bytes(), NOW));
    assert_eq!((first(&model), before.as_str()), (before.clone(), "1988"));
}

#[test]
fn a_server_that_comes_up_is_asked_for_its_tools() {
    let mut model = known((80, 24), &[server("a", "stopped", "")]);
    model.on_key(Key::Enter, NOW);
    assert_eq!(sent(&mut model).len(), 3, "asking for its tools might start it");
    numbers(&mut model, 1, &[server("a", "running", "")]);
    assert!(sent(&mut model)[0].contains("mcp_list_tools"));
    let tools = br#"{"type":"mcp_list_tools_result","request_id":"6","tools":[{"name":"t","description":"Does\nit."}]}"#;
    model.on_frame(tools, NOW);
    press(&mut model, "3");
    assert_eq!(model.detail.as_ref().unwrap().tab, Tab::Tools);
    let rows: Vec<_> = model.view(NOW).rows.into_iter().map(|row| row.text).collect();
    assert_eq!(rows, ["t", "Does it."]);
}

#[test]
fn a_description_without_an_end_is_cut_and_that_is_said() {
    let mut model = known((80, 24), &three());
    model.on_key(Key::Enter, NOW);
    let tools = format!(
        r#"{{"type":"mcp_list_tools_result","request_id":"6","tools":[{{"name":"t","description":"{}"}}]}}"#,
        "x".repeat(1 << 20)
    );
    model.on_frame(complete(&tools).as_bytes(), NOW);
    press(&mut model, "3G");
    let view = model.view(NOW);
    assert!((view.total, view.rows.len()) == (1 + 55, 20), "{view:?}");
    let end = view.rows[18..].iter().map(|row| row.text.as_str()).collect::<Vec<_>>().join(" ");
    assert!(end.ends_with("x … (1048576 bytes in all: harbor tools NAME --json)"), "{end}");
}

#[test]
fn a_log_of_long_lines_is_wrapped_no_further_than_it_is_seen() {
    let mut model = known((80, 24), &three());
    model.on_key(Key::Enter, NOW);
    let push = format!(
        r#"{{"type":"server_log","server_id":"a","timestamp":0,"source":"stderr","text":"{}"}}"#,
        "y".repeat(8 << 10)
    );
    (0..100).for_each(|_| model.on_frame(complete(&push).as_bytes(), NOW));
    press(&mut model, "2");
    let view = model.view(NOW);
    assert_eq!((view.total % 100, view.rows.len(), view.first), (0, 20, view.total - 20));
    model.on_resize((40, 24));
    assert!(model.view(NOW).total > view.total * 19 / 10, "counted anew");
}

#[test]
fn a_bridge_that_has_gone_is_looked_for_ever_more_slowly_and_asked_anew() {
    let mut model = known((80, 24), &three());
    model.on_key(Key::Enter, NOW);
    press(&mut model, "x");
    sent(&mut model);
    model.on_lost(NOW);
    assert!(model.open.is_empty());
    assert_eq!(model.remark.clone().unwrap().text, "stopping a: the bridge ended before it answered");
    let mut pauses = Vec::new();
    for _ in 0..6 {
        if let Some(Out::Dial(pause)) = model.take_out() {
            pauses.push(pause.as_millis());
        }
        model.on_no_bridge(None);
    }
    assert_eq!(pauses, [250, 500, 1000, 2000, 4000, 4000]);
    model.take_out();
    press(&mut model, "s");
    assert_eq!(sent(&mut model), [""; 0], "there is nobody to ask");
    assert_eq!(model.remark.clone().unwrap().text, "cannot start a without a bridge");
    model.on_connected(NOW);
    let asked = sent(&mut model);
    assert!(asked.len() == 6 && asked.iter().any(|ask| ask.contains("mcp_get_logs")), "{asked:?}");
}

fn any_key() -> impl Strategy<Value = Key> {
    let plain = [
        Key::Up,
        Key::Down,
        Key::Left,
        Key::Right,
        Key::PageUp,
        Key::PageDown,
        Key::Home,
        Key::End,
        Key::Enter,
        Key::Esc,
        Key::Tab,
        Key::BackTab,
        Key::Backspace,
        Key::Interrupt,
    ];
    prop_oneof![
        proptest::sample::select(plain.to_vec()),
        proptest::sample::select("sxryn/o?q1234jkgG時a ".chars().collect::<Vec<_>>()).prop_map(Key::Char),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Key(Key),
    Size(u16, u16),
    Numbers(Vec<(u8, u8)>),
    Removed(u8),
    Log(String),
    Answer(u8, bool),
    Garbage(String),
    Lost,
    Found,
}

const STATES: [&str; 5] = ["running", "stopped", "crashed", "failed", "时间"];

fn any_step() -> impl Strategy<Value = Step> {
    let server = (0u8..12, 0u8..5);
    prop_oneof![
        8 => any_key().prop_map(Step::Key),
        1 => (1u16..200, 1u16..60).prop_map(|(width, height)| Step::Size(width, height)),
        2 => proptest::collection::vec(server, 0..12).prop_map(Step::Numbers),
        1 => (0u8..12).prop_map(Step::Removed),
        2 => ".{0,80}".prop_map(Step::Log),
        2 => (0u8..40, any::<bool>()).prop_map(|(id, well)| Step::Answer(id, well)),
        1 => ".{0,20}".prop_map(Step::Garbage),
        1 => Just(Step::Lost),
        1 => Just(Step::Found),
    ]
}

fn apply(model: &mut Model, step: Step, at: u64) {
    let name = |n: u8| format!("s{n}");
    match step {
        Step::Key(key) => model.on_key(key, NOW + at),
        Step::Size(width, height) => model.on_resize((width, height)),
        Step::Numbers(servers) => {
            let told: Vec<_> = servers
                .iter()
                .map(|(n, state)| {
                    server(&name(*n), STATES[usize::from(*state)], &calls(at * u64::from(*n), at * 9))
                })
                .collect();
            numbers(model, at, &told);
        }
        Step::Removed(n) => {
            let push = format!(r#"{{"type":"status_update","category":"server","removed":"{}"}}"#, name(n));
            model.on_frame(complete(&push).as_bytes(), NOW + at);
        }
        Step::Log(text) => {
            let server = model.detail.as_ref().map(|detail| detail.server.clone()).unwrap_or_default();
            let text = serde_json::to_string(&text).unwrap();
            let push =
                format!(r#"{{"type":"server_log","server_id":"{server}","timestamp":0,"text":{text}}}"#);
            model.on_frame(complete(&push).as_bytes(), NOW + at);
        }
        Step::Answer(id, true) => {
            let body = format!(
                r#""logs":[{}],"tools":[{{"name":"t"}},5],"servers":[{}],"sandbox":{}"#,
                complete_object("LogLine", r#"{"text":"a"}"#),
                complete_object("Server", r#"{"server_id":"s1"}"#),
                complete_object("Sandbox", r#"{"limits":["x"]}"#)
            );
            model.on_frame(
                format!(r#"{{"type":"x_result","request_id":"{id}",{body}}}"#).as_bytes(),
                NOW + at,
            );
        }
        Step::Answer(id, false) => {
            let error =
                format!(r#"{{"type":"error","request_id":"{id}","error":{{"code":"x","message":"no"}}}}"#);
            model.on_frame(complete(&error).as_bytes(), NOW + at);
        }
        Step::Garbage(text) => model.on_frame(text.as_bytes(), NOW + at),
        Step::Lost => model.on_lost(NOW + at),
        Step::Found => model.on_connected(NOW + at),
    }
}

proptest! {
    // Each case draws some sixty screens.
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn whatever_comes_the_selection_is_listed_and_every_screen_can_be_drawn(
        steps in proptest::collection::vec(any_step(), 0..60),
        size in (1u16..200, 1u16..60),
    ) {
        let mut model = known((80, 24), &three());
        for (at, step) in steps.into_iter().enumerate() {
            apply(&mut model, step, at as u64);
            let listed = model.listed();
            prop_assert_eq!(model.selected.as_ref(), listed.get(model.at).map(|server| &server.id));
            prop_assert!(model.top <= model.at && model.at < model.top + model.rows().max(1));
            for (width, height) in [model.size, size] {
                // The screen may be of another size already than the model has heard.
                let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
                draw(&mut Pen::new(&mut buffer, true), &model, NOW + at as u64);
                prop_assert!(buffer.content.iter().all(|cell| !cell.symbol().contains(char::is_control)));
            }
        }
    }
}
