//! Whole screens, as they look.

use std::fmt::Write as _;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::{Color, Modifier};

use super::super::key::Key;
use super::super::model::tests::{calls, known, numbers, press, server};
use super::super::words::places;
use super::*;
use crate::commands::rig::complete;

const NOW: u64 = 1_795_262_400_000;

fn backend(model: &Model, colour: bool, now: u64) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(model.size.0, model.size.1)).unwrap();
    terminal.draw(|frame| draw(&mut Pen::new(frame.buffer_mut(), colour), model, now)).unwrap();
    terminal.backend().clone()
}

/// The screen as text, without what is blank at the ends of its lines.
fn shown(model: &Model, now: u64) -> String {
    let backend = backend(model, false, now);
    let buffer = backend.buffer();
    let mut text = String::new();
    for line in buffer.content.chunks(buffer.area.width.into()) {
        // The place behind a wide letter is blank, and shows the letter's other half.
        let mut hidden = 0;
        let mut seen = |symbol: &&str| {
            let is_seen = hidden == 0;
            hidden = if is_seen { places(symbol).saturating_sub(1) } else { hidden - 1 };
            is_seen
        };
        let line: String = line.iter().map(|cell| cell.symbol()).filter(&mut seen).collect();
        writeln!(text, "{}", line.trim_end()).unwrap();
    }
    text
}

/// Four servers after four seconds: one at work, one about to be restarted, one that failed, one that is stopped.
fn at_work(size: (u16, u16)) -> Model {
    let servers = |at: u64| {
        let usage = r#","usage":{"age_ms":3000,"memory":82313216,"cpu_ms":5000,"cpu_permille":123,"open_files":20,"processes":3,"threads":9}"#;
        let work = format!(
            r#","tools":3,"pid":12,"runner_pid":11,"sandbox":"standard","sandbox_held_by":"landlock 7"{usage}{}"#,
            calls(at * 50, at * at * 100_000)
        );
        let retry = format!(
            r#","next_retry":{},"last_error":"it\u001b[31m exited","last_cause":"exited""#,
            NOW + 8000
        );
        vec![
            server("files", "crashed", &retry).replace("\"restarts\":0", "\"restarts\":2"),
            server("search", "failed", "").replace("\"label\":\"search\"", "\"label\":\"Web search 検索\""),
            server("time", "running", &work).replace("\"in_flight\":0", "\"in_flight\":1"),
            server("weather", "stopped", ""),
        ]
    };
    let mut model = known(size, &servers(0));
    (1..=4).for_each(|at| numbers(&mut model, at, &servers(at)));
    model
}

#[test]
fn the_overview_at_80_by_24() {
    let mut model = at_work((80, 24));
    model.on_key(Key::Down, NOW);
    assert_eq!(shown(&model, NOW + 4000), include_str!("screens/overview_80x24.txt"));
}

#[test]
fn the_overview_at_160_by_50() {
    assert_eq!(shown(&at_work((160, 50)), NOW + 4000), include_str!("screens/overview_160x50.txt"));
}

#[test]
fn the_detail_of_a_server() {
    let mut model = at_work((80, 24));
    model.on_key(Key::Down, NOW);
    model.on_key(Key::Down, NOW);
    model.on_key(Key::Enter, NOW);
    assert_eq!(shown(&model, NOW + 4000), include_str!("screens/detail_80x24.txt"));
}

#[test]
fn the_log_keeps_its_terminal_from_what_a_server_writes() {
    let mut model = at_work((60, 12));
    model.on_key(Key::Enter, NOW);
    let log = r#"{"type":"mcp_get_logs_result","request_id":"3","logs":[{"timestamp":1000,"source":"stderr","text":"\u001b]0;x\u0007 \tred\n00:00:02Z harbor: forged"},{"timestamp":2000,"source":"mcp","level":"error","text":"時間 and a line that is longer than the screen is wide, by some words"}]}"#;
    model.on_frame(complete(log).as_bytes(), NOW);
    press(&mut model, "2");
    assert_eq!(shown(&model, NOW + 4000), include_str!("screens/log_60x12.txt"));
}

#[test]
fn the_limits_say_what_holds_a_server() {
    let mut model = at_work((80, 40));
    model.on_key(Key::Enter, NOW);
    let definition = r#"{"type":"list_servers_result","request_id":"4","servers":[{"server_id":"files","supervision":{"restart_attempts":"unlimited","lazy":true}}]}"#;
    model.on_frame(complete(definition).as_bytes(), NOW);
    let sandbox = r#"{"type":"get_sandbox_result","request_id":"5","sandbox":{"summary":{"level":"strict","held_by":"seccomp","network":"none"},"reach":"closed","limits":["64 MiB of memory"]}}"#;
    model.on_frame(complete(sandbox).as_bytes(), NOW);
    press(&mut model, "4");
    assert_eq!(shown(&model, NOW), include_str!("screens/limits_80x40.txt"));
}

#[test]
fn the_status_line_says_what_is_most_pressing() {
    let mut model = at_work((80, 24));
    let line = |model: &Model, now: u64| status_line(model, now).0;
    assert_eq!(line(&model, NOW + 4000), "");
    assert_eq!(line(&model, NOW + 14_000), "the bridge has been silent for 10 s");
    press(&mut model, "s");
    assert_eq!(line(&model, NOW), "starting files …");
    model.on_frame(
        complete(r#"{"type":"progress","request_id":"3","message":"restart 1 of 3"}"#).as_bytes(),
        NOW,
    );
    assert_eq!(line(&model, NOW), "starting files … restart 1 of 3");
    press(&mut model, "/time");
    assert_eq!(line(&model, NOW), "/time▏");
    model.on_key(Key::Enter, NOW);
    press(&mut model, "x");
    assert_eq!(line(&model, NOW), "stop time? 1 call would be cut off: y/n");
    press(&mut model, "n");
    assert_eq!(line(&model, NOW), "time is unchanged");
}

#[test]
fn a_bridge_that_has_gone_is_said_on_every_page() {
    let mut model = at_work((80, 24));
    model.on_lost(NOW);
    model.on_no_bridge(Some("it is of\nanother version".into()));
    let said = "the bridge has been gone since 7 s; connecting …: it is of another version";
    assert!(shown(&model, NOW + 7000).contains(said));
    model.on_key(Key::Enter, NOW);
    let gone = shown(&model, NOW + 7000);
    assert!(gone.starts_with(&format!("files  restarting, 1 s  {}", &said[..30])), "{gone}");
}

#[test]
fn a_state_is_a_word_and_never_only_a_colour() {
    let model = at_work((80, 24));
    let (plain, coloured) = (backend(&model, false, NOW), backend(&model, true, NOW));
    let symbols = |backend: &TestBackend| {
        backend.buffer().content.iter().map(|cell| cell.symbol().to_owned()).collect::<String>()
    };
    assert_eq!(symbols(&plain), symbols(&coloured));
    assert!(plain.buffer().content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    assert!(coloured.buffer().content.iter().any(|cell| cell.fg == Color::Green));
    assert!(
        plain.buffer().content.iter().any(|cell| cell.modifier.contains(Modifier::REVERSED)),
        "the selection"
    );
}

#[test]
fn every_size_down_to_a_single_place_can_be_drawn() {
    for open in ["", "\n", "\n2", "\n3", "\n4", "?", "/x", "x"] {
        for size in (1..30).flat_map(|width| [1, 2, 3, 5, 11].map(|height| (width, height))) {
            let mut model = at_work(size);
            open.chars().for_each(|c| model.on_key(if c == '\n' { Key::Enter } else { Key::Char(c) }, NOW));
            shown(&model, NOW);
        }
    }
}
