//! All servers, and how the bridge does.
//!
//! Owns the head, and the rows of the table.

use harbor_ipc_proto::client::AgentStatus;

use super::super::model::Model;
use super::super::row::{TextStyle, tone};
use super::super::words::{NONE, mib, or_none, percent, rate, state};
use super::columns::{Column, layout};
use super::pen::Pen;
use super::trouble::trouble;
use crate::when;

/// The line where the table begins.
const HEAD: usize = 3;

pub fn draw(pen: &mut Pen<'_>, model: &Model, height: usize, now: u64) {
    draw_head(pen, model, now);
    let listed = model.listed();
    let columns = layout(pen.width(), &listed);
    let mut x = 1;
    for (column, width) in &columns {
        pen.put(x, HEAD, *width, &column.align(column.title(), *width), TextStyle::Strong);
        x += width + 1;
    }
    let last = height.saturating_sub(2);
    let rows = listed.iter().enumerate().skip(model.top).zip(HEAD + 1..last);
    for ((at, server), y) in rows {
        let chosen = at == model.at;
        pen.put(0, y, 1, if chosen { ">" } else { " " }, TextStyle::Strong);
        let mut x = 1;
        for (column, width) in &columns {
            let (text, tone) = match column {
                Column::State => (state(server, now), tone(&server.shown)),
                column => (column.cell(server, *width), column.tone()),
            };
            pen.put(x, y, *width, &column.align(&text, *width), tone);
            x += width + 1;
        }
        if chosen {
            pen.reverse(y);
        }
    }
    if listed.is_empty() && last > HEAD + 1 {
        let text = match (model.servers.is_empty(), model.bridge.version.is_empty()) {
            (_, true) => "",
            (true, _) => {
                "no servers yet; install one with `harbor install time`, or import them from your AI clients: `harbor import`"
            }
            (false, _) => "no server name contains that",
        };
        pen.put(1, HEAD + 1, pen.width(), text, TextStyle::Faint);
    }
}

fn draw_head(pen: &mut Pen<'_>, model: &Model, now: u64) {
    let (bridge, width) = (&model.bridge, pen.width());
    let up = when::lasting(bridge.uptime_ms);
    let mut x = pen.put(0, 0, width, &format!("harbor {}", bridge.version), TextStyle::Strong);
    x = pen.put(x, 0, width, &format!("  up {up}  "), TextStyle::Plain);
    let well = if model.health.state == "ok" { TextStyle::Good } else { TextStyle::Bad };
    x = pen.put(x, 0, width, &model.health.state, well);
    let clients = format!("  {}", bridge.clients);
    x = pen.put(x, 0, width, &clients, TextStyle::Plain);
    if let Some((turns, tone)) = model.agent.as_ref().and_then(turns) {
        pen.put(x, 0, width, &format!("  turns: {turns}"), tone);
    }
    let running = model.servers.values().filter(|server| server.is_running()).count();
    let numbers = format!(
        "{running} of {} run  {} calls/s  {} open  {} waiting  bridge {} MiB {} % CPU",
        crate::commands::printing::count(model.servers.len(), "server"),
        or_none(bridge.history.rate(), rate),
        model.servers.values().map(|server| server.in_flight).sum::<u64>(),
        bridge.waiting,
        or_none(bridge.memory, mib),
        bridge.cpu_permille.map_or_else(|| NONE.into(), percent),
    );
    pen.put(0, 1, width, &numbers, TextStyle::Plain);
    if let Some(trouble) = trouble(model, now) {
        pen.put(0, 2, width, &trouble.text, trouble.tone);
    }
    let order = format!("by {}", model.order.word());
    if width > 60 + order.len() && trouble(model, now).is_none() {
        pen.put(width - order.len(), 2, order.len(), &order, TextStyle::Faint);
    }
}

/// The turns of models with tools, if there were any. What waits for the person comes first, and stays on a narrow screen.
fn turns(agent: &AgentStatus) -> Option<(String, TextStyle)> {
    let ended: u64 = agent.ended.values().sum();
    let tokens = agent.input_tokens.saturating_add(agent.output_tokens);
    let all = [
        (agent.waiting, "waiting for you"),
        (agent.running, "running"),
        (ended, "ended"),
        (tokens, "tokens"),
    ];
    let some = all.iter().filter(|(number, _)| *number > 0);
    let words: Vec<_> = some.map(|(number, what)| format!("{number} {what}")).collect();
    let tone = if agent.waiting > 0 { TextStyle::Waiting } else { TextStyle::Plain };
    (!words.is_empty()).then(|| (words.join(", "), tone))
}
