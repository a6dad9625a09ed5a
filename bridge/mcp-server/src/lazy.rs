//! Three tools in place of hundreds: to search for tools, to describe one, to call one.
//!
//! ```text
//!  search_tools {query} ─► names and first lines      describe_tool {name} ─► MCP's object of it
//!  call_tool {name, arguments} ─► as if the tool itself had been called
//! ```
//!
//! Owns their results as MCP has them. Their definitions and the search for tools are [`meta`]'s. Must never
//! show what the list of tools would not.

use harbor_ipc_proto::json::Fields;
use harbor_ipc_proto::strings::put_str;
use harbor_policy::agent_tools::meta::{self, Findable, Meta};
use harbor_policy::agent_tools::ranking::{RankedTool, ToolIndex};
use harbor_policy::agent_tools::schema::parameters;

use super::directory::Listed;
use super::want::{Call, Want, text};

pub use meta::TOOLS;

/// The request behind a call of one of the three tools. `Err(None)` for a call of another tool.
pub fn unpack(call: Call) -> Result<Want, Option<&'static str>> {
    Ok(match meta::unpack(&call.name, &call.arguments)? {
        Meta::Search(query) => Want::Search(query),
        Meta::Describe(name) => Want::Describe(name),
        Meta::Call { name, arguments } => Want::Call(Call { name, arguments, token: call.token }),
    })
}

/// The result of a search.
pub fn found(tools: &[Listed], query: &str) -> String {
    let read: Vec<_> = tools.iter().filter_map(FoundTool::of).collect();
    let index = ToolIndex::of(read.iter().map(FoundTool::ranked));
    result(&meta::found(&index, |at| read[at].findable(), query))
}

/// The places of the tools that fit these words, the best first.
pub fn best(tools: &[Listed], query: &str) -> Vec<usize> {
    let (places, read): (Vec<_>, Vec<_>) =
        tools.iter().enumerate().filter_map(|(at, tool)| Some((at, FoundTool::of(tool)?))).unzip();
    let index = ToolIndex::of(read.iter().map(FoundTool::ranked));
    index.search(query, tools.len()).into_iter().filter_map(|at| places.get(at).copied()).collect()
}

/// A tool as it is searched in.
struct FoundTool<'a> {
    name: &'a str,
    title: String,
    about: String,
    parameters: String,
}

impl<'a> FoundTool<'a> {
    /// None if the tool is no object.
    fn of(tool: &'a Listed) -> Option<Self> {
        let fields = Fields::parse(tool.json.as_bytes()).ok()?;
        let of = |name: &str| text(&fields, name).unwrap_or_default();
        let parameters = fields.get("inputSchema").map(parameters).unwrap_or_default();
        Some(Self { name: &tool.cursor, title: of("title"), about: of("description"), parameters })
    }

    fn ranked(&self) -> RankedTool<'_> {
        let (server, name) = self.name.split_once("__").unwrap_or(("", self.name));
        let Self { title, about, parameters, .. } = self;
        RankedTool { server, name, title, description: about, parameters }
    }

    /// Its description, else its title.
    fn findable(&self) -> Findable<'_> {
        Findable { name: self.name, about: if self.about.is_empty() { &self.title } else { &self.about } }
    }
}

/// A result that is this text.
pub fn result(said: &str) -> String {
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
    fn a_search_finds_the_best_tools_and_shows_their_first_lines() {
        let tools = [
            tool("fs__write", "Puts text into a FILE.\nSecond line"),
            tool("fs__file_info", "Says what there is to know"),
            tool("time__now", ""),
        ];
        assert_eq!(
            said(&found(&tools, "file")),
            "fs__file_info: Says what there is to know\nfs__write: Puts text into a FILE."
        );
        assert!(said(&found(&tools, " Text fs ")).starts_with("fs__write: Puts text into a FILE."));
        assert_eq!(said(&found(&tools, "")).lines().count(), 3);
        assert!(said(&found(&tools, "nothing like it")).contains("3 tools in all"));
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
