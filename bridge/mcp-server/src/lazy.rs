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
    let abouts: Vec<_> = tools.iter().map(about).collect();
    let findable = |(tool, about)| -> Option<Findable<'_>> {
        let (tool, about): (&Listed, &Option<String>) = (tool, about);
        Some(Findable { name: &tool.cursor, about: about.as_deref()? })
    };
    let tools: Vec<_> = tools.iter().zip(&abouts).filter_map(findable).collect();
    result(&meta::found(&tools, query))
}

/// A tool's description, else its title. None if the tool is no object.
fn about(tool: &Listed) -> Option<String> {
    let fields = Fields::parse(tool.json.as_bytes()).ok()?;
    Some(text(&fields, "description").or_else(|| text(&fields, "title")).unwrap_or_default())
}

/// The result of a description. None if there is no such tool.
pub fn described(tools: &[Listed], name: &str) -> Option<String> {
    tools.iter().find(|tool| tool.cursor == name).map(|tool| result(&tool.json))
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
        assert!(said(&found(&tools, "nothing like it")).contains("3 tools in all"));
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
