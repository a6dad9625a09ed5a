//! What the command line understands, and how it says no. commands.txt and walk.rs have the whole list of options.

mod named;
mod permissions;
mod servers;
mod walk;

use super::*;

fn words(line: &[&str]) -> Vec<String> {
    line.iter().map(|&word| word.to_owned()).collect()
}

fn command(line: &[&str]) -> Command {
    match parse(&words(line)) {
        Ok(command) => command,
        Err(failure) => panic!("{line:?}: {failure:?}"),
    }
}

fn complaint(line: &[&str]) -> String {
    match parse(&words(line)) {
        Err(Failure::Usage(text)) => text,
        other => panic!("{line:?}: {other:?}"),
    }
}

/// Each line is refused with a sentence that has the text, and with what to do below it.
fn refused_with(wrong: &[(&[&str], &str)]) {
    for (line, text) in wrong {
        let complaint = complaint(line);
        assert!(complaint.contains(text), "{line:?}: {complaint}");
        assert!(complaint.lines().count() > 1, "{line:?}: {complaint}");
    }
}

#[test]
fn the_table_of_commands_holds() {
    super::command().debug_assert();
}

#[test]
fn help_and_version_have_many_names() {
    let text = |line: &[&str]| match command(line) {
        Command::Text(text) => text,
        other => panic!("{line:?}: {other:?}"),
    };
    let (begin, all) = (text(&[]), text(&["--help"]));
    assert!(begin.lines().count() < 12 && begin == text(&["--json"]), "{begin}");
    assert_eq!([text(&["-h"]), help(&[]).unwrap()], [all.clone(), all.clone()]);
    assert!(all.starts_with("Run MCP servers") && all.contains("\nGet started:\n  setup "), "{all}");
    let codes = help(&words(&["exit-codes"])).unwrap();
    assert!(codes.contains("\n  7  the tool failed or reported an error\n"), "{codes}");
    let (short, long) = (text(&["add", "-h"]), text(&["add", "--help-all"]));
    assert!(short.contains("harbor help add --help-all") && !short.contains("--hung-grace"), "{short}");
    assert!(long.contains("--hung-grace") && long == text(&["help", "add", "--help-all"]), "{long}");
    let install = text(&["mcp", "install", "-h"]);
    assert!(install.contains("harbor help mcp install --help-all"), "{install}");
    let add = help(&words(&["add"])).unwrap();
    assert_eq!([text(&["add", "--help"]), text(&["add", "-h", "x"])], [add.clone(), add]);
    assert!(help(&words(&["secrets", "set"])).unwrap().contains("Usage: harbor secrets set"));
    for line in [&["--version"][..], &["-V"], &["version"], &["version", "--json"], &["--json", "-V"]] {
        assert_eq!(command(line), Command::Version, "{line:?}");
    }
}

#[test]
fn the_help_fits_a_terminal() {
    fn longest(command: &mut clap::Command) -> Option<String> {
        let help = command.render_help().to_string();
        let wide = help.lines().find(|line| line.chars().count() > WIDTH).map(str::to_owned);
        wide.or_else(|| command.get_subcommands_mut().find_map(longest))
    }
    let mut command = super::command();
    command.build();
    assert_eq!(longest(&mut command), None);
}

#[test]
fn what_is_meant_is_guessed() {
    refused_with(&[
        (&["lists"], "'list'"),
        (&["uninstall", "time"], "unexpected argument 'time'"),
        (&["ps"], "did you mean `harbor list`?"),
        (&["login", "time"], "did you mean `harbor auth SERVER`?"),
        (&["--jsn"], "'--json'"),
        (&["add", "x", "--lable", "y"], "'--label'"),
        (&["secrets", "lst"], "'list'"),
        (&["completions", "bsh"], "'bash'"),
        (&["mcp", "install", "curser"], "did you mean cursor?"),
        (&["mcp", "install", "claude"], "did you mean claude-code or claude-desktop?"),
        (&["add", "x", "npx", "-y", "foo"], "put `--` before the command\n`harbor add x -- npx …`"),
        (&["call", "time", "now", "a=1"], "did you mean time/now?"),
        (&["import", "curser"], "did you mean cursor?"),
        (&["host", "instal"], "'install'"),
        (&["host", "install", "--browser", "firefax"], "'firefox'"),
        (&["grant", "client://x", "mcp:tool.call"], "'mcp:tools.call'"),
    ]);
    let Err(Failure::Usage(lost)) = help(&words(&["lsit"])) else { panic!("help") };
    assert!(lost.contains("'list'"), "{lost}");
}

#[test]
fn what_other_programs_call_them_works_or_is_suggested() {
    assert_eq!((command(&["ls"]), command(&["rm", "x"])), (command(&["list"]), command(&["remove", "x"])));
    for word in "ps info inspect run exec login enable disable allow deny clients permissions ui".split(' ') {
        let said = complaint(&[word]);
        let (_, meant) = said.split_once("; did you mean `harbor ").unwrap();
        let line: Vec<_> = meant.split('`').next().unwrap().split(' ').map(str::to_owned).collect();
        assert!(super::command().find_subcommand(&line[0]).is_some(), "{said}");
    }
}

#[test]
fn what_prints_text_is_no_json() {
    for line in [&["completions", "bash", "--json"][..], &["help", "--json"], &["mcp", "--json"]] {
        assert!(complaint(line).starts_with("--json does not apply"), "{line:?}");
    }
}

#[test]
fn json_is_noticed_even_when_nothing_else_makes_sense() {
    assert!(wants_json(&words(&["nope", "--json"])));
    assert!(!wants_json(&words(&["add", "x", "--", "--json"])));
}

#[test]
fn a_secret_is_not_repeated() {
    for line in [
        &["add", "x", "--env", "hunter2", "--", "y"][..],
        &["add", "x", "--url", "https://a.example", "--header", "hunter2"],
        &["install", "x", "--input", "hunter2"],
        &["secrets", "set", "a", "K", "hunter2"],
        &["secrets", "set", "a", "K=hunter2"],
        &["secrets", "unlock", "hunter2"],
        &["call", "time/x", "key:=hunter2"],
    ] {
        assert!(!complaint(line).contains("hunter2"), "{line:?}: {}", complaint(line));
    }
}
