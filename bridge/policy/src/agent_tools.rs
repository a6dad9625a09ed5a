//! Chooses the tools that a model is told of, and the form in which it is told.
//!
//! ```text
//!  tools of the turn ─► schema in the dialect ─► at most 40, and they fit? ─► all
//!                        └► left out, and why                          └► search, describe, call (or run a script) and the best
//!                                                                         for the task
//! ```
//!
//! Owns this choice, the names ([`names`]), the schemas ([`schema`]), the tools about tools ([`meta`]) and the order of the best
//! ([`ranking`]). Must never let one bad tool spoil a request. Must never pass on a description that has characters which a model would not take for text.

pub mod code_search;
pub mod declaration;
pub mod meta;
pub mod names;
pub mod ranking;
pub mod schema;

use std::cell::OnceCell;

use harbor_ipc_proto::model::{Dialect, ModelTool};

use meta::Findable;
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
    /// True if the model has to search for tools.
    pub lazy: bool,
    /// True if it calls those that it has found by scripts.
    pub scripts: bool,
}

/// A tool that is left out of the list for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The tool, as `server/tool`.
    pub tool: String,
    /// The reason.
    pub why: UnfitSchemaReason,
}

/// The tools that a model of one dialect can be told of. Made once for a set of tools: their schemas are read and their words are
/// counted here, and not for each turn.
#[derive(Debug)]
pub struct OfferableTools {
    tools: Vec<ModelTool>,
    names: ToolNames,
    left_out: Vec<LeftOut>,
    size: usize,
    /// Counted when it is first asked for: a few tools are all told.
    index: OnceCell<ToolIndex>,
}

impl OfferableTools {
    /// Reads `tools`, whose names are `server/tool`.
    #[must_use]
    pub fn of(dialect: Dialect, tools: &[ModelTool]) -> Self {
        let (mut fitting, mut left_out) = (Vec::new(), Vec::new());
        for tool in tools {
            let (name, description) = (tool.name.clone(), cleaned(&tool.description));
            match schema::fitted(dialect, &tool.schema) {
                Ok(schema) => fitting.push(ModelTool { name, description, schema: schema.to_string() }),
                Err(why) => left_out.push(LeftOut { tool: name, why }),
            }
        }
        let names = ToolNames::of(fitting.iter().map(|tool| tool.name.as_str()), &meta::RESERVED);
        for tool in &mut fitting {
            tool.name = names.name(&tool.name).unwrap_or_default().to_owned();
        }
        let size = fitting.iter().map(size).sum();
        Self { tools: fitting, names, left_out, size, index: OnceCell::new() }
    }

    /// The names of all tools that may be called, also of those that have to be searched for.
    #[must_use]
    pub fn names(&self) -> &ToolNames {
        &self.names
    }

    /// The tools that a model of this dialect cannot be told of.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Chooses the tools for this task, and a model of this window. One that `writes_scripts` calls the tools by scripts that it has to
    /// search for.
    #[must_use]
    pub fn offer(&self, window: u32, task: &str, writes_scripts: bool) -> Offer {
        let room = room(window);
        let lazy = self.tools.len() > MOST || self.size > room;
        let scripts = lazy && writes_scripts;
        let mut tools = match lazy {
            true => self.lazily(if scripts { meta::code_tools() } else { meta::tools() }, room, task),
            false => self.tools.clone(),
        };
        if !tools.is_empty() {
            tools.push(meta::read_more());
        }
        Offer { tools, lazy, scripts }
    }

    /// The answer of `search_tools`.
    #[must_use]
    pub fn found(&self, query: &str) -> String {
        let findable = |at: usize| {
            let ModelTool { name, description, .. } = &self.tools[at];
            Findable { name, about: description }
        };
        meta::found(self.index(), findable, query)
    }

    /// The tools that fit these words, as `server/tool`, the best first.
    #[must_use]
    pub fn best(&self, query: &str) -> Vec<&str> {
        let found = self.index().search(query, self.tools.len()).into_iter();
        found.filter_map(|at| self.names.tool(&self.tools[at].name)).collect()
    }

    /// True if the task names what one of the tools is for ([`ToolIndex::is_named_by`]).
    #[must_use]
    pub fn is_named_by(&self, task: &str) -> bool {
        self.index().is_named_by(task)
    }

    fn index(&self) -> &ToolIndex {
        self.index.get_or_init(|| {
            let parameters: Vec<String> =
                self.tools.iter().map(|tool| schema::parameters(&tool.schema)).collect();
            ToolIndex::of(self.tools.iter().zip(&parameters).map(|(tool, parameters)| {
                let full = self.names.tool(&tool.name).unwrap_or_default();
                let (server, name) = full.split_once('/').unwrap_or(("", full));
                RankedTool { server, name, title: "", description: &tool.description, parameters }
            }))
        })
    }

    /// The tools about tools, and the best for the task, as long as they fit. If there are not many in all, those follow for
    /// which nothing speaks.
    fn lazily(&self, mut offered: Vec<ModelTool>, room: usize, task: &str) -> Vec<ModelTool> {
        let about_tools = offered.len();
        let mut used: usize = offered.iter().map(size).sum();
        let mut order = self.index().best(task, CHOSEN);
        if self.tools.len() <= MOST {
            let others: Vec<_> = (0..self.tools.len()).filter(|at| !order.contains(at)).collect();
            order.extend(others);
        }
        for tool in order.into_iter().map(|at| &self.tools[at]) {
            let has_least = offered.len() - about_tools >= LEAST;
            if offered.len() == MOST || (has_least && used + size(tool) > room) {
                break;
            }
            used += size(tool);
            offered.push(tool.clone());
        }
        offered
    }
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
        let offer = OfferableTools::of(Dialect::Chat, tools).offer(window, task, false);
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
    fn a_model_that_writes_scripts_calls_by_them_what_it_has_to_search_for() {
        let of = |count: usize| OfferableTools::of(Dialect::Chat, &many("s", count)).offer(100_000, "", true);
        assert_eq!((of(MOST).scripts, of(MOST).tools.len()), (false, MOST + 1));
        let names: Vec<_> = of(MOST + 1).tools.into_iter().map(|tool| tool.name).collect();
        assert_eq!(
            (of(MOST + 1).scripts, names),
            (true, ["search_tools", "describe_tool", "run_script", READ_MORE].map(String::from).into())
        );
        let all = OfferableTools::of(Dialect::Chat, &[tool("time/now", "Says the time"), tool("a.b/c", "")]);
        assert_eq!(all.best("what time"), ["time/now"]);
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
        let all = OfferableTools::of(Dialect::Chat, &tools);
        assert!(all.found("anything of github").starts_with("github-mcp_t0: x\ngithub-mcp_t1: x"));
        assert_eq!(all.names().all().count(), tools.len(), "each can be called");
    }

    #[test]
    fn a_tool_that_cannot_be_said_is_left_out_and_named() {
        let mut bad = tool("a/bad", "");
        bad.schema = r#"{"enum":[{}]}"#.into();
        let all = OfferableTools::of(Dialect::Anthropic, &[bad, tool("a/good", "")]);
        assert_eq!(all.left_out(), [LeftOut { tool: "a/bad".into(), why: UnfitSchemaReason::Word("enum") }]);
        assert_eq!(
            (all.offer(8192, "", false).tools[0].name.as_str(), all.names().name("a/bad")),
            ("a_good", None)
        );
    }
}
