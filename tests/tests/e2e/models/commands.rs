//! `harbor models` and `harbor ask`, typed: keys by stdin only, text as it comes, Ctrl-C, exit codes.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use harbor_tests::programs::behind;
use harbor_tests::{Bridge, Direct, Home, LIMIT, Terminal, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::scene::{ASKED, KEY, MARKED, Provider, SAID, Scene};

/// Stdout, stderr and exit code of `harbor` with this on its stdin.
pub fn harbor(home: &Home, args: &[&str], input: &str) -> (String, String, Option<i32>) {
    let mut command = home.command("harbor");
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Who needs no input may have ended before it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// Stdout of one that did what was asked for.
pub fn done(home: &Home, args: &[&str]) -> String {
    let (out, err, code) = harbor(home, args, "");
    assert_eq!((code, err.as_str()), (Some(0), ""), "{args:?}");
    out
}

#[test]
fn a_provider_is_added_given_its_key_checked_asked_and_removed() {
    let (home, provider) = (Home::new(), Provider::start());
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    let (out, err, code) = harbor(&home, &["models"], "");
    assert!(out.is_empty() && err.contains("`harbor models detect`") && code == Some(0), "{err}");
    let (out, err, code) = harbor(&home, &["ask", "hi"], "");
    assert!(out.is_empty() && err.contains("`harbor models detect`") && code == Some(5), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");

    let add = ["models", "add", "openai-compatible", "--name", "p", "--url", &provider.url()];
    assert!(done(&home, &add).ends_with("; it requires a key, which `harbor models key p` asks for\n"));
    let nobody = ["models", "add", "openai-compatible", "--name", "nobody", "--url", "http://127.0.0.1:1/v1"];
    let added = done(&home, &nobody);
    assert!(added.contains("it cannot be used yet: ") && added.contains("127.0.0.1:1"), "{added}");
    done(&home, &["models", "remove", "nobody"]);
    let (_, err, code) = harbor(&home, &["models", "key", "p"], "");
    assert!(err.contains("not a key") && code == Some(2), "{err}");
    let (out, _, code) = harbor(&home, &["models", "key", "p"], "sk-wrong\n");
    assert!(out.contains("is stored") && code == Some(0), "{out}");
    let (out, err, code) = harbor(&home, &["models", "check", "p"], "");
    assert!(out.contains("no such key here") && err.contains("`harbor models key p`"), "{out}{err}");
    assert_eq!(code, Some(5));
    assert_eq!(harbor(&home, &["models", "key", "p"], &format!("{KEY}\n")).2, Some(0));
    assert!(done(&home, &["models", "check", "p"]).starts_with("p answers"));
    let listed = done(&home, &["models", "list"]);
    assert!(listed.contains("p:m ") && listed.contains("p:many"), "{listed}");
    let (out, err, code) = harbor(&home, &["models", "key", "q"], KEY);
    assert!(out.is_empty() && err.contains("no provider q") && code == Some(4), "{err}");

    assert_eq!(done(&home, &["ask", ASKED]), format!("Hello {SAID}\n"));
    let (out, _, _) = harbor(&home, &["ask", "-", "--system", "be brief"], "from stdin");
    assert_eq!(out, format!("Hello {SAID}\n"));
    let asked = &provider.chats()[1].body["messages"];
    assert_eq!((&asked[0]["content"], &asked[1]["content"]), (&json!("be brief"), &json!("from stdin")));
    done(&home, &["models", "default", "p:many"]);
    assert!(done(&home, &["ask", "count"]).ends_with(" 199 \n"));
    // Each event is a line, and the whole answer is the last one.
    let lines = done(&home, &["ask", "hi", "--model", "p:m", "--json"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|event| event["type"] == "text"), "{lines:?}");
    assert_eq!(lines.last().unwrap()["response"]["usage"]["output_tokens"], 7);
    assert!(done(&home, &["models", "usage"]).contains("p:many"));
    // This machine may have more to be found, and said on stderr.
    let (found, _, code) = harbor(&home, &["models", "detect"], "");
    assert!(found.contains(&provider.url()) && code == Some(0), "{found}");
    let private = ["models", "add", "ollama", "--name", "attic", "--url", "http://10.0.0.1:11434"];
    let (_, err, code) = harbor(&home, &private, "");
    assert_eq!((code, err.contains("base_url")), (Some(2), true), "{err}");
    assert!(done(&home, &[&private[..], &["--allow-private"]].concat()).starts_with("attic is added"));
    done(&home, &["models", "remove", "attic"]);
    assert_eq!(done(&home, &["models", "remove", "p"]), "p is removed, and its key\n");
    assert_eq!(harbor(&home, &["models", "remove", "p"], "").2, Some(4));
}

#[test]
fn an_image_and_a_schema_go_with_the_question() {
    let scene = Scene::new();
    let (image, schema) = (scene.home.scratch("a.gif"), scene.home.scratch("s.json"));
    fs::write(&image, b"GIF89a").unwrap();
    fs::write(&schema, r#"{"type": "object"}"#).unwrap();
    let [image, schema] = [&image, &schema].map(|path| path.to_str().unwrap());
    done(&scene.home, &["ask", "what?", "--image", image, "--schema", schema, "--max-tokens", "9"]);
    let asked = &scene.provider.chats()[0].body;
    let parts = asked["messages"][0]["content"].as_array().unwrap();
    assert_eq!(parts[0]["image_url"]["url"], "data:image/gif;base64,R0lGODlh");
    assert_eq!(asked["response_format"]["type"], "json_schema");
    let (_, err, code) = harbor(&scene.home, &["ask", "what?", "--image", schema], "");
    assert!(err.contains("not a PNG") && code == Some(2), "{err}");
}

#[test]
fn ctrl_c_ends_the_answer_at_the_provider_and_keeps_what_came() {
    let scene = Scene::new();
    let mut command = scene.home.command("harbor");
    let mut ask = Direct::start(command.args(["ask", "hi", "--model", "p:hangs"]));
    // The piece is no whole line yet: the provider has sent it before it waits for us to leave.
    wait_until("the model to be asked", LIMIT, || scene.status()["open_requests"] == 1);
    wait_until("the question to arrive", LIMIT, || !scene.provider.chats().is_empty());
    ask.signal(Signal::SIGINT);
    wait_until("its connection to end", LIMIT, || scene.provider.left() == 1);
    assert_eq!(ask.wait(LIMIT).unwrap().code(), Some(1), "{}", ask.stderr());
    assert!(ask.stderr().contains("cancelled"), "{}", ask.stderr());
    assert_eq!(scene.status()["open_requests"], 0);
}

#[test]
fn at_a_terminal_text_comes_piece_by_piece_and_a_line_says_what_it_took() {
    let scene = Scene::new();
    // What is for people is on the same terminal.
    let ask = |model: &str| {
        let mut usual = scene.home.command("harbor");
        usual.args(["ask", "hi", "--model", model]);
        Terminal::start(&behind(&["sh", "-c", "exec \"$0\" \"$@\" 2>&1"], &usual))
    };
    let mut terminal = ask("p:m");
    terminal.wait_for("p:m: 11 tokens in, 7 out");
    assert!(terminal.text().contains(&format!("Hello {SAID}\n")), "{}", terminal.text());
    assert_eq!(terminal.end().0, 0);
    let mut terminal = ask("p:hangs");
    terminal.wait_for("and");
    terminal.press("\x03");
    terminal.wait_for("was cancelled");
    assert_eq!(terminal.end().0, 1);
    let mut terminal = Terminal::start(scene.home.command("harbor").args(["models", "key", "p"]));
    terminal.wait_for("(not shown)");
    terminal.press(&format!("{KEY}\r"));
    terminal.wait_for("is stored");
    assert!(!terminal.text().contains(KEY), "{}", terminal.text());
    assert_eq!(terminal.end(), (0, true));
}

#[test]
fn markdown_is_shown_as_what_it_means_at_a_terminal_only() {
    let scene = Scene::new();
    let written = MARKED.concat();
    let ask = ["ask", "hi", "--model", "p:marked"];
    assert_eq!(done(&scene.home, &ask), written);
    let seen = |words: &[&str], no_colour: bool| {
        let mut command = scene.home.command("harbor");
        command.args(words);
        if no_colour {
            command.env("NO_COLOR", "1");
        }
        let mut terminal = Terminal::start(&command);
        assert_eq!(terminal.end().0, 0);
        terminal.text()
    };
    assert_eq!(seen(&ask, false).trim_end(), "Herons\nThey stand and wait.");
    assert_eq!(seen(&ask, true).trim_end(), written.trim_end());
    let with_tools = [&ask[..], &["--tools", "all"]].concat();
    assert_eq!(seen(&with_tools, false).trim_end(), "Herons\nThey stand and wait.");
    let schema = scene.home.scratch("s.json");
    fs::write(&schema, r#"{"type": "object"}"#).unwrap();
    let as_data = [&ask[..], &["--schema", schema.to_str().unwrap()]].concat();
    assert_eq!(seen(&as_data, false).trim_end(), written.trim_end());
}

#[test]
fn a_budget_that_does_not_suffice_has_an_exit_code_of_its_own() {
    let scene = Scene::new();
    let set = done(&scene.home, &["models", "budget", "owner", "--tokens", "5"]);
    assert_eq!(set, "owner may use 5 tokens a day\n");
    let (out, err, code) = harbor(&scene.home, &["ask", "hi"], "");
    assert!(out.is_empty() && err.contains("`harbor models budget 'owner' --tokens N`"), "{err}");
    assert_eq!(code, Some(4));
    let all = done(&scene.home, &["models", "budget"]);
    assert!(all.contains("owner ") && all.contains("other origins  50000 "), "{all}");
    done(&scene.home, &["models", "budget", "owner", "--tokens", "default"]);
    assert_eq!(harbor(&scene.home, &["ask", "hi"], "").2, Some(0));
}
