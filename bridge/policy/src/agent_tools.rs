//! Chooses the tools that a model is told of, and the form in which it is told.
//!
//! ```text
//!  tools of the turn ─► schema in the dialect ─► at most 40, in 15 % of the window? ─► all
//!                        └► left out, and why                                     └► search, describe, call and those of
//!                                                                                    the servers that the task names
//! ```
//!
//! Owns this choice, the names ([`names`]), the schemas ([`schema`]) and the tools about tools ([`meta`]). Must never let one bad
//! tool spoil a request. Must never pass on a description that has characters which a model would not take for text.

pub mod meta;
pub mod names;
pub mod schema;

use std::collections::BTreeSet;

use harbor_ipc_proto::model::{Dialect, ModelTool};

use names::ToolNames;
use schema::UnfitSchemaReason;

use crate::untrusted::cleaned;

/// Tools that a model is told of at most; with more of them its choice gets worse.
pub const MOST: usize = 40;

/// The share of the window that definitions may take, in percent.
const SHARE: usize = 15;

/// Bytes of a token, about.
const BYTES_OF_A_TOKEN: usize = 4;

/// The size of a definition without its texts, in bytes.
const AROUND: usize = 40;

/// Words of servers' names that name no server.
const COMMON: [&str; 4] = ["mcp", "server", "the", "a"];

/// The tools that a model is told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The offered tools, in the order of the request, with their names for the model.
    pub tools: Vec<ModelTool>,
    /// The names of all tools that may be called, also of those that have to be searched for.
    pub names: ToolNames,
    /// True if the model has to search for tools.
    pub lazy: bool,
    /// The tools that are left out of the list for the model.
    pub left_out: Vec<LeftOut>,
}

/// A tool that is left out of the list for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The tool, as `server/tool`.
    pub tool: String,
    /// The reason.
    pub why: UnfitSchemaReason,
}

/// Chooses from `tools`, whose names are `server/tool`, the tools for this task, and a model of this dialect and window.
#[must_use]
pub fn offer(dialect: Dialect, window: u32, tools: &[ModelTool], task: &str) -> Offer {
    let mut left_out = Vec::new();
    let mut fitting = Vec::new();
    for tool in tools {
        match schema::fitted(dialect, &tool.schema) {
            Ok(schema) => fitting.push(ModelTool {
                name: tool.name.clone(),
                description: cleaned(&tool.description),
                schema: schema.to_string(),
            }),
            Err(why) => left_out.push(LeftOut { tool: tool.name.clone(), why }),
        }
    }
    let names = ToolNames::of(fitting.iter().map(|tool| tool.name.as_str()), &meta::RESERVED);
    for tool in &mut fitting {
        tool.name = names.name(&tool.name).unwrap_or_default().to_owned();
    }
    let room = room(window);
    let lazy = fitting.len() > MOST || fitting.iter().map(size).sum::<usize>() > room;
    let mut offered = if lazy { lazily(fitting, &names, room, task) } else { fitting };
    if !offered.is_empty() {
        offered.push(meta::read_more());
    }
    Offer { tools: offered, names, lazy, left_out }
}

/// Bytes that definitions may take.
fn room(window: u32) -> usize {
    let tokens = usize::try_from(window).unwrap_or(usize::MAX);
    tokens.saturating_mul(BYTES_OF_A_TOKEN * SHARE) / 100
}

fn size(tool: &ModelTool) -> usize {
    tool.name.len() + tool.description.len() + tool.schema.len() + AROUND
}

/// The three tools about tools, and those of the servers that the task names, as long as they fit.
fn lazily(tools: Vec<ModelTool>, names: &ToolNames, room: usize, task: &str) -> Vec<ModelTool> {
    let mut offered = meta::tools();
    let mut used: usize = offered.iter().map(size).sum();
    let task = words(task);
    let server = |tool: &ModelTool| names.tool(&tool.name)?.split_once('/').map(|(server, _)| server);
    let known: BTreeSet<&str> = tools.iter().filter_map(server).collect();
    let named: BTreeSet<&str> = known.into_iter().filter(|server| is_named(server, &task)).collect();
    let of_named: Vec<ModelTool> = tools
        .iter()
        .filter(|tool| server(tool).is_some_and(|server| named.contains(server)))
        .cloned()
        .collect();
    for tool in of_named {
        if offered.len() == MOST || used + size(&tool) > room {
            break;
        }
        used += size(&tool);
        offered.push(tool);
    }
    offered
}

/// True if a task has the words of a server's name, in their order and next to each other.
fn is_named(server: &str, task: &[String]) -> bool {
    let all = words(server);
    let telling: Vec<_> = all.iter().filter(|word| !COMMON.contains(&word.as_str())).cloned().collect();
    let wanted = if telling.is_empty() { all } else { telling };
    !wanted.is_empty() && task.windows(wanted.len()).any(|words| *words == *wanted)
}

fn words(text: &str) -> Vec<String> {
    let is_between = |c: char| !c.is_alphanumeric();
    text.split(is_between).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::untrusted::READ_MORE;

    fn tool(name: &str, about: &str) -> ModelTool {
        ModelTool { name: name.into(), description: about.into(), schema: r#"{"type":"object"}"#.into() }
    }

    fn many(server: &str, count: usize) -> Vec<ModelTool> {
        (0..count).map(|at| tool(&format!("{server}/t{at}"), "x")).collect()
    }

    fn offered(tools: &[ModelTool], window: u32, task: &str) -> (bool, Vec<String>) {
        let offer = offer(Dialect::Chat, window, tools, task);
        (offer.lazy, offer.tools.into_iter().map(|tool| tool.name).collect())
    }

    #[test]
    fn a_few_tools_are_all_told() {
        let (lazy, names) = offered(&[tool("time/now", ""), tool("a.b/c", "")], 8192, "");
        assert!(!lazy && names[0] == "time_now" && names[1].starts_with("a_b_c_"), "{names:?}");
        assert_eq!(names[2..], [READ_MORE]);
        assert_eq!(offered(&[], 8192, "x"), (false, vec![]));
    }

    #[test]
    fn forty_are_told_and_one_more_is_searched_for() {
        let (lazy, names) = offered(&many("s", MOST), 100_000, "");
        assert_eq!((lazy, names.len()), (false, MOST + 1));
        let (lazy, names) = offered(&many("s", MOST + 1), 100_000, "");
        assert_eq!((lazy, names), (true, meta::RESERVED.map(String::from).to_vec()));
    }

    #[test]
    fn definitions_take_a_share_of_the_window() {
        let wide = [tool("a/b", &"x".repeat(5000))];
        assert!(offered(&wide, 8192, "").0);
        assert!(!offered(&wide, 16_384, "").0);
        assert!(offered(&[tool("a/b", "")], 0, "").0);
    }

    #[test]
    fn the_servers_that_a_task_names_are_there_at_once() {
        let mut tools = many("other", 30);
        tools.extend(many("github-mcp", 2));
        tools.extend(many("my.files", 15));
        let named = |task: &str| offered(&tools, 100_000, task).1[3..].to_vec();
        assert_eq!(named("Find my GitHub PRs"), ["github-mcp_t0", "github-mcp_t1", READ_MORE]);
        assert_eq!(named("look into my files, please").len(), 16);
        assert_eq!(named("files of github.").len(), 3, "all words of a name, in their order");
        assert_eq!(named("nothing"), [READ_MORE]);
        assert_eq!(offered(&tools, 1000, "github").1.len(), 4, "there is no room");
        let all = offer(Dialect::Chat, 100_000, &tools, "");
        assert_eq!(all.names.all().count(), tools.len(), "each can be called");
    }

    #[test]
    fn a_tool_that_cannot_be_said_is_left_out_and_named() {
        let mut bad = tool("a/bad", "");
        bad.schema = r#"{"enum":[{}]}"#.into();
        let offer = offer(Dialect::Anthropic, 8192, &[bad, tool("a/good", "")], "");
        assert_eq!(offer.left_out, [LeftOut { tool: "a/bad".into(), why: UnfitSchemaReason::Word("enum") }]);
        assert_eq!((offer.tools[0].name.as_str(), offer.names.name("a/bad")), ("a_good", None));
    }
}
