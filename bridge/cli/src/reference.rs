//! Reference pages that Harbor makes of itself, as Markdown: `harbor docs`.
//!
//! Owns their form. Must never hold a fact of its own: messages, commands and tools come from their definitions.

use std::fmt::Write as _;

use clap::Command;
use harbor_ipc_proto::client::docs;
use harbor_policy::browser_tools::{DEFINITIONS, is_never_of_star};
use serde_json::Value;

use crate::args::{self, ReferencePage};

/// The text of a page.
pub fn page(page: ReferencePage) -> String {
    match page {
        ReferencePage::Protocol => docs::render(),
        ReferencePage::Commands => commands(),
        ReferencePage::Browser => browser(),
    }
}

fn commands() -> String {
    let mut command = args::command();
    command.build();
    let mut text = "# Commands\n\nThe help of every command: `harbor docs commands`.\n".to_owned();
    add_command(&mut command, &mut text);
    text
}

fn add_command(command: &mut Command, text: &mut String) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let help = command.render_help().to_string();
    // Options and examples in their columns, as a terminal has them.
    text.push_str(&format!("\n## {name}\n\n```text\n{}\n```\n", help.trim_end()));
    let commands = command.get_subcommands_mut().filter(|command| !command.is_hide_set());
    commands.for_each(|command| add_command(command, text));
}

fn browser() -> String {
    let mut text = "# Browser tools\n\nThe tools of the source `browser`: `harbor docs browser`. All but `browser_session` and `browser_batch` also take \
                    `tabId`, an integer.\n"
        .to_owned();
    let tools: Vec<Value> = serde_json::from_str(DEFINITIONS).unwrap_or_default();
    tools.iter().for_each(|tool| add_tool(tool, &mut text));
    text
}

fn add_tool(tool: &Value, text: &mut String) {
    let word = |name: &str| tool[name].as_str().unwrap_or_default().to_owned();
    let does = match tool["does"].as_str() {
        Some("acts") => "It acts on the page.",
        Some("steps") => "It does what its steps do.",
        Some("clears") => "It deletes.",
        Some("evaluates") => "It can do all that the person can do on the page.",
        _ => "It only reads.",
    };
    let group = tool["group"].as_str().map(|group| format!(" In the group `{group}`.")).unwrap_or_default();
    let named = if is_never_of_star(&word("name")) { " Granted by its name only." } else { "" };
    let said = word("description");
    // Writing to a text cannot fail.
    let _ = write!(text, "\n## `{}`\n\n{}. {does}{named}{group}\n", word("name"), said.trim_end_matches('.'));
    let Some(properties) = tool["properties"].as_object().filter(|properties| !properties.is_empty()) else {
        return;
    };
    text.push_str("\n| Argument | Type | Meaning |\n|---|---|---|\n");
    let required = tool["required"].as_array().cloned().unwrap_or_default();
    for (name, schema) in properties {
        let optional = if required.iter().any(|it| it == name.as_str()) { "" } else { "?" };
        let meaning = schema["description"].as_str().unwrap_or_default();
        let _ = writeln!(text, "| `{name}{optional}` | {} | {meaning} |", kind(schema));
    }
}

/// The type of an argument, in words: `string`, `left or right`, `array of string`.
fn kind(schema: &Value) -> String {
    let words = |all: &Vec<Value>| all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ");
    if let Some(values) = schema["enum"].as_array() {
        return words(values);
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("array of {}", kind(&schema["items"])),
        Value::String(name) => name.clone(),
        Value::Array(kinds) => words(kinds),
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_has_all_that_it_is_of() {
        let commands = page(ReferencePage::Commands);
        assert!(commands.contains("\n## harbor docs\n") && commands.contains("\n## harbor mcp install\n"));
        let browser = page(ReferencePage::Browser);
        assert_eq!(browser.matches("\n## `browser_").count(), 48);
        assert!(browser.contains("| `button?` | left or right or middle |  |"), "{browser}");
        assert!(page(ReferencePage::Protocol).contains("\n### `attach`\n"));
    }
}
