//! What a plan says, and what it never does: nothing of a package runs before the person's yes.

use std::fs;
use std::time::Duration;

use harbor_tests::git::{commit, git};
use harbor_tests::npm_registry::{NpmRegistry, write_server};
use harbor_tests::pypi_index::PypiIndex;
use harbor_tests::said::said;
use harbor_tests::{Bridge, Client, DOWN_LIMIT, Home, Terminal, wait_until};
use serde_json::{Value, json};

/// What a download may take.
const INSTALL: Duration = Duration::from_secs(300);

fn plan(bridge: &Bridge, source: &str) -> Result<Value, harbor_tests::ErrorValue> {
    let fields = json!({"source": source, "plan": true});
    let answer = bridge.request("install_server", &fields).wait(INSTALL)?;
    Ok(answer["installed"].clone())
}

/// A bridge whose pip and uv know only the test's own index.
#[test]
fn a_plan_builds_nothing_that_a_package_names_by_an_address() {
    let (home, index) = (Home::new(), PypiIndex::start());
    let files = home.scratch("files");
    let bridge = index.bridge(&home, &[]);
    // What is built already, by the same means, is planned.
    index.publish(&files, "");
    assert_eq!(plan(&bridge, "pypi:snake").unwrap()["version"], "1.0");

    index.publish(&files, &format!("egg @ {}", index.file("egg-1.0.tar.gz")));
    let found = plan(&bridge, "pypi:snake").unwrap();
    assert_eq!((&found["needs_build"], &found["version"]), (&json!(true), &Value::Null), "{found}");
    let refused =
        bridge.request("install_server", &json!({"source": "pypi:snake"})).wait(INSTALL).unwrap_err();
    assert_eq!(refused.details["cause"], "needs_build", "{refused:?}");

    // A file, and repositories of more than one kind: a question or a refusal, and nothing runs.
    git(&files.join("egg"), &["init", "-q"]);
    commit(&files.join("egg"));
    let kept = home.scratch("kept");
    fs::rename(&files, &kept).unwrap();
    let source = kept.join("egg").display().to_string();
    for address in [
        format!("file://{}", kept.join("egg-1.0.tar.gz").display()),
        format!("git+file://{source}"),
        format!("hg+file://{source}"),
    ] {
        index.publish(&files, &format!("egg @ {address}"));
        match plan(&bridge, "pypi:snake") {
            Ok(found) => assert_eq!(found["needs_build"], true, "{address}: {found}"),
            Err(error) => assert_eq!(error.details["cause"], "install_failed", "{address}: {error:?}"),
        }
    }
    assert_eq!(index.ran(), 0, "nothing of it ran before a yes");
    wait_until("nothing to be left", DOWN_LIMIT, || !home.path().join("servers/snake").exists());

    // After a yes it is built, and locked by its address and its hash.
    index.publish(&files, &format!("egg @ {}", index.file("egg-1.0.tar.gz")));
    let (said, err, code) = said(home.command("harbor").args(["install", "pypi:snake", "--yes"]));
    assert!(code == Some(0) && said.contains("installed snake: snake 1.0"), "{said}{err}");
    assert!(index.ran() > 0, "so this test would have seen it");
    let listed = bridge.call("list_installed", &json!({})).unwrap()["servers"][0].clone();
    assert_eq!(listed["packages"], 2, "{listed}");
}

/// An installer that may build nothing goes back to an old version in silence: the newest is a question.
#[test]
fn an_old_version_is_not_taken_for_what_a_newer_one_would_have_to_be_built() {
    let (home, index) = (Home::new(), PypiIndex::start());
    let files = home.scratch("files");
    let bridge = index.bridge(&home, &[]);
    index.publish(&files, "");
    index.publish_newer(&files);
    let found = plan(&bridge, "pypi:snake").unwrap();
    assert_eq!((&found["needs_build"], &found["version"]), (&json!(true), &Value::Null), "{found}");
    assert_eq!(index.ran(), 0, "nothing of it ran before a yes");
    let (out, err, code) = said(home.command("harbor").args(["install", "pypi:snake", "--yes"]));
    assert!(code == Some(0) && out.contains("installed snake: snake 2.0"), "{out}{err}");
    assert!(
        err.contains(
            "2.0 is not the newest version: 9.0 requires Python >=4, which this machine does not have\n"
        ),
        "{err}"
    );
}

/// All that the real one would show, up to what is missing; and what it would refuse is refused.
#[test]
fn a_dry_run_shows_what_it_can_and_fails_as_the_real_one_would() {
    let (home, npm) = (Home::new(), NpmRegistry::start());
    npm.publish(&home, "1.0.0", &["a"], "first");
    let _bridge = Bridge::start_with(&home, &[("npm_config_registry", &npm.url())]);
    let document = json!({"name": "io.example/tiny", "packages": [
        {"registryType": "npm", "identifier": "tiny", "packageArguments": [
            {"type": "named", "name": "--in", "valueHint": "place", "isRequired": true, "format": "filepath", "description": "Where"}]},
        {"registryType": "pypi", "identifier": "tiny"}],
        "remotes": [{"type": "streamable-http", "url": "https://{tenant}.example.com/mcp", "variables": {"tenant": {}}}]});
    let file = written(&home, "server.json", &document);
    let dry = done(&home, &["install", &file, "--dry-run"]);
    for line in [
        "source     npm:tiny\nor         pypi:tiny, by --package 2\n",
        "needs      --input place: Where; a path\n",
        "package    tiny 1.0.0 (npm)\n",
        "runs       tiny --in {place}\n",
    ] {
        assert!(dry.contains(line), "{line}: {dry}");
    }
    let (out, err, code) = home.harbor(&["install", &file, "--dry-run", "--yes"]);
    assert_eq!((out.as_str(), code), (dry.as_str(), Some(2)));
    assert!(err.contains("the server requires --input place=VALUE"), "{err}");
    let (said, code) = home.refused(&["install", &file, "--dry-run", "--input", "palce=/a"]);
    assert!(code == Some(2) && said.contains("there is no input palce"), "{said}");
    let named = done(&home, &["install", &file, "--dry-run", "--input", "place=/home/me/notes"]);
    assert!(
        named.trim_end().ends_with("\nmay        read the paths in its arguments: /home/me/notes"),
        "{named}"
    );
    let far = done(&home, &["install", &file, "--dry-run", "--package", "3"]);
    assert!(far.contains("remote     https://{tenant}.example.com/mcp\n"), "{far}");
    let alone = done(&home, &["install", &file, "--dry-run", "--package", "2", "--name", "x"]);
    assert!(alone.contains("package    tiny"), "{alone}");

    // What an author's texts become together opens nothing.
    let opening = json!({"type": "positional", "value": "{e}/home/alice/private", "variables": {"e": {"default": "", "isRequired": false}}});
    let document = json!({"name": "io.example/tiny", "packages": [{"registryType": "npm", "identifier": "tiny", "packageArguments": [opening]}]});
    let (_, err, code) = home.harbor(&["install", &written(&home, "opening.json", &document), "--dry-run"]);
    assert!(code != Some(0) && err.contains("a place on this machine, which only you may grant"), "{err}");

    // A library is no server, which npm says before it is fetched.
    let library = home.scratch("library");
    write_server(&library, "2.0.0", &["a"], "none");
    fs::write(library.join("package.json"), json!({"name": "tiny", "version": "2.0.0"}).to_string()).unwrap();
    npm.publish_dir(&library, "2.0.0");
    let (said, code) = home.refused(&["install", "npm:tiny", "--dry-run"]);
    assert!(
        code == Some(5) && said.contains("the package tiny has no program to run: it is a library"),
        "{said}"
    );
    assert_eq!(npm.fetched(), 0);
}

/// A server.json that somebody has as a file; its name.
fn written(home: &Home, name: &str, document: &Value) -> String {
    let path = home.scratch(name);
    fs::write(&path, document.to_string()).unwrap();
    path.display().to_string()
}

#[test]
fn a_plan_says_what_would_be_run_and_with_what() {
    let (home, npm, pypi) = (Home::new(), NpmRegistry::start(), PypiIndex::start());
    npm.publish(&home, "1.0.0", &["a"], "first");
    pypi.publish(&home.scratch("files"), "");
    let bridge = pypi.bridge(&home, &[("npm_config_registry", &npm.url())]);
    let variables = json!([
        {"name": "MODE", "value": "fast\u{1b}[2J and; more"},
        {"name": "ZONE", "isRequired": true},
        {"name": "API_KEY", "isRequired": true, "isSecret": true},
    ]);
    let arguments = json!([{"type": "named", "name": "--tenant", "value": "{tenant}", "variables": {"tenant": {}}},
        {"type": "positional", "value": "serve all"}]);
    let document = json!({"name": "io.example/tiny", "packages": [{"registryType": "npm", "identifier": "tiny",
        "packageArguments": arguments, "environmentVariables": variables}]});
    let file = written(&home, "server.json", &document);
    let said_so = ["--input", "tenant=acme", "--env", "ZONE=mine", "--env", "OTHER=s3cret-of-mine"];
    let shown = "runs       tiny --tenant acme 'serve all'\n\
                 sets       MODE='fast\\u{1b}[2J and; more'\n\
                 sets       OTHER, as you say\n\
                 sets       ZONE, as you say\n\
                 secret     API_KEY\n\
                 may        sandbox standard";
    let dry = home.done(&[&["install", &file, "--dry-run"], &said_so[..]].concat());
    assert!(dry.contains(shown) && !dry.contains("s3cret"), "{dry}");
    let text = home.done(&[&["install", &file, "--dry-run", "--json"], &said_so[..]].concat());
    let runs = serde_json::from_str::<Value>(&text).unwrap()["installed"]["runs"].clone();
    assert_eq!((&runs["program"], &runs["args"][1]), (&json!("tiny"), &json!("acme")));
    assert_eq!(runs["env"][1], json!({"name": "OTHER"}));
    let mut command = home.command("harbor");
    let mut terminal = Terminal::start(command.args(["install", &file]).args(said_so));
    terminal.wait_for("runs       tiny --tenant acme 'serve all'");
    terminal.wait_for("Install it? [y/N]");
    terminal.press("n\r");
    assert_eq!(terminal.end().0, 1);

    // Of a remote server it is what each request has.
    let headers = json!([{"name": "X-Tenant", "value": "acme"},
        {"name": "Authorization", "value": "Bearer {key}", "isRequired": true, "variables": {"key": {"isSecret": true}}}]);
    let document = json!({"name": "io.example/far", "remotes": [
        {"type": "streamable-http", "url": "https://mcp.example.com/mcp", "headers": headers}]});
    let file = written(&home, "far.json", &document);
    let dry = home.done(&["install", &file, "--dry-run"]);
    let shown = "sends      Authorization: 'Bearer ${AUTHORIZATION}'\n\
                 sends      X-Tenant: acme\n\
                 secret     AUTHORIZATION\n";
    assert!(dry.contains(shown), "{dry}");
    let url = "https://mcp.example.com/mcp";
    let dry = home.done(&["install", url, "--dry-run", "--header", "X-Mine: s3cret-of-mine"]);
    assert!(dry.contains("sends      X-Mine, as you say\n") && !dry.contains("s3cret"), "{dry}");
    assert_eq!(plan(&bridge, "pypi:snake").unwrap()["runs"]["program"], "snake");
}

fn done(home: &Home, args: &[&str]) -> String {
    let (out, err, code) = said(home.command("harbor").args(args));
    assert_eq!(code, Some(0), "{args:?}: {out}{err}");
    out
}

fn set_secret(bridge: &Bridge, server: &str) {
    let fields = json!({"server_id": server, "key": "KEY", "value": "hunter2hunter2"});
    bridge.call("set_credential", &fields).unwrap();
}

/// A secret is given later: the first start installs what was found out before the yes, or nothing.
#[test]
fn what_was_agreed_is_what_the_first_start_installs() {
    let (home, npm) = (Home::new(), NpmRegistry::start());
    npm.publish(&home, "1.0.0", &["a"], "first");
    let env = [("npm_config_registry", npm.url())];
    let env = env.each_ref().map(|(name, value)| (*name, value.as_str()));
    let bridge = Bridge::start_with(&home, &env);
    let install = ["install", "npm:tiny", "--secret", "KEY", "--yes"];
    let text = done(&home, &install);
    assert!(
        text.starts_with("defined tiny: tiny 1.0.0\n") && text.contains("Harbor installs exactly this one"),
        "{text}"
    );
    assert_eq!(npm.fetched(), 0, "nothing of it is here yet");
    let listed = bridge.call("list_installed", &json!({})).unwrap()["servers"][0].clone();
    assert_eq!((&listed["version"], &listed["installed_at"]), (&json!("1.0.0"), &Value::Null), "{listed}");
    let status = done(&home, &["status", "tiny"]);
    assert!(status.contains("package    tiny 1.0.0 (npm)\nlocked     sha512-"), "{status}");
    assert!(status.contains("; not installed yet; `harbor start tiny` installs exactly this"), "{status}");

    // The next bridge knows it, and misses nothing; a newer version is none that was agreed upon.
    drop(bridge);
    npm.publish(&home, "2.0.0", &["b"], "second");
    let bridge = Bridge::start_with(&home, &env);
    assert_eq!(bridge.server("tiny")["last_error"], Value::Null);
    set_secret(&bridge, "tiny");
    done(&home, &["start", "tiny"]);
    assert_eq!(bridge.tool_text("tiny", "a", &json!({})), "1.0.0");
    let status = done(&home, &["status", "tiny"]);
    assert!(status.contains("locked     sha512-") && !status.contains("not installed yet"), "{status}");
    assert!(done(&home, &["upgrade", "tiny", "--yes"]).contains("1.0.0 → 2.0.0"), "the definition admits it");
    done(&home, &["remove", "tiny", "--data"]);

    // Another file under the same version is refused, and what is said helps.
    let text = done(&home, &install);
    assert!(text.starts_with("defined tiny: tiny 2.0.0\n"), "{text}");
    npm.publish(&home, "2.0.0", &["c"], "another");
    set_secret(&bridge, "tiny");
    let refused = home.refused(&["start", "tiny"]).0;
    assert!(
        refused.contains("does not have the locked hash") && refused.contains("`harbor upgrade tiny`"),
        "{refused}"
    );
    let text = done(&home, &["upgrade", "tiny", "--yes"]);
    assert!(
        text.contains("new tools  c") && text.contains("tiny is now 2.0.0; it cannot be undone"),
        "{text}"
    );
    let back = home.refused(&["upgrade", "tiny", "--undo"]).0;
    assert!(back.contains("no earlier version"), "what was never installed is none: {back}");
}

#[test]
fn of_two_who_install_one_name_at_once_one_hears_that_it_is_there() {
    let (home, npm) = (Home::new(), NpmRegistry::start());
    npm.publish(&home, "1.0.0", &["a"], "first");
    let bridge = Bridge::start_with(&home, &[("npm_config_registry", &npm.url())]);
    let other = Client::attach(&home);
    for secrets in [json!([]), json!(["KEY"])] {
        let fields = json!({"source": "npm:tiny", "secrets": secrets});
        let both = [bridge.request("install_server", &fields), other.request("install_server", &fields)];
        let (first, late): (Vec<_>, Vec<_>) =
            both.into_iter().map(|asked| asked.wait(INSTALL)).partition(Result::is_ok);
        assert_eq!((first.len(), late.len()), (1, 1));
        let why = late.into_iter().find_map(Result::err).unwrap().message;
        assert!(why.contains("a server tiny exists already"), "{why}");
        done(&home, &["remove", "tiny", "--data"]);
    }
    other.close();
}

/// As packages do that have a program for each system, of which a registry has some: npm leaves out of its lock what it does not find,
/// and then refuses the lock.
#[test]
fn what_is_optional_and_nowhere_keeps_nothing_from_being_installed() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let dir = home.scratch("tiny");
    write_server(&dir, "1.0.0", &["a"], "");
    let manifest = fs::read_to_string(dir.join("package.json")).unwrap();
    let mut manifest: Value = serde_json::from_str(&manifest).unwrap();
    manifest["optionalDependencies"] = json!({"tiny-for-another-system": "1.0.0"});
    fs::write(dir.join("package.json"), manifest.to_string()).unwrap();
    registry.publish_dir(&dir, "1.0.0");
    let bridge = registry.bridge(&home);
    let answer = bridge.request("install_server", &json!({"source": "npm:tiny"})).wait(INSTALL).unwrap();
    assert_eq!(answer["installed"]["tools"].as_array().map(Vec::len), Some(1), "{answer:?}");
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "1.0.0");
}
