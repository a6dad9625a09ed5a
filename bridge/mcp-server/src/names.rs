//! How tools and prompts are called among AI clients, many of which take letters, digits, `_` and `-` only, 64 at most.
//!
//! ```text
//!  time/get_current_time     time__get_current_time
//!  my.files/read all         my_files__read_all_3f0c92d1a4b7      with the head of a hash of the whole name
//!  browser/browser_click     browser_click                        of what is no server: its own name, where that is unique
//! ```
//!
//! Owns both directions. A name means the same tool at all times, whatever other tools there are. A name that
//! could be read in two ways has the hash; so has a name that looks as if it had one.

use std::collections::HashMap;
use std::iter;

use super::target::Target;
use harbor_ipc_proto::hex::hex;
use harbor_ipc_proto::source_id::{SourceId, SourceKind};
use harbor_policy::tool_name;
use sha2::{Digest as _, Sha256};

/// The longest name that every client takes, in bytes.
const LONGEST: usize = 64;

/// How many digits of the hash there are.
const DIGITS: usize = 12;

/// The text between the server's name and its tool's.
const BETWEEN: &str = "__";

/// The browser, and how its tools' names begin.
const BROWSER: &str = "browser";
const OF_BROWSER: &str = "browser_";

/// The names of the last list, and the tools that they stand for.
#[derive(Debug, Default)]
pub struct Names(HashMap<String, String>);

impl Names {
    /// Adds the tool `server/tool`, and returns its name.
    pub fn add(&mut self, server: &str, tool: &str) -> String {
        let whole = format!("{server}/{tool}");
        // Two hashes that begin alike: the later one gets more of its own.
        let lengths = iter::successors(Some(DIGITS), |length| Some(length * 2));
        let lengths = lengths.take_while(|length| *length < LONGEST);
        let mut names = own(server, tool)
            .into_iter()
            .chain(plain(server, tool))
            .chain(lengths.map(|length| hashed(&whole, length)));
        let is_free = |name: &String| self.0.get(name).is_none_or(|other| *other == whole);
        let name = names.find(is_free).unwrap_or_else(|| hashed(&whole, DIGITS));
        self.0.insert(name.clone(), whole);
        name
    }

    /// The target that has this name.
    pub fn find(&self, name: &str) -> Option<Target> {
        let (server, name) = self.0.get(name)?.split_once('/')?;
        Some(Target { server: server.to_owned(), name: name.to_owned() })
    }
}

/// The name of a tool among AI clients, as long as no other tool has that name.
#[must_use]
pub fn called(server: &str, tool: &str) -> String {
    Names::default().add(server, tool)
}

/// The name that a source other than a server gives to its tool, if no server's tool can have it.
fn own(source: &str, tool: &str) -> Option<String> {
    let is_server = SourceId::parse(source).is_none_or(|id| id.kind() == SourceKind::Server);
    let is_taken = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let fits = tool.len() <= LONGEST && tool.chars().all(is_taken) && !tool.contains(BETWEEN);
    (!is_server && fits).then(|| tool.to_owned())
}

/// The target of a name that is clear without a list.
pub fn without_list(name: &str) -> Option<Target> {
    if name.starts_with(OF_BROWSER) && own(BROWSER, name).is_some() {
        return Some(Target { server: BROWSER.to_owned(), name: name.to_owned() });
    }
    let (server, name) = name.split_once(BETWEEN)?;
    let target = Target { server: server.to_owned(), name: name.to_owned() };
    let is_plain = tool_name::split(&target.tool()).is_ok() && plain(server, name).is_some();
    is_plain.then_some(target)
}

/// The name, if it can be read in only one way.
fn plain(server: &str, tool: &str) -> Option<String> {
    let name = format!("{server}{BETWEEN}{tool}");
    let is_taken = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let fits = name.len() <= LONGEST && name.chars().all(is_taken);
    let one_way = !server.ends_with('_') && !tool.starts_with('_') && !looks_hashed(&name);
    (fits && one_way).then_some(name)
}

fn looks_hashed(name: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let tail = name.rsplit_once('_').map_or("", |(_, tail)| tail);
    tail.len() >= DIGITS && tail.bytes().all(is_digit)
}

fn hashed(whole: &str, digits: usize) -> String {
    let digest = hex(&Sha256::digest(whole));
    let readable = whole.replacen('/', BETWEEN, 1);
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let head: String = readable.chars().map(clean).take((LONGEST - 1).saturating_sub(digits)).collect();
    format!("{head}_{}", &digest[..digits.min(digest.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stands_for(names: &Names, name: &str) -> Option<String> {
        names.find(name).map(|target| target.tool())
    }

    #[test]
    fn a_plain_name_stays_readable_and_every_other_has_a_hash() {
        let mut names = Names::default();
        assert_eq!(names.add("time", "get_current_time"), "time__get_current_time");
        assert_eq!(names.add("a-b", "x__y"), "a-b__x__y");
        for (server, tool, head) in [
            ("my.files", "read all", "my_files__read_all_"),
            ("a", "_b", "a___b_"),
            ("a_", "b", "a___b_"),
            ("a", "b_0123456789ab", "a__b_0123456789ab_"),
            ("a", "ä/ö", "a______"),
        ] {
            let name = names.add(server, tool);
            let tail = name.strip_prefix(head).unwrap_or_else(|| panic!("{name}"));
            assert!(tail.len() == DIGITS && tail.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
            assert_eq!(stands_for(&names, &name), Some(format!("{server}/{tool}")));
            assert_eq!(names.add(server, tool), name, "it is the same each time");
        }
        assert_eq!(names.add("s", &"x".repeat(500)).len(), LONGEST);
        assert_eq!(names.add("s", &"x".repeat(61)), format!("s__{}", "x".repeat(61)));
    }

    #[test]
    fn the_browsers_tools_have_their_own_names() {
        let mut names = Names::default();
        assert_eq!(names.add("browser", "browser_click"), "browser_click");
        let other = names.add("browser:firefox", "browser_click");
        assert!(other.starts_with("browser_firefox__browser_click_"), "{other}");
        assert_eq!(stands_for(&names, "browser_click").unwrap(), "browser/browser_click");
        assert_eq!(stands_for(&names, &other).unwrap(), "browser:firefox/browser_click");
        assert_eq!(without_list("browser_click").unwrap().tool(), "browser/browser_click");
        assert_eq!(without_list("browser_x__y").unwrap().tool(), "browser_x/y");
    }

    #[test]
    fn names_that_collide_are_told_apart() {
        let mut names = Names::default();
        let name = hashed("a.b/c", DIGITS);
        names.0.insert(name.clone(), "other/tool".into());
        let longer = names.add("a.b", "c");
        assert_eq!(longer, hashed("a.b/c", 2 * DIGITS));
        assert_eq!(
            (stands_for(&names, &name), stands_for(&names, &longer)),
            (Some("other/tool".into()), Some("a.b/c".into()))
        );
    }

    #[test]
    fn without_a_list_only_plain_names_are_understood() {
        assert_eq!(without_list("time__now").unwrap().tool(), "time/now");
        assert_eq!(without_list("a__b__c").unwrap().tool(), "a/b__c");
        for name in ["time", "", "__now", "time__", "a___b", "a__b_0123456789ab", "a b__c", "time/now"] {
            assert_eq!(without_list(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn every_name_is_one_that_clients_take_and_leads_back(
            tools in prop::collection::btree_set(("[a-c][a-c._-]{0,2}", "[_/.ab ä]{1,4}|[ab_]{50,70}"), 0..30),
        ) {
            let tools: Vec<_> = tools.into_iter().filter(|(server, _)| !server.contains("__")).collect();
            let mut names = Names::default();
            let given: Vec<_> = tools.iter().map(|(server, tool)| names.add(server, tool)).collect();
            for ((server, tool), name) in tools.iter().zip(&given) {
                let whole = format!("{server}/{tool}");
                prop_assert!(name.len() <= LONGEST);
                prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
                prop_assert_eq!(stands_for(&names, name), Some(whole.clone()));
                let alone = without_list(name);
                prop_assert!(alone.is_none_or(|alone| alone.tool() == whole));
            }
        }
    }
}
