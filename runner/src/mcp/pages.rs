//! Lists that come in pages, joined into one array.
//!
//! Items stay text. Owns the bounds: a server that never stops paging is cut off with an error.

use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::via;
use serde::Deserialize;

use super::Bounded;
use super::write::{Request, put_text_member};

/// More pages than this are a server's mistake.
const MAX_PAGES: u32 = 1000;

/// More items than this on one page are a mistake, or an attack on this process's memory.
const MAX_ITEMS: usize = 100_000;

/// How much text a list may have, and what is said of a longer one.
type Bound = (usize, &'static str);

/// More than this is more than a link carries.
const WHOLE: Bound = (48 * 1024 * 1024, "the list is longer than 48 MiB");

/// A list of tools goes up twice in one message: whole, and taken apart.
const FETCHED: Bound = (16 * 1024 * 1024, "the list is longer than 16 MiB");

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `tools/list`
    Tools,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    ResourceTemplates,
    /// `prompts/list`
    Prompts,
}

impl Kind {
    /// The list that `operation` asks for.
    pub fn of(operation: &Operation<'_>) -> Option<Self> {
        Some(match operation {
            Operation::ListTools | Operation::FetchTools { .. } => Self::Tools,
            Operation::ListResources => Self::Resources,
            Operation::ListResourceTemplates => Self::ResourceTemplates,
            Operation::ListPrompts => Self::Prompts,
            _ => return None,
        })
    }

    fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::ResourceTemplates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }
}

/// A list in the making.
#[derive(Debug)]
pub struct Pages {
    kind: Kind,
    /// The items so far, separated by commas.
    items: String,
    count: u32,
    /// How many were left out, since they are this Harbor's own.
    own: u32,
    pages: u32,
    last_cursor: Option<String>,
    bound: Bound,
}

/// What a page leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// The whole array, and how many items it has.
    Whole(String, u32),
    /// Ask for another page.
    More(Request),
    /// The server is wrong.
    Wrong(&'static str),
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow, alias = "resources", alias = "resourceTemplates", alias = "prompts")]
    tools: Bounded<'a, MAX_ITEMS>,
    #[serde(rename = "nextCursor")]
    next_cursor: Option<String>,
}

impl Pages {
    /// Begins a list; the request asks for its first page.
    pub fn begin(kind: Kind) -> (Self, Request) {
        Self::within(kind, WHOLE)
    }

    /// The same, for a list of tools that goes up taken apart too.
    pub fn begin_fetch() -> (Self, Request) {
        Self::within(Kind::Tools, FETCHED)
    }

    fn within(kind: Kind, bound: Bound) -> (Self, Request) {
        let pages = Self { kind, items: String::new(), count: 0, own: 0, pages: 0, last_cursor: None, bound };
        (pages, Request::new(kind.method(), Vec::new()))
    }

    /// What is to be said of items that were left out.
    pub fn remark(&self) -> Option<String> {
        let (own, method) = (self.own, self.kind.method());
        (own > 0).then(|| format!("items of {method} are left out: {own} come from this Harbor itself"))
    }

    /// Takes the result of one page; without what the Harbor with the identity `own` is told of itself by another one.
    pub fn take(&mut self, result: &str, own: &str) -> Next {
        let Ok(page) = serde_json::from_str::<Page<'_>>(result) else {
            return Next::Wrong("the page has no list of items, more than one, or one of more than 100,000");
        };
        self.pages += 1;
        for item in page.tools.0 {
            if via::is_own(item.get(), own) {
                self.own += 1;
                continue;
            }
            if !self.items.is_empty() {
                self.items.push(',');
            }
            self.items.push_str(item.get());
            self.count += 1;
        }
        let (most, why) = self.bound;
        if self.items.len() > most {
            return Next::Wrong(why);
        }
        match page.next_cursor.filter(|cursor| !cursor.is_empty()) {
            None => Next::Whole(format!("[{}]", std::mem::take(&mut self.items)), self.count),
            Some(_) if self.pages >= MAX_PAGES => Next::Wrong("the list has more than 1000 pages"),
            Some(cursor) if self.last_cursor.as_ref() == Some(&cursor) => {
                Next::Wrong("the list repeats a page for ever")
            }
            Some(cursor) => {
                let mut members = Vec::new();
                put_text_member(&mut members, "cursor", &cursor);
                self.last_cursor = Some(cursor);
                Next::More(Request::new(self.kind.method(), members))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_joined_as_written() {
        let (mut pages, first) = Pages::begin(Kind::Prompts);
        assert_eq!(first, Request::new("prompts/list", Vec::new()));
        assert_eq!(
            pages.take(r#"{"prompts":[{"b":1 ,"a":2},{"c":3}],"nextCursor":"x"}"#, "me"),
            Next::More(Request::new("prompts/list", b"\"cursor\":\"x\"".to_vec()))
        );
        assert!(matches!(pages.take(r#"{"prompts":[],"nextCursor":"y"}"#, "me"), Next::More(_)));
        assert_eq!(
            pages.take(r#"{"prompts":[4],"ttlMs":1}"#, "me"),
            Next::Whole(r#"[{"b":1 ,"a":2},{"c":3},4]"#.into(), 3)
        );
    }

    #[test]
    fn what_comes_from_this_harbor_itself_is_left_out_and_told() {
        let (mut pages, _) = Pages::begin(Kind::Prompts);
        let page = r#"{"prompts":[{"_meta":{"harbor/via":["0123456789abcdef","aaaaaaaaaaaaaaaa"]}},{"_meta":{"harbor/via":["0123456789abcdef"]}},
            {"_meta":{"harbor/via":["aaaaaaaaaaaaaaaa"]}}]}"#;
        let kept = r#"[{"_meta":{"harbor/via":["0123456789abcdef"]}}]"#;
        assert_eq!(pages.take(page, "aaaaaaaaaaaaaaaa"), Next::Whole(kept.into(), 1));
        let told = "items of prompts/list are left out: 2 come from this Harbor itself";
        assert_eq!(pages.remark().as_deref(), Some(told));
        assert_eq!(Pages::begin(Kind::Prompts).0.remark(), None);
    }

    #[test]
    fn endless_and_broken_lists_are_errors() {
        let (mut pages, _) = Pages::begin(Kind::Tools);
        assert!(matches!(pages.take(r#"{"tools":[],"nextCursor":"x"}"#, "me"), Next::More(_)));
        assert!(matches!(pages.take(r#"{"tools":[],"nextCursor":"x"}"#, "me"), Next::Wrong(_)));
        let (mut pages, _) = Pages::begin(Kind::Tools);
        let last = (0..2000).map(|n| pages.take(&format!("{{\"tools\":[1],\"nextCursor\":\"{n}\"}}"), "me"));
        assert!(last.into_iter().any(|next| matches!(next, Next::Wrong(_))));
        assert!(matches!(Pages::begin(Kind::Tools).0.take("{}", "me"), Next::Wrong(_)));
        let many = |count: usize| format!("{{\"tools\":[{}0]}}", "0,".repeat(count - 1));
        assert!(matches!(Pages::begin(Kind::Tools).0.take(&many(MAX_ITEMS), "me"), Next::Whole(..)));
        assert!(matches!(Pages::begin(Kind::Tools).0.take(&many(MAX_ITEMS + 1), "me"), Next::Wrong(_)));
    }

    #[test]
    fn a_fetched_list_is_bounded_more_narrowly() {
        let (mut pages, first) = Pages::begin_fetch();
        assert_eq!(first, Request::new("tools/list", Vec::new()));
        let page = |cursor: u32| {
            format!("{{\"tools\":[\"{}\"],\"nextCursor\":\"{cursor}\"}}", "x".repeat(6 * 1024 * 1024))
        };
        assert!(matches!(pages.take(&page(1), "me"), Next::More(_)));
        assert!(matches!(pages.take(&page(2), "me"), Next::More(_)));
        assert_eq!(pages.take(&page(3), "me"), Next::Wrong("the list is longer than 16 MiB"));
    }
}
