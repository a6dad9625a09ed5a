//! Chooses the tools that a model is told of, and the form in which it is told.
//!
//! ```text
//!  tools of the turn ─► schema in the dialect ─► at most 40, and they fit? ─► all
//!                        └► left out, and why                          └► search, describe, call and the best for the task
//! ```
//!
//! Owns this choice, the names ([`names`]), the schemas ([`schema`]), the tools about tools ([`meta`]) and the order of the best
//! ([`ranking`]). Must never let one bad
//! tool spoil a request. Must never pass on a description that has characters which a model would not take for text.

pub mod meta;
pub mod names;
pub mod ranking;
pub mod schema;

use harbor_ipc_proto::model::{Dialect, ModelTool};

use names::ToolNames;
use ranking::{RankedTool, ToolIndex};
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

/// Tokens that definitions may take in a small window, if that is no more than a third of it.
const IN_SMALL: usize = 2500;

/// Tools that are chosen for a task where there are more than a model is told of.
const CHOSEN: usize = 24;

/// Tools that are chosen at least, however small the window is.
const LEAST: usize = 3;

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

/// Counts the words of these tools, whose names are `server/tool`. It is valid as long as the tools are the same.
#[must_use]
pub fn index_of(tools: &[ModelTool]) -> ToolIndex {
    let parameters: Vec<String> = tools.iter().map(|tool| schema::parameters(&tool.schema)).collect();
    ToolIndex::of(tools.iter().zip(&parameters).map(|(tool, parameters)| {
        let (server, name) = tool.name.split_once('/').unwrap_or(("", &tool.name));
        RankedTool { server, name, title: "", description: &tool.description, parameters }
    }))
}

/// Chooses from `tools`, whose names are `server/tool`, the tools for this task, and a model of this dialect and window.
#[must_use]
pub fn offer(dialect: Dialect, window: u32, tools: &[ModelTool], task: &str) -> Offer {
    offer_by(&index_of(tools), (dialect, window), tools, task)
}

/// As [`offer`], with the index of the same tools in the same order.
#[must_use]
pub fn offer_by(
    index: &ToolIndex,
    (dialect, window): (Dialect, u32),
    tools: &[ModelTool],
    task: &str,
) -> Offer {
    let mut left_out = Vec::new();
    let mut fitting = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        match schema::fitted(dialect, &tool.schema) {
            Ok(schema) => fitting.push((
                at,
                ModelTool {
                    name: tool.name.clone(),
                    description: cleaned(&tool.description),
                    schema: schema.to_string(),
                },
            )),
            Err(why) => left_out.push(LeftOut { tool: tool.name.clone(), why }),
        }
    }
    let names = ToolNames::of(fitting.iter().map(|(_, tool)| tool.name.as_str()), &meta::RESERVED);
    for (_, tool) in &mut fitting {
        tool.name = names.name(&tool.name).unwrap_or_default().to_owned();
    }
    let room = room(window);
    let lazy = fitting.len() > MOST || fitting.iter().map(|(_, tool)| size(tool)).sum::<usize>() > room;
    let mut offered = match lazy {
        true => lazily(fitting, index, room, task),
        false => fitting.into_iter().map(|(_, tool)| tool).collect(),
    };
    if !offered.is_empty() {
        offered.push(meta::read_more());
    }
    Offer { tools: offered, names, lazy, left_out }
}

/// Bytes that definitions may take.
fn room(window: u32) -> usize {
    let tokens = usize::try_from(window).unwrap_or(usize::MAX);
    let share = tokens.saturating_mul(SHARE) / 100;
    share.max(IN_SMALL.min(tokens / 3)).saturating_mul(BYTES_OF_A_TOKEN)
}

fn size(tool: &ModelTool) -> usize {
    tool.name.len() + tool.description.len() + tool.schema.len() + AROUND
}

/// The three tools about tools, and the best for the task, as long as they fit. If there are not many in all, those follow for
/// which nothing speaks.
fn lazily(tools: Vec<(usize, ModelTool)>, index: &ToolIndex, room: usize, task: &str) -> Vec<ModelTool> {
    let mut offered = meta::tools();
    let about_tools = offered.len();
    let mut used: usize = offered.iter().map(size).sum();
    let mut order = index.best(task, CHOSEN);
    if tools.len() <= MOST {
        let others: Vec<_> = tools.iter().map(|(at, _)| *at).filter(|at| !order.contains(at)).collect();
        order.extend(others);
    }
    for at in order {
        let Ok(place) = tools.binary_search_by_key(&at, |(at, _)| *at) else { continue };
        let tool = &tools[place].1;
        let has_least = offered.len() - about_tools >= LEAST;
        if offered.len() == MOST || (has_least && used + size(tool) > room) {
            break;
        }
        used += size(tool);
        offered.push(tool.clone());
    }
    offered
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
        assert_eq!(
            (lazy, names),
            (true, meta::RESERVED[..4].iter().copied().map(String::from).collect::<Vec<_>>())
        );
    }

    #[test]
    fn definitions_take_a_share_of_the_window() {
        let wide = [tool("a/b", &"x".repeat(30_000))];
        assert!(offered(&wide, 32_768, "").0);
        assert!(!offered(&wide, 65_536, "").0);
        assert!(offered(&[tool("a/b", "")], 0, "").0);
    }

    #[test]
    fn a_small_window_gets_as_many_of_the_best_as_fit_and_three_at_least() {
        let about = "x".repeat(2000);
        let mut tools: Vec<_> = (0..30).map(|at| tool(&format!("s/t{at}"), &about)).collect();
        tools.push(tool("time/now", "Says what time it is"));
        let (lazy, names) = offered(&tools, 8192, "what time is it?");
        assert!(lazy && names[3] == "time_now" && (6..=10).contains(&names.len()), "{names:?}");
        assert_eq!(offered(&tools, 512, "what time is it?").1.len(), 3 + LEAST + 1);
    }

    #[test]
    fn the_servers_that_a_task_names_are_there_at_once() {
        let mut tools = many("other", 30);
        tools.extend(many("github-mcp", 2));
        tools.extend(many("my.files", 15));
        let named = |task: &str| offered(&tools, 100_000, task).1[3..].to_vec();
        assert_eq!(named("Find my GitHub PRs"), ["github-mcp_t0", "github-mcp_t1", READ_MORE]);
        assert_eq!(named("look into my files, please").len(), 16);
        assert!(named("files of github.").iter().any(|name| name == "github-mcp_t1"));
        assert_eq!(named("nothing"), [READ_MORE]);
        assert_eq!(offered(&tools, 1000, "github").1.len(), 6, "two are fewer than three");
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
