//! What the command line understands, and how it says no. commands.txt and walk.rs have the whole list of options.

mod document;
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
    let all = text(&[]);
    for line in [&["--help"][..], &["-h"], &["--json"]] {
        assert_eq!(text(line), all, "{line:?}");
    }
    assert_eq!(help(&[]).unwrap(), all);
    assert!(all.contains("\n  7  the tool failed or reported an error\n"), "{all}");
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
        (&["uninstall", "time"], "did you mean `harbor remove SERVER`?"),
        (&["--jsn"], "'--json'"),
        (&["add", "x", "--lable", "y"], "'--label'"),
        (&["secrets", "lst"], "'list'"),
        (&["completions", "bsh"], "'bash'"),
        (&["mcp", "install", "curser"], "'cursor'"),
        (&["import", "curser"], "did you mean cursor?"),
        (&["host", "instal"], "'install'"),
        (&["host", "install", "--browser", "firefax"], "'firefox'"),
        (&["grant", "client://x", "mcp:tool.call"], "'mcp:tools.call'"),
    ]);
    let Err(Failure::Usage(lost)) = help(&words(&["lsit"])) else { panic!("help") };
    assert!(lost.contains("'list'"), "{lost}");
}

#[test]
fn what_prints_text_is_no_json() {
    for line in [&["completions", "bash", "--json"][..], &["help", "--json"], &["mcp", "--json"]] {
        assert!(complaint(line).starts_with("--json has no meaning here"), "{line:?}");
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
