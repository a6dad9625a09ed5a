//! Encrypted with a passphrase: typed, given by a file, wrong, forgotten; and servers that wait for it.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{DirEntryExt as _, PermissionsExt as _};

use harbor_tests::{Bridge, Double, Home, LIMIT, Terminal, wait_until};
use serde_json::{Value, json};

use super::typing::given;
use super::{VALUE, environment, file, files_with, set};

const PASSPHRASE: &str = "correct horse battery";

/// A server that starts with the bridge and needs a secret.
fn needy(home: &Home, id: &str) -> Value {
    let mut definition = Double::sound(home).definition(id);
    definition["secrets"] = json!(["API_KEY"]);
    definition["supervision"] = json!({"auto_start": true, "restart": "always"});
    definition
}

fn encrypted(home: &Home) {
    let (said, code) = given(home, &["secrets", "encrypt"], &format!("{PASSPHRASE}\n"));
    assert_eq!(code, Some(0), "{said}");
}

fn store(home: &Home) -> Value {
    let status: Value = serde_json::from_str(&home.done(&["status", "--json"])).unwrap();
    status["bridge"]["secrets"].clone()
}

#[test]
fn servers_wait_for_the_passphrase_and_then_start() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.call("add_server", &needy(&home, "s")).unwrap();
    // Nobody has said that this one needs what it has.
    bridge.add("t", &Double::sound(&home));
    bridge.add("free", &Double::sound(&home));
    set(&bridge, "s", "API_KEY", VALUE);
    set(&bridge, "t", "OTHER", VALUE);
    encrypted(&home);
    assert!(files_with(&home, VALUE).is_empty());
    assert_eq!(
        store(&home),
        json!({"store": "file", "encryption": "passphrase", "locked": false, "asks": false})
    );
    bridge.connect("s");
    assert_eq!(environment(&bridge, "s")["API_KEY"], VALUE);
    drop(bridge);

    let bridge = Bridge::start(&home);
    wait_until("the start that is given up", LIMIT, || bridge.server("s")["state"] == "failed");
    assert_eq!(bridge.server("s")["last_exit"]["cause"], "secrets_locked");
    assert_eq!(bridge.server("s")["restarts"], 0);
    let (said, code) = home.refused(&["start", "t"]);
    assert!(
        code == Some(5) && said.contains("they are locked; `harbor secrets unlock` unlocks them"),
        "{said}"
    );
    bridge.connect("free");
    assert_eq!(bridge.call("list_credentials", &json!({})).unwrap_err().code, "secrets_locked");
    let set_now = json!({"server_id": "s", "key": "K", "value": "v"});
    assert_eq!(bridge.call("set_credential", &set_now).unwrap_err().code, "secrets_locked");
    assert_eq!(store(&home)["locked"], true);
    let doctor = home.done(&["doctor", "-v"]);
    assert!(doctor.contains("locked: servers that need secrets wait"), "{doctor}");
    assert!(home.done(&["remove", "free"]).starts_with("removed free"), "it has no secrets");

    let before = fs::read(file(&home)).unwrap();
    let (_, code) = given(&home, &["secrets", "unlock"], "hunter2hunter2\n");
    assert_eq!(code, Some(1));
    assert_eq!((store(&home)["locked"].clone(), fs::read(file(&home)).unwrap()), (json!(true), before));
    let (said, code) = given(&home, &["secrets", "unlock"], &format!("{PASSPHRASE}\n"));
    assert_eq!(code, Some(0), "{said}");
    for server in ["s", "t"] {
        wait_until("what has waited runs", LIMIT, || bridge.server(server)["state"] == "running");
    }
    assert_eq!(
        (&environment(&bridge, "s")["API_KEY"], &environment(&bridge, "t")["OTHER"]),
        (&json!(VALUE), &json!(VALUE))
    );

    // Locked again: who runs goes on, who falls is not tried again and again.
    assert!(home.done(&["secrets", "lock"]).contains("running servers keep theirs"));
    let pid = bridge.server("s")["pid"].as_u64().unwrap();
    harbor_tests::Process::of(u32::try_from(pid).unwrap()).unwrap().signal(nix::sys::signal::Signal::SIGKILL);
    wait_until("the restart that is given up", LIMIT, || bridge.server("s")["state"] == "failed");
    assert_eq!(bridge.server("t")["state"], "running");
    assert_eq!(given(&home, &["secrets", "unlock"], PASSPHRASE).1, Some(0));
    wait_until("it runs again", LIMIT, || bridge.server("s")["state"] == "running");
    assert!(home.done(&["secrets", "decrypt"]).contains("stored unencrypted"));
    assert_eq!(files_with(&home, VALUE), [file(&home)]);
    let (said, _) = home.refused(&["secrets", "move"]);
    assert!(said.contains("there is nothing to do"), "{said}");
    assert!(!bridge.stderr().contains(PASSPHRASE) && !home.done(&["audit", "--json"]).contains(PASSPHRASE));
}

#[test]
fn a_passphrase_is_typed_twice_and_not_shown() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home));
    set(&bridge, "s", "API_KEY", VALUE);
    let begin = |words: &[&str], question: &str| {
        let mut command = home.command("harbor");
        let terminal = Terminal::start(command.args(words));
        terminal.wait_for(question);
        terminal
    };
    let encrypt = |first: &str, again: &str| {
        let mut terminal = begin(&["secrets", "encrypt"], "new passphrase of the secrets (not shown):");
        terminal.press(&format!("{first}\r"));
        terminal.wait_for("the same again:");
        terminal.press(&format!("{again}\r"));
        let (code, same) = terminal.end();
        assert!(same && !terminal.text().contains("horse"), "{}", terminal.text());
        code
    };
    assert_eq!(encrypt(PASSPHRASE, "correct horse batter"), 2);
    assert_eq!(files_with(&home, VALUE), [file(&home)]);
    assert_eq!(encrypt(PASSPHRASE, PASSPHRASE), 0);
    assert!(files_with(&home, VALUE).is_empty() && files_with(&home, PASSPHRASE).is_empty());
    assert!(home.done(&["secrets", "lock"]).starts_with("the secrets are "));
    for (typed, wanted) in [("correct mule", 1), (PASSPHRASE, 0)] {
        let mut terminal = begin(&["secrets", "unlock"], "passphrase of the secrets (not shown):");
        terminal.press(&format!("{typed}\r"));
        let (code, same) = terminal.end();
        assert_eq!((code, same), (wanted, true), "{}", terminal.text());
        assert!(!terminal.text().contains("correct"));
    }
    assert!(home.done(&["secrets"]).contains("API_KEY"));
    let (said, code) = given(&home, &["secrets", "encrypt", "--json"], "short\n");
    assert!(code == Some(2) && said.contains("8 characters or more"), "{said}");
}

#[test]
fn nothing_is_asked_for_that_could_not_be_stored_and_a_lost_key_is_named() {
    let home = Home::new();
    {
        let bridge = Bridge::start(&home);
        bridge.add("s", &Double::sound(&home));
        set(&bridge, "s", "API_KEY", VALUE);
        encrypted(&home);
    }
    let bridge = Bridge::start(&home);
    let mut command = home.command("harbor");
    let mut terminal = Terminal::start(command.args(["secrets", "set", "s", "OTHER"]));
    let said = terminal.last_words();
    assert!(said.contains("they are locked; `harbor secrets unlock` unlocks them"), "{said}");
    assert!(!terminal.text().contains("not shown"), "{}", terminal.text());
    // Twice is as good as once.
    for _ in 0..2 {
        let (said, code) = given(&home, &["secrets", "unlock"], &format!("{PASSPHRASE}\n"));
        assert!(code == Some(0) && said.contains("the secrets are unlocked"), "{said}");
        assert!(home.done(&["secrets"]).contains("API_KEY"));
    }
    assert_eq!(given(&home, &["secrets", "set", "s", "OTHER"], "value-0123\n").1, Some(0));
    drop(bridge);

    let key = file(&home).with_file_name("key.age");
    let kept = home.scratch("key.age");
    fs::rename(&key, &kept).unwrap();
    let bridge = Bridge::start(&home);
    for args in [&["secrets", "unlock"][..], &["secrets", "list"]] {
        let (said, _) = home.refused(args);
        let path = key.display().to_string();
        assert!(
            said.contains(&format!("the file with their key, {path}, is missing")) && said.contains("backup"),
            "{said}"
        );
    }
    drop(bridge);
    fs::rename(&kept, &key).unwrap();
    let _bridge = Bridge::start(&home);
    assert_eq!(given(&home, &["secrets", "unlock"], PASSPHRASE).1, Some(0));
    assert!(home.done(&["secrets"]).contains("API_KEY"));
}

#[test]
fn a_deployment_unlocks_by_a_file() {
    let home = Home::new();
    let passphrase = home.scratch("harbor-passphrase");
    let write = |text: &str, mode| {
        fs::write(&passphrase, text).unwrap();
        fs::set_permissions(&passphrase, Permissions::from_mode(mode)).unwrap();
    };
    {
        let bridge = Bridge::start(&home);
        bridge.call("add_server", &needy(&home, "s")).unwrap();
        set(&bridge, "s", "API_KEY", VALUE);
        encrypted(&home);
    }
    write(&format!("{PASSPHRASE}\n"), 0o600);
    let directory = passphrase.parent().unwrap().to_str().unwrap().to_owned();
    {
        let bridge = Bridge::start_with(&home, &[("CREDENTIALS_DIRECTORY", &directory)]);
        wait_until("it runs", LIMIT, || bridge.server("s")["state"] == "running");
        assert_eq!(environment(&bridge, "s")["API_KEY"], VALUE);
        assert_eq!(environment(&bridge, "s").get("CREDENTIALS_DIRECTORY"), None);
    }
    home.configure(&format!("[secrets]\npassphraseFile = \"{}\"\n", passphrase.display()));
    write(PASSPHRASE, 0o640);
    let bridge = Bridge::start(&home);
    wait_until("the start that is given up", LIMIT, || bridge.server("s")["state"] == "failed");
    let why = bridge.server("s")["last_exit"]["message"].as_str().unwrap().to_owned();
    assert!(why.contains("that others cannot read (`chmod 600`)"), "{why}");
    write(PASSPHRASE, 0o600);
    assert!(home.done(&["secrets", "unlock"]).contains("unlocked"));
    wait_until("it runs", LIMIT, || bridge.server("s")["state"] == "running");
}

/// Whenever it is killed, the file is plain or encrypted as a whole, and all that was in it is.
#[test]
fn a_bridge_that_is_killed_while_it_encrypts_leaves_the_one_or_the_other() {
    let home = Home::new();
    for round in 0..6 {
        let mut bridge = Bridge::start(&home);
        if round == 0 {
            bridge.add("s", &Double::sound(&home));
            set(&bridge, "s", "API_KEY", VALUE);
        }
        let store = bridge.call("get_secret_store", &json!({})).unwrap()["secret_store"].clone();
        let (tag, request) = match store["encryption"] == "none" {
            true => ("encrypt_secrets", json!({"passphrase": PASSPHRASE})),
            false => ("decrypt_secrets", json!({})),
        };
        if store["locked"] == true {
            bridge.call("unlock_secrets", &json!({"passphrase": PASSPHRASE})).unwrap();
        }
        // Each round at another step: as soon as a file has come, has gone, or another one is in its place.
        let files = || {
            let entries = fs::read_dir(file(&home).parent().unwrap()).unwrap().map(Result::unwrap);
            entries.map(|entry| (entry.file_name(), entry.ino())).collect::<BTreeSet<_>>()
        };
        let (before, at_once) = (files(), round < 2);
        let _ = bridge.request(tag, &request);
        wait_until("a step", LIMIT, || at_once || files() != before);
        bridge.kill();
        drop(bridge);
        let bridge = Bridge::start(&home);
        let store = bridge.call("get_secret_store", &json!({})).unwrap()["secret_store"].clone();
        if store["locked"] == true {
            bridge.call("unlock_secrets", &json!({"passphrase": PASSPHRASE})).unwrap();
        } else {
            assert_eq!(files_with(&home, VALUE), [file(&home)]);
        }
        let listed = bridge.call("list_credentials", &json!({})).unwrap();
        assert_eq!(listed["credentials"][0]["key"], "API_KEY", "round {round}");
    }
}

/// The file is age's: who has the passphrase needs no Harbor.
#[test]
fn age_itself_opens_the_files() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home));
    set(&bridge, "s", "API_KEY", VALUE);
    encrypted(&home);
    let open = |passphrase: &str, path: &std::path::Path| {
        let out = home.scratch("opened");
        let mut age = std::process::Command::new(super::keyring::tool("age"));
        let mut terminal = Terminal::start(age.args(["-d", "-o"]).arg(&out).arg(path));
        terminal.wait_for("passphrase");
        terminal.press(&format!("{passphrase}\r"));
        assert_eq!(terminal.end().0, 0, "{}", terminal.text());
        fs::read_to_string(out).unwrap()
    };
    let key = open(PASSPHRASE, &file(&home).with_file_name("key.age"));
    assert!(open(&key, &file(&home)).contains(VALUE));
}

#[test]
fn what_was_locked_when_its_server_was_removed_is_for_no_later_one_of_that_name() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home));
    set(&bridge, "s", "API_KEY", VALUE);
    encrypted(&home);
    drop(bridge);
    let bridge = Bridge::start(&home);
    let removed = bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    let left = removed["secrets_left"].as_str().unwrap();
    assert!(left.contains("they are locked") && left.contains("no server gets them"), "{left}");
    // The next one of that name neither waits for them nor gets them, then and after the next start of the bridge.
    bridge.add_and_connect("s", &Double::sound(&home));
    assert_eq!(environment(&bridge, "s").get("API_KEY"), None);
    drop(bridge);
    let bridge = Bridge::start(&home);
    assert_eq!(given(&home, &["secrets", "unlock"], PASSPHRASE).1, Some(0));
    bridge.connect("s");
    assert_eq!(environment(&bridge, "s").get("API_KEY"), None);
    assert_eq!(bridge.call("list_credentials", &json!({})).unwrap()["credentials"], json!([]));
    assert!(home.done(&["secrets", "decrypt"]).contains("stored unencrypted"));
    assert!(files_with(&home, VALUE).is_empty());
    set(&bridge, "s", "API_KEY", "of the next one");
    bridge.call("disconnect_server", &json!({"server_id": "s"})).unwrap();
    bridge.connect("s");
    assert_eq!(environment(&bridge, "s")["API_KEY"], "of the next one");
}
