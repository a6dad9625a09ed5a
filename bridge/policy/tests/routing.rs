//! The figures over `tests/cases/routing.tsv` with the tools of `tests/cases/tools`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "test support"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Instant;

use proptest::prelude::*;
use serde_json::Value;

use harbor_policy::agent_tools::ranking::{RankedTool, ToolIndex};

/// The offered tools among which a right one has to be.
const OFFERED: usize = 8;

struct KnownTool {
    server: String,
    name: String,
    title: String,
    description: String,
    parameters: String,
}

fn tools() -> Vec<KnownTool> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/tools");
    let mut files: Vec<_> = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut tools = Vec::new();
    for file in files {
        let list: Vec<Value> = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let text = |tool: &Value, key: &str| tool[key].as_str().unwrap_or_default().to_owned();
        let names = |tool: &Value| {
            let names = tool["parameters"].as_array().into_iter().flatten();
            names.filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
        };
        let server = file.file_stem().unwrap().to_str().unwrap().to_owned();
        tools.extend(list.iter().map(|tool| KnownTool {
            server: server.clone(),
            name: text(tool, "name"),
            title: text(tool, "title"),
            description: text(tool, "description"),
            parameters: names(tool),
        }));
    }
    tools
}

fn index(tools: &[KnownTool]) -> ToolIndex {
    ToolIndex::of(tools.iter().map(|tool| RankedTool {
        server: &tool.server,
        name: &tool.name,
        title: &tool.title,
        description: &tool.description,
        parameters: &tool.parameters,
    }))
}

/// True if the task has letters that English has not, or none of its commonest words.
fn is_other_language(task: &str) -> bool {
    const FOREIGN: [&str; 24] = [
        "der", "die", "das", "den", "vom", "ein", "eine", "mir", "wandle", "welche", "le", "la", "les",
        "moi", "une", "mes", "el", "los", "una", "de", "en", "mi", "del", "pour",
    ];
    let foreign = task
        .to_lowercase()
        .split(' ')
        .map(str::to_owned)
        .filter(|word| FOREIGN.contains(&word.as_str()))
        .count();
    foreign >= 2 || task.chars().any(|c| c.is_alphabetic() && !c.is_ascii())
}

#[test]
fn a_right_tool_is_among_the_first_eight_for_nineteen_of_twenty_tasks() {
    let tools = tools();
    let index = index(&tools);
    assert_eq!(index.len(), 487);
    let rows =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/routing.tsv"))
            .unwrap();
    let (mut figures, mut missed) = (BTreeMap::<bool, (u32, u32)>::new(), Vec::new());
    for (task, right) in
        rows.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
    {
        if right == "none" || right == "right tools" {
            continue;
        }
        let best = index.best(task, OFFERED);
        let names: Vec<_> =
            best.iter().map(|tool| format!("{}/{}", tools[*tool].server, tools[*tool].name)).collect();
        let is_there = |one: &str| names.iter().any(|name| name == one.trim());
        let is_right = right.split(" + ").all(|group| group.split('|').any(is_there));
        let figure = figures.entry(is_other_language(task)).or_default();
        *figure = (figure.0 + u32::from(is_right), figure.1 + 1);
        if !is_right {
            missed.push(format!("{task}\n  {right}\n  {names:?}"));
        }
    }
    let (right, all) = figures.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    for (is_other, (right, all)) in &figures {
        let group = if *is_other { "tasks in other languages" } else { "tasks in English" };
        println!("{group}: {right} of {all}");
    }
    println!(
        "a right tool among the first {OFFERED}: {right} of {all}, {:.1} %",
        100.0 * f64::from(right) / f64::from(all)
    );
    assert!(all >= 70 && right * 100 >= all * 95, "{right} of {all}:\n{}", missed.join("\n"));
}

#[test]
fn a_named_server_comes_first_and_nothing_is_offered_for_nothing() {
    let tools = tools();
    let index = index(&tools);
    let best = index.best("list the collections in chroma", 4);
    assert!(best.iter().all(|tool| tools[*tool].server == "chroma"), "{best:?}");
    assert_eq!(index.best("", 8), [0; 0]);
    assert_eq!(ToolIndex::default().best("find a file", 8), [0; 0]);
}

#[test]
fn a_thousand_tools_are_ranked_in_no_time() {
    let tools = tools();
    let all: Vec<_> = tools.iter().chain(&tools).chain(&tools).take(1000).collect();
    let index = ToolIndex::of(all.iter().map(|tool| RankedTool {
        server: &tool.server,
        name: &tool.name,
        title: &tool.title,
        description: &tool.description,
        parameters: &tool.parameters,
    }));
    let task = "take the customer list from mysql and put every customer as a node into neo4j";
    let _ = index.best(task, 20);
    let began = Instant::now();
    for _ in 0..10 {
        assert_eq!(index.best(task, 20).len(), 20);
    }
    let each = began.elapsed() / 10;
    println!("1,000 tools, one task: {each:?}");
    // A debug build, beside other work; a release build needs about a twentieth.
    assert!(each.as_millis() < 100, "{each:?}");
}

proptest! {
    #[test]
    fn any_task_gets_each_tool_once_at_most(task in "\\PC{0,80}", most in 0..12_usize) {
        let tool = |name: &'static str| RankedTool { server: "s", name, title: "", description: "Reads a file", parameters: "path" };
        let best = ToolIndex::of(["read_file", "", "é"].map(tool)).best(&task, most);
        let distinct: BTreeSet<_> = best.iter().collect();
        prop_assert!(distinct.len() == best.len() && best.len() <= most && best.iter().all(|tool| *tool < 3));
    }
}
