//! Lists that come in pages, joined into one array.
//!
//! Items stay text. Owns the bounds: of a server that never stops paging, the items so far are kept, each name once.

use std::borrow::Cow;
use std::collections::HashSet;

use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::strings::text_of;
use harbor_ipc_proto::via;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Bounded;
use super::write::{Request, put_text_member};

/// More pages than this are a server's mistake, and what comes behind them is not asked for.
const MAX_PAGES: u32 = 1000;

/// More items than this on one page are a mistake, or an attack on this process's memory.
const MAX_ITEMS: usize = 100_000;

/// The most bytes of a list's text, and the words about a longer one.
type Bound = (usize, &'static str);

/// More than this is more than a link carries.
const WHOLE: Bound = (48 * 1024 * 1024, "the list is longer than 48 MiB");

/// A list of tools goes up twice in one message: whole, and taken apart.
const FETCHED: Bound = (16 * 1024 * 1024, "the list is longer than 16 MiB");

/// The list.
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

    /// The name of an item, as far as it has one.
    fn name_of(self, item: &str) -> Option<String> {
        #[derive(Deserialize)]
        struct ItemName<'a> {
            #[serde(borrow)]
            name: Option<&'a RawValue>,
            #[serde(borrow)]
            uri: Option<&'a RawValue>,
            #[serde(borrow, rename = "uriTemplate")]
            template: Option<&'a RawValue>,
        }
        let item: ItemName<'_> = serde_json::from_str(item).ok()?;
        let name = match self {
            Self::Tools | Self::Prompts => item.name,
            Self::Resources => item.uri,
            Self::ResourceTemplates => item.template,
        };
        text_of(name?.get()).map(Cow::into_owned)
    }
}

/// A list in the making.
#[derive(Debug)]
pub struct Pages {
    kind: Kind,
    /// The items so far, separated by commas.
    items: String,
    count: u32,
    /// The number of items that were left out, since they are this Harbor's own.
    own: u32,
    pages: u32,
    /// The cursors that were followed.
    cursors: HashSet<String>,
    /// The fault that ends it before its server says so.
    flaw: Option<&'static str>,
    bound: Bound,
}

/// The step after a page.
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

    /// As [`Self::begin`], for a list of tools that goes up taken apart too.
    pub fn begin_fetch() -> (Self, Request) {
        Self::within(Kind::Tools, FETCHED)
    }

    fn within(kind: Kind, bound: Bound) -> (Self, Request) {
        let pages = Self {
            kind,
            items: String::new(),
            count: 0,
            own: 0,
            pages: 0,
            cursors: HashSet::new(),
            flaw: None,
            bound,
        };
        (pages, Request::new(kind.method(), Vec::new()))
    }

    /// True if it is the list of tools.
    pub fn is_of_tools(&self) -> bool {
        self.kind == Kind::Tools
    }

    /// A sentence on why the list was cut off.
    pub fn flaw(&self) -> Option<String> {
        self.flaw.map(|why| {
            format!(
                "{} {why}; Harbor uses the items that came until then, each name once",
                self.kind.method()
            )
        })
    }

    /// The remark about items that were left out.
    pub fn remark(&self) -> Option<String> {
        let (own, method) = (self.own, self.kind.method());
        (own > 0).then(|| format!("{own} items of {method} are left out: they come from this Harbor itself"))
    }

    /// Takes the result of one page; without what the Harbor with the identity `own` is told of itself by another one.
    pub fn take(&mut self, result: &str, own: &str) -> Next {
        let Ok(page) = serde_json::from_str::<Page<'_>>(result) else {
            return Next::Wrong("the page must have exactly one list of at most 100,000 items");
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
        let Some(cursor) = page.next_cursor.filter(|cursor| !cursor.is_empty()) else {
            return Next::Whole(format!("[{}]", std::mem::take(&mut self.items)), self.count);
        };
        let mut members = Vec::new();
        put_text_member(&mut members, "cursor", &cursor);
        if self.pages >= MAX_PAGES {
            self.cut_off("has more than 1000 pages")
        } else if self.cursors.insert(cursor) {
            Next::More(Request::new(self.kind.method(), members))
        } else {
            self.cut_off("has pages in a circle: a cursor occurs twice")
        }
    }

    /// Ends the list with the items so far, each name once: pages in a circle repeat themselves.
    fn cut_off(&mut self, why: &'static str) -> Next {
        self.flaw = Some(why);
        let all = format!("[{}]", std::mem::take(&mut self.items));
        let items: Vec<&RawValue> = serde_json::from_str(&all).unwrap_or_default();
        let mut names = HashSet::new();
        let is_new = |item: &&RawValue| self.kind.name_of(item.get()).is_none_or(|name| names.insert(name));
        let kept: Vec<_> = items.into_iter().filter(is_new).map(RawValue::get).collect();
        self.count = u32::try_from(kept.len()).unwrap_or(u32::MAX);
        Next::Whole(format!("[{}]", kept.join(",")), self.count)
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
        let told = "2 items of prompts/list are left out: they come from this Harbor itself";
        assert_eq!(pages.remark().as_deref(), Some(told));
        assert_eq!(Pages::begin(Kind::Prompts).0.remark(), None);
    }

    #[test]
    fn of_a_list_without_an_end_each_name_is_kept_once() {
        let rows = [
            (Kind::Tools, r#"[{"name":"a"},{"name":"b"}]"#, 2),
            (Kind::Resources, r#"[{"uri":"a:","name":"x"},{"uri":"b:","name":"x"}]"#, 2),
            (Kind::ResourceTemplates, r#"[{"uriTemplate":"a:{x}"},{"title":"x"},{"title":"x"}]"#, 7),
        ];
        for (kind, items, count) in rows {
            let (mut pages, _) = Pages::begin(kind);
            let page = |cursor: &str| format!("{{\"tools\":{items},\"nextCursor\":\"{cursor}\"}}");
            assert!(matches!(pages.take(&page("x"), "me"), Next::More(_)));
            assert!(
                matches!(pages.take(&page("y"), "me"), Next::More(_)),
                "not the same one: a circle of two"
            );
            assert_eq!(pages.flaw(), None);
            let Next::Whole(kept, counted) = pages.take(&page("x"), "me") else { panic!() };
            assert_eq!(counted, count, "{kept}");
            assert!(kept.starts_with(items.trim_end_matches(']')), "{kept}");
            assert!(pages.flaw().is_some_and(|flaw| flaw.contains("pages in a circle")));
        }
        let (mut pages, _) = Pages::begin(Kind::Tools);
        let mut page =
            |n: u32| pages.take(&format!("{{\"tools\":[{{\"name\":\"a\"}}],\"nextCursor\":\"{n}\"}}"), "me");
        let last = (0..2000).map(&mut page).find(|next| !matches!(next, Next::More(_)));
        assert_eq!(last, Some(Next::Whole(r#"[{"name":"a"}]"#.into(), 1)));
        assert_eq!(pages.pages, MAX_PAGES);
    }

    #[test]
    fn broken_lists_are_errors() {
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
