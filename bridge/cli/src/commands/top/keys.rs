//! The meanings of keys.
//!
//! Owns the way from a key to an intent, which depends on what is open. Must never act on a server with open
//! calls without asking first.

use super::act::Act;
use super::detail::Tab;
use super::key::{HELP, Key};
use super::model::{Link, Model, Out};
use super::scroll::Scroll;

impl Model {
    pub fn on_key(&mut self, key: Key, now: u64) {
        self.remark = None;
        match key {
            Key::Interrupt => self.out.push_back(Out::Quit),
            _ if self.asked.is_some() => self.on_answer_key(key, now),
            _ if self.help.is_some() => self.on_help_key(key),
            _ if self.typing => self.on_filter_key(key),
            _ if self.detail.is_some() => self.on_detail_key(key, now),
            _ => self.on_overview_key(key, now),
        }
        self.settle();
    }

    fn on_answer_key(&mut self, key: Key, now: u64) {
        let Some((act, server)) = self.asked.take() else { return };
        match key {
            Key::Char('y' | 'Y') => self.act(act, &server, now),
            _ => self.say(format!("{server} is unchanged"), false, now),
        }
    }

    fn on_help_key(&mut self, key: Key) {
        let (total, page) = (HELP.len(), self.page_rows());
        if let Some(help) = &mut self.help
            && !help.on_key(key, total, page)
        {
            self.help = None;
        }
    }

    fn on_filter_key(&mut self, key: Key) {
        match key {
            Key::Char(c) => self.filter.push(c),
            Key::Backspace => drop(self.filter.pop()),
            Key::Enter => self.typing = false,
            Key::Esc => (self.typing, self.filter) = (false, String::new()),
            key => self.on_move(key),
        }
    }

    fn on_overview_key(&mut self, key: Key, now: u64) {
        match key {
            Key::Char('q') => self.out.push_back(Out::Quit),
            Key::Esc if self.filter.is_empty() => self.out.push_back(Out::Quit),
            Key::Esc => self.filter.clear(),
            Key::Char('/') => self.typing = true,
            Key::Char('o') => self.order = self.order.next(),
            Key::Enter | Key::Right => {
                if let Some(server) = self.selected.clone() {
                    self.enter(&server);
                }
            }
            key => self.on_move(key),
        }
        self.on_common_key(key, now);
    }

    fn on_move(&mut self, key: Key) {
        let (at, page) = (self.at, self.rows().max(1));
        match key {
            Key::Up | Key::Char('k') => self.select(at.saturating_sub(1)),
            Key::Down | Key::Char('j') => self.select(at + 1),
            Key::PageUp => self.select(at.saturating_sub(page)),
            Key::PageDown => self.select(at + page),
            Key::Home | Key::Char('g') => self.select(0),
            Key::End | Key::Char('G') => self.select(usize::MAX),
            _ => {}
        }
    }

    fn on_detail_key(&mut self, key: Key, now: u64) {
        let (total, page) = (self.view(now).total, self.page_rows());
        let Some(detail) = &mut self.detail else { return };
        let tab = detail.tab;
        match key {
            Key::Esc | Key::Char('q') | Key::Backspace => self.leave(),
            Key::Tab | Key::Right => detail.tab = tab.next(),
            Key::BackTab | Key::Left => detail.tab = tab.before(),
            Key::Char(digit @ '1'..='4') => {
                let at = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(1);
                detail.tab = Tab::ALL.get(at - 1).copied().unwrap_or(tab);
            }
            key => {
                detail.scroll_mut().on_key(key, total, page);
            }
        }
        self.on_common_key(key, now);
    }

    fn on_common_key(&mut self, key: Key, now: u64) {
        match key {
            Key::Char('?') => self.help = Some(Scroll::default()),
            Key::Char('s') => self.wish(Act::Start, now),
            Key::Char('x') => self.wish(Act::Stop, now),
            Key::Char('r') => self.wish(Act::Restart, now),
            _ => {}
        }
    }

    /// Handles the person's wish to do this to the selected server.
    fn wish(&mut self, act: Act, now: u64) {
        let Some((id, in_use)) = self.meant().map(|server| (server.id.clone(), server.is_in_use())) else {
            return;
        };
        if self.link != Link::Up {
            return self.say(format!("cannot {} {id} without a bridge", act.verb()), true, now);
        }
        match act {
            Act::Stop | Act::Restart if in_use => self.asked = Some((act, id)),
            _ => self.act(act, &id, now),
        }
    }
}
