//! The browser's tools: their names, arguments and effects.
//!
//! Makes MCP's list of Harbor's own definitions (`policy/browser_tools`): no browser says what its tools are. Each tool takes
//! a `tabId`, and none takes an argument that it does not name. Must never hold what a tool does: the extension or `session` owns that.

use std::rc::Rc;

use harbor_policy::browser_tools::DEFINITIONS;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::link::{Tool, ToolList};

/// The tool that the bridge answers itself.
pub(super) const SESSION: &str = "browser_session";

/// The tool about downloads, which the bridge answers itself, too.
pub(super) const DOWNLOADS: &str = "browser_downloads";

/// The tools that hand files to pages.
pub(super) const WITH_FILES: [&str; 2] = ["browser_file_upload", "browser_drop"];

/// The tools that only look at a loaded document: its page does not notice.
pub(super) const LOOKS: [&str; 10] = [
    "browser_tabs",
    "browser_snapshot",
    "browser_find",
    "browser_read",
    "browser_take_screenshot",
    "browser_console_messages",
    "browser_network_requests",
    "browser_network_request",
    "browser_session",
    "browser_downloads",
];

/// All tools, as MCP has them.
#[derive(Debug)]
pub(super) struct Tools {
    /// Each with the group of tools that it belongs to, if it is not every browser's.
    all: Vec<(Option<String>, Tool)>,
    schemas: Map<String, Value>,
}

impl Tools {
    pub fn new() -> Self {
        let defined: Vec<Value> = serde_json::from_str(DEFINITIONS).unwrap_or_default();
        let mut schemas = Map::new();
        let mut tools = Vec::new();
        for tool in &defined {
            let name = tool["name"].as_str().unwrap_or_default();
            let schema = schema(tool);
            let group = tool["group"].as_str().map(ToOwned::to_owned);
            tools.extend(of_mcp(name, tool, &schema).map(|made| (group, made)));
            schemas.insert(name.to_owned(), schema);
        }
        Self { all: tools, schemas }
    }

    /// The tools of a browser that can do these groups besides those of every browser.
    pub fn list(&self, groups: &[String]) -> Rc<ToolList> {
        let has = |group: &Option<String>| group.as_ref().is_none_or(|group| groups.contains(group));
        Rc::new(self.all.iter().filter(|(group, _)| has(group)).map(|(_, tool)| tool.clone()).collect())
    }

    /// The schema of a tool's arguments.
    pub fn schema(&self, name: &str) -> Option<&Value> {
        self.schemas.get(name)
    }
}

fn schema(tool: &Value) -> Value {
    let mut properties = tool["properties"].as_object().cloned().unwrap_or_default();
    if tool["does"] != "session" {
        properties.insert("tabId".into(), json!({"type": "integer"}));
    }
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if let Some(required) = tool.get("required") {
        schema["required"] = required.clone();
    }
    schema
}

fn of_mcp(name: &str, tool: &Value, schema: &Value) -> Option<Tool> {
    let annotations = match tool["does"].as_str() {
        Some("reads") => json!({"readOnlyHint": true, "openWorldHint": true}),
        Some("session") => json!({"readOnlyHint": true, "openWorldHint": false}),
        _ => json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true}),
    };
    let said = json!({
        "title": tool["title"],
        "description": tool["description"],
        "inputSchema": schema,
        "annotations": annotations,
    });
    let said = said.to_string();
    let hash = Sha256::digest(said.as_bytes()).into();
    Tool::from_shown(name, &said, hash, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the tools of every browser.
    const NAMES: &str = "tabs navigate navigate_back snapshot find read click hover type press_key select_option fill_form drag \
                         scroll wait_for handle_dialog take_screenshot console_messages network_requests network_request resize \
                         close session file_upload drop";

    #[test]
    fn the_tools_are_there_and_small() {
        let tools = Tools::new();
        let named = |groups: &[String]| -> Vec<String> {
            tools.list(groups).iter().map(|tool| tool.name.to_string()).collect()
        };
        let mut expected: Vec<_> = NAMES.split_whitespace().map(|name| format!("browser_{name}")).collect();
        assert_eq!(named(&[]), expected);
        expected.push(DOWNLOADS.to_owned());
        assert_eq!(named(&["files".to_owned()]), expected);
        let whole: Vec<_> =
            tools.list(&["files".to_owned()]).iter().map(|tool| tool.whole().into_string()).collect();
        let bytes = format!(r#"{{"tools":[{}]}}"#, whole.join(",")).len();
        assert!(bytes <= 16 * 1024, "{bytes}");
    }

    #[test]
    fn each_takes_a_tab_and_nothing_unknown() {
        let tools = Tools::new();
        for tool in tools.list(&["files".to_owned()]).iter() {
            let schema = tools.schema(&tool.name).unwrap();
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            assert_eq!(schema["properties"]["tabId"].is_object(), &*tool.name != SESSION, "{}", tool.name);
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            assert!(required.iter().all(|name| schema["properties"][name.as_str().unwrap()].is_object()));
            assert!(
                tool.members.iter().enumerate().all(|(at, member)| member.is_some() != (at == 3)),
                "{}",
                tool.name
            );
        }
    }
}
