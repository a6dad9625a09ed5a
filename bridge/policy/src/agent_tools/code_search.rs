//! The answers of `search_tools` where scripts call tools: the best tools as TypeScript declares them, or the names of all.
//!
//! Pure. Owns how long such an answer is. Must never know a tool that it was not given.

use std::collections::BTreeMap;

use super::declaration::path;

/// The longest answer, in bytes: about 2,500 tokens.
const LONGEST: usize = 10_000;

/// The declarations of the found tools, the best first, as many as there is room for. `all` is the number of tools that were searched.
#[must_use]
pub fn declared(found: impl ExactSizeIterator<Item = Option<String>>, all: usize) -> String {
    let (mut said, mut left) = (String::new(), found.len());
    for declared in found {
        let declared = declared.unwrap_or_default();
        if said.len() + declared.len() > LONGEST {
            break;
        }
        left -= 1;
        if !declared.is_empty() {
            said.push_str(&declared);
            said.push('\n');
        }
    }
    match (said.is_empty(), left) {
        (true, _) => format!("No tool matches. There are {all} tools in all; try other words."),
        (false, 0) => said,
        (false, _) => format!("{said}// {left} more match; use more words to find them\n"),
    }
}

/// The names of each server's tools, as many as there is room for. A tool is a server and its name there.
#[must_use]
pub fn names(tools: impl IntoIterator<Item = (String, String)>) -> String {
    let mut servers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (server, tool) in tools {
        servers.entry(server).or_default().push(tool);
    }
    let room = LONGEST / servers.len().max(1);
    let mut said = String::new();
    for (server, mut tools) in servers {
        let all = tools.len();
        while tools.len() > 1 && tools.iter().map(|name| name.len() + 2).sum::<usize>() > room {
            tools.pop();
        }
        let more = if tools.len() < all { format!(" and {} more", all - tools.len()) } else { String::new() };
        said.push_str(&format!("{}: {}{more}\n", path(&server, "TOOL"), tools.join(", ")));
    }
    said.truncate(said.floor_char_boundary(LONGEST));
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_has_a_length() {
        let found =
            |count: usize| declared((0..count).map(|at| Some(format!("{at}: {}", "x".repeat(995)))), 700);
        assert_eq!(declared([None, Some("a".to_owned())].into_iter(), 2), "a\n");
        assert!(found(9).ends_with("x\n"));
        let many = found(20);
        assert!(
            many.len() <= LONGEST + 100 && many.ends_with("// 10 more match; use more words to find them\n"),
            "{many}"
        );
        assert!(found(0).contains("700 tools in all"));
    }

    #[test]
    fn each_server_has_its_share_of_the_names() {
        let tools = |server: &'static str, count: usize| {
            (0..count).map(move |at| (server.to_owned(), format!("find_thing_{at}")))
        };
        let said = names(tools("a b", 2).chain(tools("many", 2000)));
        assert!(
            said.starts_with(
                "tools[\"a b\"].TOOL: find_thing_0, find_thing_1\ntools.many.TOOL: find_thing_0, "
            ),
            "{said}"
        );
        assert!(said.len() <= LONGEST && said.ends_with(" more\n"), "{said}");
    }
}
