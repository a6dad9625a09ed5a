//! Servers that take more room on a disk than they may, or the last of it.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use harbor_tests::rights::is_root;
use harbor_tests::small_disk::SmallDisk;
use harbor_tests::{Bridge, Double, Home, LIMIT, PROMPT, wait_until};
use nix::sys::statvfs::statvfs;
use serde_json::{Value, json};

use crate::secrets::scripted;

/// Writes 10 MiB into its temporary directory each 0.3 s, from its start on, and one file into its data.
const GROWS: &str = "echo kept >\"$HOME/kept\"; \
                     (while :; do head -c 10485760 /dev/zero >>\"$TMPDIR/grows\"; sleep 0.3; done) </dev/null >/dev/null 2>&1 & true";

/// Runs such a server until it has ended; how.
fn ended(home: &Home, bridge: &Bridge, sandbox: &Value) -> Value {
    let mut definition = scripted(home, "s", GROWS);
    definition["supervision"] = json!({"restart": "never"});
    for (name, value) in sandbox.as_object().unwrap() {
        definition["sandbox"][name] = value.clone();
    }
    bridge.call("add_server", &definition).unwrap();
    bridge.connect("s");
    wait_until("its end", LIMIT, || bridge.server("s")["state"] == "failed");
    bridge.exit("s")
}

/// That health says the same, that its temporary files are gone, and that its data are not.
fn assert_freed(home: &Home, bridge: &Bridge, exit: &Value) {
    let health = bridge.call("health", &json!({})).unwrap()["health"].clone();
    let failed = format!("s has failed: {}", exit["message"].as_str().unwrap());
    let reason = json!({"state": "degraded", "server": "s", "code": "server_failed", "message": failed});
    assert_eq!(health, json!({"state": "degraded", "reasons": [reason]}));
    let root = home.path().join("servers/s");
    let left = || {
        let names = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_str().unwrap().starts_with("tmp")).count()
    };
    wait_until("its temporary files to be removed", PROMPT, || left() == 0);
    assert_eq!(fs::read_to_string(root.join("data/kept")).unwrap(), "kept\n");
}

fn free_mib(path: &Path) -> u64 {
    let about = statvfs(path).unwrap();
    (about.blocks_available() * about.fragment_size()) >> 20
}

/// How many MiB it had, by a sentence that begins and ends like this.
fn mib(message: &Value, begin: &str, end: &str) -> u64 {
    let message = message.as_str().unwrap();
    let number = message.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{message}"))
}

#[test]
fn who_takes_the_last_room_of_a_disk_ends_before_it_is_full_and_gives_it_back() {
    if !is_root("who_takes_the_last_room_of_a_disk_ends_before_it_is_full_and_gives_it_back") {
        return;
    }
    let home = Home::new();
    let _disk = SmallDisk::below(&home, 320);
    let bridge = Bridge::start(&home);
    let before = free_mib(&home.path());
    let exit = ended(&home, &bridge, &json!({}));
    assert_eq!(exit["cause"], "disk_full", "{exit}");
    let data = home.path().join("servers/s/data");
    let end = format!(
        " MiB while its disk has less than 256 MiB left and was killed; delete what it does not need in {}, or remove \
         the server with all its data: `harbor remove s --data`",
        data.display()
    );
    let taken = mib(&exit["message"], "it used ", &end);
    // What it has written before its first count is not in it, and half is enough.
    assert!(taken * 2 > before - 256 && taken < before, "{taken} of {before}");
    assert_freed(&home, &bridge, &exit);
    // A process that is still to be reaped keeps what was removed.
    wait_until("its room to be there again", PROMPT, || free_mib(&home.path()) + 8 > before);
    let output = home.command("harbor").args(["remove", "s", "--data"]).output().unwrap();
    assert!(output.status.success() && !data.exists(), "{output:?}");
    assert_eq!(bridge.call("health", &json!({})).unwrap()["health"]["state"], "ok");
}

#[test]
fn the_temporary_files_of_who_had_more_than_its_limit_go_with_its_end() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let exit = ended(&home, &bridge, &json!({"disk_mb": 24}));
    assert_eq!(exit["cause"], "disk_full", "{exit}");
    let end = format!(
        " MiB in its data and temporary files and may use 24 and was killed; delete what it does not need in {}, or \
         remove the server with all its data: `harbor remove s --data`, or `harbor sandbox s --disk 48` allows more",
        home.path().join("servers/s/data").display()
    );
    assert!(mib(&exit["message"], "it used ", &end) > 24);
    assert_freed(&home, &bridge, &exit);

    // Its next start would have the same end, with as much of the disk more: it is not begun.
    let data = home.path().join("servers/s/data");
    let mut kept = fs::File::create(data.join("kept")).unwrap();
    kept.write_all(&vec![1; 25 << 20]).unwrap();
    let is_not_begun = |bridge: &Bridge| {
        let error = bridge.call("connect_server", &json!({"server_id": "s"})).unwrap_err();
        assert_eq!(error.details["cause"], "disk_full", "{error:?}");
        assert!(!home.path().join("servers/s/tmp/grows").exists(), "it was not begun");
        error.message
    };
    let message = is_not_begun(&bridge);
    drop(bridge);
    let bridge = Bridge::start(&home);
    assert_eq!(is_not_begun(&bridge), message, "another bridge, which has not started it yet");
    kept.set_len(0).unwrap();
    bridge.connect("s");
}

#[test]
fn a_home_that_is_read_only_can_be_looked_at_and_says_what_it_cannot_do() {
    if !is_root("a_home_that_is_read_only_can_be_looked_at_and_says_what_it_cannot_do") {
        return;
    }
    let home = Home::new();
    let disk = SmallDisk::below(&home, 64);
    let mut bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let granted =
        home.harbor(&["grant", "https://a.example", "mcp:tools.call", "--tool", "s/echo", "--always"]);
    assert_eq!(granted.2, Some(0), "{granted:?}");
    bridge.kill();
    wait_until("nobody to write there", LIMIT, || disk.make_read_only(true).is_ok());

    for (asked, answer) in [("list", "misbehaving-server"), ("grants", "https://a.example"), ("status", "s ")]
    {
        let (out, err, code) = home.harbor(&[asked]);
        assert!(code == Some(0) && out.contains(answer), "{asked}: {out}{err}");
    }
    for refused in
        [&["start", "s"][..], &["call", "s/echo"], &["revoke", "https://a.example", "mcp:tools.call"]]
    {
        let (_, err, code) = home.harbor(refused);
        assert!(code != Some(0) && err.contains("on a read-only file system"), "{refused:?}: {err}");
    }
    let _ = home.harbor(&["shutdown"]);
    disk.make_read_only(false).unwrap();
    let (out, err, _) = home.harbor(&["start", "s"]);
    assert!(out.contains("s is running"), "{out}{err}");
    let _ = home.harbor(&["shutdown"]);
}
