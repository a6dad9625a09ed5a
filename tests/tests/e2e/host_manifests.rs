//! Harbor's native host in browsers: told to them, started exactly as it stands there, and forgotten again.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use harbor_client_configs::extensions::HARBOR;
use harbor_tests::bridge::shut_down_detached;
use harbor_tests::{Home, LIMIT, Relay, programs, said};
use serde_json::{Value, json};

const CHROMIUM: &str = ".config/chromium/NativeMessagingHosts/harbor_bridge.json";
const BRAVE: &str = ".config/BraveSoftware/Brave-Browser/NativeMessagingHosts/harbor_bridge.json";
const FIREFOX: &str = ".mozilla/native-messaging-hosts/harbor_bridge.json";

/// Some extension that is not Harbor's.
const OTHER: &str = "abcdefghijklmnopabcdefghijklmnop";

/// A person with a home of their own, and no browser but what the test puts there.
struct Person {
    home: Home,
    directory: PathBuf,
}

impl Person {
    fn new() -> Self {
        let home = Home::new();
        let directory = home.scratch("p");
        fs::create_dir_all(directory.join("bin")).unwrap();
        Self { home, directory }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    /// With the program of a browser.
    fn has(self, program: &str) -> Self {
        let path = self.path("bin").join(program);
        fs::write(&path, "#!/bin/false\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command("harbor");
        for name in ["XDG_CONFIG_HOME", "CHROME_CONFIG_HOME"] {
            command.env_remove(name);
        }
        command.env("HOME", &self.directory).env("PATH", self.path("bin")).args(args);
        command
    }

    fn done(&self, args: &[&str]) -> String {
        let (out, err, code) = said(&mut self.command(args));
        assert_eq!((err.as_str(), code), ("", Some(0)), "{args:?}: {out}");
        out
    }

    fn failed(&self, args: &[&str]) -> (String, Option<i32>) {
        let (out, err, code) = said(&mut self.command(args));
        assert_eq!(out, "", "{args:?}: {err}");
        (err, code)
    }

    /// What `status` says of one browser.
    fn status(&self, browser: &str) -> Value {
        let all: Value = serde_json::from_str(&self.done(&["host", "status", "--json"])).unwrap();
        let all = all["browsers"].as_array().unwrap();
        all.iter().find(|one| one["browser"] == browser).unwrap().clone()
    }

    fn state(&self, browser: &str) -> String {
        self.status(browser)["state"].as_str().unwrap().to_owned()
    }

    /// Every file and directory of the home, with what is in it.
    fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut all, mut todo) = (BTreeMap::new(), vec![self.directory.clone()]);
        while let Some(directory) = todo.pop() {
            for entry in fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    todo.push(path.clone());
                }
                all.insert(path.clone(), fs::read(&path).unwrap_or_default());
            }
        }
        all
    }

    /// As a browser starts it: by its manifest, with an environment that says nothing of Harbor.
    fn relay(&self, manifest: &str, args: &[&str]) -> Relay {
        let manifest: Value = serde_json::from_str(&self.read(manifest)).unwrap();
        let mut command = Command::new(manifest["path"].as_str().unwrap());
        Relay::start(command.env_clear().env("HOME", &self.directory).args(args))
    }
}

fn manifest(program: &Path, key: &str, ids: &[&str]) -> String {
    let ids: Vec<_> = ids.iter().map(|id| format!("    \"{id}\"")).collect();
    format!(
        "{{\n  \"name\": \"harbor_bridge\",\n  \"description\": \"Harbor: MCP servers for web pages, with your consent\",\n  \
         \"path\": \"{}\",\n  \"type\": \"stdio\",\n  \"{key}\": [\n{}\n  ]\n}}\n",
        program.display(),
        ids.join(",\n")
    )
}

fn origin(id: &str) -> String {
    format!("chrome-extension://{id}/")
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn browsers_that_are_here_start_the_bridge_of_this_home_and_forget_it_again() {
    let person = Person::new().has("chromium");
    fs::create_dir_all(person.path(".mozilla/firefox")).unwrap();
    let before = person.tree();
    let out = person.done(&["host", "install"]);
    for part in [
        "Chromium is now connected to Harbor",
        "Firefox is now connected to Harbor",
        FIREFOX,
        "`harbor host uninstall`",
    ] {
        assert!(out.contains(part), "{out}");
    }
    // HARBOR_HOME is not the usual one, so there is a script that says it.
    let script = person.home.path().join("native-host/harbor-bridge");
    let bridge = programs::product("harbor-bridge").canonicalize().unwrap();
    assert_eq!(
        fs::read_to_string(&script).unwrap(),
        format!(
            "#!/bin/sh\n# Made by `harbor host install`: browsers start it, and cannot say which home is meant.\n\
             export HARBOR_HOME='{}'\nexec '{}' \"$@\"\n",
            person.home.path().display(),
            bridge.display()
        )
    );
    let own = origin(&HARBOR.chromium());
    assert_eq!(person.read(CHROMIUM), manifest(&script, "allowed_origins", &[&own]));
    assert_eq!(person.read(FIREFOX), manifest(&script, "allowed_extensions", &["harbor@harbor"]));
    assert!(!person.path(BRAVE).exists(), "it is not here");
    assert_eq!((mode(&script), mode(&person.path(CHROMIUM))), (0o700, 0o600));
    assert_eq!((person.state("chromium"), person.state("firefox")), ("installed".into(), "installed".into()));

    let chromium = person.relay(CHROMIUM, &[&own]);
    let manifest = person.path(FIREFOX);
    let firefox = person.relay(FIREFOX, &[manifest.to_str().unwrap(), "harbor@harbor"]);
    assert!(chromium.is_alive() && firefox.is_alive());
    assert!(person.home.locked_by().is_some(), "it is the bridge of this home");
    drop((chromium, firefox));
    shut_down_detached(&person.home);

    let installed = person.tree();
    assert!(person.done(&["host", "install"]).contains("Firefox was already connected to Harbor"));
    assert_eq!(person.tree(), installed);
    let out = person.done(&["host", "uninstall"]);
    assert!(out.contains("Chromium is no longer connected to Harbor"), "{out}");
    assert_eq!(person.tree(), before);
    assert!(!person.home.path().join("native-host").exists());
    assert_eq!(person.done(&["host", "uninstall"]), "no browser is connected to Harbor\n");
}

#[test]
fn in_the_usual_home_browsers_start_the_bridge_itself() {
    let person = Person::new();
    let install = |args: &[&str]| {
        let home = person.path(".harbor");
        let mut command = person.command(args);
        let (out, err, code) = said(command.env("HARBOR_HOME", home));
        assert_eq!(code, Some(0), "{out}{err}");
        out
    };
    let out = install(&["host", "install", "--browser", "brave", "--extension-id", OTHER, "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    let file = person.path(BRAVE);
    let wanted = json!({"host": "harbor_bridge", "browsers": [{"browser": "brave", "manifest": file, "changed": true}]});
    assert_eq!(answer, wanted);
    let bridge = programs::product("harbor-bridge").canonicalize().unwrap();
    let ids = [origin(&HARBOR.chromium()), origin(OTHER)];
    assert_eq!(person.read(BRAVE), manifest(&bridge, "allowed_origins", &[&ids[0], &ids[1]]));
    let out = install(&["host", "uninstall", "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answer, json!({"host": "harbor_bridge", "removed": [{"browser": "brave", "manifest": file}]}));
    assert!(!person.path(".config").exists() && !person.path(".harbor/native-host").exists());
}

#[test]
fn the_relay_lets_in_what_was_installed_and_nobody_else() {
    let person = Person::new();
    let hears = |id: &str| {
        let relay = Relay::of(&person.home, &[&origin(id)], &[]);
        let refused = relay.next_stray(LIMIT);
        assert!(
            refused.message.contains(&format!("`harbor host install --extension-id {id}`")),
            "{refused:?}"
        );
        refused.code
    };
    assert_eq!(hears(OTHER), "ERR_PERMISSION_DENIED");
    assert!(person.home.locked_by().is_none(), "no bridge was started for it");
    person.done(&["host", "install", "--browser", "chromium", "--extension-id", OTHER]);
    let relay = Relay::of(&person.home, &[&origin(OTHER)], &[]);
    assert!(relay.is_alive());
    drop(relay);
    // What is installed without it is installed without it.
    person.done(&["host", "install", "--browser", "chromium"]);
    assert_eq!(hears(OTHER), "ERR_PERMISSION_DENIED");
    shut_down_detached(&person.home);
}

#[test]
fn a_user_data_directory_of_its_own_is_remembered() {
    let person = Person::new();
    let own = person.path("own profile");
    fs::create_dir(&own).unwrap();
    let before = person.tree();
    person.done(&["host", "install", "--user-data-dir", own.to_str().unwrap()]);
    assert!(own.join("NativeMessagingHosts/harbor_bridge.json").is_file());
    assert!(!person.path(".config").exists());
    let all: Value = serde_json::from_str(&person.done(&["host", "--json"])).unwrap();
    let last = all["browsers"].as_array().unwrap().last().unwrap();
    assert_eq!(last["manifest"], json!(own.join("NativeMessagingHosts/harbor_bridge.json")));
    assert_eq!((&last["state"], &last["browser"]), (&json!("installed"), &json!("chromium")));
    fs::write(own.join("NativeMessagingHosts/harbor_bridge.json"), "").unwrap();
    let renew =
        format!("`harbor host install --browser chromium --user-data-dir '{}' --replace`", own.display());
    assert!(person.done(&["host"]).contains(&renew));
    person.done(&["host", "install", "--user-data-dir", own.to_str().unwrap(), "--replace"]);
    // Where it was written when the home was another one, too.
    person.done(&["host", "install", "--browser", "firefox"]);
    let (_, err, code) = said(person.command(&["host", "uninstall"]).env("HOME", person.path("moved")));
    assert_eq!((err.as_str(), code), ("", Some(0)));
    assert!(!person.path(FIREFOX).exists());
    assert_eq!(fs::read_to_string(own.join("NativeMessagingHosts/harbor_bridge.json")).unwrap(), "");
    fs::remove_dir_all(own.join("NativeMessagingHosts")).unwrap();
    assert_eq!(person.tree(), before);
}

#[test]
fn a_directory_that_cannot_be_made_is_not_remembered() {
    let person = Person::new();
    fs::write(person.path("file"), "").unwrap();
    let before = person.tree();
    let below = person.path("file/profile");
    let (_, err, code) =
        said(&mut person.command(&["host", "install", "--user-data-dir", below.to_str().unwrap()]));
    assert!(err.contains("file/profile/NativeMessagingHosts/harbor_bridge.json: "), "{err}");
    assert_eq!(code, Some(1));
    assert_eq!(person.tree(), before);
    assert!(!person.done(&["host"]).contains("profile"));
}

#[test]
fn another_programs_manifest_stays_unless_it_is_to_go_and_comes_back() {
    let person = Person::new().has("firefox-esr").has("brave");
    for (text, why) in [
        ("{\"name\": \"harbor_bridge\"", "it is not a manifest for Firefox"),
        (
            &manifest(Path::new("/opt/other"), "allowed_extensions", &["a@b"]),
            "it starts /opt/other, which is not Harbor's",
        ),
    ] {
        person.write(FIREFOX, text);
        let before = person.tree();
        let (err, code) = person.failed(&["host", "install"]);
        assert!(err.contains(why) && err.contains("--replace sets it aside"), "{err}");
        assert_eq!(code, Some(1));
        assert_eq!(person.failed(&["host", "uninstall", "--browser", "firefox"]).1, Some(1));
        assert_eq!(person.done(&["host", "uninstall"]), "no browser is connected to Harbor\n");
        assert_eq!(person.tree(), before);
        person.done(&["host", "install", "--replace"]);
        assert_eq!(
            (person.state("firefox"), person.state("brave")),
            ("installed".into(), "installed".into())
        );
        person.done(&["host", "install"]);
        person.done(&["host", "uninstall"]);
        assert_eq!(person.tree(), before);
        // Also when ours has gone by another hand.
        person.done(&["host", "install", "--browser", "firefox", "--replace"]);
        fs::remove_file(person.path(FIREFOX)).unwrap();
        person.done(&["host", "uninstall"]);
        assert_eq!(person.tree(), before);
    }
}

#[test]
fn status_tells_what_does_not_fit_and_installing_again_mends_it() {
    let person = Person::new().has("firefox");
    assert_eq!(person.state("firefox"), "missing");
    assert_eq!(person.status("firefox")["next"], "`harbor host install --browser firefox`");
    assert_eq!(person.status("edge")["next"], Value::Null);
    let script = person.home.path().join("native-host/harbor-bridge");
    let elsewhere = programs::product("harbor-bridge").canonicalize().unwrap();
    let text = |program: &Path, id: &str| manifest(program, "allowed_extensions", &[id]);
    person.done(&["host", "install"]);
    for (text, state) in [
        (text(Path::new("/gone/harbor-bridge"), "harbor@harbor"), "not executable"),
        (text(&elsewhere, "harbor@harbor"), "points elsewhere"),
        (text(&script, "me@example.org"), "wrong id"),
    ] {
        person.write(FIREFOX, &text);
        assert_eq!(person.state("firefox"), state);
        let shown = person.done(&["host", "status"]);
        assert!(shown.contains("renew it: `harbor host install --browser firefox`"), "{shown}");
        person.done(&["host", "install"]);
        assert_eq!(person.state("firefox"), "installed");
    }
    fs::write(&script, "#!/bin/sh\n").unwrap();
    assert_eq!(person.state("firefox"), "points elsewhere");
    person.done(&["host", "install"]);
    assert_eq!(person.state("firefox"), "installed");
    let all: Value = serde_json::from_str(&person.done(&["host", "status", "--json"])).unwrap();
    assert_eq!((&all["host"], &all["program"]), (&json!("harbor_bridge"), &json!(script)));
    assert_eq!(
        all["extensions"],
        json!({"harbor": {"chromium": HARBOR.chromium(), "firefox": "harbor@harbor"},
            "web-agents-api": {"chromium": "ameepindlnjgijhmnmehbfjhkkcpfdie", "firefox": "web-agents-api@harbor"}})
    );
}

#[test]
fn where_no_browser_can_start_it_that_is_said() {
    let person = Person::new();
    let (err, code) = person.failed(&["host", "install"]);
    assert!(
        err.contains("no supported browser")
            && err.contains("firefox-esr")
            && err.contains(".config/chromium"),
        "{err}"
    );
    assert_eq!(code, Some(4));
    assert!(person.done(&["host", "status"]).contains("not installed: Google Chrome, Chromium,"));
    // A snap's program leads to `snap`, and what it keeps is below `snap` too.
    let person = person.has("snap");
    symlink("snap", person.path("bin/chromium")).unwrap();
    fs::create_dir_all(person.path("snap/chromium")).unwrap();
    let status = person.status("chromium");
    assert_eq!(
        (&status["found"], &status["confined"]),
        (&json!(false), &json!(person.path("snap/chromium")))
    );
    assert!(person.done(&["host", "status"]).contains("cannot start Harbor"));
    assert_eq!(person.failed(&["host", "install"]).1, Some(4));
}

#[test]
fn the_doctor_looks_at_browsers_and_mends_what_is_harbors() {
    let person = Person::new().has("firefox").has("chromium");
    let doctor = |args: &[&str]| {
        let (out, _, code) = said(person.command(&["doctor", "--json"]).args(args));
        let found: Value = serde_json::from_str(&out).unwrap();
        let all =
            found["findings"].as_array().unwrap().iter().filter(|finding| finding["about"] == "browsers");
        let texts = all.map(|finding| {
            format!("{} {}", finding["state"].as_str().unwrap(), finding["message"].as_str().unwrap())
        });
        (texts.collect::<Vec<_>>().join("\n"), code)
    };
    person.write(FIREFOX, &manifest(Path::new("/opt/other"), "allowed_extensions", &["a@b"]));
    person.write(CHROMIUM, &manifest(Path::new("/gone/harbor-bridge"), "allowed_origins", &[&origin(OTHER)]));
    let (said, code) = doctor(&[]);
    assert!(
        said.contains("broken Chromium: ") && said.contains("/gone/harbor-bridge, which is missing"),
        "{said}"
    );
    assert!(said.contains("warning Firefox: ") && said.contains("/opt/other"), "{said}");
    assert_eq!(code, Some(1));
    let (said, code) = doctor(&["--fix"]);
    assert!(said.contains("fixed Chromium: ") && said.contains("warning Firefox: "), "{said}");
    assert_eq!(code, Some(0));
    assert_eq!(person.state("chromium"), "installed");
    assert!(person.read(FIREFOX).contains("/opt/other"));

    fs::remove_file(person.path(FIREFOX)).unwrap();
    assert!(doctor(&[]).0.contains("warning Firefox is installed but not connected to Harbor"));
    assert!(doctor(&["--fix"]).0.contains("fixed Firefox is installed but not connected to Harbor"));
    let (said, code) = doctor(&[]);
    assert!(
        said.contains("ok Firefox is connected to Harbor")
            && said.contains("ok Chromium is connected to Harbor"),
        "{said}"
    );
    assert_eq!(code, Some(0));
    shut_down_detached(&person.home);
}
