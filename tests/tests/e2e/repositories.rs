//! Repositories and manifests: what they say is read before anything of them runs, shown, asked for, and followed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use harbor_tests::git::{commit, git};
use harbor_tests::npm_registry::{NpmRegistry, write_server};
use harbor_tests::said::said;
use harbor_tests::{Bridge, DOWN_LIMIT, Home, INSTALL, Terminal, wait_until};
use serde_json::{Value, json};

const KEY: &str = "sk-live-0123456789";

fn refused(bridge: &Bridge, source: &str) -> String {
    let answer = bridge.request("resolve_server", &json!({"source": source})).wait(INSTALL);
    answer.unwrap_err().message
}

fn resolved(bridge: &Bridge, source: &str) -> Value {
    bridge.ask("resolve_server", &json!({"source": source}))["server"].clone()
}

fn harbor(home: &Home, args: &[&str]) -> String {
    let (out, err, code) = said(home.command("harbor").args(args));
    assert_eq!(code, Some(0), "{args:?}: {out}{err}");
    out + &err
}

/// A repository that holds a server, and these files.
fn repository(home: &Home, name: &str, files: &[(&str, &Value)]) -> (PathBuf, String) {
    let dir = home.scratch(name);
    write_server(&dir, "1.0.0", &["a"], "first");
    put(&dir, files);
    git(&dir, &["init", "-q"]);
    let at = commit(&dir);
    (dir, at)
}

fn put(dir: &Path, files: &[(&str, &Value)]) {
    for (name, text) in files {
        let place = dir.join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text.to_string()).unwrap();
    }
}

fn source(dir: &Path) -> String {
    format!("git:file://{}", dir.display())
}

/// Nothing of what was only looked at stays.
fn nothing_is_left(home: &Home) {
    let servers = home.path().join("servers");
    let looked_at = || fs::read_dir(&servers).into_iter().flatten().flatten().count();
    wait_until("nothing of a repository to be left", DOWN_LIMIT, || looked_at() == 0);
}

fn manifest() -> Value {
    json!({
        "manifestVersion": "1.0.0", "name": "Tiny", "description": "A tiny one\u{1b}[31m <b>here</b>",
        "package": {"type": "git"},
        "environment": [
            {"name": "ZONE", "required": true, "description": "Where you are", "choices": ["here", "there"]},
            {"name": "PORT", "type": "number", "default": 80},
        ],
        "secrets": [
            {"name": "API_KEY", "description": "The key", "pattern": "^sk-[a-z0-9-]+$", "placeholder": "sk-…"},
        ],
        "oauth": {"provider": "google", "hostMode": {"refreshTokenEnvVar": "REFRESH", "tokenEnvVar": "API_KEY"}},
    })
}

#[test]
fn what_a_manifest_wants_is_shown_asked_for_and_checked() {
    let home = Home::new();
    let (dir, at) = repository(&home, "tiny-mcp", &[("mcp-manifest.json", &manifest())]);
    let source = source(&dir);
    let bridge = Bridge::start(&home);
    let found = resolved(&bridge, &source);
    assert_eq!((&found["from"], &found["found_in"]), (&json!("repository"), &json!("mcp-manifest.json")));
    assert_eq!((&found["commit"], &found["way"]), (&json!(at), &json!(0)));
    assert_eq!((&found["server_id"], &found["ways"][0]["source"]), (&json!("tiny"), &json!(source)));
    assert_eq!(found["description"], "A tiny one\\u{1b}[31m <b>here</b>");
    assert_eq!(
        (&found["variables"][1]["value_type"], &found["variables"][1]["default"]),
        (&json!("number"), &json!("80"))
    );
    assert_eq!(
        (&found["secrets"][0]["pattern"], &found["secrets"][1]["required"]),
        (&json!("^sk-[a-z0-9-]+$"), &json!(false))
    );
    assert!(found["notes"][0].as_str().unwrap().contains("give it yours as the secret API_KEY"), "{found}");
    nothing_is_left(&home);

    let said = harbor(&home, &["install", &source, "--dry-run"]);
    assert!(said.contains(&format!("found      mcp-manifest.json of {source} at {at}\n")), "{said}");
    let wants = "needs      --env ZONE: Where you are; one of here, there\n\
                 may have   --env PORT: a number; 80 by default\n";
    assert!(said.contains(wants) && !said.contains('\u{1b}'), "{said}");
    let rest = format!(
        "hash       git-{at}\nwith       0 packages, each locked with its version and hash\nruns       tiny\n"
    );
    assert!(said.contains(&rest), "what is known is told before it is complete: {said}");
    assert!(said.contains("sets       PORT=80\nsets       ZONE={ZONE}\nsecret     API_KEY\n"), "{said}");
    let said = harbor(&home, &["install", &source, "--dry-run", "--env", "ZONE=here"]);
    assert!(said.contains(&rest) && !said.contains("--env ZONE"), "{said}");
    for (args, part) in [
        (&["--dry-run", "--input", "zone=here"][..], "there is no input zone; this server has no inputs"),
        (&["--dry-run", "--env", "ZONE=moon"], "ZONE: expected one of here, there"),
        (&["--yes"], "it needs --env ZONE=VALUE (Where you are)"),
        (&["--yes", "--env", "ZONE=moon"], "ZONE: expected one of here, there"),
        (&["--yes", "--env", "ZONE=here", "--env", "PORT=x"], "PORT: expected a number"),
        (&["--yes", "--package", "2"], "can be installed in 1 ways"),
        (&[], "no terminal to ask on; pass --yes"),
    ] {
        let (said, code) = home.refused(&[&["install", source.as_str()], args].concat());
        assert!(code == Some(2) && said.contains(part), "{args:?}: {said}");
    }
    let fields =
        json!({"source": source, "env": {"ZONE": "here"}, "secret_values": {"API_KEY": "verysecret"}});
    let error = bridge.request("install_server", &fields).wait(INSTALL).unwrap_err();
    assert!(error.message.contains("expected something that matches ^sk-"), "{error:?}");
    assert!(!error.message.contains("verysecret"), "{error:?}");
    nothing_is_left(&home);

    let mut command = home.command("harbor");
    let mut terminal = Terminal::start(command.args(["install", &source]));
    terminal.wait_for("one of here, there\nZONE:");
    assert!(terminal.text().contains("note       it needs a token of google"), "before the questions");
    terminal.press("moon\r");
    terminal.wait_for("expected one of here, there");
    terminal.press("there\r");
    terminal.wait_for("sets       ZONE, as you say");
    terminal.wait_for("Install it? [y/N]");
    terminal.press("y\r");
    terminal.wait_for("such as sk-…");
    terminal.wait_for("API_KEY of tiny (not shown");
    terminal.press("wrong\r");
    terminal.wait_for("expected something that matches ^sk-");
    terminal.press(&format!("{KEY}\r"));
    terminal.wait_for("REFRESH of tiny");
    terminal.press("\r");
    assert_eq!(terminal.end(), (0, true), "{}", terminal.text());
    assert_eq!(harbor(&home, &["call", "tiny/a"]), "1.0.0\n");
    let listed = &bridge.ask("list_installed", &json!({}))["servers"][0];
    assert_eq!((&listed["version"], &listed["kind"]), (&json!(at), &json!("git")));
    assert_eq!(bridge.server("tiny")["env_names"], json!(["PORT", "ZONE"]));
}

#[test]
fn what_was_read_is_what_is_installed() {
    let home = Home::new();
    let (dir, first) = repository(&home, "tiny-mcp", &[]);
    let source = source(&dir);
    let bridge = Bridge::start(&home);
    let found = resolved(&bridge, &source);
    assert_eq!(found["found_in"], "package.json");
    // Somebody pushes meanwhile.
    write_server(&dir, "2.0.0", &["a"], "first");
    commit(&dir);
    let fields = json!({"source": source, "planned": found["planned"]});
    let installed = bridge.ask("install_server", &fields)["installed"].clone();
    assert_eq!(installed["version"], json!(first));
    assert_eq!(bridge.server("tiny")["command"], json!(source), "the newest is wanted at an upgrade");
    let fields = json!({"source": source, "server_id": "two", "planned": "999"});
    let error = bridge.request("install_server", &fields).wait(INSTALL).unwrap_err();
    assert!(error.message.contains("start again"), "{error:?}");
}

#[test]
fn a_directory_of_a_repository_is_a_package() {
    let home = Home::new();
    let dir = home.scratch("all");
    write_server(&dir.join("packages/tiny-mcp"), "1.0.0", &["a"], "first");
    fs::create_dir_all(dir.join("packages")).unwrap();
    symlink("/etc", dir.join("packages/out")).unwrap();
    git(&dir, &["init", "-q"]);
    let at = commit(&dir);
    let bridge = Bridge::start(&home);
    let whole = source(&dir);
    let part = |of: &str| format!("{whole}#main&subdirectory={of}");
    assert!(refused(&bridge, &whole).contains("name one of its directories by #subdirectory=DIRECTORY"));
    assert!(refused(&bridge, &part("packages/none")).contains("has no directory packages/none"));
    assert!(refused(&bridge, &part("packages/out")).contains("is not a directory of the repository"));
    assert!(refused(&bridge, &part("../x")).contains("a directory of the repository"));
    let said = harbor(&home, &["install", &part("packages/tiny-mcp"), "--yes"]);
    assert!(said.contains("installed tiny:"), "{said}");
    assert_eq!(harbor(&home, &["call", "tiny/a"]), "1.0.0\n");
    assert_eq!(bridge.ask("list_installed", &json!({}))["servers"][0]["version"], json!(at));
    write_server(&dir.join("packages/tiny-mcp"), "2.0.0", &["a"], "first");
    commit(&dir);
    harbor(&home, &["upgrade", "tiny", "--yes"]);
    assert_eq!(harbor(&home, &["call", "tiny/a"]), "2.0.0\n");
}

#[test]
fn what_is_published_elsewhere_is_installed_and_pinned_as_that() {
    let (home, npm) = (Home::new(), NpmRegistry::start());
    npm.publish(&home, "1.0.0", &["a"], "first");
    let bridge = Bridge::start_with(&home, &[("npm_config_registry", &npm.url())]);
    let server = json!({"name": "io.example/tiny", "description": "d", "packages": [
        {"registryType": "mcpb", "identifier": "https://example.com/x.mcpb"},
        {"registryType": "npm", "identifier": "tiny", "version": "1.0.0",
         "environmentVariables": [{"name": "API_KEY", "isRequired": true, "isSecret": true}]}]});
    let (dir, _) = repository(&home, "listed", &[("server.json", &server)]);
    let found = resolved(&bridge, &source(&dir));
    assert_eq!((&found["found_in"], &found["way"]), (&json!("server.json"), &json!(1)));
    let said = harbor(&home, &["install", &source(&dir), "--yes"]);
    assert!(
        said.contains(
            "defined listed: tiny 1.0.0\nHarbor does not install or start it before it has API_KEY"
        ),
        "{said}"
    );
    assert_eq!(bridge.server("listed")["package"], "tiny@1.0.0");

    // One server, and what keeps it from its start.
    let said = harbor(&home, &["status", "listed"]);
    assert!(
        said.contains("state      needs a key") && said.contains("start      cannot start: it needs API_KEY"),
        "{said}"
    );
    let status = bridge.ask("get_server_status", &json!({"server_id": "listed"}));
    assert_eq!((&status["can_start"], &status["missing_secrets"]), (&json!(false), &json!(["API_KEY"])));
    assert_eq!(status["package"]["kind"], "npm");
    bridge.ask("set_server_secrets", &json!({"server_id": "listed", "secrets": {"API_KEY": KEY}}));
    let status = bridge.ask("get_server_status", &json!({"server_id": "listed"}));
    assert_eq!((&status["can_start"], &status["why_not"]), (&json!(true), &Value::Null));
    // A call waits ten seconds for a start, and this one installs first.
    bridge.connect("listed");
    assert_eq!(harbor(&home, &["call", "listed/a"]), "1.0.0\n");
    bridge.ask("add_server", &json!({"server_id": "broken", "command": "there-is-no-such-program"}));
    let said = harbor(&home, &["status", "broken"]);
    assert!(said.contains("cannot start: could not") && said.contains("there-is-no-such-program"), "{said}");
    let (said, code) = home.refused(&["status", "listde"]);
    assert!(code == Some(4) && said.contains("did you mean listed?"), "{said}");

    // The file itself, without its repository.
    let file = home.scratch("mcp-manifest.json");
    let alternatives = json!([{"type": "npm", "name": "tiny"}]);
    let package = json!({"type": "binary", "binaryUrl": "ftp://h/{os}-{arch}", "alternatives": alternatives});
    let text = json!({"manifestVersion": "1.0.0", "name": "filed", "package": package});
    fs::write(&file, text.to_string()).unwrap();
    let said = harbor(&home, &["install", file.to_str().unwrap(), "--yes"]);
    assert!(said.contains("installed filed: tiny 1.0.0\nit has 1 tool: a"), "{said}");
    let (said, _) = home.refused(&["install", file.parent().unwrap().to_str().unwrap(), "--yes"]);
    assert!(said.contains("if it is a repository, use git:file://"), "{said}");
    fs::write(&file, "<html>").unwrap();
    let (said, code) = home.refused(&["install", file.to_str().unwrap(), "--yes"]);
    assert!(code == Some(2) && said.contains("not the JSON of a manifest"), "{said}");
}

#[test]
fn what_is_hostile_or_nothing_is_refused_with_a_reason() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let (dir, _) = repository(&home, "hostile", &[]);
    let place = dir.join("mcp-manifest.json");
    let with = |member: &str, value: Value| {
        let package = json!({"type": "git"});
        json!({"manifestVersion": "1.0.0", "package": package, member: value}).to_string()
    };
    for (text, part) in [
        ("<html>".to_owned(), "its mcp-manifest.json does not have the expected JSON form"),
        ("[".repeat(100_000), "its mcp-manifest.json does not have the expected JSON form"),
        (" ".repeat(300_000), "is longer than 256 KiB"),
        (" ".repeat(2_000_000), "is too long"),
        ("{}".to_owned(), "has no manifestVersion"),
    ] {
        fs::write(&place, text).unwrap();
        commit(&dir);
        let said = refused(&bridge, &source(&dir));
        assert!(said.contains(part), "{said}");
    }
    for (text, part) in [
        (
            with("environment", json!([{"name": "LD_PRELOAD", "default": "/tmp/x"}])),
            "asks for the variable LD_PRELOAD",
        ),
        (with("secrets", json!([{"name": "PATH"}])), "asks for the variable PATH"),
        (with("package", json!({"type": "npm", "name": "../../x"})), "names no package"),
        (with("package", json!({"type": "docker", "image": "--privileged"})), "expected an image"),
        (with("oauth", json!({"provider": "x"})), "names no variable for it"),
        (with("runtime", json!({"minimumVersion": "999"})), "it requires node 999 or newer"),
    ] {
        fs::write(&place, text).unwrap();
        commit(&dir);
        let found = resolved(&bridge, &source(&dir));
        assert_eq!(found["way"], Value::Null);
        assert!(found["ways"][0]["why_not"].as_str().unwrap().contains(part), "{found}");
        let (said, code) = home.refused(&["install", &source(&dir), "--yes"]);
        assert!(code == Some(2) && said.contains(part), "{said}");
    }
    let (out, err, code) = said(home.command("harbor").args(["install", &source(&dir), "--dry-run"]));
    assert!(code == Some(1) && out.starts_with("found      mcp-manifest.json of"), "{out}");
    assert!(
        err.contains("cannot be installed here") && err.contains("it requires node 999 or newer"),
        "{err}"
    );
    // A pattern that others would try for ever is no work, and what it cannot read is said.
    let secrets = json!([{"name": "A", "required": false, "pattern": "^(a+)+$"}, {"name": "B", "required": false, "pattern": "(?=x)"}]);
    fs::write(&place, with("secrets", secrets)).unwrap();
    commit(&dir);
    assert_eq!(resolved(&bridge, &source(&dir))["notes"].as_array().unwrap().len(), 1);
    let fields =
        json!({"source": source(&dir), "secret_values": {"A": "a".repeat(50_000) + "!"}, "plan": true});
    let error = bridge.request("install_server", &fields).wait(INSTALL).unwrap_err();
    assert!(error.message.contains("the secret A: expected"), "{error:?}");
    fs::remove_file(&place).unwrap();
    symlink("/etc/hostname", &place).unwrap();
    commit(&dir);
    assert!(refused(&bridge, &source(&dir)).contains("leads out of its own directory"));

    let nothing = home.scratch("crab");
    fs::create_dir(&nothing).unwrap();
    fs::write(nothing.join("Cargo.toml"), "[package]\n").unwrap();
    git(&nothing, &["init", "-q"]);
    commit(&nothing);
    let said = refused(&bridge, &source(&nothing));
    for part in ["it has no mcp-manifest.json", "it has a Cargo.toml (Rust)", "harbor add NAME -- PROGRAM"] {
        assert!(said.contains(part), "{said}");
    }
    let said = refused(&bridge, &source(&home.scratch("none")));
    assert!(said.contains("could not be read"), "{said}");
    nothing_is_left(&home);
}
