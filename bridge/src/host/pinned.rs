//! The tools of one server, as they were when they were first seen or last accepted.
//!
//! Owns how many are kept. A tool that has gone keeps its pin: if it comes back as another one, that is a change.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use harbor_ipc_proto::json::with_member;

use crate::link::{Tool, ToolList};
use crate::store::pins::Pin;

/// The most pinned tools of one server, and the most bytes of their descriptors. So a server that makes up
/// tools without end does not fill memory and disk.
const MOST_PINS: usize = 10_000;
/// See [`MOST_PINS`].
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The pinned tools of one server.
#[derive(Debug, Default)]
pub(super) struct PinnedTools {
    tools: HashMap<Arc<str>, Pinned>,
    bytes: usize,
    /// Tools that the server's last list shows with another hash than their pins; no more than a list may
    /// hold.
    changed: BTreeMap<Arc<str>, Tool>,
    /// True if the disk has others as changed.
    changed_is_new: bool,
    /// The listed tools, while somebody has the list.
    list: Weak<ToolList>,
}

#[derive(Debug)]
struct Pinned {
    tool: Tool,
    /// True if the server's last list had the tool like this.
    listed: bool,
    /// The value of `listed` that is on disk.
    stored: bool,
    /// True if the whole tool was examined. Earlier versions of Harbor left out the parts that they did not
    /// know.
    is_whole: bool,
}

/// The changes of the last listing that the disk does not have yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct UnstoredPins {
    /// Pinned tools, each with true if it is listed.
    pub flags: Vec<(String, bool)>,
    /// All tools that are listed differently from their pins, if these have changed.
    pub changed: Option<Vec<Pin>>,
}

impl UnstoredPins {
    /// True if the disk has everything.
    pub(super) fn is_empty(&self) -> bool {
        self.flags.is_empty() && self.changed.is_none()
    }
}

/// The result of comparing a tool with its pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PinMatch {
    /// The tool equals its pin.
    AsSeen,
    /// The tool differs from its pin.
    Changed,
    /// The tool has no pin, since there are too many.
    NotKept,
}

impl PinnedTools {
    /// Takes a pin from the disk.
    pub(super) fn restore(&mut self, pin: &Pin) {
        let (shown, is_whole) = without_mark(&pin.shown);
        if let Some(tool) = Tool::from_shown(&pin.tool, &shown, pin.hash, pin.hidden)
            && self.put(&tool)
            && let Some(pinned) = self.tools.get_mut(&tool.name)
        {
            (pinned.listed, pinned.stored) = (pin.listed, pin.listed);
            pinned.is_whole = is_whole;
        }
    }

    /// Takes a changed tool from the disk.
    pub(super) fn restore_changed(&mut self, pin: &Pin) {
        let tool = Tool::from_shown(&pin.tool, &without_mark(&pin.shown).0, pin.hash, pin.hidden);
        if let Some(tool) = tool.filter(|tool| self.standing(tool) == PinMatch::Changed) {
            self.changed.insert(tool.name.clone(), tool);
        }
    }

    /// True if no tool is pinned.
    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    fn bytes_with(&self, tool: &Tool) -> usize {
        let before = self.tools.get(&tool.name).map_or(0, |pinned| pinned.tool.size());
        self.bytes - before + tool.size()
    }

    /// True if there is room for a tool.
    pub(super) fn has_room(&self, tool: &Tool) -> bool {
        let is_known = self.tools.contains_key(&tool.name);
        self.bytes_with(tool) <= MOST_BYTES && (is_known || self.tools.len() < MOST_PINS)
    }

    /// Pins a tool that is listed now; false if there is no room.
    pub(super) fn put(&mut self, tool: &Tool) -> bool {
        let fits = self.has_room(tool);
        if fits {
            self.bytes = self.bytes_with(tool);
            self.list = Weak::new();
            self.changed.remove(&tool.name);
            let pinned = Pinned { tool: tool.clone(), listed: true, stored: true, is_whole: true };
            self.tools.insert(tool.name.clone(), pinned);
        }
        fits
    }

    /// The tool that is pinned under this name.
    pub(super) fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name).map(|pinned| &pinned.tool)
    }

    /// True if an earlier version of Harbor made the pin, which examined less of the tool, and that part is
    /// the same.
    pub(super) fn is_known_in_part(&self, now: &Tool) -> bool {
        let pinned = self.tools.get(&now.name).filter(|pinned| !pinned.is_whole);
        pinned.is_some_and(|pinned| pinned.tool.hash == now.former.unwrap_or(now.hash))
    }

    /// All pinned tools.
    pub(super) fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().map(|pinned| &pinned.tool)
    }

    /// The tools whose last listing differs from their pins, by name: as they were, and as they are.
    pub(super) fn changed(&self) -> impl Iterator<Item = (&Tool, &Tool)> {
        self.changed.values().filter_map(|now| Some((self.get(&now.name)?, now)))
    }

    /// Compares a tool with its pin.
    pub(super) fn standing(&self, now: &Tool) -> PinMatch {
        match self.get(&now.name) {
            None => PinMatch::NotKept,
            Some(before) if before.hash != now.hash => PinMatch::Changed,
            Some(_) => PinMatch::AsSeen,
        }
    }

    /// Notes the tools that are listed now; true if any of that is new.
    pub(super) fn note_listed(&mut self, list: &ToolList) -> bool {
        let mut is_news = false;
        for pinned in self.tools.values_mut() {
            let listed = list.get(&pinned.tool.name).is_some_and(|now| now.hash == pinned.tool.hash);
            is_news |= std::mem::replace(&mut pinned.listed, listed) != listed;
        }
        is_news |= self.put_changed(|pinned| {
            let changed = list.iter().filter(|now| pinned.standing(now) == PinMatch::Changed);
            changed.map(|now| (now.name.clone(), now.clone())).collect()
        });
        if is_news {
            self.list = Weak::new();
        }
        is_news
    }

    /// Replaces the changed tools; true if they are others than before.
    fn put_changed(&mut self, made: impl Fn(&Self) -> BTreeMap<Arc<str>, Tool>) -> bool {
        let hashes =
            |tools: &BTreeMap<Arc<str>, Tool>| tools.values().map(|tool| tool.hash).collect::<Vec<_>>();
        let now = made(self);
        let is_news = !now.keys().eq(self.changed.keys()) || hashes(&now) != hashes(&self.changed);
        self.changed = now;
        self.changed_is_new |= is_news;
        is_news
    }

    /// Notes that another version of the server's program is used, whose tools were not listed yet. Until
    /// they are, the pinned tools count.
    pub(super) fn take_back(&mut self) {
        for name in self.changed.keys() {
            if let Some(pinned) = self.tools.get_mut(name) {
                pinned.listed = true;
            }
        }
        self.put_changed(|_| BTreeMap::new());
        self.list = Weak::new();
    }

    /// The changes that the disk does not have yet.
    pub(super) fn take_unstored(&mut self) -> UnstoredPins {
        let unknown = self.tools.values_mut().filter(|pinned| pinned.listed != pinned.stored);
        let take = |pinned: &mut Pinned| {
            pinned.stored = pinned.listed;
            (pinned.tool.name.to_string(), pinned.listed)
        };
        let flags = unknown.map(take).collect();
        let changed = std::mem::take(&mut self.changed_is_new)
            .then(|| self.changed.values().map(|tool| pin(tool, true)).collect());
        UnstoredPins { flags, changed }
    }

    /// The tools of the last list, by name.
    pub(super) fn list(&mut self) -> Rc<ToolList> {
        self.list.upgrade().unwrap_or_else(|| {
            let listed = self.tools.values().filter(|pinned| pinned.listed).map(|pinned| &pinned.tool);
            let mut tools: Vec<_> = listed.chain(self.changed.values()).cloned().collect();
            tools.sort_by(|a, b| a.name.cmp(&b.name));
            let list = Rc::new(tools.into_iter().collect());
            self.list = Rc::downgrade(&list);
            list
        })
    }
}

/// The mark in a stored tool that was examined as a whole.
const MARK: &str = "harbor/whole";

/// The text without the mark; true if it had one.
fn without_mark(shown: &str) -> (Cow<'_, str>, bool) {
    let mark = format!("\"{MARK}\":true");
    match shown.strip_suffix(&format!("{mark}}}")) {
        Some(rest) => (format!("{}}}", rest.strip_suffix(',').unwrap_or(rest)).into(), true),
        None => (shown.into(), false),
    }
}

/// A tool as the disk keeps it.
pub(super) fn pin(tool: &Tool, listed: bool) -> Pin {
    let shown = tool.shown().into_string();
    let shown = with_member(&shown, MARK, "true").unwrap_or(shown);
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
        assert_eq!(pinned.take_unstored().flags, [("a".to_owned(), false)]);
        assert!(pinned.take_unstored().is_empty());
        assert_eq!(pinned.standing(&tool("a", 2)), PinMatch::Changed);
        assert_eq!(pinned.standing(&tool("a", 1)), PinMatch::AsSeen);
        assert_eq!(pinned.standing(&tool("c", 1)), PinMatch::NotKept);
    }

    #[test]
    fn what_is_listed_as_another_one_is_known_after_a_restart() {
        let mut pinned = PinnedTools::default();
        assert!(pinned.put(&tool("a", 1)) && pinned.put(&tool("b", 1)));
        let listed: ToolList = [tool("a", 2), tool("b", 1)].into_iter().collect();
        assert!(pinned.note_listed(&listed) && !pinned.note_listed(&listed));
        let UnstoredPins { flags, changed } = pinned.take_unstored();
        assert_eq!((flags, changed.as_ref().map(Vec::len)), (vec![("a".to_owned(), false)], Some(1)));

        let mut restored = PinnedTools::default();
        restored.restore(&pin(&tool("a", 1), false));
        restored.restore(&pin(&tool("b", 1), true));
        changed.iter().flatten().for_each(|changed| restored.restore_changed(changed));
        assert_eq!(*restored.list(), listed);
        assert_eq!(restored.changed().collect::<Vec<_>>(), [(&tool("a", 1), &tool("a", 2))]);
        assert!(restored.take_unstored().is_empty());

        restored.take_back();
        assert_eq!((restored.changed().count(), restored.list().len()), (0, 2));
        assert_eq!(restored.take_unstored().changed, Some(Vec::new()));
    }

    #[test]
    fn what_an_earlier_version_has_pinned_is_known_in_part_until_it_is_pinned_anew() {
        let more = |hash, former| Tool { former: Some([former; 32]), ..tool("a", hash) };
        let mut pinned = PinnedTools::default();
        pinned.restore(&Pin { shown: "{}".into(), ..pin(&tool("a", 1), true) });
        assert!(pinned.is_known_in_part(&tool("a", 1)) && pinned.is_known_in_part(&more(2, 1)));
        assert!(!pinned.is_known_in_part(&tool("a", 2)) && !pinned.is_known_in_part(&more(1, 2)));
        assert!(pinned.put(&tool("a", 1)));
        let stored = pin(pinned.get("a").unwrap(), true);
        let mut restored = PinnedTools::default();
        restored.restore(&stored);
        assert_eq!(restored.get("a"), Some(&tool("a", 1)), "the mark is none of its members");
        assert!(!restored.is_known_in_part(&more(2, 1)), "what it says now is a change");
    }

    #[test]
    fn there_is_room_for_so_many_and_for_what_they_become() {
        let mut pinned = PinnedTools::default();
        assert!((0..MOST_PINS).all(|n| pinned.put(&tool(&n.to_string(), 1))));
        assert!(!pinned.put(&tool("one more", 1)));
        assert!(pinned.put(&tool("7", 2)));
    }
}
