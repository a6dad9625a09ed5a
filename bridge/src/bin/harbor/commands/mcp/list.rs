//! The bridge's list of tools as MCP's.
//!
//! Owns which of their fields go over, and the pages. What servers wrote stands as they wrote it.

use harbor_ipc_proto::json::{Fields, put_str};
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::tool_name::Allowlist;

use super::names::Names;
use crate::reply::Members;

/// A page is no longer than this once it has a tool, in bytes.
const PAGE: usize = 1024 * 1024;

/// What of a tool goes over as it is.
const AS_IT_IS: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];

/// A tool that the client is told of.
#[derive(Debug, PartialEq, Eq)]
pub struct Listed {
    name: String,
    /// MCP's object.
    json: String,
}

/// A part of the list.
#[derive(Debug, PartialEq, Eq)]
pub enum Page {
    /// The result of `tools/list`.
    Whole(String),
    /// The tool behind which it was to begin is not there any more.
    NoSuchCursor,
}

/// Reads the answer to `host_list_tools`; of its tools, those that `only` covers.
pub fn read(answer: &Members, only: Option<&Allowlist>, names: &mut Names) -> Vec<Listed> {
    let tools = answer.raws("tools");
    tools.iter().filter_map(|tool| listed(tool.get(), only, names)).collect()
}

fn listed(descriptor: &str, only: Option<&Allowlist>, names: &mut Names) -> Option<Listed> {
    let fields = Fields::parse(descriptor.as_bytes()).ok()?;
    let text = |name| fields.get(name).and_then(|text| serde_json::from_str::<String>(text).ok());
    let server = ServerId::parse(&text("serverId")?)?;
    let tool = text("originalName")?;
    if only.is_some_and(|only| !only.covers(&server, &tool)) {
        return None;
    }
    let name = names.add(server.as_str(), &tool);
    let mut json = b"{\"name\":".to_vec();
    put_str(&mut json, &name);
    for member in AS_IT_IS {
        let value = fields.get(member).or((member == "inputSchema").then_some("{\"type\":\"object\"}"));
        if let Some(value) = value {
            json.extend_from_slice(format!(",\"{member}\":{value}").as_bytes());
        }
    }
    json.push(b'}');
    Some(Listed { name, json: String::from_utf8(json).ok()? })
}

/// The page that begins behind the tool with the name `behind`, or with the first tool.
pub fn page(tools: &[Listed], behind: Option<&str>, modern: bool) -> Page {
    let start = match behind {
        None => 0,
        Some(name) => match tools.iter().position(|tool| tool.name == name) {
            Some(at) => at + 1,
            None => return Page::NoSuchCursor,
        },
    };
    let mut result = String::from("{\"tools\":[");
    let mut shown: &[Listed] = &[];
    for (at, tool) in tools.iter().enumerate().skip(start) {
        if at > start && result.len() + tool.json.len() > PAGE {
            break;
        }
        if at > start {
            result.push(',');
        }
        result.push_str(&tool.json);
        shown = &tools[start..=at];
    }
    result.push(']');
    if start + shown.len() < tools.len()
        && let Some(last) = shown.last()
    {
        result.push_str(&format!(",\"nextCursor\":\"{}\"", last.name));
    }
    if modern {
        result.push_str(",\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\"");
    }
    result.push('}');
    Page::Whole(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn tools(answer: &str, only: &[&str]) -> Vec<Listed> {
        let only: Vec<_> = only.iter().map(ToString::to_string).collect();
        let only = (!only.is_empty()).then(|| Allowlist::parse(&only).unwrap());
        read(&Members::parse(answer.as_bytes()).unwrap(), only.as_ref(), &mut Names::default())
    }

    #[test]
    fn what_a_server_wrote_stands_as_it_wrote_it() {
        let answer = r#"{"tools":[{"name":"s/a b","serverId":"s","serverLabel":"S","originalName":"a b","toolHash":"00",
            "hiddenCharacters":true,"title":"T","description":"d\u0065","inputSchema":{"n":1e2,"a":[]},"outputSchema":{"z":1},
            "annotations":{"x":12345678901234567890}},{"name":"t/b","serverId":"t","originalName":"b"},7]}"#;
        let shown: Vec<_> = tools(answer, &[]).into_iter().map(|tool| tool.json).collect();
        let name = Names::default().add("s", "a b");
        let first = r#"","title":"T","description":"d\u0065","inputSchema":{"n":1e2,"a":[]},"outputSchema":{"z":1},"annotations":{"x":12345678901234567890}}"#;
        let second = r#"{"name":"t__b","inputSchema":{"type":"object"}}"#;
        assert_eq!(shown, [format!(r#"{{"name":"{name}{first}"#), second.to_owned()]);
        assert_eq!(tools(answer, &["t/*", "s/x"]).len(), 1);
    }

    #[test]
    fn a_long_list_comes_in_pages_that_have_each_tool_once() {
        let tool = |at: usize, length: usize| {
            let schema = "x".repeat(length);
            format!(r#"{{"serverId":"s","originalName":"t{at}","description":"{schema}"}}"#)
        };
        let lengths = [10, 2 * PAGE, PAGE / 2, PAGE / 3, PAGE / 2];
        let all: Vec<_> = lengths.iter().enumerate().map(|(at, length)| tool(at, *length)).collect();
        let all = tools(&format!(r#"{{"tools":[{}]}}"#, all.join(",")), &[]);
        let (mut cursor, mut pages) = (None::<String>, Vec::new());
        loop {
            let Page::Whole(result) = page(&all, cursor.as_deref(), false) else { panic!("no page") };
            let result: Value = serde_json::from_str(&result).unwrap();
            let names = result["tools"].as_array().unwrap().iter();
            pages.push(names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>());
            cursor = result["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(pages, [vec!["s__t0"], vec!["s__t1"], vec!["s__t2", "s__t3"], vec!["s__t4"]]);
        assert_eq!(page(&all, Some("gone"), false), Page::NoSuchCursor);
        let empty = r#"{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#;
        assert_eq!(page(&[], None, true), Page::Whole(empty.into()));
    }
}
