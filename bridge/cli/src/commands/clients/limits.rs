//! Limits that a client's file sets to the tools of a server: they hold for the same tools once Harbor has
//! the server.
//!
//! ```text
//!  excludeTools, disabledTools, disabled_tools ─► the same list of Harbor's entry, by the names that the tools have there
//!  includeTools, enabledTools, enabled_tools   ─► `--only` of Harbor's entry
//! ```
//!
//! Owns that translation. Must never widen what a client may use.

use std::collections::{BTreeMap, BTreeSet};

use harbor_mcp_server::called;
use harbor_policy::tool_name::split;
use serde_json::Value;

const LEFT_OUT: [&str; 3] = ["excludeTools", "disabledTools", "disabled_tools"];
const ALLOWED: [&str; 3] = ["includeTools", "enabledTools", "enabled_tools"];

/// The limits that Harbor's entry has to state.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EntryLimits {
    /// The tools that the client gets; all when empty.
    pub only: Vec<String>,
    /// Lists of the client's own, by name.
    pub lists: Vec<(String, Vec<String>)>,
    /// The servers whose limits these are.
    pub of: Vec<String>,
}

impl EntryLimits {
    /// The limits of servers that are taken over: each by its name, with its id here. `only` is the list in
    /// Harbor's entry, `ours` that entry, and `ids` are all servers here.
    pub fn of(
        entries: &Value,
        taken: &[(&str, &str)],
        only: &[String],
        ours: &Value,
        ids: &[String],
    ) -> Self {
        let mut lists = BTreeMap::<&str, BTreeSet<String>>::new();
        let (mut allowed, mut of) = (Vec::new(), Vec::new());
        for (name, id) in taken {
            let entry = &entries[*name];
            for list in LEFT_OUT {
                let tools = words(&entry[list]).into_iter().flatten();
                lists.entry(list).or_default().extend(tools.map(|tool| called(id, &tool)));
            }
            let tools = ALLOWED.iter().find_map(|list| words(&entry[*list]));
            if tools.is_some() || LEFT_OUT.iter().any(|list| words(&entry[*list]).is_some()) {
                of.push((*name).to_owned());
            }
            allowed.push((*id, tools));
        }
        let is_limited = allowed.iter().any(|(_, tools)| tools.is_some());
        let lists = lists.into_iter().filter(|(_, tools)| !tools.is_empty()).map(|(list, mut tools)| {
            tools.extend(words(&ours[list]).into_iter().flatten());
            (list.to_owned(), tools.into_iter().collect())
        });
        let lists = lists.collect();
        if only.is_empty() && !is_limited {
            return Self { only: Vec::new(), lists, of };
        }
        let every = |id: &str| format!("{id}/*");
        let all = ids.iter().map(|id| every(id));
        let mut kept: BTreeSet<String> =
            if only.is_empty() { all.collect() } else { only.iter().cloned().collect() };
        for (id, tools) in allowed {
            match tools {
                // Harbor's entry had it, with all of its tools or some.
                None if kept.iter().any(|entry| entry.split_once('/').is_some_and(|(of, _)| of == id)) => {}
                None => drop(kept.insert(every(id))),
                Some(tools) => {
                    kept.remove(&every(id));
                    let named = tools.iter().map(|tool| format!("{id}/{tool}"));
                    kept.extend(named.filter(|name| split(name).is_ok()));
                }
            }
        }
        if kept.is_empty() {
            // No list at all would allow everything; no tool is called so.
            kept.extend(taken.iter().take(1).map(|(_, id)| format!("{id}/-")));
        }
        Self { only: kept.into_iter().collect(), lists, of }
    }
}

fn words(list: &Value) -> Option<Vec<String>> {
    let words = list.as_array()?.iter().filter_map(Value::as_str);
    Some(words.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn limits_of_servers_hold_for_the_same_tools_of_harbor() {
        let entries =
            json!({"my fs": {"excludeTools": ["write", "rm"]}, "git": {"includeTools": ["log"]}, "x": {}});
        let taken = [("my fs", "my-fs"), ("git", "git"), ("x", "x")];
        let ids = owned(&["git", "my-fs", "old", "x"]);
        let ours = json!({"excludeTools": ["old__a"]});
        let found = EntryLimits::of(&entries, &taken, &[], &ours, &ids);
        assert_eq!(
            found.lists,
            [("excludeTools".to_owned(), owned(&["my-fs__rm", "my-fs__write", "old__a"]))]
        );
        assert_eq!(found.only, owned(&["git/log", "my-fs/*", "old/*", "x/*"]));
        assert_eq!(found.of, owned(&["my fs", "git"]));
        // What Harbor had before stays as narrow as it was.
        let found = EntryLimits::of(&entries, &taken, &owned(&["old/a", "x/b"]), &ours, &ids);
        assert_eq!(found.only, owned(&["git/log", "my-fs/*", "old/a", "x/b"]));
        let none = EntryLimits::of(&entries, &[("x", "x")], &[], &Value::Null, &ids);
        assert_eq!(none, EntryLimits::default());
        let nothing = EntryLimits::of(
            &json!({"x": {"enabled_tools": []}}),
            &[("x", "x")],
            &[],
            &Value::Null,
            &owned(&["x"]),
        );
        assert_eq!(nothing.only, owned(&["x/-"]), "a list that allows none is no list that allows all");
    }
}
