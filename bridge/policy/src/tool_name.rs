//! The names of tools, `server/tool`, and lists of tools that a grant covers.
//!
//! ```text
//!  time/get_current_time       the tool `get_current_time` of the server `time`
//!  files/read/now              split at the FIRST slash: the tool `read/now` of `files`
//!  time/*                      in a list: every tool of `time`, also those that come later
//!  time/get_*                  in a list: the one tool with this odd name
//!  *                           in a list: every tool of every server, and of nothing else
//!  browser/*                   in a list: every tool of a browser but the one that runs scripts
//!  browser/browser_click       a tool of another kind of source (`source_id`)
//! ```
//!
//! Owns the split and the meaning of a list. Must never guess: a name without a valid source id is refused, and no
//! error text repeats what was sent.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use foldhash::fast::RandomState;
use harbor_ipc_proto::source_id::{self, SourceId, SourceKind};

use crate::browser_tools::is_never_of_star;

/// The longest name of a tool at its server, in bytes.
pub const MAX_TOOL: usize = 512;

/// How many entries a list may have.
pub const MAX_ENTRIES: usize = 1000;

/// The entry of a list that stands for every tool of the server.
pub const EVERY: &str = "*";

/// The fault in a name that a server gives one of its tools; none if there is no fault. A faulty name would mean
/// something else to Harbor, to a shell, or to a program that keeps tools by path or as members of an object.
#[must_use]
pub fn wrong_of_server(name: &str) -> Option<&'static str> {
    match name {
        EVERY => Some("its name is `*`, which means every tool"),
        "__proto__" | "constructor" | "prototype" => {
            Some("its name is that of a member of every JavaScript object")
        }
        _ if name.starts_with('-') => Some("its name begins with `-` like an option"),
        _ if name.split('/').any(|part| part == "..") => Some("its name contains `..` like a path"),
        _ => None,
    }
}

/// The reason why a text names no tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongToolName {
    /// There is no slash in it.
    NoSlash,
    /// The text before the first slash is no id of a source.
    Source,
    /// The text behind it is empty, too long, or has control characters.
    Tool,
}

impl fmt::Display for WrongToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSlash => f.write_str("a tool is named server/tool, with the id of its server"),
            Self::Source => {
                write!(f, "the part before the first '/' of a tool's name must be {}", source_id::RULE)
            }
            Self::Tool => write!(
                f,
                "the part after the first '/' of a tool's name must have 1 to {MAX_TOOL} bytes, without control characters"
            ),
        }
    }
}

impl std::error::Error for WrongToolName {}

/// The source and the source's own name of the tool that `text` names.
///
/// # Errors
/// Why it names none.
pub fn split(text: &str) -> Result<(SourceId, &str), WrongToolName> {
    let (source, tool) = text.split_once('/').ok_or(WrongToolName::NoSlash)?;
    let source = SourceId::parse(source).ok_or(WrongToolName::Source)?;
    let fits = (1..=MAX_TOOL).contains(&tool.len()) && !tool.contains(char::is_control);
    if fits { Ok((source, tool)) } else { Err(WrongToolName::Tool) }
}

/// The reason why a list cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongAllowlist {
    /// It has more than [`MAX_ENTRIES`].
    TooMany,
    /// This entry, counted from 1, is no tool's name.
    Entry(usize, WrongToolName),
}

impl fmt::Display for WrongAllowlist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => {
                write!(
                    f,
                    "a list of tools can have at most {MAX_ENTRIES} entries; server/* stands for all tools of a server"
                )
            }
            Self::Entry(at, why) => write!(f, "entry {at} of the list of tools: {why}"),
        }
    }
}

impl std::error::Error for WrongAllowlist {}

/// The tools that a grant covers. An empty list covers none. Clones share it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowlist(Arc<Listed>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Listed {
    by_source: HashMap<SourceId, Tools>,
    /// The tools for every server, if the list has such an entry.
    of_servers: Option<Tools>,
}

/// The tools that a list has of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tools {
    every: bool,
    /// True if these are a browser's: `every` does not mean the tools that are granted by their names only.
    by_name: bool,
    /// Looked up for each tool when tools are listed, so it hashes fast. Only the person adds to it, so
    /// nobody can fill it with colliding names.
    named: HashSet<Box<str>, RandomState>,
}

impl Tools {
    /// True if this tool is among them. Its time does not depend on how many there are.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        (self.every && !(self.by_name && is_never_of_star(tool))) || self.named.contains(tool)
    }
}

impl Allowlist {
    /// The list with these entries, each `server/tool`, `server/*`, or `*` for all servers. The same entry twice is one.
    ///
    /// # Errors
    /// When there are too many entries, or one names no tool: the first such entry.
    pub fn parse(entries: &[String]) -> Result<Self, WrongAllowlist> {
        if entries.len() > MAX_ENTRIES {
            return Err(WrongAllowlist::TooMany);
        }
        let mut listed = Listed::default();
        for (at, entry) in entries.iter().enumerate() {
            if entry == EVERY {
                listed.of_servers = Some(Tools { every: true, ..Tools::default() });
                continue;
            }
            let (source, tool) = split(entry).map_err(|why| WrongAllowlist::Entry(at + 1, why))?;
            let by_name = source.kind() == SourceKind::Browser;
            let tools = listed.by_source.entry(source).or_default();
            tools.by_name = by_name;
            if tool == EVERY {
                tools.every = true;
            } else {
                tools.named.insert(tool.into());
            }
        }
        Ok(Self(Arc::new(listed)))
    }

    /// True if it has this tool. Its time does not depend on the length of the list.
    #[must_use]
    pub fn covers(&self, source: &SourceId, tool: &str) -> bool {
        self.of_source(source).is_some_and(|tools| tools.has(tool))
    }

    /// The tools that it has of this source, if any.
    #[must_use]
    pub fn of_source(&self, source: &SourceId) -> Option<&Tools> {
        let of_servers = self.0.of_servers.as_ref().filter(|_| source.kind() == SourceKind::Server);
        of_servers.or_else(|| self.0.by_source.get(source))
    }

    /// True if it names this source, or a tool of it.
    #[must_use]
    pub fn names(&self, source: &SourceId) -> bool {
        self.0.by_source.contains_key(source)
    }

    /// This list without the tools of this source. None if it has none of them.
    #[must_use]
    pub fn without(&self, source: &SourceId) -> Option<Self> {
        let mut others = Listed::clone(&self.0);
        others.by_source.remove(source)?;
        Some(Self(Arc::new(others)))
    }

    /// True if it has nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.by_source.is_empty() && self.0.of_servers.is_none()
    }

    /// Its entries as they were given, sorted, each once.
    #[must_use]
    pub fn entries(&self) -> Vec<String> {
        let of_source = |(source, tools): (&SourceId, &Tools)| {
            let every = tools.every.then_some(EVERY).into_iter();
            let names = every.chain(tools.named.iter().map(AsRef::as_ref));
            names.map(|tool| format!("{source}/{tool}")).collect::<Vec<_>>()
        };
        let every = self.0.of_servers.iter().map(|_| EVERY.to_owned());
        let mut entries: Vec<_> = self.0.by_source.iter().flat_map(of_source).chain(every).collect();
        entries.sort_unstable();
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(text: &str) -> SourceId {
        SourceId::parse(text).unwrap()
    }

    fn list(entries: &[&str]) -> Result<Allowlist, WrongAllowlist> {
        Allowlist::parse(&entries.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn names_that_mean_something_else_are_no_names_of_tools() {
        for name in ["*", "-x", "--", "a/../b", "..", "../a", "a/..", "__proto__", "constructor", "prototype"]
        {
            assert!(wrong_of_server(name).is_some(), "{name}");
        }
        for name in ["get_*", "a-x", "a/b", "a..b", "...", "proto", "constructors", "_", "read/now", "."] {
            assert_eq!(wrong_of_server(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_is_split_at_its_first_slash() {
        let long = "x".repeat(MAX_TOOL);
        assert_eq!(split("time/now"), Ok((id("time"), "now")));
        assert_eq!(split("a.b-c_d/x/y//"), Ok((id("a.b-c_d"), "x/y//")));
        assert_eq!(split("a/ ä*"), Ok((id("a"), " ä*")));
        assert_eq!(split(&format!("a/{long}")), Ok((id("a"), long.as_str())));
        assert_eq!(split(&format!("a/{long}x")), Err(WrongToolName::Tool));
        for (text, why) in [
            ("", WrongToolName::NoSlash),
            ("*", WrongToolName::NoSlash),
            ("time", WrongToolName::NoSlash),
            ("/now", WrongToolName::Source),
            ("*/now", WrongToolName::Source),
            ("ti*/now", WrongToolName::Source),
            ("../now", WrongToolName::Source),
            ("a__b/now", WrongToolName::Source),
            ("disk:c/now", WrongToolName::Source),
            ("time/", WrongToolName::Tool),
            ("time/a\nb", WrongToolName::Tool),
            ("time/\u{85}", WrongToolName::Tool),
        ] {
            assert_eq!(split(text), Err(why), "{text:?}");
        }
    }

    #[test]
    fn only_a_star_alone_means_every_tool() {
        let some = list(&["time/*", "files/read_*", "files/read", "files/read"]).unwrap();
        for (server, tool, covered) in [
            ("time", "anything", true),
            ("time", "*", true),
            ("Time", "anything", false),
            ("files", "read", true),
            ("files", "read_*", true),
            ("files", "read_all", false),
            ("files", "*", false),
            ("files", "Read", false),
            ("other", "read", false),
        ] {
            assert_eq!(some.covers(&id(server), tool), covered, "{server}/{tool}");
        }
        assert_eq!(some.entries(), ["files/read", "files/read_*", "time/*"]);
        assert!(!Allowlist::default().covers(&id("time"), "now"), "an empty list covers nothing");
    }

    #[test]
    fn no_star_covers_scripts_and_logins_in_a_browser() {
        let all = list(&["*", "browser/*", "browser:work/browser_evaluate", "playwright/*"]).unwrap();
        for (source, tool, covered) in [
            ("browser", "browser_click", true),
            ("browser", "browser_evaluate", false),
            ("browser", "browser_cookie_list", false),
            ("browser", "browser_localstorage_get", false),
            ("browser", "browser_sessionstorage_clear", false),
            ("browser", "browser_network_body", false),
            ("browser", "browser_network_request", true),
            ("browser:work", "browser_evaluate", true),
            ("browser:work", "browser_click", false),
            ("playwright", "browser_evaluate", true),
        ] {
            assert_eq!(all.covers(&id(source), tool), covered, "{source}/{tool}");
        }
    }

    #[test]
    fn a_star_for_all_servers_covers_servers_and_nothing_else() {
        let all = list(&["*", "js:a/x", "time/now"]).unwrap();
        for (source, tool, covered) in [
            ("time", "any", true),
            ("other", "x", true),
            ("js:a", "x", true),
            ("js:a", "y", false),
            ("browser", "x", false),
        ] {
            assert_eq!(all.covers(&id(source), tool), covered, "{source}/{tool}");
        }
        assert_eq!(all.entries(), ["*", "js:a/x", "time/now"]);
        assert!(all.names(&id("time")) && !all.names(&id("other")));
        assert_eq!(all.without(&id("time")).unwrap().entries(), ["*", "js:a/x"]);
        assert_eq!((all.without(&id("other")), list(&["*"]).unwrap().is_empty()), (None, false));
    }

    #[test]
    fn a_wrong_entry_is_told_by_its_number_and_not_repeated() {
        assert_eq!(list(&["a/b", "x"]), Err(WrongAllowlist::Entry(2, WrongToolName::NoSlash)));
        assert_eq!(list(&["*/x", "*"]), Err(WrongAllowlist::Entry(1, WrongToolName::Source)));
        assert!(!list(&["canary"]).unwrap_err().to_string().contains("canary"));
        assert!(list(&["a/b"; MAX_ENTRIES]).is_ok());
        assert_eq!(list(&["a/b"; MAX_ENTRIES + 1]), Err(WrongAllowlist::TooMany));
    }

    proptest! {
        #[test]
        fn a_list_covers_what_its_entries_say_one_by_one(
            entries in prop::collection::vec("[abc]/([xyz*]|x/y)", 0..20),
            server in "[abc]",
            tool in "([xyz*]|x/y)",
        ) {
            let list = Allowlist::parse(&entries).unwrap();
            let wanted = |entry: &String| {
                *entry == format!("{server}/{tool}") || *entry == format!("{server}/*")
            };
            prop_assert_eq!(list.covers(&id(&server), &tool), entries.iter().any(wanted));
            let mut sorted = entries;
            sorted.sort();
            sorted.dedup();
            prop_assert_eq!(list.entries(), sorted.as_slice());
            prop_assert_eq!(Allowlist::parse(&sorted).unwrap(), list);
        }
    }
}
