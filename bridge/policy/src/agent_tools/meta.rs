//! Three tools in place of hundreds: one searches for tools, one describes a tool, one calls a tool. AI clients get them in the
//! lazy mode of `harbor mcp`. Models get them where all tools do not fit their window. A fourth tool reads the rest of a long
//! result.
//!
//! ```text
//!  search_tools {query} ─► names and first lines      describe_tool {name} ─► the tool's object
//!  call_tool {name, arguments} ─► as if the tool itself had been called
//!  run_script {script} ─► a script that calls tools, in place of call_tool
//!  read_more {result, offset, length} ─► a piece of a result that was cut
//! ```
//!
//! Owns the definitions of these tools and the words of a search's answer; [`ranking`](super::ranking) has the order. Must never
//! know a tool that it was not given.

use harbor_ipc_proto::json::Fields;
use harbor_ipc_proto::model::ModelTool;
use serde_json::Value;

use super::ranking::ToolIndex;
use crate::consent::plan::UPDATE_PLAN;
use crate::untrusted::READ_MORE;

/// Names that no other tool may have among a model's.
pub const RESERVED: [&str; 6] =
    ["search_tools", "describe_tool", "call_tool", READ_MORE, UPDATE_PLAN, RUN_SCRIPT];

/// MCP's list of the three.
pub const TOOLS: &str = r#"{"name":"search_tools","description":"Finds tools by words in their names and descriptions, the best first. Without words, it shows some of all.","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"Words to look for."}}},"annotations":{"readOnlyHint":true}},{"name":"describe_tool","description":"Gives the description and the JSON Schema of the parameters of one tool.","inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"The tool's name, as search_tools gives it."}},"required":["name"]},"annotations":{"readOnlyHint":true}},{"name":"call_tool","description":"Calls a tool. describe_tool says which arguments it takes.","inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"The tool's name, as search_tools gives it."},"arguments":{"type":"object","description":"The tool's arguments."}},"required":["name"]}}"#;

/// The parameters of [`READ_MORE`].
const READ_MORE_SCHEMA: &str = r#"{"type":"object","properties":{"result":{"type":"string","description":"The id of the result, as its cut says it."},"offset":{"type":"integer","minimum":0,"description":"The first byte to read."},"length":{"type":"integer","minimum":1,"description":"How many bytes to read at most."}},"required":["result","offset"]}"#;

/// Found tools that are shown.
const MOST: usize = 20;

/// The part of a description that a search shows for each tool that it found, in bytes.
const FIRST_WORDS: usize = 200;

/// The three, for a model.
#[must_use]
pub fn tools() -> Vec<ModelTool> {
    for_model(TOOLS)
}

/// The three where scripts call tools, for a model.
#[must_use]
pub fn code_tools() -> Vec<ModelTool> {
    for_model(CODE_TOOLS)
}

fn for_model(list: &str) -> Vec<ModelTool> {
    let list: Vec<Value> = serde_json::from_str(&format!("[{list}]")).unwrap_or_default();
    let text = |tool: &Value, name: &str| tool[name].as_str().unwrap_or_default().to_owned();
    let of = |tool: &Value| ModelTool {
        name: text(tool, "name"),
        description: text(tool, "description"),
        schema: tool["inputSchema"].to_string(),
    };
    list.iter().map(of).collect()
}

/// The tool that reads on in a result, for a model.
#[must_use]
pub fn read_more() -> ModelTool {
    ModelTool {
        name: READ_MORE.into(),
        description: "Reads a piece of a tool's result that was too long to be shown whole.".into(),
        schema: READ_MORE_SCHEMA.into(),
    }
}

/// MCP's list of the three where scripts call tools.
pub const CODE_TOOLS: &str = r#"{"name":"search_tools","description":"Finds tools by words in their names and descriptions, the best first, and declares them in TypeScript. Without words, it names the tools of each server.","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"Words to look for."}}},"annotations":{"readOnlyHint":true}},{"name":"describe_tool","description":"Gives the whole description and the JSON Schema of the parameters of one tool.","inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"The tool, as SERVER/TOOL."}},"required":["name"]},"annotations":{"readOnlyHint":true}},{"name":"run_script","description":"Runs JavaScript, the body of an async function, without files and network. `await tools.SERVER.TOOL(arguments)` calls a tool and gives its object, or else its text; it throws if the call fails or is refused. The script's `return` is your answer, so return only what you need of the results. At most 64 calls.","inputSchema":{"type":"object","properties":{"script":{"type":"string","description":"For example: const now = await tools.time.get_current_time({ timezone: \"UTC\" }); return now.datetime;"}},"required":["script"]}}"#;

/// A call of one of the three tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meta {
    /// Tools that have these words.
    Search(String),
    /// All about the tool of this name.
    Describe(String),
    /// The tool of this name called.
    Call {
        /// The tool's name.
        name: String,
        /// A JSON object.
        arguments: String,
    },
}

/// Reads a call of `name`, if that is one of the three tools.
///
/// # Errors
/// The fault in its arguments; `None` when it is another tool.
pub fn unpack(name: &str, arguments: &str) -> Result<Meta, Option<&'static str>> {
    let fields = Fields::parse(arguments.as_bytes()).map_err(|_| Some("`arguments` is not an object"))?;
    let named =
        || text(&fields, "name").ok_or(Some("`arguments.name` must be a string with the tool's name"));
    match name {
        "search_tools" => match (fields.get("query"), text(&fields, "query")) {
            (Some(_), None) => Err(Some("`arguments.query` is not a string")),
            (_, query) => Ok(Meta::Search(query.unwrap_or_default())),
        },
        "describe_tool" => Ok(Meta::Describe(named()?)),
        "call_tool" => {
            let arguments = fields.get("arguments").unwrap_or("{}");
            if !arguments.starts_with('{') {
                return Err(Some("`arguments.arguments` is not an object"));
            }
            Ok(Meta::Call { name: named()?, arguments: arguments.to_owned() })
        }
        _ => Err(None),
    }
}

/// The tool that runs scripts.
pub const RUN_SCRIPT: &str = "run_script";

/// Reads the script that [`RUN_SCRIPT`] is to run.
///
/// # Errors
/// The fault in its arguments.
pub fn script(arguments: &str) -> Result<String, &'static str> {
    let fields = Fields::parse(arguments.as_bytes()).map_err(|_| "`arguments` is not an object")?;
    text(&fields, "script").ok_or("`arguments.script` must be a string with the script")
}

/// A call of [`READ_MORE`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadMore {
    /// The id of the result.
    pub result: String,
    /// The first byte.
    pub offset: usize,
    /// How many bytes at most, if said.
    pub length: Option<usize>,
}

/// Reads a call of [`READ_MORE`].
///
/// # Errors
/// The fault in its arguments.
pub fn unpack_read_more(arguments: &str) -> Result<ReadMore, &'static str> {
    let fields = Fields::parse(arguments.as_bytes()).map_err(|_| "`arguments` is not an object")?;
    let number = |name: &str| fields.get(name).map(|number| serde_json::from_str::<usize>(number).ok());
    Ok(ReadMore {
        result: text(&fields, "result")
            .ok_or("`result` must be a string: the id that the shortened result names")?,
        offset: number("offset").flatten().ok_or("`offset` is not a whole number")?,
        length: match number("length") {
            Some(None) => return Err("`length` is not a whole number"),
            said => said.flatten(),
        },
    })
}

fn text(fields: &Fields<'_>, name: &str) -> Option<String> {
    fields.get(name).and_then(|text| serde_json::from_str(text).ok())
}

/// A tool that may be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Findable<'a> {
    /// Its name, as it may be called.
    pub name: &'a str,
    /// The tool's description.
    pub about: &'a str,
}

/// The answer of a search: the best tools of an index. `tool` gives the one of a number.
#[must_use]
pub fn found<'a>(index: &ToolIndex, tool: impl Fn(usize) -> Findable<'a>, query: &str) -> String {
    let all = index.len();
    let hits = match query.trim().is_empty() {
        true => (0..all.min(MOST)).collect(),
        false => index.search(query, MOST),
    };
    let mut said = match hits.len() {
        0 => format!("No tool matches. There are {all} tools in all; try other words."),
        some if some == MOST && all > MOST => format!("{some} of {all} tools:"),
        _ => String::new(),
    };
    for Findable { name, about } in hits.into_iter().map(tool) {
        if !said.is_empty() {
            said.push('\n');
        }
        said.push_str(name);
        let first = about.lines().next().unwrap_or_default();
        if !first.is_empty() {
            said.push_str(": ");
            said.push_str(&first[..first.floor_char_boundary(FIRST_WORDS)]);
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::super::ranking::RankedTool;
    use super::*;

    const SOME: [(&str, &str, &str); 3] = [
        ("fs", "write", "Puts text into a FILE.\nSecond line"),
        ("fs", "file_info", "Says what there is to know"),
        ("github", "list_pull_requests", "Lists the pull requests (PRs) of a repository"),
    ];

    fn found_in(tools: &[(&str, &str, &str)], query: &str) -> String {
        let index = ToolIndex::of(tools.iter().map(|&(server, name, description)| RankedTool {
            server,
            name,
            title: "",
            description,
            parameters: "",
        }));
        found(&index, |at| Findable { name: tools[at].1, about: tools[at].2 }, query)
    }

    fn names(query: &str) -> Vec<String> {
        let said = found_in(&SOME, query);
        said.lines().map(|line| line.split(':').next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn the_three_are_tools_by_mcps_rules_and_small() {
        let tools: Vec<Value> = serde_json::from_str(&format!("[{TOOLS}]")).unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, RESERVED[..3]);
        assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"));
        assert!(TOOLS.len() < 4000);
        let offered = super::tools();
        assert_eq!(offered.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), RESERVED[..3]);
        assert!(offered.iter().chain([&read_more()]).all(|tool| {
            let schema: Value = serde_json::from_str(&tool.schema).unwrap();
            schema["properties"].is_object() && !tool.description.is_empty()
        }));
    }

    #[test]
    fn a_search_has_the_order_of_the_choice_for_a_task() {
        assert_eq!(names("file"), ["file_info", "write"]);
        assert_eq!(names(" Text fs ")[0], "write");
        assert_eq!(names("find my recent GitHub PR")[0], "list_pull_requests");
        assert_eq!(names("").len(), 3);
        let said = "file_info: Says what there is to know\nwrite: Puts text into a FILE.";
        assert_eq!(found_in(&SOME, "file"), said);
        for nothing in ["xyzzy", "?!"] {
            assert!(found_in(&SOME, nothing).contains("3 tools in all"));
        }
        let many = [SOME[0]; 30];
        assert!(found_in(&many, "text").starts_with("20 of 30 tools:\nwrite: "));
        assert_eq!(found_in(&many, " ").lines().count(), MOST + 1);
    }

    #[test]
    fn calls_are_taken_out_of_their_wrapping() {
        let inner = unpack("call_tool", r#"{"name":"a__b","arguments":{"n":1e2}}"#);
        assert_eq!(inner, Ok(Meta::Call { name: "a__b".into(), arguments: r#"{"n":1e2}"#.into() }));
        assert_eq!(unpack("search_tools", "{}"), Ok(Meta::Search(String::new())));
        assert_eq!(unpack("describe_tool", r#"{"name":"a"}"#), Ok(Meta::Describe("a".into())));
        for arguments in ["{}", r#"{"name":7}"#, r#"{"name":"a","arguments":7}"#, "[]"] {
            assert!(matches!(unpack("call_tool", arguments), Err(Some(_))), "{arguments}");
        }
        assert_eq!(unpack("a__b", "{}"), Err(None));
    }

    #[test]
    fn reading_on_wants_a_result_and_a_place() {
        let more = ReadMore { result: "r1".into(), offset: 7, length: None };
        assert_eq!(unpack_read_more(r#"{"result":"r1","offset":7}"#), Ok(more.clone()));
        let bounded = unpack_read_more(r#"{"result":"r1","offset":7,"length":9}"#);
        assert_eq!(bounded, Ok(ReadMore { length: Some(9), ..more }));
        for wrong in [
            "{}",
            r#"{"result":"r1"}"#,
            r#"{"result":"r1","offset":-1}"#,
            r#"{"result":"r","offset":1,"length":"x"}"#,
        ] {
            assert!(unpack_read_more(wrong).is_err(), "{wrong}");
        }
    }
}
