//! What the command line says about itself: completions as shells use them, and the manual page as it is rendered.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use harbor_tests::{Bridge, Double, Home, programs, said};
use serde_json::json;

/// What bash offers when Tab is pressed behind these words.
fn offered(home: &Home, words: &[&str]) -> Vec<String> {
    let script = home.scratch("completions");
    fs::write(&script, home.done(&["completions", "bash"])).unwrap();
    let program = programs::product("harbor");
    let path = format!("{}:{}", program.parent().unwrap().display(), env::var("PATH").unwrap());
    let press = "source \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _harbor; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-uc", press]).arg(script).args(words);
    bash.env("HARBOR_HOME", home.path()).env("PATH", path);
    let (out, err, code) = said(&mut bash);
    assert_eq!((err.as_str(), code), ("", Some(0)), "{words:?}");
    out.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_servers_and_tools() {
    let home = Home::new();
    assert_eq!(offered(&home, &["harbor", "res"]), ["restart", "resources"]);
    assert_eq!(offered(&home, &["harbor", "--v"]), ["--version"]);
    let mut options = offered(&home, &["harbor", "logs", "--"]);
    options.sort_unstable();
    assert_eq!(options, ["--all", "--follow", "--help", "--install", "--json", "--lines"]);
    assert_eq!(offered(&home, &["harbor", "help", "stat"]), ["stats", "status"]);
    assert_eq!(offered(&home, &["harbor", "completions", ""]), ["bash", "zsh", "fish"]);
    for words in [
        &["harbor", "start", ""][..],
        &["harbor", "call", "s/"],
        &["harbor", "logs", "--lines", ""],
        &["harbor", "add", "x", "--", "-"],
    ] {
        assert_eq!(offered(&home, words), [""; 0], "{words:?}");
    }
    assert_eq!(
        offered(&home, &["harbor", "mcp", "install", "c"]),
        ["claude-code", "claude-desktop", "cursor", "codex"]
    );
    assert_eq!(offered(&home, &["harbor", "catalog", "l"]), ["list"]);
    assert!(offered(&home, &["harbor", "catalog", "list", "--"]).contains(&"--featured".into()));
    assert_eq!(offered(&home, &["harbor", "config", "c"]), ["check"]);
    // As bash takes it apart.
    assert_eq!(
        offered(&home, &["harbor", "grant", "client", ":", "//x", "mcp", ":", "tools"]),
        ["tools.list", "tools.call"]
    );
    assert!(!home.path().join("run").exists(), "no bridge was started");

    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive(), "the shell finds it");
    let evil = json!([{"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {}, "$(x)": {}}}}, {"name": "env"}, {"name": "e$(touch evil)"}, {"name": "e`id`"}]);
    bridge.add_and_connect("s", &Double::sound(&home).offering(&evil.to_string()));
    bridge.call("add_server", &json!({"server_id": "stopped", "command": "/bin/true"})).unwrap();
    for words in [
        &["harbor", "start", "s"][..],
        &["harbor", "logs", "--lines", "7", "-f", ""],
        &["harbor", "resources", "read", ""],
        &["harbor", "tools", ""],
    ] {
        assert_eq!(offered(&home, words), ["s", "stopped"], "{words:?}");
    }
    assert_eq!(offered(&home, &["harbor", "resources", ""]), ["read", "s", "stopped"]);
    let _ = home.done(&["grant", "client://a", "mcp:tools.list"]);
    assert_eq!(offered(&home, &["harbor", "revoke", ""]), ["client://a"]);
    assert_eq!(offered(&home, &["harbor", "--json", "call", "st"]), ["stopped/"]);
    assert_eq!(offered(&home, &["harbor", "call", "s/e"]), ["s/echo", "s/env"]);
    assert_eq!(offered(&home, &["harbor", "tools", "s/e"]), ["s/echo", "s/env"]);
    assert_eq!(offered(&home, &["harbor", "call", "s/echo", ""]), ["text="]);
    assert_eq!(offered(&home, &["harbor", "call", "s/echo", "a=1", "te"]), ["text="]);
    assert_eq!(offered(&home, &["harbor", "call", "stopped/"]), [""; 0]);
    assert_eq!(bridge.server("stopped")["state"], "stopped", "asking starts nothing");
}

/// A program of this machine, if it is there.
fn found(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap();
    env::split_paths(&path).map(|directory| directory.join(program)).find(|path| path.is_file())
}

#[test]
fn other_shells_read_their_scripts() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = home.scratch(shell);
        fs::write(&script, home.done(&["completions", shell])).unwrap();
        let Some(program) = found(shell) else { continue };
        let read = said(Command::new(program).arg("-n").arg(script));
        assert_eq!(read, (String::new(), String::new(), Some(0)), "{shell}");
    }
}

#[test]
fn the_manual_page_is_rendered_without_a_warning() {
    let home = Home::new();
    let page = home.scratch("harbor.1");
    fs::write(&page, home.done(&["help", "--man"])).unwrap();
    let Some(program) = found("groff") else { return };
    let (text, warnings, _) =
        said(Command::new(program).args(["-man", "-Tutf8", "-P-cbou", "-ww"]).arg(page));
    assert_eq!(warnings, "");
    for part in ["\nHARBOR RESOURCES READ\n", "       --save <DIR>\n"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(text.contains("\n       7      the tool failed or reported an error\n"), "{text}");
}

#[test]
fn reference_pages_are_printed_without_a_bridge() {
    let home = Home::new();
    for (page, part) in [
        ("protocol", "\n### `host_call_tool`\n"),
        ("commands", "\n## harbor resources read\n"),
        ("browser", "\n## `browser_click`\n"),
    ] {
        let text = home.done(&["docs", page]);
        assert!(text.starts_with("# ") && text.contains(part), "{page}");
    }
    assert!(!home.path().join("run").exists(), "no bridge was started");
}
