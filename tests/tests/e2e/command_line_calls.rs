//! `harbor call`: its arguments as words, how far a call is, and what becomes of images in a result.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use harbor_tests::{Bridge, DOWN_LIMIT, Double, Home, LIMIT, Process, programs, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// A bridge with a server `s`.
fn bridge(home: &Home) -> (Bridge, Double) {
    let bridge = Bridge::start(home);
    assert!(bridge.is_alive(), "the commands find it");
    let double = Double::sound(home);
    bridge.add_and_connect("s", &double);
    (bridge, double)
}

#[test]
fn arguments_are_words_or_a_json_object() {
    let home = Home::new();
    let (_bridge, _) = bridge(&home);
    let file = home.scratch("text");
    fs::write(&file, "two\nlines").unwrap();
    let from_file = format!("text=@{}", file.display());
    let words = ["call", "s/echo", "zone=UTC", "n:=1e2", "list:=[\"a\"]", &from_file, "--", "-x=--json"];
    assert_eq!(
        home.done(&words),
        "{\"zone\":\"UTC\",\"n\":1e2,\"list\":[\"a\"],\"text\":\"two\\nlines\",\"-x\":\"--json\"}\n"
    );
    assert_eq!(home.done(&["call", "s/echo", "{\"b\": 1.0}"]), "{\"b\": 1.0}\n");
    for (args, named) in [
        (&["a=1", "a=2"][..], "a: this argument is given twice"),
        (&["{}", "a=2"], "a: use either one JSON object or key=value words"),
        (&["a:=x"], "a: not JSON: "),
        (&["a=@/nonexistent"], "a=@/nonexistent: cannot read its text"),
    ] {
        let (said, code) = home.refused(&[&["call", "s/echo"], args].concat());
        assert!(said.starts_with(&format!("harbor: {named}")) && code == Some(2), "{said}");
    }
}

#[test]
fn how_far_a_call_is_stands_on_a_terminal_only() {
    let home = Home::new();
    let (_bridge, _) = bridge(&home);
    let call = ["call", "s/progress", "steps:=4"];
    let (out, shown, code) = home.harbor_on_a_terminal(&call);
    assert_eq!((out.as_str(), code), ("done\n", Some(0)));
    for line in ["calling progress …", "progress [#####---------------]  25%  step 1", "100%  step 4"] {
        assert!(shown.contains(line), "{line}: {shown:?}");
    }
    assert!(shown.ends_with("\r\u{1b}[K"), "it is wiped at the end: {shown:?}");
    assert_eq!(home.done(&call), "done\n");
    let (out, shown, _) = home.harbor_on_a_terminal(&[&call[..], &["--json"]].concat());
    assert_eq!(shown, "");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], json!("done"));
}

#[test]
fn ctrl_c_cancels_the_call() {
    let home = Home::new();
    let (_bridge, double) = bridge(&home);
    let mut command = home.command("harbor");
    command.args(["call", "s/sleep", "ms:=600000"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let id = double.journal().wait_for("call sleep ");
    Process::of(child.id()).unwrap().signal(Signal::SIGINT);
    assert!(!child.wait().unwrap().success());
    let _ = double.journal().wait_for(&format!("cancelled {id}"));
}

/// Whoever is told to run the command again has the tool do its work twice.
#[test]
fn a_call_whose_bridge_is_lost_may_have_been_made() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let home = Home::new();
        let mut bridge = Bridge::foreground(&home);
        let double = Double::sound(&home);
        bridge.add_and_connect("s", &double);
        let calls = [&[][..], &["--json"]].map(|options| {
            let mut command = home.command("harbor");
            command.args(["call", "s/sleep", "ms:=600000"]).args(options);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let _ = double.journal().wait_for("call sleep ");
            child
        });
        wait_until("both calls", LIMIT, || double.journal().count("call sleep ") == 2);
        bridge.signal(signal);
        assert!(bridge.wait(DOWN_LIMIT).is_some());
        let [said, json] = calls.map(|child| child.wait_with_output().unwrap());
        assert_eq!([said.status.code(), json.status.code()], [Some(9); 2], "{said:?} {json:?}");
        let gone = "the connection to the bridge was lost. The call may have run; Harbor did not repeat it";
        assert_eq!(String::from_utf8(said.stderr).unwrap(), format!("harbor: {gone}\n"));
        let shown: Value = serde_json::from_slice(&json.stdout).unwrap();
        let error = json!({"code": "bridge_unreachable", "message": gone, "details": {"sent": true}});
        assert_eq!(shown["error"], error);
    }
}

#[test]
fn images_and_resources_of_a_result_are_written_to_files() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive(), "the commands find it");
    let parrot = programs::double("parrot-server");
    bridge.call("add_server", &json!({"server_id": "p", "command": parrot})).unwrap();
    bridge.connect("p");
    let content = json!([
        {"type": "text", "text": "look"},
        {"type": "image", "mimeType": "image/png", "data": "iVBORw=="},
        {"type": "audio", "mimeType": "audio/wav", "data": "UklG"},
        {"type": "resource", "resource": {"uri": "file:///../../x", "blob": "AAEC"}},
    ]);
    let text = format!("text={content}");
    let call = ["call", "p/say", "as=content", &text];
    let (out, said, code) = home.harbor(&call);
    let named =
        "look\n[image image/png 4 bytes]\n[audio audio/wav 3 bytes]\n[resource file:///../../x 3 bytes]\n";
    assert_eq!((out.as_str(), said.as_str()), (named, "`--save DIR` writes these 3 to files\n"));
    assert_eq!(code, Some(0));

    let directory = home.scratch("out");
    let save = [&call[..], &["--save", directory.to_str().unwrap()]].concat();
    let file = |name: &str| directory.join(name);
    let image = file("say-1.png");
    let out = home.done(&save);
    assert_eq!(
        out.lines().nth(1),
        Some(&*format!("[image image/png 4 bytes: saved as {}]", image.display()))
    );
    assert_eq!(fs::read(&image).unwrap(), b"\x89PNG");
    assert_eq!(fs::metadata(&image).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read(file("say-3.bin")).unwrap(), [0, 1, 2]);
    let again: Value = serde_json::from_str(&home.done(&[&save[..], &["--json"]].concat())).unwrap();
    let paths: Vec<_> =
        ["say-4.png", "say-5.wav", "say-6.bin"].map(|name| json!({"path": file(name)})).into();
    assert_eq!((&again["saved"], &again["result"]["content"]), (&json!(paths), &content));
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 6);

    let taken = [&call[..], &["--save", image.to_str().unwrap()]].concat();
    let (said, code) = home.refused(&taken);
    assert_eq!(
        (said, code),
        (format!("harbor: --save {}: it is not a directory\n", image.display()), Some(2))
    );
}

#[test]
fn resources_and_prompts_are_listed_and_had() {
    let home = Home::new();
    let (bridge, _) = bridge(&home);
    let parrot = programs::double("parrot-server");
    bridge.call("add_server", &json!({"server_id": "p", "command": parrot})).unwrap();
    let shown = "SERVER  URI                   TYPE        DESCRIPTION\n\
                 s       double://note         text/plain  note\n\
                 s       double://note/{name}              named note\n";
    assert_eq!(home.done(&["resources"]), shown);
    assert_eq!(home.done(&["resources", "s"]), shown);
    bridge.connect("p");
    assert_eq!(home.done(&["resources"]), shown, "one that has none hides nothing");
    assert_eq!(home.harbor(&["resources", "p"]), (String::new(), "no resources\n".into(), Some(0)));
    let list: Value = serde_json::from_str(&home.done(&["resources", "s", "--json"])).unwrap();
    assert_eq!(list["resources"][0]["novel"], json!([1e2]));
    assert_eq!(list["resource_templates"][0]["uriTemplate"], "double://note/{name}");

    let read = ["resources", "read", "s", "double://note"];
    assert_eq!(home.done(&read), "a note\n");
    let answer: Value = serde_json::from_str(&home.done(&[&read[..], &["--json"]].concat())).unwrap();
    assert_eq!(answer["resource"]["contents"][0]["text"], "a note");
    let directory = home.scratch("out");
    let saved = home.done(&[&read[..], &["--save", directory.to_str().unwrap()]].concat());
    let file = directory.join("note-1.txt");
    let line = format!("[resource double://note text/plain 6 bytes: saved as {}]\n", file.display());
    assert_eq!((saved, fs::read_to_string(file).unwrap()), (line, "a note".into()));
    let (said, code) = home.refused(&["resources", "read", "s", "nothing://here"]);
    assert!(said.contains("Resource not found") && code != Some(0), "{said}");

    let shown = "SERVER  PROMPT  ARGUMENTS  DESCRIPTION\ns       greet   who        greet\n";
    let all = home.done(&["prompts"]);
    assert!(all.contains("\ns       greet ") && all.contains("\nharbor  compare-prices "), "{all}");
    assert_eq!(home.done(&["prompts", "s"]), shown);
    let own = home.done(&["prompts", "show", "harbor", "calendar"]);
    assert!(
        own.contains("`harbor catalog search calendar`") && own.contains("\n  wanted (optional): "),
        "{own}"
    );
    let (said, code) = home.refused(&["prompts", "get", "harbor", "calendar"]);
    assert!(said.contains("the prompt needs `days`") && code != Some(0), "{said}");
    let get = ["prompts", "get", "s", "greet", "who=Ada"];
    assert_eq!(home.done(&get), "user: Hello, Ada!\n");
    let answer: Value = serde_json::from_str(&home.done(&[&get[..], &["--json"]].concat())).unwrap();
    assert_eq!(answer["prompt"]["messages"][0]["content"]["text"], "Hello, Ada!");
    assert_ne!(home.refused(&["prompts", "get", "s", "greet"]).1, Some(0));

    let _ = home.done(&["stop", "s"]);
    let (said, code) = home.refused(&read);
    assert!(said.ends_with("start it: `harbor start s`\n") && code == Some(5), "{said}");
}
