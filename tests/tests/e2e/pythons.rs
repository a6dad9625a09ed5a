//! Packages that want another Python than the usual one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use harbor_tests::pypi_index::PypiIndex;
use harbor_tests::{Bridge, Home};
use serde_json::{Value, json};

/// What a download may take.
const INSTALL: Duration = Duration::from_secs(300);

/// One that nobody has yet: what is said of it is the same on each machine.
const OF_TOMORROW: &str = ">=3.39";
const STEP: &str = "install Python 3.39 or newer, e.g. `uv python install 3.39` or `apt install python3.39-venv`, and try again";

fn plan(bridge: &Bridge, id: &str, source: &str) -> Value {
    let fields = json!({"source": source, "server_id": id, "plan": true});
    bridge.request("install_server", &fields).wait(INSTALL).unwrap()["installed"].clone()
}

/// The first two numbers of a Python's version, if an environment can be made of it.
fn kind(python: &Path) -> Option<String> {
    let question = "import ensurepip, sys; print('%d.%d' % sys.version_info[:2] if sys.version_info[3] == 'final' else '')";
    let said =
        Command::new(python).args(["-c", question]).output().ok().filter(|said| said.status.success())?;
    let kind = String::from_utf8(said.stdout).unwrap().trim().to_owned();
    let minor: u32 = kind.strip_prefix("3.")?.parse().ok()?;
    (minor >= 8).then_some(kind)
}

/// Another Python than `python3`, if this machine has one where people have them. It cannot be made up: an interpreter that only
/// says another version is none that a package would be right to admit, and one is not copied from nothing.
fn another() -> Option<String> {
    let usual = kind(Path::new("python3")).expect("python3 is there");
    let path = std::env::var_os("PATH").unwrap();
    let named = std::env::split_paths(&path)
        .flat_map(|dir| (8..30).map(move |minor| dir.join(format!("python3.{minor}"))));
    let home = std::env::home_dir().unwrap();
    let below =
        |dir: &str| fs::read_dir(home.join(dir)).into_iter().flatten().flatten().map(|entry| entry.path());
    let of_managers =
        below(".pyenv/versions").chain(below(".local/share/uv/python")).map(|dir| dir.join("bin/python3"));
    let all: Vec<PathBuf> = named.chain(of_managers).filter(|python| python.exists()).collect();
    let others = all.iter().filter_map(|python| kind(python)).filter(|kind| *kind != usual);
    // Where uv is there, too: that minds an upper bound only once it installs.
    others.max_by_key(|kind| kind[2..].parse::<u32>().unwrap())
}

#[test]
fn a_python_that_is_nowhere_is_named_with_the_step_that_helps() {
    let (home, index) = (Home::new(), PypiIndex::start());
    let files = home.scratch("files");
    index.publish(&files, "");
    index.publish_for(&files, "2.0", OF_TOMORROW);
    let bridge = index.bridge(&home, &[]);

    // The newest that this Python admits, never in silence.
    let planned = plan(&bridge, "snake", "pypi:snake");
    assert_eq!((&planned["version"], &planned["newest"]), (&json!("1.0"), &json!("2.0")), "{planned}");
    assert_eq!(planned["python"], json!({"requires": OF_TOMORROW}), "{planned}");
    let (out, said, code) = home.harbor(&["install", "pypi:snake", "--yes"]);
    assert_eq!(code, Some(0), "{out}{said}");
    let line = format!(
        "1.0 is not the newest version: 2.0 requires Python {OF_TOMORROW}, which this machine does not have; {STEP}\n"
    );
    assert!(said.contains(&line), "{said}");
    let (out, said, code) = home.harbor(&["upgrade", "snake", "--yes"]);
    assert!(out == "snake is 1.0 already\n" && said.contains(&line) && code == Some(0), "{out}{said}");

    // Who names it has that or nothing.
    let (said, code) = home.refused(&["install", "pypi:snake==2.0", "--name", "other", "--yes"]);
    let why = format!("no matching version supports the installed Python: it requires {OF_TOMORROW}");
    assert!(said.contains(&why) && said.contains(&format!("nothing was installed; {STEP}")), "{said}");
    assert_eq!(code, Some(5));
}

/// Where a machine has no second Python, there is nothing to be chosen: the test above is what holds there.
#[test]
fn a_package_that_does_not_admit_the_usual_python_gets_another_that_is_installed() {
    let Some(kind) = another() else { return };
    let (home, index) = (Home::new(), PypiIndex::start());
    let files = home.scratch("files");
    index.publish(&files, "");
    let minor: u32 = kind[2..].parse().unwrap();
    let requires = format!(">={kind},<3.{}", minor + 1);
    index.publish_for(&files, "2.0", &requires);
    let bridge = index.bridge(&home, &[]);
    let planned = plan(&bridge, "snake", "pypi:snake");
    let python = planned["python"].clone();
    assert_eq!((&planned["version"], &planned["newest"]), (&json!("2.0"), &Value::Null), "{planned}");
    let version = python["version"].as_str().unwrap().to_owned();
    assert!(version.starts_with(&format!("{kind}.")) && python["requires"] == json!(requires), "{python}");
    let path = python["path"].as_str().unwrap();
    assert!(Path::new(path).canonicalize().unwrap() == Path::new(path) && !path.contains("shims"), "{path}");
    let line = format!("runs with Python {version}, since it requires {requires}: {path}\n");
    assert!(home.done(&["install", "pypi:snake", "--dry-run"]).contains(&format!("note       {line}")));

    let (out, said, code) = home.harbor(&["install", "pypi:snake", "--yes"]);
    assert!(code == Some(0) && said.contains(&line), "{out}{said}");
    let runs = |bridge: &Bridge| bridge.started_tool("snake", "hiss", &json!({}));
    assert_eq!(runs(&bridge), version, "in its sandbox");

    // What is lost comes back with the same one, also with the next bridge.
    drop(bridge);
    fs::remove_dir_all(home.path().join("servers/snake/package/1/venv")).unwrap();
    let bridge = index.bridge(&home, &[]);
    assert_eq!(home.harbor(&["start", "snake"]).2, Some(0));
    assert_eq!(runs(&bridge), version);
    assert_eq!(bridge.ask("list_installed", &json!({}))["servers"][0]["python"], python);

    // One that is named, of what this Python has nothing at all.
    let planned = plan(&bridge, "exact", "pypi:snake==2.0");
    assert_eq!(planned["python"]["version"], json!(version), "{planned}");

    // An upgrade looks anew.
    index.publish_for(&files, "3.0", ">=3.8");
    let (out, said, code) = home.harbor(&["upgrade", "snake", "--yes"]);
    assert!(code == Some(0) && out.contains("2.0 → 3.0") && !out.contains("runs with"), "{out}{said}");
    assert_ne!(runs(&bridge), version);
    assert_eq!(bridge.ask("list_installed", &json!({}))["servers"][0]["python"], Value::Null);
}
