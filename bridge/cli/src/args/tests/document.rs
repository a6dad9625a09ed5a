//! docs/commands.md: the help of every command on one page, so that the document cannot lag behind the program.

use clap::Command;

use crate::args::command;

const HEAD: &str = "# Commands\n\n\
    What `harbor help` and `harbor help COMMAND` print. Made by `HARBOR_BLESS=1 cargo test -p harbor-cli document`.\n";

fn render(command: &mut Command, page: &mut String) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let help = command.render_help().to_string();
    // Options and examples in their columns, as a terminal has them.
    page.push_str(&format!("\n## {name}\n\n```text\n{}\n```\n", help.trim_end()));
    command
        .get_subcommands_mut()
        .filter(|command| !command.is_hide_set())
        .for_each(|command| render(command, page));
}

#[test]
fn the_document_is_what_the_program_says() {
    let mut command = command();
    command.build();
    let mut page = HEAD.to_owned();
    render(&mut command, &mut page);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");
    if std::env::var_os("HARBOR_BLESS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == page, "docs/commands.md is stale: HARBOR_BLESS=1 cargo test -p harbor-cli document");
}
