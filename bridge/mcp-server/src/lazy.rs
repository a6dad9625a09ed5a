//! Three tools in place of hundreds: to search for tools, to describe one, to call one.
//!
//! ```text
//!  search_tools {query} ─► names and first lines      describe_tool {name} ─► MCP's object of it
//!  call_tool {name, arguments} ─► as if the tool itself had been called
//! ```
//!
//! Owns what these three say. Must never show what the list of tools would not.

use std::cmp::Reverse;

use harbor_ipc_proto::json::{Fields, put_str};

use super::directory::Listed;
use super::want::{Call, Want, text};

/// Found tools that are shown.
const MOST: usize = 20;

/// Of a description, so much is shown of a tool that was found, in bytes.
const FIRST_WORDS: usize = 200;

/// MCP's list of the three.
pub const TOOLS: &str = r#"{"name":"search_tools","description":"Finds tools by words in their names and descriptions, the best first. Without words, it shows some of all.","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"Words to look for."}}},"annotations":{"readOnlyHint":true}},{"name":"describe_tool","description":"Gives the description and the JSON Schema of the parameters of one tool.","inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"The tool's name, as search_tools gives it."}},"required":["name"]},"annotations":{"readOnlyHint":true}},{"name":"call_tool","description":"Calls a tool. describe_tool says which arguments it takes.","inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"The tool's name, as search_tools gives it."},"arguments":{"type":"object","description":"The tool's arguments."}},"required":["name"]}}"#;

/// What a call of one of the three wants; `Err(None)` when it is another one.
pub fn unpack(call: Call) -> Result<Want, Option<&'static str>> {
    let fields = Fields::parse(call.arguments.as_bytes()).map_err(|_| Some("`arguments` is no object"))?;
    let name = || text(&fields, "name").ok_or(Some("`arguments.name` is no string: which tool?"));
    match call.name.as_str() {
        "search_tools" => match (fields.get("query"), text(&fields, "query")) {
            (Some(_), None) => Err(Some("`arguments.query` is no string")),
            (_, query) => Ok(Want::Search(query.unwrap_or_default())),
        },
        "describe_tool" => Ok(Want::Describe(name()?)),
        "call_tool" => {
            let arguments = fields.get("arguments").unwrap_or("{}");
            if !arguments.starts_with('{') {
                return Err(Some("`arguments.arguments` is no object"));
            }
            Ok(Want::Call(Call { name: name()?, arguments: arguments.to_owned(), token: call.token.clone() }))
        }
        _ => Err(None),
    }
}

/// The result of a search.
pub fn found(tools: &[Listed], query: &str) -> String {
    let words: Vec<_> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut hits: Vec<_> = tools.iter().filter_map(|tool| hit(tool, &words)).collect();
    hits.sort_by_key(|hit| Reverse(hit.score));
    let mut said = match hits.len() {
        0 => format!("No tool fits. There are {} in all; other words may find one.", tools.len()),
        many if many > MOST => format!("{many} tools fit; the first {MOST}:"),
        _ => String::new(),
    };
    for hit in hits.iter().take(MOST) {
        if !said.is_empty() {
            said.push('\n');
        }
        said.push_str(&hit.name);
        if !hit.about.is_empty() {
            said.push_str(&format!(": {}", hit.about));
        }
    }
    result(&said)
}

/// The result of a description; none when there is no such tool.
pub fn described(tools: &[Listed], name: &str) -> Option<String> {
    tools.iter().find(|tool| tool.cursor == name).map(|tool| result(&tool.json))
}

struct Hit {
    score: usize,
    name: String,
    about: String,
}

/// A tool that has every word, a word in its name counting more; nothing else is a hit.
fn hit(tool: &Listed, words: &[String]) -> Option<Hit> {
    let fields = Fields::parse(tool.json.as_bytes()).ok()?;
    let about = text(&fields, "description").or_else(|| text(&fields, "title")).unwrap_or_default();
    let (name_in, about_in) = (tool.cursor.to_lowercase(), about.to_lowercase());
    let mut score = 0;
    for word in words {
        score += match (name_in.contains(word), about_in.contains(word)) {
            (true, _) => 3,
            (false, true) => 1,
            (false, false) => return None,
        };
    }
    let first = about.lines().next().unwrap_or_default();
    let about = first[..first.floor_char_boundary(FIRST_WORDS)].to_owned();
    Some(Hit { score, name: tool.cursor.clone(), about })
}

fn result(said: &str) -> String {
    let mut out = b"{\"content\":[{\"type\":\"text\",\"text\":".to_vec();
    put_str(&mut out, said);
    out.extend_from_slice(b"}]}");
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn tool(name: &str, about: &str) -> Listed {
        let json = serde_json::json!({"name": name, "description": about, "inputSchema": {"x": 1}});
        Listed { cursor: name.into(), json: json.to_string() }
    }

    fn said(result: &str) -> String {
        let result: Value = serde_json::from_str(result).unwrap();
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn the_three_are_tools_by_mcps_rules() {
        let tools: Vec<Value> = serde_json::from_str(&format!("[{TOOLS}]")).unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["search_tools", "describe_tool", "call_tool"]);
        assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"));
    }

    #[test]
    fn a_search_finds_what_has_all_words_and_names_come_first() {
        let tools = [
            tool("fs__write", "Puts text into a FILE.\nSecond line"),
            tool("fs__file_info", "Says what there is to know"),
            tool("time__now", ""),
        ];
        assert_eq!(
            said(&found(&tools, "file")),
            "fs__file_info: Says what there is to know\nfs__write: Puts text into a FILE."
        );
        assert_eq!(said(&found(&tools, " Text fs ")), "fs__write: Puts text into a FILE.");
        assert_eq!(said(&found(&tools, "")).lines().count(), 3);
        assert!(said(&found(&tools, "nothing like it")).contains("3 in all"));
        let many: Vec<_> = (0..30).map(|at| tool(&format!("s__t{at}"), "x")).collect();
        assert_eq!(said(&found(&many, "x")).lines().count(), MOST + 1);
    }

    #[test]
    fn a_description_is_the_tool_as_it_is_listed() {
        let tools = [tool("a__b", "what it does")];
        assert_eq!(said(&described(&tools, "a__b").unwrap()), tools[0].json);
        assert_eq!(described(&tools, "a__c"), None);
    }

    #[test]
    fn calls_are_taken_out_of_their_wrapping() {
        let call = |name: &str, arguments: &str| Call {
            name: name.into(),
            arguments: arguments.into(),
            token: Some("1".into()),
        };
        let inner = unpack(call("call_tool", r#"{"name":"a__b","arguments":{"n":1e2}}"#));
        assert_eq!(inner, Ok(Want::Call(call("a__b", r#"{"n":1e2}"#))));
        assert_eq!(unpack(call("search_tools", "{}")), Ok(Want::Search(String::new())));
        for arguments in ["{}", r#"{"name":7}"#, r#"{"name":"a","arguments":7}"#] {
            assert!(matches!(unpack(call("call_tool", arguments)), Err(Some(_))), "{arguments}");
        }
        assert_eq!(unpack(call("a__b", "{}")), Err(None));
    }
}
