//! The model on a screen of any size, down to a single place.
//!
//! Owns colours, and the parts that are the same on every screen: the head, the status line, the keys. A
//! state is a word first; without colours nothing is lost. Must never change the model, or draw outside of
//! the screen.

mod columns;
mod detail;
mod overview;
mod pen;
mod trouble;

pub use self::pen::Pen;
use super::model::{Link, Model};
use super::row::TextStyle;
use crate::when;

/// The silence of the bridge after which the screen says so, in milliseconds; numbers come each second.
const SILENCE: u64 = 4000;

/// Draws all of it, as of `now`.
pub fn draw(pen: &mut Pen<'_>, model: &Model, now: u64) {
    let height = usize::from(pen.buffer.area.height);
    match (&model.help, &model.detail) {
        (Some(_), _) => detail::draw_help(pen, model, height),
        (None, Some(_)) => detail::draw(pen, model, height, now),
        (None, None) => overview::draw(pen, model, height, now),
    }
    draw_foot(pen, model, height, now);
}

/// The two last lines: the message, and the keys.
fn draw_foot(pen: &mut Pen<'_>, model: &Model, height: usize, now: u64) {
    let (text, tone) = status_line(model, now);
    let width = pen.width();
    if height > 1 {
        pen.put(0, height - 2, width, &text, tone);
    }
    pen.put(0, height.saturating_sub(1), width, keys(model), TextStyle::Faint);
}

/// The most pressing message.
fn status_line(model: &Model, now: u64) -> (String, TextStyle) {
    if let Some((act, server)) = &model.asked {
        let open = model.servers.get(server).map_or(0, |server| server.in_flight + server.queued);
        let calls = crate::commands::printing::count(usize::try_from(open).unwrap_or(usize::MAX), "call");
        return (format!("{} {server}? {calls} would be cut off: y/n", act.verb()), TextStyle::Waiting);
    }
    if model.typing {
        return (format!("/{}▏", super::words::line(&model.filter)), TextStyle::Strong);
    }
    if let Some(remark) = &model.remark {
        return (remark.text.clone(), if remark.bad { TextStyle::Bad } else { TextStyle::Good });
    }
    let mut acts = model.open.values().filter_map(|open| Some((open.act()?, open)));
    if let Some(((act, server), open)) = acts.next() {
        let others = acts.count();
        let others = if others == 0 { String::new() } else { format!(" (and {others} more)") };
        let news = if open.news.is_empty() { String::new() } else { format!(" {}", open.news) };
        return (format!("{} {server} …{news}{others}", act.word()), TextStyle::Waiting);
    }
    match (&model.link, model.filter.is_empty() || model.detail.is_some()) {
        (Link::Up, false) => {
            (format!("/{} (Esc shows all)", super::words::line(&model.filter)), TextStyle::Faint)
        }
        (Link::Up, true) if now.saturating_sub(model.heard) > SILENCE => {
            let silent = when::lasting(now.saturating_sub(model.heard));
            (format!("the bridge has been silent for {silent}"), TextStyle::Bad)
        }
        _ => (String::new(), TextStyle::Plain),
    }
}

fn keys(model: &Model) -> &'static str {
    match (model.asked.is_some(), model.help.is_some(), model.typing, &model.detail) {
        (true, ..) => "y yes  any other key no",
        (_, true, ..) => "↑↓ scroll  any other key back",
        (_, _, true, _) => "Enter done  Esc show all  ↑↓ select",
        (.., Some(_)) => "q back  Tab 1-4 page  ↑↓ scroll  End newest  s start  x stop  r restart  ? help",
        _ => "q quit  Enter open  s start  x stop  r restart  / filter  o order  ? help",
    }
}

#[cfg(test)]
mod tests;
