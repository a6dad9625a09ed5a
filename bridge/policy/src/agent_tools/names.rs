//! The names of tools for a model: letters, digits, `_` and `-`, 64 at most.
//!
//! ```text
//!  time/get_current_time     time_get_current_time
//!  my.files/read all         my_files_read_all_3f0c92      changed, so it ends with the head of a hash of the whole name
//!  a_b/c and a/b_c           a_b_c_51f0de, a_b_c_9c0a47    two that would be the same
//! ```
//!
//! Owns the table of both directions. Must never parse a name back: the name that the model wrote is looked up. A name that is
//! not in the table is no tool.

use std::collections::BTreeMap;

use harbor_ipc_proto::hex::hex;
use sha2::{Digest as _, Sha256};

/// The longest name that every provider takes, in bytes.
const LONGEST: usize = 64;

/// Digits of the hash. If two hashes begin alike, the later name gets twice as many.
const DIGITS: usize = 6;

/// The names of these tools, and the tools of these names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolNames {
    tools: BTreeMap<String, String>,
    names: BTreeMap<String, String>,
}

impl ToolNames {
    /// Names each of `tools`, all of them `server/tool`. No tool gets one of the `reserved` names. The order does not matter.
    #[must_use]
    pub fn of<'a>(tools: impl IntoIterator<Item = &'a str>, reserved: &[&str]) -> Self {
        let mut plain: BTreeMap<&str, Option<String>> =
            tools.into_iter().map(|tool| (tool, plain(tool))).collect();
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for name in plain.values().flatten() {
            *times.entry(name.clone()).or_default() += 1;
        }
        for name in plain.values_mut() {
            let is_free = |name: &String| times.get(name) == Some(&1) && !reserved.contains(&name.as_str());
            *name = name.take().filter(is_free);
        }
        let mut table = Self::default();
        for (tool, name) in plain {
            let name = name.unwrap_or_else(|| table.hashed(tool));
            table.names.insert(tool.to_owned(), name.clone());
            table.tools.insert(name, tool.to_owned());
        }
        table
    }

    /// The tool `server/tool` that has this name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&str> {
        self.tools.get(name).map(String::as_str)
    }

    /// The name of the tool `server/tool`.
    #[must_use]
    pub fn name(&self, tool: &str) -> Option<&str> {
        self.names.get(tool).map(String::as_str)
    }

    /// All names, sorted.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// A name with a hash that no other tool has.
    fn hashed(&self, tool: &str) -> String {
        let digest = hex(&Sha256::digest(tool));
        let slug = slug(tool);
        let with = |digits: usize| {
            let head = &slug[..slug.len().min((LONGEST - 1).saturating_sub(digits))];
            format!("{head}_{}", &digest[..digits])
        };
        let lengths = [DIGITS, DIGITS * 2, DIGITS * 4, DIGITS * 8];
        let free = lengths.into_iter().map(with).find(|name| !self.tools.contains_key(name));
        free.unwrap_or_else(|| with(LONGEST - 1))
    }
}

/// The name without a hash, if only the slash has to be changed and the name does not look hashed.
fn plain(tool: &str) -> Option<String> {
    let name = tool.replacen('/', "_", 1);
    let fits = !name.is_empty() && name.len() <= LONGEST && name.bytes().all(is_taken);
    (fits && !looks_hashed(&name)).then_some(name)
}

fn slug(tool: &str) -> String {
    tool.chars().map(|c| if u8::try_from(c).is_ok_and(is_taken) { c } else { '_' }).collect()
}

fn is_taken(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn looks_hashed(name: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    name.rsplit_once('_').is_some_and(|(_, tail)| tail.len() >= DIGITS && tail.bytes().all(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_is_readable_and_has_a_hash_only_where_it_must() {
        let long = format!("s/{}", "x".repeat(100));
        let tools = ["time/now", "my.files/read all", "a_b/c", "a/b_c", "search/tools", "x/y_abcdef", &long];
        let names = ToolNames::of(tools, &["search_tools"]);
        assert_eq!(names.name("time/now"), Some("time_now"));
        for (tool, head) in [
            ("my.files/read all", "my_files_read_all_"),
            ("a_b/c", "a_b_c_"),
            ("a/b_c", "a_b_c_"),
            ("search/tools", "search_tools_"),
            ("x/y_abcdef", "x_y_abcdef_"),
        ] {
            let name = names.name(tool).unwrap();
            let tail = name.strip_prefix(head).unwrap_or_else(|| panic!("{name}"));
            assert!(tail.len() == DIGITS && looks_hashed(name), "{name}");
        }
        assert_eq!(names.name(&long).unwrap().len(), LONGEST);
        assert_eq!((names.tool("time/now"), names.tool("search_tools")), (None, None));
        assert_eq!(names.all().count(), tools.len());
    }

    #[test]
    fn hashes_that_begin_alike_are_told_apart() {
        let mut names = ToolNames::default();
        let short = names.hashed("a.b/c");
        names.tools.insert(short.clone(), "other/tool".into());
        let longer = names.hashed("a.b/c");
        assert_eq!((short.len() + DIGITS, &short[..6]), (longer.len(), &longer[..6]));
    }

    proptest! {
        #[test]
        fn every_name_fits_and_leads_back_to_its_tool(
            tools in prop::collection::btree_set("[a-c_.]{1,3}/([_/.ab ä]{1,4}|[ab_]{55,70}|b_[a-f]{6})", 0..40),
        ) {
            let reserved = ["a_a", "b_b"];
            let names = ToolNames::of(tools.iter().map(String::as_str), &reserved);
            for tool in &tools {
                let name = names.name(tool).unwrap();
                prop_assert!((1..=LONGEST).contains(&name.len()) && name.bytes().all(is_taken), "{}", name);
                prop_assert_eq!(names.tool(name), Some(tool.as_str()));
                prop_assert!(!reserved.contains(&name));
            }
            prop_assert_eq!(names.all().count(), tools.len());
            let backwards = ToolNames::of(tools.iter().rev().map(String::as_str), &reserved);
            prop_assert_eq!(backwards, names);
        }
    }
}
