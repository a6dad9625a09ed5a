//! What the tools of one server said of themselves when they were first seen, or last accepted.
//!
//! Owns how many are kept. A tool that has gone keeps its pin: coming back as another one is a change.

use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use crate::link::{Tool, ToolList};
use crate::store::pins::Pin;

/// Tools of one server that are pinned, and the most bytes of what they say of themselves. A server that makes up tools
/// without end does not fill memory and disk with them.
const MOST_PINS: usize = 10_000;
/// See [`MOST_PINS`].
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The pinned tools of one server.
#[derive(Debug, Default)]
pub(super) struct PinnedTools {
    tools: HashMap<Arc<str>, Pinned>,
    bytes: usize,
    /// Those that are listed, while somebody has the list.
    list: Weak<ToolList>,
}

#[derive(Debug)]
struct Pinned {
    tool: Tool,
    /// Whether its server listed it like this the last time.
    listed: bool,
    /// The same on disk.
    stored: bool,
}

/// What a tool is to its pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// What it was.
    AsSeen,
    /// Another one.
    Changed,
    /// It has none: there are too many.
    NotKept,
}

impl PinnedTools {
    /// Takes a pin from the disk.
    pub(super) fn restore(&mut self, pin: &Pin) {
        if let Some(tool) = Tool::from_shown(&pin.tool, &pin.shown, pin.hash, pin.hidden)
            && self.put(&tool)
            && let Some(pinned) = self.tools.get_mut(&tool.name)
        {
            (pinned.listed, pinned.stored) = (pin.listed, pin.listed);
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    fn bytes_with(&self, tool: &Tool) -> usize {
        let before = self.tools.get(&tool.name).map_or(0, |pinned| pinned.tool.size());
        self.bytes - before + tool.size()
    }

    /// Whether there is room for a tool.
    pub(super) fn has_room(&self, tool: &Tool) -> bool {
        let is_known = self.tools.contains_key(&tool.name);
        self.bytes_with(tool) <= MOST_BYTES && (is_known || self.tools.len() < MOST_PINS)
    }

    /// Pins a tool that is listed now, or says that there is no room.
    pub(super) fn put(&mut self, tool: &Tool) -> bool {
        let fits = self.has_room(tool);
        if fits {
            self.bytes = self.bytes_with(tool);
            self.list = Weak::new();
            let pinned = Pinned { tool: tool.clone(), listed: true, stored: true };
            self.tools.insert(tool.name.clone(), pinned);
        }
        fits
    }

    /// What is pinned under this name.
    pub(super) fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name).map(|pinned| &pinned.tool)
    }

    /// What is pinned of a tool that is another one now.
    pub(super) fn before(&self, now: &Tool) -> Option<&Tool> {
        self.get(&now.name).filter(|before| before.hash != now.hash)
    }

    /// What a tool is to its pin.
    pub(super) fn standing(&self, now: &Tool) -> Standing {
        match self.get(&now.name) {
            None => Standing::NotKept,
            Some(before) if before.hash != now.hash => Standing::Changed,
            Some(_) => Standing::AsSeen,
        }
    }

    /// Notes what is listed now; whether that is news of any.
    pub(super) fn note_listed(&mut self, list: &ToolList) -> bool {
        let mut is_news = false;
        for pinned in self.tools.values_mut() {
            let listed = list.get(&pinned.tool.name).is_some_and(|now| now.hash == pinned.tool.hash);
            is_news |= std::mem::replace(&mut pinned.listed, listed) != listed;
        }
        if is_news {
            self.list = Weak::new();
        }
        is_news
    }

    /// What the disk does not know yet: the tools, and whether they are listed.
    pub(super) fn take_flags(&mut self) -> Vec<(String, bool)> {
        let unknown = self.tools.values_mut().filter(|pinned| pinned.listed != pinned.stored);
        let take = |pinned: &mut Pinned| {
            pinned.stored = pinned.listed;
            (pinned.tool.name.to_string(), pinned.listed)
        };
        unknown.map(take).collect()
    }

    /// Those that were listed the last time, by name.
    pub(super) fn list(&mut self) -> Rc<ToolList> {
        self.list.upgrade().unwrap_or_else(|| {
            let listed = self.tools.values().filter(|pinned| pinned.listed);
            let mut tools: Vec<_> = listed.map(|pinned| pinned.tool.clone()).collect();
            tools.sort_by(|a, b| a.name.cmp(&b.name));
            let list = Rc::new(tools.into_iter().collect());
            self.list = Rc::downgrade(&list);
            list
        })
    }
}

/// A tool as the disk keeps it.
pub(super) fn pin(tool: &Tool, listed: bool) -> Pin {
    let shown = tool.shown().into_string();
    Pin { tool: tool.name.to_string(), hash: tool.hash, shown, hidden: tool.hidden, listed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, hash: u8) -> Tool {
        Tool::from_shown(name, "{}", [hash; 32], false).unwrap()
    }

    #[test]
    fn what_has_gone_and_comes_back_as_another_one_is_changed() {
        let mut pinned = PinnedTools::default();
        assert!(pinned.put(&tool("a", 1)) && pinned.put(&tool("b", 1)));
        let without: ToolList = [tool("b", 1)].into_iter().collect();
        assert!(pinned.note_listed(&without) && !pinned.note_listed(&without));
        assert_eq!(*pinned.list(), without);
        assert_eq!(pinned.take_flags(), [("a".to_owned(), false)]);
        assert_eq!(pinned.take_flags(), []);
        assert_eq!(pinned.standing(&tool("a", 2)), Standing::Changed);
        assert_eq!(pinned.standing(&tool("a", 1)), Standing::AsSeen);
        assert_eq!(pinned.standing(&tool("c", 1)), Standing::NotKept);
    }

    #[test]
    fn there_is_room_for_so_many_and_for_what_they_become() {
        let mut pinned = PinnedTools::default();
        assert!((0..MOST_PINS).all(|n| pinned.put(&tool(&n.to_string(), 1))));
        assert!(!pinned.put(&tool("one more", 1)));
        assert!(pinned.put(&tool("7", 2)));
    }
}
