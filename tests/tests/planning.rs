//! What a plan never does: nothing of a package runs before the person's yes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]

use std::fs;
use std::time::Duration;

use harbor_tests::git::{commit, git};
use harbor_tests::pypi_index::PypiIndex;
use harbor_tests::said::said;
use harbor_tests::{Bridge, DOWN_LIMIT, Home, wait_until};
use serde_json::{Value, json};

/// What a download may take.
const INSTALL: Duration = Duration::from_secs(300);

fn plan(bridge: &Bridge, source: &str) -> Result<Value, harbor_tests::ErrorValue> {
    let fields = json!({"source": source, "plan": true});
    let answer = bridge.request("install_server", &fields).wait(INSTALL)?;
    Ok(answer["installed"].clone())
}

/// A bridge whose pip and uv know only the test's own index.
fn with_index(home: &Home, index: &PypiIndex) -> Bridge {
    let url = index.url();
    let env = [("PIP_INDEX_URL", url.as_str()), ("UV_INDEX_URL", &url), ("UV_DEFAULT_INDEX", &url)];
    Bridge::start_with(home, &env)
}

#[test]
fn a_plan_builds_nothing_that_a_package_names_by_an_address() {
    let (home, index) = (Home::new(), PypiIndex::start());
    let files = home.scratch("files");
    let bridge = with_index(&home, &index);
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
