//! What people hit who install servers that many have: each as it was met, with small packages that behave so.

use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use harbor_tests::npm_registry::{NpmRegistry, write_server};
use harbor_tests::pypi_index::PypiIndex;
use harbor_tests::{Bridge, Direct, Double, Fault, Home, INSTALL, LIMIT, wait_until};
use serde_json::{Value, json};

/// Writes a package whose tool tells with which arguments and variables its server was started; `need` runs before.
fn write_telling(dir: &Path, version: &str, need: &str) {
    write_server(dir, version, &["a"], "");
    let server = fs::read_to_string(dir.join("index.js")).unwrap();
    let (first, rest) = server.split_once('\n').unwrap();
    let told = "JSON.stringify({ args: process.argv.slice(2), env: process.env })";
    let rest = rest.replace("text: version", &format!("text: {told}"));
    fs::write(dir.join("index.js"), format!("{first}\n{need}\n{rest}")).unwrap();
}

fn told(bridge: &Bridge, id: &str) -> Value {
    serde_json::from_str(&bridge.started_tool(id, "a", &json!({}))).unwrap()
}

#[test]
fn arguments_and_variables_are_changed_from_the_next_start_on() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    write_telling(&home.scratch("telling"), "1.0.0", "");
    registry.publish_dir(&home.scratch("telling"), "1.0.0");
    let bridge = registry.bridge(&home);
    let install = ["install", "npm:tiny", "--yes", "--env", "MODE=slow", "--env", "OLD=1", "--", "--first"];
    let (out, said, code) = home.harbor(&install);
    assert_eq!(code, Some(0), "{out}{said}");
    let before = told(&bridge, "tiny");
    assert_eq!((&before["args"], &before["env"]["MODE"]), (&json!(["--first"]), &json!("slow")));

    let change = ["set", "tiny", "--env", "MODE=fast", "--unset", "OLD", "--", "--second", "x y"];
    let (out, said, code) = home.harbor(&change);
    assert_eq!(code, Some(0), "{out}{said}");
    assert_eq!(said, "its arguments, its variables: takes effect at the next start: `harbor restart tiny`\n");
    assert_eq!(told(&bridge, "tiny"), before, "it goes on as it was");
    assert_eq!(home.harbor(&["restart", "tiny"]).2, Some(0));
    let after = told(&bridge, "tiny");
    assert_eq!((&after["args"], &after["env"]["MODE"]), (&json!(["--second", "x y"]), &json!("fast")));
    assert_eq!(after["env"]["OLD"], Value::Null);

    // A key is no variable, and takes the place of one.
    assert_eq!(home.harbor(&["stop", "tiny"]).2, Some(0));
    let (_, said, code) =
        home.harbor(&["set", "tiny", "--env", "MODE=ghp_0123456789abcdef0123456789abcdef0123", "--no-args"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("tiny starts with that from its next start on\n"), "{said}");
    assert!(said.contains("MODE looks like a key and is stored as a secret"), "{said}");
    let definition = &bridge.ask("get_definition", &json!({"server_id": "tiny"}))["definition"];
    assert_eq!((&definition["args"], &definition["env_names"]), (&json!([]), &json!([])), "{definition}");
    let last = told(&bridge, "tiny");
    assert!(last["env"]["MODE"].is_string() && last["args"] == json!([]), "{last}");
    assert_eq!(registry.fetched(), 1, "its package is the same one");

    for (change, wrong) in [
        (&["set", "tiny", "--env", "MODE"][..], "--env <KEY=VALUE>: use KEY=VALUE"),
        (&["set", "tiny", "--unset", "NONE"], "tiny has no variable NONE in its definition"),
        (&["set", "tiny", "--env", "A=1", "--unset", "A"], "--env and --unset both name A"),
    ] {
        let (said, code) = home.refused(change);
        assert!(said.contains(wrong) && code == Some(2), "{code:?} {said}");
    }
    bridge.ask("add_server", &json!({"server_id": "other", "command": "node", "args": ["/one.js"]}));
    let (said, _) = home.refused(&["set", "other", "--", "/two.js"]);
    assert!(
        said.contains("with these arguments other would run another program; `harbor edit other`"),
        "{said}"
    );
}

/// What it lacks is its person's to say; its package is not fetched once more for that.
#[test]
fn a_server_that_lacks_arguments_says_so_and_its_package_is_kept_for_the_next_try() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let need = r#"if (process.argv.length < 3) {
  console.error("usage: tiny [-h] DIR\\ntiny: error: the following arguments are required: DIR");
  process.exit(2);
}"#;
    write_telling(&home.scratch("telling"), "1.0.0", need);
    registry.publish_dir(&home.scratch("telling"), "1.0.0");
    let bridge = registry.bridge(&home);
    let (said, code) = home.refused(&["install", "npm:tiny@1.0.0", "--yes"]);
    assert_eq!(code, Some(5), "{said}");
    let wanted = "nothing was installed; give it arguments after --: `harbor install npm:tiny@1.0.0 -- …`";
    assert!(said.contains(wanted), "{said}");
    let none = bridge.ask("list_installed", &json!({}));
    assert_eq!((&none["servers"], registry.fetched()), (&json!([]), 1));

    let (out, said, code) = home.harbor(&["install", "npm:tiny@1.0.0", "--yes", "--", "here"]);
    assert_eq!(code, Some(0), "{out}{said}");
    assert_eq!(told(&bridge, "tiny")["args"], json!(["here"]));
    assert_eq!(registry.fetched(), 1, "it was there already");
    let places = fs::read_dir(home.path().join("servers/tiny/package")).unwrap().count();
    assert_eq!(places, 1, "what the plans left is gone");
}

/// What its variable names is no key, and closed to it until that is opened.
#[test]
fn a_directory_that_a_server_wants_is_named_by_a_variable_and_opened() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let need = r#"const fail = (why) => { console.error(why); process.exit(1); };
if (!process.env.ALLOWED_DIR) fail("ALLOWED_DIR environment variable is required");
try { require("fs").readdirSync(process.env.ALLOWED_DIR); } catch { fail(`ALLOWED_DIR does not exist: ${process.env.ALLOWED_DIR}`); }"#;
    write_telling(&home.scratch("telling"), "1.0.0", need);
    registry.publish_dir(&home.scratch("telling"), "1.0.0");
    let bridge = registry.bridge(&home);
    let shared = home.scratch("shared");
    fs::create_dir(&shared).unwrap();
    let shared = shared.to_str().unwrap();
    let install = ["install", "npm:tiny@1.0.0", "--yes"];
    let (said, code) = home.refused(&install);
    let wanted = "nothing was installed; if the server needs ALLOWED_DIR, set it with `--env ALLOWED_DIR=…`";
    assert!(said.contains(wanted) && code == Some(5), "{code:?} {said}");

    let given = format!("ALLOWED_DIR={shared}");
    let (said, _) = home.refused(&[&install[..], &["--env", &given]].concat());
    let wanted = format!(
        "nothing was installed; its sandbox keeps {shared} from it; add `--read {shared}` to open it"
    );
    assert!(said.contains(&wanted) && !said.contains("if the server needs"), "{said}");
    let fields = json!({"source": "npm:tiny@1.0.0", "secret_values": {"ALLOWED_DIR": shared}});
    let error = bridge.request("install_server", &fields).wait(INSTALL).unwrap_err();
    let said = error.details["arguments"].as_str().unwrap();
    assert!(said.starts_with("ALLOWED_DIR is no key by its name, and as a secret it is hidden"), "{said}");
}

/// It asks for a file in its home before its first start, where no server of its name is yet.
#[test]
fn a_server_that_wants_a_file_in_its_home_first_is_tried_with_it() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let need = r#"const place = `${process.env.HOME}/.tiny/keys.json`;
if (!require("fs").existsSync(place)) {
  console.error(`Please place keys.json in ${place}`);
  process.exit(1);
}"#;
    write_telling(&home.scratch("telling"), "1.0.0", need);
    registry.publish_dir(&home.scratch("telling"), "1.0.0");
    let bridge = registry.bridge(&home);
    let (said, code) = home.refused(&["install", "npm:tiny@1.0.0", "--yes"]);
    let place = home.path().join("servers/tiny/data/.tiny/keys.json");
    let wanted =
        format!("put the file at {}, then run `harbor install npm:tiny@1.0.0 --keep-data`", place.display());
    assert!(said.contains(&wanted) && code == Some(5), "{code:?} {said}");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(&place, "{}").unwrap();
    let (out, said, code) = home.harbor(&["install", "npm:tiny@1.0.0", "--yes", "--keep-data"]);
    assert_eq!(code, Some(0), "{out}{said}");
    assert_eq!(told(&bridge, "tiny")["args"], json!([]), "it runs with that");
}

#[test]
fn an_installer_gets_variables_of_its_own_and_its_server_none_of_them() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    for version in ["1.0.0", "2.0.0"] {
        let dir = home.scratch(version);
        write_telling(&dir, version, "");
        let manifest = json!({"name": "tiny", "version": version, "bin": "index.js", "scripts": {"postinstall": "node seen.js"}});
        fs::write(dir.join("package.json"), manifest.to_string()).unwrap();
        let seen = "require(\"fs\").writeFileSync(\"seen.json\", JSON.stringify(process.env))";
        fs::write(dir.join("seen.js"), seen).unwrap();
    }
    registry.publish_dir(&home.scratch("1.0.0"), "1.0.0");
    let bridge = registry.bridge(&home);
    let seen = |place: u32| {
        let path = format!("servers/tiny/package/{place}/node_modules/tiny/seen.json");
        let seen: Value = serde_json::from_slice(&fs::read(home.path().join(path)).unwrap()).unwrap();
        seen["SKIP_DOWNLOAD"].clone()
    };
    let (out, said, code) =
        home.harbor(&["install", "npm:tiny", "--yes", "--install-env", "SKIP_DOWNLOAD=1"]);
    assert_eq!(code, Some(0), "{out}{said}");
    let current = |bridge: &Bridge| {
        let places = fs::read_dir(home.path().join("servers/tiny/package")).unwrap();
        let newest = places.filter_map(|place| place.unwrap().file_name().to_str()?.parse().ok()).max();
        (newest.unwrap(), told(bridge, "tiny")["env"]["SKIP_DOWNLOAD"].clone())
    };
    let (place, of_server) = current(&bridge);
    assert_eq!((seen(place), of_server), (json!("1"), Value::Null));
    registry.publish_dir(&home.scratch("2.0.0"), "2.0.0");
    let (out, said, code) = home.harbor(&["upgrade", "tiny", "--yes"]);
    assert_eq!(code, Some(0), "{out}{said}");
    let (later, _) = current(&bridge);
    assert_eq!((later > place, seen(later)), (true, json!("1")), "an upgrade's installer gets them, too");
}

/// The same files, but another installer may make something else of them.
#[test]
fn a_package_that_is_kept_for_the_next_try_is_not_for_one_with_other_variables_of_its_installer() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let dir = home.scratch("built");
    write_telling(
        &dir,
        "1.0.0",
        "if (process.argv.length < 3) { console.error(\"usage: tiny DIR\\ntiny: error: the following arguments are required: DIR\"); process.exit(2); }",
    );
    let built = r#"require("fs").writeFileSync("built", process.env.IV ?? "none")"#;
    let manifest = json!({"name": "tiny", "version": "1.0.0", "bin": "index.js", "scripts": {"postinstall": "node build.js"}});
    fs::write(dir.join("package.json"), manifest.to_string()).unwrap();
    fs::write(dir.join("build.js"), built).unwrap();
    registry.publish_dir(&dir, "1.0.0");
    let _bridge = registry.bridge(&home);
    let packages = home.path().join("servers/tiny/package");
    let all = || {
        let places = fs::read_dir(&packages).unwrap().map(|place| place.unwrap().path());
        places
            .map(|place| fs::read_to_string(place.join("node_modules/tiny/built")).unwrap())
            .collect::<Vec<_>>()
    };
    let command = ["install", "npm:tiny@1.0.0", "--yes", "--install-env"];
    let (said, code) = home.refused(&[&command[..], &["IV=one"]].concat());
    assert!(code == Some(5) && said.contains("give it arguments after --"), "{said}");
    assert_eq!(all(), ["one"]);
    let (out, said, code) = home.harbor(&[&command[..], &["IV=two", "--", "here"]].concat());
    assert_eq!(code, Some(0), "{out}{said}");
    assert_eq!(all(), ["two"], "what the first try has made is gone");
}

#[test]
fn what_is_wanted_beside_a_package_is_locked_with_it() {
    let (home, index) = (Home::new(), PypiIndex::start());
    index.publish(&home.scratch("files"), "");
    let bridge = index.bridge(&home, &[]);
    let (out, said, code) = home.harbor(&["install", "pypi:snake", "--with", "tail==1.0", "--yes"]);
    assert_eq!(code, Some(0), "{out}{said}");
    let installed = &bridge.ask("list_installed", &json!({}))["servers"][0];
    assert_eq!(installed["packages"], 2, "{installed}");
    let has = || {
        let lib = fs::read_dir(home.path().join("servers/snake/package/1/venv/lib")).unwrap();
        lib.flatten().any(|python| python.path().join("site-packages/tail.py").is_file())
    };
    assert!(has());
    // Python orders a set in another way at each start, unless it is told.
    let tools = || {
        assert_eq!(home.harbor(&["restart", "snake"]).2, Some(0));
        home.done(&["tools", "snake"])
    };
    assert_eq!(tools(), tools());
    assert_eq!(home.harbor(&["stop", "snake"]).2, Some(0));
    // What is lost comes back whole.
    fs::remove_dir_all(home.path().join("servers/snake/package/1/venv")).unwrap();
    let _ = bridge.fail_to_connect("snake");
    assert_eq!(home.harbor(&["start", "snake"]).2, Some(0));
    assert!(has());
    for (source, with, wrong) in [
        ("npm:snake", "tail", "said of a package of Python only"),
        ("pypi:snake", "-r x", "not the name of a PyPI package"),
    ] {
        let (said, code) = home.refused(&["install", source, &format!("--with={with}"), "--yes"]);
        assert!(said.contains(wrong) && code == Some(2), "{code:?} {said}");
    }
}

#[test]
fn an_older_version_for_an_older_node_is_said() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    for (version, node) in [("1.0.0", ">=18"), ("2.0.0", ">=99")] {
        let dir = home.scratch(version);
        write_server(&dir, version, &["a"], "");
        let manifest =
            json!({"name": "tiny", "version": version, "bin": "index.js", "engines": {"node": node}});
        fs::write(dir.join("package.json"), manifest.to_string()).unwrap();
        registry.publish_dir(&dir, version);
    }
    // The usual one says that it is an old one; the one behind it in the PATH is what it is.
    let usual = home.scratch("usual");
    let path = std::env::var("PATH").unwrap();
    let node = std::env::split_paths(&path).map(|dir| dir.join("node")).find(|node| node.is_file()).unwrap();
    fs::create_dir_all(&usual).unwrap();
    let old =
        format!("#!/bin/sh\n[ \"$1\" = --version ] && echo v18.0.0 || exec {} \"$@\"\n", node.display());
    fs::write(usual.join("node"), old).unwrap();
    fs::set_permissions(usual.join("node"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{path}", usual.display());
    let url = registry.url();
    let bridge = Bridge::start_with(&home, &[("npm_config_registry", &url), ("PATH", &path)]);
    let plan = &bridge.ask("install_server", &json!({"source": "npm:tiny", "plan": true}))["installed"];
    assert_eq!((&plan["version"], &plan["newest"]), (&json!("1.0.0"), &json!("2.0.0")), "{plan}");
    assert_eq!(plan["python"], json!({"requires": ">=99"}), "{plan}");
    let (out, said, code) = home.harbor(&["install", "npm:tiny", "--yes"]);
    assert_eq!(code, Some(0), "{out}{said}");
    assert!(
        said.contains(
            "1.0.0 is not the newest version: 2.0.0 requires Node.js >=99, which this machine does not \
                           have; install Node.js 99 or newer"
        ),
        "{said}"
    );
    // Who names a version has it.
    let plan = json!({"source": "npm:tiny@2.0.0", "server_id": "exact", "plan": true});
    let plan = &bridge.ask("install_server", &plan)["installed"];
    assert_eq!((&plan["version"], &plan["newest"]), (&json!("2.0.0"), &Value::Null), "{plan}");
    let dir = home.scratch("3.0.0");
    write_telling(&dir, "3.0.0", "");
    let manifest =
        json!({"name": "tiny", "version": "3.0.0", "bin": "index.js", "engines": {"node": ">=20"}});
    fs::write(dir.join("package.json"), manifest.to_string()).unwrap();
    registry.publish_dir(&dir, "3.0.0");
    let (out, said, code) = home.harbor(&["install", "npm:tiny", "--name", "fits", "--yes"]);
    assert!(code == Some(0) && said.contains("since it requires >=20: "), "{out}{said}");
    let path = told(&bridge, "fits")["env"]["PATH"].as_str().unwrap().to_owned();
    let at = |dir: &Path| path.split(':').position(|entry| Path::new(entry) == dir);
    assert!(at(node.parent().unwrap()).unwrap() < at(&usual).unwrap(), "{path}");
}

#[test]
fn servers_that_are_started_together_take_turns_as_with_the_bridge() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::new(&home, Fault::NeverAnswersInitialize);
    let names = ["a", "b", "c", "d", "e", "f"];
    let asked = names.map(|name| {
        bridge.call("add_server", &double.definition(name)).unwrap();
        bridge.request("connect_server", &json!({"server_id": name}))
    });
    let state = |name: &str| bridge.server(name)["state"].clone();
    wait_until("as many to start as may", LIMIT, || {
        names.iter().filter(|name| state(name) == "starting").count() == 4
    });
    assert_eq!((state("e"), state("f")), (json!("stopped"), json!("stopped")));
    // What is stopped while it waits has no turn.
    let stop = |name: &str| bridge.call("disconnect_server", &json!({"server_id": name})).unwrap();
    let _ = stop("e");
    let [.., of_e, _] = asked;
    assert_eq!(of_e.wait(LIMIT).unwrap_err().details["cause"], "stopped");
    let _ = stop("a");
    wait_until("the next one to have its turn", LIMIT, || state("f") == "starting");
    assert_eq!(state("e"), "stopped");
}

/// Its server finds nothing there, or makes there what nobody finds, with the directories for it, and says nothing of that.
#[test]
fn a_place_that_a_server_does_not_have_is_told_beside_the_result() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let directory = home.scratch("notes");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("here.pdf"), "").unwrap();
    let directory = directory.to_str().unwrap();
    let call = |argument: String| {
        let (out, said, code) = home.harbor(&["call", "s/echo", &argument]);
        assert_eq!(code, Some(0), "{out}{said}");
        said
    };
    for (named, option) in [("new.md", "--write"), ("here.pdf", "--read")] {
        let said = call(format!("path={directory}/{named}"));
        let wanted = format!("s cannot reach {directory}/{named}: ");
        let opens = format!("; this allows it: harbor sandbox s {option} {directory}\n");
        assert!(said.starts_with(&wanted) && said.ends_with(&opens), "{said}");
    }
    let said = call(format!("uri=file://{directory}/here.pdf"));
    assert!(said.contains(&format!("--read {directory}\n")), "{said}");
    let said = call(format!("path={directory}/new/2026/x.md"));
    assert!(said.ends_with(&format!("/2026 && harbor sandbox s --write {directory}/new/2026\n")), "{said}");
    let said = call("path=/tmp/harbor-lost-file".into());
    assert!(said.contains("is lost; /tmp is never granted as a whole"), "{said}");
    let mut mcp = Direct::start(home.command("harbor").args(["mcp", "--client", "ai"])).initialized();
    let answer = mcp.tool("s__echo", &json!({"path": format!("{directory}/new.md")}));
    let content = answer["result"]["content"].as_array().unwrap();
    let said = content.last().unwrap()["text"].as_str().unwrap();
    assert!(said.starts_with(&format!("Harbor: s cannot reach {directory}/new.md: ")), "{answer}");
    for nothing in ["path=/api/v1/users", "path=/help", "path=notes/new.md", "text=see /etc/shadow"] {
        assert_eq!(call(nothing.into()), "", "{nothing}");
    }
    let (_, said, _) = home.harbor(&["set", "s", "--env", &format!("RUN={directory}/run/index.js")]);
    assert!(said.contains(&format!("{directory}/run/index.js does not exist\n")), "{said}");
    let (_, said, _) = home.harbor(&["set", "s", "--env", &format!("DB={directory}/dbs/x.db")]);
    assert!(said.contains(&format!("mkdir -p {directory}/dbs && harbor sandbox s --write ")), "{said}");
    let _ = home.harbor(&["sandbox", "s", "--write", directory]);
    assert_eq!(call(format!("path={directory}/new/2026/x.md")), "", "now it has it");
}

#[test]
fn the_registry_of_the_persons_own_settings_is_used_and_said() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a"], "first");
    let own = home.scratch("person");
    fs::create_dir(&own).unwrap();
    fs::write(own.join(".npmrc"), format!("registry={}\n", registry.url())).unwrap();
    let bridge = Bridge::start_with(&home, &[("HOME", own.to_str().unwrap())]);
    let plan = &bridge.ask("install_server", &json!({"source": "npm:tiny", "plan": true}))["installed"];
    let said = format!("{} (~/.npmrc)", registry.url());
    assert_eq!((&plan["version"], &plan["registry"]), (&json!("1.0.0"), &json!(said)), "{plan}");
    bridge.ask("install_server", &json!({"source": "npm:tiny"}));
    assert_eq!(registry.fetched(), 1);
}

/// It waits at a port unless it is told otherwise, and then wants a key: its own words would lead there in two steps.
#[test]
fn what_a_readme_says_of_the_start_is_one_whole_command() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let need = r#"if (!process.argv.includes("--stdio")) {
  console.error("[INFO] HTTP server listening on port 3333");
  process.exit(0);
}
if (!process.env.TINY_API_KEY) {
  console.error("TINY_API_KEY is required (via CLI argument or .env file)");
  process.exit(1);
}"#;
    let dir = home.scratch("telling");
    write_telling(&dir, "1.0.0", need);
    let readme = r#"# tiny

```json
{
  // For Windows, too.
  "mcpServers": { "Tiny": { "command": "npx", "args": ["-y", "tiny@latest", "--tiny-api-key=YOUR-KEY", "--stdio"], }, },
}
```

Or set `TINY_API_KEY` in the `env` field.
"#;
    fs::write(dir.join("README.md"), readme).unwrap();
    registry.publish_dir(&dir, "1.0.0");
    let bridge = registry.bridge(&home);
    let (said, code) = home.refused(&["install", "npm:tiny", "--yes"]);
    let wanted = "nothing was installed; it listens on a port instead of reading its standard input; its README starts \
                  it like this: `harbor install npm:tiny --secret TINY_API_KEY -- --stdio`";
    assert!(said.contains(wanted) && code == Some(5), "{code:?} {said}");
    // With a part of it, the rest is told.
    let (said, _) = home.refused(&["install", "npm:tiny", "--yes", "--", "--stdio"]);
    assert!(
        said.contains("if the server needs the key TINY_API_KEY, `--secret TINY_API_KEY` asks you for it"),
        "{said}"
    );
    let (said, _) = home.refused(&["install", "npm:tiny", "--yes", "--env", "TINY_API_KEY=k"]);
    assert!(said.contains("its README starts it with more arguments; add `-- --stdio`"), "{said}");

    let (out, said, code) =
        home.harbor(&["install", "npm:tiny", "--yes", "--env", "TINY_API_KEY=k", "--", "--stdio"]);
    assert_eq!(code, Some(0), "{out}{said}");
    assert_eq!(told(&bridge, "tiny")["args"], json!(["--stdio"]));
    assert_eq!(registry.fetched(), 1, "it was there already");
}

#[test]
fn a_file_with_keys_that_a_server_looks_for_by_itself_is_given_as_a_copy() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let need = r#"try { require("fs").readFileSync(process.env.KUBECONFIG ?? `${process.env.HOME}/.kube/config`) } catch {
  console.error("Error: no current-context is set and no contexts are defined in kubeconfig.\nUsage:\n  tiny [flags]");
  process.exit(1);
}"#;
    write_telling(&home.scratch("telling"), "1.0.0", need);
    registry.publish_dir(&home.scratch("telling"), "1.0.0");
    let own = home.scratch("person");
    fs::create_dir_all(own.join(".kube")).unwrap();
    let person = own.to_str().unwrap();
    let bridge = Bridge::start_with(&home, &[("HOME", person), ("npm_config_registry", &registry.url())]);
    let (said, _) = home.refused(&["install", "npm:tiny", "--yes"]);
    assert!(said.contains("give it arguments after --"), "the person has none either: {said}");

    fs::write(own.join(".kube/config"), "apiVersion: v1").unwrap();
    let (said, _) = home.refused(&["install", "npm:tiny", "--yes"]);
    let copy = format!("{person}/kubeconfig-tiny");
    let wanted = format!("`harbor install npm:tiny --read {copy} --env KUBECONFIG={copy}`");
    assert!(said.contains(&format!("`kubectl config view --minify --flatten > {copy}`")), "{said}");
    assert!(said.contains(&wanted), "{said}");
    fs::copy(own.join(".kube/config"), &copy).unwrap();
    let named = format!("KUBECONFIG={copy}");
    let (out, said, code) = home.harbor(&["install", "npm:tiny", "--yes", "--read", &copy, "--env", &named]);
    assert_eq!(code, Some(0), "{out}{said}");
    assert_eq!(told(&bridge, "tiny")["env"]["KUBECONFIG"], json!(copy));
}

#[test]
fn more_time_is_advised_where_nothing_else_explains_the_silence() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let silent = "console.error(process.argv[2]); process.stdin.resume(); return;";
    write_telling(&home.scratch("telling"), "1.0.0", silent);
    registry.publish_dir(&home.scratch("telling"), "1.0.0");
    let _bridge = registry.bridge(&home);
    let advice = "; if it needs longer, give it more time with `harbor set";
    let kept = home.scratch("kept.txt");
    fs::write(&kept, "").unwrap();
    let refused = format!("EACCES: permission denied, open '{}'", kept.display());
    for (says, helps) in [
        ("loading a model", true),
        ("HTTP server listening on port 3333", false),
        ("connect ECONNREFUSED 127.0.0.1:8888", false),
        ("TINY_TOKEN is required", false),
        (&refused, false),
    ] {
        let (said, code) =
            home.refused(&["install", "npm:tiny", "--yes", "--start-timeout", "1", "--", says]);
        assert!(said.contains("it did not answer within 1 s") && code == Some(5), "{code:?} {said}");
        assert_eq!(said.contains(advice), helps, "{says}: {said}");
    }
}

/// It swallows the refusal, as many do; the kernel has told of it.
#[test]
fn a_server_that_waits_for_its_own_client_at_a_port_gets_that_port() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let need = format!(
        r#"const own = require("net").createServer(socket => socket.end("it is me"));
own.on("error", () => {{ console.error("not today"); process.exit(1); }});
own.listen({port});"#
    );
    write_telling(&home.scratch("telling"), "1.0.0", &need);
    registry.publish_dir(&home.scratch("telling"), "1.0.0");
    let bridge = registry.bridge(&home);
    let (said, code) = home.refused(&["install", "npm:tiny", "--yes"]);
    let wanted = format!("its sandbox refused listening on port {port}; add `--listen {port}` to allow it (");
    assert!(said.contains(&wanted) && code == Some(5), "{code:?} {said}");

    let listen = port.to_string();
    let (out, said, code) = home.harbor(&["install", "npm:tiny", "--yes", "--listen", &listen]);
    assert_eq!(code, Some(0), "{out}{said}");
    assert_eq!(told(&bridge, "tiny")["args"], json!([]));
    let mut answer = String::new();
    let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
    connection.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "it is me");
    // All addresses were asked for, and nothing but a loopback one is had.
    assert!(TcpStream::connect(("127.0.0.2", port)).is_err());
    // The new version is tried while the old one has the port.
    write_telling(&home.scratch("telling"), "1.1.0", &need);
    registry.publish_dir(&home.scratch("telling"), "1.1.0");
    let (out, said, code) = home.harbor(&["upgrade", "tiny", "--yes"]);
    assert_eq!(code, Some(0), "{out}{said}");
}
