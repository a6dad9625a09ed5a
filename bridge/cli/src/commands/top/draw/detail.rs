//! One server, page by page; and the help, which scrolls the same way.
//!
//! Owns where the lines of a page stand.

use super::super::detail::Tab;
use super::super::facts::Server;
use super::super::key::HELP;
use super::super::model::{Link, Model};
use super::super::row::{Row, TextStyle, tone};
use super::super::scroll::Scroll;
use super::super::words::{places, state};
use super::pen::Pen;
use super::trouble::trouble;

/// The line where the page begins.
const HEAD: usize = 2;

pub fn draw(pen: &mut Pen<'_>, model: &Model, height: usize, now: u64) {
    let Some(detail) = &model.detail else { return };
    let width = pen.width();
    let server = model.servers.get(&detail.server);
    let mut x = pen.put(0, 0, width, &detail.server, TextStyle::Strong);
    if let Some(server) = server {
        x = pen.put(x, 0, width, "  ", TextStyle::Plain);
        x = pen.put(x, 0, width, &state(server, now), tone(&server.shown));
        x = pen.put(x, 0, width, &beside(server), TextStyle::Plain);
    }
    if let Some(trouble) = trouble(model, now).filter(|_| model.link != Link::Up) {
        pen.put(x, 0, width, &format!("  {}", trouble.text), trouble.tone);
    }
    let view = model.view(now);
    let place = place(detail.scroll(), view.first, model.page_rows(), view.total);
    draw_tabs(pen, detail.tab, &place);
    draw_rows(pen, &view.rows, height);
}

pub fn draw_help(pen: &mut Pen<'_>, model: &Model, height: usize) {
    let width = pen.width();
    pen.put(0, 0, width, "harbor top: keys and columns", TextStyle::Strong);
    let rows: Vec<_> = HELP.iter().map(|(key, what)| Row::new(&format!("{key:<25}"), *what)).collect();
    let first = model.help.unwrap_or_default().first(rows.len(), model.page_rows());
    draw_rows(pen, rows.get(first..).unwrap_or_default(), height);
}

/// Other facts that stand beside a server's name.
fn beside(server: &Server) -> String {
    let label = if server.label.is_empty() { String::new() } else { format!("  {}", server.label) };
    let open = if server.is_in_use() {
        format!("  {} open, {} waiting", server.in_flight, server.queued)
    } else {
        String::new()
    };
    format!("{open}{label}")
}

/// The position of the view in the page.
fn place(scroll: Scroll, first: usize, page: usize, total: usize) -> String {
    let last = (first + page).min(total);
    match (total > page, scroll.follows) {
        (_, true) => "follows".into(),
        (true, false) => format!("{}-{last} of {total}", first + 1),
        (false, false) => String::new(),
    }
}

fn draw_tabs(pen: &mut Pen<'_>, open: Tab, place: &str) {
    let width = pen.width();
    let mut x = 0;
    for (at, tab) in Tab::ALL.iter().enumerate() {
        let (text, tone) = match *tab == open {
            true => (format!("[{} {}]", at + 1, tab.word()), TextStyle::Strong),
            false => (format!(" {} {} ", at + 1, tab.word()), TextStyle::Faint),
        };
        x = pen.put(x, 1, width, &text, tone) + 1;
    }
    let from = width.saturating_sub(places(place));
    if from > x {
        pen.put(from, 1, width, place, TextStyle::Faint);
    }
}

fn draw_rows(pen: &mut Pen<'_>, rows: &[Row], height: usize) {
    let width = pen.width();
    for (row, y) in rows.iter().zip(HEAD..height.saturating_sub(2)) {
        let x = pen.put(0, y, width, &row.head, TextStyle::Faint);
        pen.put(x, y, width, &row.text, row.tone);
    }
}
