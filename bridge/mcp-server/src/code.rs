//! Three tools in place of hundreds, for clients that write scripts: to search for tools, to describe one, to run a script.
//!
//! ```text
//!  search_tools {query} ─► declarations in TypeScript        describe_tool {name} ─► MCP's object of it
//!  run_script {script} ─► the bridge runs it; its calls are this client's
//! ```
//!
//! Owns their results as MCP has them. Must never show what the list of tools would not.

use harbor_policy::agent_tools::{code_search, declaration, meta};
use harbor_policy::tool_name::Allowlist;

use super::directory::Listed;
use super::lazy::{self, result};
use super::names::Names;
use super::want::{Call, Want};

pub use meta::CODE_TOOLS as TOOLS;

/// The request behind a call of one of these tools. `Err(None)` for a call of another tool.
pub fn unpack(call: Call, only: Option<&Allowlist>) -> Result<Want, Option<&'static str>> {
    if call.name != meta::RUN_SCRIPT {
        return lazy::unpack(call);
    }
    Ok(Want::Script { script: meta::script(&call.arguments)?, only: only.map(Allowlist::entries) })
}

/// The result of a search.
pub fn found(tools: &[Listed], names: &Names, query: &str) -> String {
    let said = match query.trim().is_empty() {
        true => {
            let targets = tools.iter().filter_map(|tool| names.find(&tool.cursor));
            code_search::names(targets.map(|target| (target.server, target.name)))
        }
        false => {
            let hits = lazy::best(tools, query).into_iter();
            let declared = hits.map(|at| declaration_of(tools.get(at)?, names));
            code_search::declared(declared, tools.len())
        }
    };
    result(&said)
}

fn declaration_of(tool: &Listed, names: &Names) -> Option<String> {
    let target = names.find(&tool.cursor)?;
    declaration::of_listed(&target.server, &target.name, &tool.json)
}

/// The result of a description; a tool is named as the client lists it or as scripts do. None if there is no such tool.
pub fn described(tools: &[Listed], names: &Names, name: &str) -> Option<String> {
    let is_it = |tool: &&Listed| {
        tool.cursor == name || names.find(&tool.cursor).is_some_and(|target| target.tool() == name)
    };
    tools.iter().find(is_it).map(|tool| result(&tool.json))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn tools(many: usize) -> (Vec<Listed>, Names) {
        let mut names = Names::default();
        let listed = (0..many).map(|at| {
            let (server, tool) = (format!("server-{}", at % 7), format!("find_thing_number_{at}"));
            let schema = json!({"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]});
            let json = json!({"name": tool, "description": "Finds the thing of that number.", "inputSchema": schema});
            Listed { cursor: names.add(&server, &tool), json: json.to_string() }
        });
        (listed.collect(), names)
    }

    fn said(result: &str) -> String {
        let result: Value = serde_json::from_str(result).unwrap();
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_search_declares_the_best_tools_and_has_a_length() {
        let (listed, names) = tools(700);
        let one = said(&found(&listed, &names, "number 77"));
        assert!(
            one.contains("tools[\"server-0\"].find_thing_number_77(args: { what: string }): Promise<any>\n"),
            "{one}"
        );
        for query in ["thing", ""] {
            let said = said(&found(&listed, &names, query));
            assert!((1000..=10_100).contains(&said.len()), "{}", said.len());
        }
        assert!(
            said(&found(&listed, &names, "")).contains("tools[\"server-3\"].TOOL: find_thing_number_3, ")
        );
        assert!(said(&found(&listed, &names, "xyzzy")).contains("700 tools in all"));
    }

    #[test]
    fn a_tool_is_described_by_either_name() {
        let (listed, names) = tools(3);
        for name in ["server-1/find_thing_number_1", &listed[1].cursor] {
            assert_eq!(said(&described(&listed, &names, name).unwrap()), listed[1].json);
        }
        assert_eq!(described(&listed, &names, "server-1/other"), None);
    }

    #[test]
    fn a_script_is_taken_out_of_its_call_and_keeps_to_the_tools_of_the_client() {
        let call =
            |arguments: &str| Call { name: "run_script".into(), arguments: arguments.into(), token: None };
        let only = Allowlist::parse(&["time/*".to_owned()]).unwrap();
        let script = unpack(call(r#"{"script":"return 1"}"#), Some(&only));
        assert_eq!(script, Ok(Want::Script { script: "return 1".into(), only: Some(vec!["time/*".into()]) }));
        for wrong in ["{}", r#"{"script":7}"#, "[]"] {
            assert!(matches!(unpack(call(wrong), None), Err(Some(_))), "{wrong}");
        }
    }
}
