//! A log that cannot be written: nothing is done without it, or it is counted, as the configuration says.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use harbor_tests::client::CALL;
use harbor_tests::{Bridge, Client, Double, ErrorValue, Home, LIMIT, programs, wait_until};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use serde_json::{Value, json};

use super::{SITE, lines, path};

const OTHER: &str = "https://other.example";
const DENIED: &str = "https://denied.example";

fn health(client: &Client) -> Value {
    client.call("host_get_stats", &json!({})).unwrap()["stats"]["audit"].clone()
}

/// A call that nobody could write down shows that the disk refuses.
fn wait_for_health(client: &Client, failing: bool) {
    wait_until("the log to fail, or to be well again", LIMIT, || health(client)["failing"] == failing);
}

fn assert_refused<T: std::fmt::Debug>(result: Result<T, ErrorValue>) {
    let error = result.unwrap_err();
    assert_eq!(
        (error.code.as_str(), &error.details["cause"]),
        ("ERR_INTERNAL", &json!("audit")),
        "{error:?}"
    );
    assert!(error.message.contains("`auditRequired`") && error.message.contains("nothing was done"));
}

/// In place of the file there is a directory, which even root cannot write to. Gives where the file is.
fn put_aside(home: &Home) -> PathBuf {
    let aside = home.path().join("logs/aside");
    fs::rename(path(home), &aside).unwrap();
    fs::create_dir(path(home)).unwrap();
    aside
}

/// In one step: in a moment without either, the log would begin another file, which the old one then replaced.
fn put_back(home: &Home, aside: &Path) {
    renameat2(AT_FDCWD, aside, AT_FDCWD, &path(home), RenameFlags::RENAME_EXCHANGE).unwrap();
    fs::remove_dir(aside).unwrap();
}

#[test]
fn where_the_log_is_required_nothing_is_done_without_it() {
    let home = Home::new();
    home.configure("[host]\nauditRequired = true\n");
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let (site, other) = (bridge.speaking_for(SITE), bridge.speaking_for(OTHER));
    site.grant(CALL, "ALLOW_ALWAYS", &json!({}));
    let denied = bridge.speaking_for(DENIED);
    denied.grant(CALL, "DENY", &json!({}));
    assert_eq!(site.try_tool("s/echo"), "ok");
    // Whatever is still on its way is written before.
    assert_eq!(bridge.audit(&json!({})).len(), 4);
    let aside = put_aside(&home);

    // The grant is the first that has to wait for the disk.
    let before = bridge.all_grants();
    let fields = |grant_type: &str| json!({"scope": CALL, "grant_type": grant_type});
    for grant_type in ["ALLOW_ONCE", "ALLOW_ALWAYS"] {
        assert_refused(other.ask("host_grant_permission", &fields(grant_type)));
    }
    assert_refused(denied.ask("host_revoke_permission", &json!({"scope": CALL})));
    assert_eq!(bridge.all_grants(), before);
    assert_refused(site.tool("s/echo", &json!({})));
    assert_refused(bridge.tool("s", "echo", &json!({})));
    assert_refused(bridge.call("mcp_read_resource", &json!({"server_id": "s", "uri": "x://a"})));
    assert_eq!(double.journal().count("call"), 1);
    assert_eq!(other.try_tool("s/echo"), "ERR_SCOPE_REQUIRED", "a refusal stands");
    // Less may always be allowed.
    other.grant(CALL, "DENY", &json!({}));
    site.revoke(CALL, Some("ALLOW_ONCE"));
    assert_eq!(other.try_tool("s/echo"), "ERR_PERMISSION_DENIED");
    let unaudited = |failing: bool| json!({"failing": failing, "unaudited": 0});
    assert_eq!(health(&bridge), unaudited(true));

    put_back(&home, &aside);
    wait_for_health(&bridge, false);
    assert_eq!(site.try_tool("s/echo"), "ok");
    other.grant(CALL, "ALLOW_ONCE", &json!({}));
    // What was refused meanwhile is told of once it can be, in its order; what was not done is not.
    let told: Vec<_> =
        lines(&home).iter().map(|line| json!([line["event"], line["origin"], line["code"]])).collect();
    let (none, refused) = (Value::Null, "ERR_INTERNAL");
    let wanted = [
        json!(["add_server", none, none]),
        json!(["grant", SITE, none]),
        json!(["grant", DENIED, none]),
        json!(["call", SITE, none]),
        json!(["call", SITE, refused]),
        json!(["call", none, refused]),
        json!(["refused", OTHER, "ERR_SCOPE_REQUIRED"]),
        json!(["grant", OTHER, none]),
        json!(["refused", OTHER, "ERR_PERMISSION_DENIED"]),
        json!(["call", SITE, none]),
        json!(["grant", OTHER, none]),
    ];
    assert_eq!(told, wanted);
    assert_eq!(health(&bridge), unaudited(false));
}

#[test]
fn a_call_that_nobody_can_write_down_stops_those_after_it() {
    let home = Home::new();
    home.configure("[host]\nauditRequired = true\n");
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, "ALLOW_ALWAYS", &json!({}));
    fs::remove_file(path(&home)).unwrap();
    fs::create_dir(path(&home)).unwrap();
    // It is made, and whoever made it hears nothing of what nobody could write down.
    let error = site.tool("s/echo", &json!({})).unwrap_err();
    let said = (error.code.as_str(), &error.details["cause"], &error.details["sent"]);
    assert_eq!(said, ("ERR_INTERNAL", &json!("audit"), &json!(true)), "{error:?}");
    wait_for_health(&bridge, true);
    assert_refused(site.tool("s/echo", &json!({})));
    fs::remove_dir(path(&home)).unwrap();
    wait_for_health(&bridge, false);
    assert_eq!(site.try_tool("s/echo"), "ok");
}

#[test]
fn where_the_log_is_required_a_killed_bridge_has_lost_no_line_of_an_answered_call() {
    const CALLS: usize = 60;
    let home = Home::new();
    home.configure("[host]\nauditRequired = true\n");
    let mut bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, "ALLOW_ALWAYS", &json!({}));
    for _ in 0..CALLS / 2 {
        assert!(site.try_tool("s/echo") == "ok" && bridge.tool("s", "echo", &json!({})).is_ok());
    }
    bridge.kill();
    let lines = lines(&home);
    let calls: Vec<_> = lines.iter().filter(|line| line["event"] == "call").collect();
    assert!(calls.iter().all(|line| line["decision"] == "allowed" && line["code"] == Value::Null));
    assert_eq!(calls.len(), CALLS);
}

/// In place of the directory there is a link to nowhere: nothing can be written there, and nothing be read.
#[test]
fn where_it_is_not_required_all_goes_on_and_is_written_later() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/echo"]}));
    let (logs, aside) = (home.path().join("logs"), home.path().join("aside"));
    fs::rename(&logs, &aside).unwrap();
    symlink(home.path().join("nowhere"), &logs).unwrap();

    assert_eq!(site.try_tool("s/sleep"), "ERR_TOOL_NOT_ALLOWED");
    site.grant(CALL, "ALLOW_ONCE", &json!({}));
    assert_eq!([(); 3].map(|()| site.try_tool("s/sleep")), ["ok", "ok", "ok"]);
    bridge.speaking_for(OTHER).grant(CALL, "DENY", &json!({}));
    let said = bridge.call("host_get_audit", &json!({})).unwrap();
    assert_eq!((&said["failing"], &said["records"]), (&json!(true), &json!([])), "{}", said.text);
    let unaudited = |failing: bool| json!({"failing": failing, "unaudited": 0});
    assert_eq!(health(&bridge), unaudited(true));

    fs::remove_file(&logs).unwrap();
    fs::rename(&aside, &logs).unwrap();
    wait_for_health(&bridge, false);
    assert_eq!(site.try_tool("s/echo"), "ok");
    let told: Vec<_> =
        bridge.audit(&json!({})).iter().map(|line| json!([line["event"], line["tool"]])).collect();
    let wanted = [
        json!(["add_server", null]),
        json!(["grant", null]),
        json!(["refused", "sleep"]),
        json!(["grant", null]),
        json!(["call", "sleep"]),
        json!(["call", "sleep"]),
        json!(["call", "sleep"]),
        json!(["grant", null]),
        json!(["call", "echo"]),
    ];
    assert_eq!(told, wanted);
    assert_eq!(health(&bridge), unaudited(false));
}

/// The bridge, whose `logs` is a disk of 4 MiB. Also the way to that from here.
fn on_a_small_disk(home: &Home) -> (Bridge, PathBuf) {
    let script = "mkdir -p -m 700 \"$HARBOR_HOME/logs\" && \
        mount -t tmpfs -o size=4m,mode=700 none \"$HARBOR_HOME/logs\" && exec \"$0\" \"$@\"";
    let mut usual = home.command("harbor-bridge");
    usual.args(["serve", "--stdio"]);
    let words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script];
    let mut command = programs::behind(&words, &usual);
    let bridge = Bridge::start_as(home, &mut command);
    let root = format!("/proc/{}/root", bridge.process().pid);
    let logs = Path::new(&root).join(home.path().join("logs").strip_prefix("/").unwrap());
    (bridge, logs)
}

/// Somebody else fills the disk while one call follows the other.
#[test]
fn where_the_log_is_required_no_call_is_made_that_it_has_no_room_for() {
    let home = Home::new();
    fs::create_dir(home.path()).unwrap();
    home.configure("[host]\nauditRequired = true\n\n[limits]\ncallsPerMinutePerOrigin = 0\n");
    let (bridge, logs) = on_a_small_disk(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    assert_eq!(health(&bridge)["failing"], false);
    fs::write(logs.join("filler"), vec![0; 8 * 1024 * 1024]).unwrap_err();
    wait_until("calls to be refused", LIMIT, || {
        let sent: Vec<_> = (0..16).map(|_| bridge.send_tool("s", "echo", &json!({}))).collect();
        sent.into_iter().filter(|sent| sent.wait(LIMIT).is_err()).count() > 0
    });
    for _ in 0..3 {
        assert_refused(bridge.tool("s", "echo", &json!({})));
    }
    fs::remove_file(logs.join("filler")).unwrap();
    wait_for_health(&bridge, false);
    bridge.tool("s", "echo", &json!({})).unwrap();
    let _ = bridge.audit(&json!({"limit": 1}));
    let text = fs::read_to_string(logs.join("audit.jsonl")).unwrap();
    let made = text.lines().filter(|line| line.contains("\"call\"") && !line.contains("\"code\"")).count();
    assert_eq!(made, double.journal().count("call"));
    assert_eq!(health(&bridge), json!({"failing": false, "unaudited": 0}));
}

/// The person's own attempts have no limit, and must not take the places of calls that were made.
#[test]
fn a_flood_of_calls_that_the_log_refuses_makes_few_lines_and_is_counted() {
    let home = Home::new();
    home.configure("[host]\nauditRequired = true\n");
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    assert_eq!(bridge.audit(&json!({})).len(), 1);
    let aside = put_aside(&home);
    let made = bridge.tool("s", "echo", &json!({})).unwrap_err();
    assert_eq!(made.details["sent"], true, "it was made, and its answer waits for its line: {made:?}");
    wait_for_health(&bridge, true);
    for _ in 0..500 {
        assert_refused(bridge.tool("s", "echo", &json!({})));
    }
    put_back(&home, &aside);
    wait_for_health(&bridge, false);
    let lines = lines(&home);
    let of = |decision| {
        lines.iter().filter(|line| line["event"] == "call" && line["decision"] == decision).count()
    };
    assert_eq!(of("allowed"), 1, "the call that was made");
    assert!((1..=100).contains(&of("denied")), "{}", of("denied"));
}

/// A limit of the process instead of a full disk: the kernel has a signal for that, which ends a process.
#[test]
fn a_log_that_may_not_grow_is_one_that_cannot_be_written() {
    let home = Home::new();
    home.configure("[host]\nauditRequired = true\n");
    let mut usual = home.command("harbor-bridge");
    usual.args(["serve", "--stdio"]);
    // More than the bridge takes beforehand: some file systems refuse that already.
    let limited = "ulimit -f 4096 && exec \"$0\" \"$@\"";
    let bridge = Bridge::start_as(&home, &mut programs::behind(&["bash", "-c", limited], &usual));
    bridge.add_and_connect("s", &Double::sound(&home));
    let room = 4096 * 1024 - fs::metadata(path(&home)).unwrap().len();
    let line = format!("{}\n", json!({"event": "x".repeat(8000)}));
    let lines = line.repeat(usize::try_from(room).unwrap() / line.len());
    OpenOptions::new().append(true).open(path(&home)).unwrap().write_all(lines.as_bytes()).unwrap();
    let try_it = || bridge.tool("s", "echo", &json!({}));
    wait_until("calls to be refused", LIMIT, || try_it().is_err());
    assert_refused(try_it());
    fs::remove_file(path(&home)).unwrap();
    wait_for_health(&bridge, false);
    try_it().unwrap();
}

/// What the bridge says of itself finds no room, either.
#[test]
fn a_bridge_that_cannot_log_serves() {
    let home = Home::new();
    let mut usual = home.command("harbor-bridge");
    usual.args(["serve", "--stdio"]);
    let script = "exec \"$0\" \"$@\" 2>/dev/full";
    let mut bridge = Bridge::start_as(&home, &mut programs::behind(&["sh", "-c", script], &usual));
    bridge.add_and_connect("s", &Double::sound(&home));
    fs::remove_file(path(&home)).unwrap();
    fs::create_dir(path(&home)).unwrap();
    bridge.tool("s", "echo", &json!({})).unwrap();
    wait_for_health(&bridge, true);
    fs::remove_dir(path(&home)).unwrap();
    wait_for_health(&bridge, false);
    assert!(bridge.stop().success());
}
