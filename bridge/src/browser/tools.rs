//! The browser's tools: their names, arguments and effects.
//!
//! Makes MCP's list of Harbor's own definitions (`policy/browser_tools`): no browser says what its tools are. Each tool takes
//! a `tabId`, and none takes an argument that it does not name. Must never hold what a tool does: the extension or `session` owns that.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
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

/// The tool that stands for calls of others.
pub(super) const BATCH: &str = "browser_batch";

/// All tools, as MCP has them, and the lists of those that are offered.
#[derive(Debug)]
pub(super) struct Tools {
    all: Vec<DefinedTool>,
    schemas: Map<String, Value>,
    /// The lists that were made so far, by which tools they have: whoever keeps a list sees by it that nothing has changed.
    lists: RefCell<HashMap<Vec<bool>, Rc<ToolList>>>,
}

#[derive(Debug)]
struct DefinedTool {
    tool: Tool,
    /// The group that the person switches on; none for the core.
    group: Option<String>,
    /// The ability of the running browser that it needs.
    needs: Option<String>,
}

impl Tools {
    pub fn new() -> Self {
        let defined: Vec<Value> = serde_json::from_str(DEFINITIONS).unwrap_or_default();
        let mut schemas = Map::new();
        let mut all = Vec::new();
        for definition in &defined {
            let name = definition["name"].as_str().unwrap_or_default();
            let schema = schema(definition);
            let word = |member: &str| definition[member].as_str().map(str::to_owned);
            let (group, needs) = (word("group"), word("needs"));
            all.extend(of_mcp(name, definition, &schema).map(|tool| DefinedTool { tool, group, needs }));
            schemas.insert(name.to_owned(), schema);
        }
        Self { all, schemas, lists: RefCell::default() }
    }

    /// All tools, for their pins.
    pub fn every(&self) -> ToolList {
        self.all.iter().map(|defined| defined.tool.clone()).collect()
    }

    /// The tools of the core and of these groups that a browser with these abilities has.
    pub fn list(&self, groups: &BTreeSet<String>, abilities: &BTreeSet<String>) -> Rc<ToolList> {
        let is_offered = |defined: &DefinedTool| {
            defined.group.as_ref().is_none_or(|group| groups.contains(group))
                && defined.needs.as_ref().is_none_or(|ability| abilities.contains(ability))
        };
        let which: Vec<bool> = self.all.iter().map(is_offered).collect();
        let offered = || self.all.iter().zip(&which).filter(|(_, offered)| **offered);
        let made = || Rc::new(offered().map(|(defined, _)| defined.tool.clone()).collect());
        let mut lists = self.lists.borrow_mut();
        lists.entry(which.clone()).or_insert_with(made).clone()
    }

    /// The schema of a tool's arguments.
    pub fn schema(&self, name: &str) -> Option<&Value> {
        self.schemas.get(name)
    }
}

fn schema(tool: &Value) -> Value {
    let mut properties = tool["properties"].as_object().cloned().unwrap_or_default();
    if !matches!(tool["does"].as_str(), Some("session" | "steps")) {
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
        Some("clears" | "evaluates") => {
            json!({"readOnlyHint": false, "destructiveHint": true, "openWorldHint": true})
        }
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
    use harbor_policy::browser_tools::GROUPS;

    use super::*;

    /// The names of the tools of every browser.
    const NAMES: &str = "tabs navigate navigate_back snapshot find read click hover type press_key select_option fill_form drag \
                         scroll wait_for handle_dialog take_screenshot console_messages network_requests network_request resize \
                         close session file_upload drop batch";

    fn core() -> Rc<ToolList> {
        Tools::new().list(&BTreeSet::new(), &BTreeSet::new())
    }

    #[test]
    fn the_tools_are_there_and_small() {
        let names: BTreeSet<_> = core().iter().map(|tool| tool.name.to_string()).collect();
        let expected: BTreeSet<_> = NAMES.split_whitespace().map(|name| format!("browser_{name}")).collect();
        assert_eq!(names, expected);
        let whole: Vec<_> = core().iter().map(|tool| tool.whole().into_string()).collect();
        let bytes = format!(r#"{{"tools":[{}]}}"#, whole.join(",")).len();
        assert!(bytes <= 16 * 1024, "{bytes}");
    }

    #[test]
    fn each_takes_a_tab_and_nothing_unknown() {
        let tools = Tools::new();
        for tool in tools.every().iter() {
            let schema = tools.schema(&tool.name).unwrap();
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            let is_in_tab = ![SESSION, BATCH].contains(&&*tool.name);
            assert_eq!(schema["properties"]["tabId"].is_object(), is_in_tab, "{}", tool.name);
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            assert!(required.iter().all(|name| schema["properties"][name.as_str().unwrap()].is_object()));
            assert!(
                tool.members.iter().enumerate().all(|(at, member)| member.is_some() != (at == 3)),
                "{}",
                tool.name
            );
        }
    }

    #[test]
    fn a_group_is_there_where_it_is_switched_on_and_can_be_done() {
        let tools = Tools::new();
        let set = |words: &[&str]| words.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let has = |groups: &[&str], abilities: &[&str], name: &str| {
            tools.list(&set(groups), &set(abilities)).get(name).is_some()
        };
        assert!(!has(&[], &[], "browser_verify_value") && has(&["testing"], &[], "browser_verify_value"));
        let (groups, cookies) = (&["storage"][..], &["cookies"][..]);
        assert!(has(groups, &[], "browser_localstorage_get") && !has(groups, &[], "browser_cookie_get"));
        assert!(has(groups, cookies, "browser_cookie_get") && !has(&[], cookies, "browser_cookie_get"));
        assert!(has(&["network"], &[], "browser_network_body") && !has(&[], &[], "browser_network_body"));
        assert!(Rc::ptr_eq(&tools.list(&set(&[]), &set(&[])), &tools.list(&set(&["other"]), &set(&[]))));
        for defined in &tools.all {
            let is_known = |group: &String| GROUPS.contains(&group.as_str());
            assert!(defined.group.as_ref().is_none_or(is_known), "{}", defined.tool.name);
        }
    }
}
