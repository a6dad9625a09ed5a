//! `harbor install` of what is no package's name: entries of the catalog, images, URLs.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use harbor_tests::npm_registry::NpmRegistry;
use harbor_tests::programs::path_with_uv;
use harbor_tests::said::said;
use harbor_tests::{Bridge, DOWN_LIMIT, Home, INSTALL, Podman, Registry, Scripted, Terminal, wait_until};
use serde_json::{Value, json};

const TOKEN: &str = "sk-live-0123456789";

fn harbor(home: &Home, args: &[&str]) -> String {
    let (out, err, code) = said(home.command("harbor").args(args));
    assert_eq!(code, Some(0), "{args:?}: {out}{err}");
    out + &err
}

fn set_secret(home: &Home, server: &str, key: &str) {
    let mut command = home.command("harbor");
    let mut child = command.args(["secrets", "set", server, key]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(TOKEN.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

fn is_gone(home: &Home, id: &str) -> bool {
    !home.path().join("servers").join(id).exists()
}

/// From nothing to a call, as the manual has it.
#[test]
fn what_harbor_brings_along_is_found_installed_and_called() {
    let home = Home::new();
    let registry = Registry::with(&[]);
    home.configure(&registry.config());
    let bridge = Bridge::start_with(&home, &[("HARBOR_CATALOG_WORKER", "1"), ("PATH", &path_with_uv())]);
    let found = harbor(&home, &["catalog", "search", "time"]);
    let id = found.lines().find(|line| line.contains("  time  ")).unwrap().split(' ').next().unwrap();
    let shown = harbor(&home, &["catalog", "show", id]);
    assert!(shown.contains("install      harbor install time"), "{shown}");
    // Its own name and the catalog's mean the same.
    let resolved = |source: &str| bridge.ask("resolve_server", &json!({"source": source}))["server"].clone();
    assert_eq!(resolved(id), resolved("time"));
    let said = harbor(&home, &["install", id, "--yes", "--env", "LOCAL_TIMEZONE=UTC"]);
    assert!(said.contains("installed time: mcp-server-time"), "{said}");
    let held = bridge.ask("get_sandbox", &json!({"server_id": "time"}));
    assert_eq!(held["sandbox"]["settings"], json!({"network": "none"}));
    let said = harbor(&home, &["call", "time/get_current_time", "timezone=UTC"]);
    assert!(said.contains("UTC"), "{said}");

    let list = bridge.ask("get_curated_list", &json!({}))["servers"].clone();
    let installed = |id: &str| {
        let all = list.as_array().unwrap();
        all.iter().find(|server| server["source"] == id).unwrap()["installed"].clone()
    };
    assert_eq!((installed("time"), installed("fetch")), (json!(["time"]), json!([])));
    let again = home.refused(&["install", "time", "--yes"]).0;
    assert!(again.contains("a server time exists already"), "{again}");
}

#[test]
fn directories_are_asked_for_or_stand_behind() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let notes = home.scratch("notes");
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("a.txt"), "from a file").unwrap();
    let (said, code) = home.refused(&["install", "filesystem", "--yes"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("it needs --input directory=VALUE (A directory that it may read"), "{said}");
    assert!(is_gone(&home, "filesystem"));

    let mut command = home.command("harbor");
    let mut terminal = Terminal::start(command.args(["install", "filesystem"]).current_dir(&notes));
    terminal.wait_for("A directory that it may read and write.");
    terminal.wait_for("directory:");
    terminal.press(&format!("{}\r", notes.display()));
    terminal.wait_for("another one (Enter: no)");
    terminal.press("\r");
    terminal.wait_for("network none, reads and writes");
    terminal.wait_for("Install it? [y/N]");
    terminal.press("y\r");
    // More than a hundred packages are fetched.
    wait_until("it to be installed", INSTALL, || terminal.text().contains("installed filesystem"));
    assert_eq!(terminal.end().0, 0, "{}", terminal.text());
    let path = format!("path={}", notes.join("a.txt").display());
    assert!(harbor(&home, &["call", "filesystem/read_text_file", &path]).contains("from a file"));
    assert_eq!(bridge.server("filesystem")["args"], json!([notes]));

    // What stands behind is the one thing that is asked for.
    let directory = notes.to_str().unwrap();
    let plan = ["install", "filesystem", "--dry-run", "--json", "--name", "two", "--", directory];
    let plan: Value = serde_json::from_str(&home.harbor(&plan).0).unwrap();
    assert_eq!(plan["installed"]["settings"], json!({"write": [directory], "network": "none"}), "{plan}");
}

#[test]
fn an_entry_of_the_registry_says_what_it_wants() {
    let (home, npm) = (Home::new(), NpmRegistry::start());
    npm.publish(&home, "1.0.0", &["a"], "first");
    let registry = Registry::with(&[]);
    let variables = json!([
        {"name": "ZONE", "isRequired": true, "description": "Where you are", "choices": ["here", "there"]},
        {"name": "MODE", "default": "fast"},
        {"name": "API_KEY", "isRequired": true, "isSecret": true, "description": "The key"},
    ]);
    registry.publish(vec![json!({
        "name": "io.example/tiny", "description": "A tiny one\u{1b}[31m", "version": "1.0.0",
        "packages": [
            {"registryType": "mcpb", "identifier": "https://example.com/x.mcpb", "transport": {"type": "stdio"}},
            {"registryType": "npm", "identifier": "tiny", "version": "1.0.0", "transport": {"type": "stdio"},
             "packageArguments": [{"type": "positional", "value": "serve"}], "environmentVariables": variables},
        ],
    })]);
    home.configure(&registry.config());
    let env = [("HARBOR_CATALOG_WORKER", "1"), ("npm_config_registry", &npm.url())];
    let bridge = Bridge::start_with(&home, &env);
    bridge.ask("catalog_refresh", &json!({}));
    let page = bridge.ask("catalog_get", &json!({"source": "registry"}));
    let id = page["entries"][0]["id"].as_str().unwrap();
    let shown = harbor(&home, &["catalog", "show", id]);
    assert!(shown.contains(&format!("harbor install {id}, with --package 1 to 2")), "{shown}");
    let resolved = &bridge.ask("resolve_server", &json!({"source": id}))["server"];
    assert_eq!((&resolved["way"], &resolved["ways"][1]["why_not"]), (&json!(1), &Value::Null));
    assert!(
        resolved["ways"][0]["why_not"].as_str().unwrap().contains("cannot install packages of the kind mcpb"),
        "{resolved}"
    );

    for (args, part) in [
        (&["install", id, "--yes"][..], "it needs --env ZONE=VALUE (Where you are)"),
        (&["install", id, "--yes", "--env", "ZONE=moon"], "ZONE: expected one of here, there"),
        (&["install", id, "--yes", "--package", "1"], "Harbor cannot install packages of the kind mcpb"),
        (&["install", id, "--yes", "--package", "3"], "can be installed in 2 ways"),
        (&["install", id, "--yes", "--input", "x=y"], "there is no input x; this server has no inputs"),
    ] {
        let (said, code) = home.refused(args);
        assert!(code == Some(2) && said.contains(part), "{args:?}: {said}");
    }
    // A secret comes after the installation, and the server is not started before.
    let said = harbor(&home, &["install", id, "--yes", "--env", "ZONE=here"]);
    assert!(
        said.contains(
            "Harbor does not install or start it before it has API_KEY\nset it: `harbor secrets set tiny API_KEY`; \
             then `harbor start tiny`\n"
        ),
        "{said}"
    );
    assert_eq!(bridge.server("tiny")["state"], "stopped");
    let (said, _) = home.refused(&["start", "tiny"]);
    assert!(said.contains("it needs API_KEY"), "{said}");
    set_secret(&home, "tiny", "API_KEY");
    harbor(&home, &["start", "tiny"]);
    assert_eq!(harbor(&home, &["call", "tiny/a"]), "1.0.0\n");
    let server = bridge.server("tiny");
    assert_eq!((&server["args"], &server["env_names"]), (&json!(["serve"]), &json!(["MODE", "ZONE"])));
    harbor(&home, &["remove", "tiny", "--data"]);

    // At a terminal everything is asked for, the secret without an echo.
    let mut command = home.command("harbor");
    let mut terminal = Terminal::start(command.args(["install", id]));
    terminal.wait_for("one of here, there");
    terminal.wait_for("ZONE:");
    terminal.wait_for("listed by registry, not reviewed");
    terminal.wait_for("says       A tiny one");
    terminal.press("there\r");
    terminal.wait_for("Install it? [y/N]");
    terminal.press("y\r");
    terminal.wait_for("API_KEY of tiny (not shown");
    terminal.press(&format!("{TOKEN}\r"));
    let (code, same) = terminal.end();
    assert_eq!((code, same), (0, true), "{}", terminal.text());
    assert!(!terminal.text().contains(TOKEN));
    assert!(
        harbor(&home, &["secrets", "check", "tiny"])
            .contains("tiny has 1 secret, everything that it requires")
    );
    assert!(!harbor(&home, &["audit"]).contains(TOKEN));
}

#[test]
fn what_is_unknown_gets_a_hint() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let (said, code) = home.refused(&["install", "tiem", "--yes"]);
    assert_eq!(code, Some(4));
    assert!(said.contains("nothing has the id tiem; did you mean time?"), "{said}");
    let (said, _) = home.refused(&["install", "weatherly", "--yes"]);
    assert!(said.contains("`harbor catalog search weatherly` looks for it"), "{said}");
    let (said, _) = home.refused(&["install", "-", "--yes"]);
    assert!(said.contains("nothing"), "{said}");
    bridge.ask("add_server", &json!({"server_id": "weather", "command": "/bin/false"}));
    for command in ["start", "stop", "logs", "sandbox"] {
        let (said, code) = home.refused(&[command, "wether"]);
        assert!(
            code == Some(4) && said.contains("no server wether is defined; did you mean weather?"),
            "{said}"
        );
    }
    let (said, _) = home.refused(&["call", "wether/now"]);
    assert!(said.contains("did you mean weather?"), "{said}");
}

#[test]
fn a_remote_server_is_installed_by_its_url() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = Scripted::start(|_, _| false);
    let url = format!("{}?key=s3cret", server.url());
    let said = harbor(&home, &["install", &url, "--yes", "--name", "far"]);
    assert!(said.contains("installed far: http://127.0.0.1") && !said.contains("s3cret"), "{said}");
    assert_eq!(bridge.server("far")["state"], "stopped");
    assert_eq!(harbor(&home, &["call", "far/t"]), "done\n");

    let with = ["--header", "Authorization: Bearer ${TOKEN}", "--secret", "TOKEN", "--yes", "--name", "held"];
    let args = [&["install", url.as_str()], &with[..]].concat();
    let said = harbor(&home, &args);
    assert!(said.contains("Harbor does not install or start it before it has TOKEN"), "{said}");
    set_secret(&home, "held", "TOKEN");
    assert_eq!(harbor(&home, &["call", "held/t"]), "done\n");
    assert!(server.count(|asked| asked.header("authorization") == format!("Bearer {TOKEN}")) > 0);
    // What a header names is a secret of itself.
    let with = ["--header", "Authorization: Bearer ${OTHER}", "--yes", "--name", "named"];
    let said = harbor(&home, &[&["install", url.as_str()], &with[..]].concat());
    assert!(said.starts_with("defined named: ") && said.contains("before it has OTHER\n"), "{said}");
    assert!(said.contains("set it: `harbor secrets set named OTHER`"), "{said}");
    let lacks = home.refused(&["start", "named"]).0;
    assert!(lacks.contains("set it: `harbor secrets set named OTHER`"), "{lacks}");
    set_secret(&home, "named", "OTHER");
    harbor(&home, &["start", "named"]);
    assert_eq!(harbor(&home, &["call", "named/t"]), "done\n");
    let mut command = home.command("harbor");
    let with = ["--header", "X-Key: ${ASKED}", "--name", "prompted"];
    let mut terminal = Terminal::start(command.args(["install", &url]).args(with));
    terminal.wait_for("secret     ASKED");
    terminal.wait_for("Install it? [y/N]");
    terminal.press("y\r");
    terminal.wait_for("ASKED of prompted (not shown");
    terminal.press(&format!("{TOKEN}\r"));
    assert_eq!(terminal.end().0, 0, "{}", terminal.text());
    assert!(server.count(|asked| asked.header("x-key") == TOKEN) > 0);
    // Over the wire the value comes along, for the first start already.
    let fields = json!({"source": url, "server_id": "wire", "headers": {"X-Key": "${KEY}"}, "secrets": ["KEY"],
        "secret_values": {"KEY": "wired-0123456789"}, "allow_private": true});
    let installed = bridge.ask("install_server", &fields)["installed"].clone();
    assert_eq!(installed["tools"].as_array().unwrap().len(), 3, "{installed}");
    assert!(server.count(|asked| asked.header("x-key") == "wired-0123456789") > 0);

    // What does not answer leaves nothing, nor its secret.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let fields = json!({"source": format!("http://127.0.0.1:{port}/mcp"), "server_id": "gone", "allow_private": true,
        "secret_values": {"KEY": TOKEN}});
    let error = bridge.request("install_server", &fields).wait(INSTALL).unwrap_err();
    assert_eq!(error.details["left"], "nothing", "{error:?}");
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "gone"));
    assert!(!harbor(&home, &["secrets"]).contains("gone"));
    for (fields, part) in [
        (
            json!({"source": "http://192.168.1.2/mcp"}),
            "allow_private (--allow-private) and allow_http (--allow-http)",
        ),
        (json!({"source": "https://192.168.1.2/mcp"}), "allow_private (--allow-private) allows it"),
        (json!({"source": "http://example.com/mcp"}), "has no TLS; allow_http (--allow-http) allows it"),
        (json!({"source": "https://example.com/mcp", "args": ["x"]}), "args"),
        (json!({"source": "npm:x", "headers": {"X": "y"}}), "headers"),
        (json!({"source": "npm:x", "inputs": {"a": ["b"]}}), "inputs"),
    ] {
        let error = bridge.call("install_server", &fields).unwrap_err();
        assert!(error.code == "invalid_params" && error.message.contains(part), "{fields}: {error:?}");
    }

    let mut command = home.command("harbor");
    let mut terminal = Terminal::start(command.args(["install", &url, "--name", "asked"]));
    terminal.wait_for("remote     http://127.0.0.1");
    terminal.wait_for("it does not run here");
    terminal.press("n\r");
    assert_eq!(terminal.end().0, 1);
    assert!(!terminal.text().contains("s3cret"));
}

#[test]
fn an_image_is_installed_pinned_and_called() {
    let home = Home::new();
    let podman = Podman::new(&home);
    let id = podman.image("localhost/contained:1", "one");
    let env = podman.env();
    let env: Vec<_> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let bridge = Bridge::start_with(&home, &env);
    let plan = bridge.ask("install_server", &json!({"source": "oci:localhost/contained:1", "plan": true}));
    let plan = &plan["installed"];
    assert_eq!((&plan["server_id"], &plan["kind"]), (&json!("contained"), &json!("oci")));
    assert_eq!(plan["sandbox"]["level"], "standard", "{plan}");
    assert!(is_gone(&home, "contained"));
    let said = harbor(&home, &["install", "oci:localhost/contained:1", "--yes", "--network", "none"]);
    assert!(said.contains("installed contained: localhost/contained:1\nit has"), "{said}");
    assert_eq!(bridge.server("contained")["image"]["id"], json!(id));
    assert_eq!(bridge.server("contained")["state"], "stopped");
    assert_eq!(podman.containers(), [""; 0]);
    // Under the same name there is another one now.
    let second = podman.image("localhost/contained:1", "two");
    bridge.ask("connect_server", &json!({"server_id": "contained"}));
    assert_eq!(bridge.tool_text("contained", "version", &json!({})), "one");
    bridge.ask("disconnect_server", &json!({"server_id": "contained"}));

    // A secret that is given later changes nothing of that.
    let args = ["--name", "later", "--secret", "API_KEY", "--yes", "--network", "none"];
    let said = harbor(&home, &[&["install", "oci:localhost/contained:1"], &args[..]].concat());
    assert!(said.contains("before it has API_KEY"), "{said}");
    assert_eq!(bridge.server("later")["image"]["id"], json!(second));
    let _ = podman.image("localhost/contained:1", "three");
    set_secret(&home, "later", "API_KEY");
    bridge.ask("connect_server", &json!({"server_id": "later"}));
    assert_eq!(bridge.tool_text("later", "version", &json!({})), "two");
    bridge.ask("disconnect_server", &json!({"server_id": "later"}));

    let missing = json!({"source": "oci:localhost/nothing:1"});
    let error = bridge.request("install_server", &missing).wait(INSTALL).unwrap_err();
    assert_eq!(error.details["left"], "nothing", "{error:?}");
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "nothing"));
}
