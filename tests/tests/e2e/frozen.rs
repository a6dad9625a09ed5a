//! What does not answer holds up nothing else: a log that nobody reads, a disk that stands still.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use harbor_tests::npm_registry::NpmRegistry;
use harbor_tests::processes::assert_gone;
use harbor_tests::rights::{is_root, left_out};
use harbor_tests::{Bridge, Client, DOWN_LIMIT, Double, Home, LIMIT, PROMPT, Process, programs, wait_until};
use nix::fcntl::OFlag;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// What is wrong by now: a word for each.
fn wrong(client: &Client) -> Vec<(String, String)> {
    let health = client.request("health", &json!({})).wait(PROMPT).unwrap()["health"].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let reasons = health["reasons"].as_array().unwrap();
    reasons.iter().map(|reason| (text(&reason["code"]), text(&reason["message"]))).collect()
}

fn has(client: &Client, code: &str) -> bool {
    wrong(client).iter().any(|(found, _)| found == code)
}

/// A pipe with a name, which the test reads if it wants to.
fn pipe(path: &Path) -> File {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let flags = OFlag::O_NONBLOCK.bits();
    File::options().read(true).write(true).custom_flags(flags).open(path).unwrap()
}

/// The bridge, its log at this path.
fn logging_to(home: &Home, path: &Path) -> Bridge {
    let script = format!("exec \"$0\" \"$@\" 2>'{}'", path.display());
    let mut usual = home.command("harbor-bridge");
    usual.args(["serve", "--stdio"]).env("HARBOR_LOG", "debug");
    Bridge::start_as(home, &mut programs::behind(&["sh", "-c", &script], &usual))
}

#[test]
fn a_log_that_nobody_reads_holds_up_nothing_and_health_says_so() {
    let home = Home::new();
    let mut log = pipe(&home.scratch("log"));
    let fill = |log: &mut File| {
        for size in [4096, 1] {
            while log.write(&vec![b'x'; size]).is_ok() {}
        }
    };
    let empty = |log: &mut File| {
        let mut bytes = vec![0; 1 << 20];
        let length = log.read(&mut bytes).unwrap_or_default();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    fill(&mut log);
    let mut bridge = logging_to(&home, &home.scratch("log"));
    bridge.add_and_connect("s", &Double::sound(&home));
    wait_until("health to say so", LIMIT, || has(&bridge, "log_failing"));
    let (_, message) = wrong(&bridge).into_iter().find(|(code, _)| code == "log_failing").unwrap();
    assert_eq!(
        message,
        "the bridge's own log cannot be written: stderr accepts nothing; 0 lines were dropped"
    );
    assert_eq!(bridge.tool_text("s", "echo", &json!({})), "{}");
    let mut read = String::new();
    wait_until("what was said first", LIMIT, || {
        read += &empty(&mut log);
        read.contains("serving build=")
    });
    wait_until("it to be well again", LIMIT, || !has(&bridge, "log_failing"));
    fill(&mut log);
    bridge.signal(Signal::SIGTERM);
    assert!(bridge.wait(DOWN_LIMIT).is_some_and(|status| status.success()));
}

/// Whether a test can have a file system of its own; if not, says what was left out.
fn can_mount(what: &str) -> bool {
    let there = Path::new("/dev/loop-control").exists();
    if !there {
        left_out(what, "there are no loop devices");
    }
    there && is_root(what)
}

/// A file system of its own.
struct Disk(PathBuf);

impl Disk {
    fn new(image: &Path, at: &Path) -> Self {
        File::create(image).and_then(|file| file.set_len(32 << 20)).unwrap();
        fs::create_dir(at).unwrap();
        let [image, place] = [image, at].map(|path| path.to_str().unwrap());
        run(Command::new("mkfs.ext4").args(["-q", image]));
        run(Command::new("mount").args(["-o", "loop", image, place]));
        fs::set_permissions(at, fs::Permissions::from_mode(0o700)).unwrap();
        Self(at.to_owned())
    }

    /// It stands still until what this gives is dropped.
    fn freeze(&self) -> Frozen<'_> {
        run(Command::new("fsfreeze").arg("-f").arg(&self.0));
        Frozen(self)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        run(Command::new("umount").arg("-l").arg(&self.0));
    }
}

struct Frozen<'a>(&'a Disk);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        run(Command::new("fsfreeze").arg("-u").arg(&self.0.0));
    }
}

fn run(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

#[test]
fn a_disk_that_stands_still_holds_up_no_call_no_health_and_no_end() {
    let name = "a_disk_that_stands_still_holds_up_no_call_no_health_and_no_end";
    if !can_mount(name) {
        return;
    }
    let home = Home::new();
    let disk = Disk::new(&home.scratch("image"), &home.path());
    let log = home.path().join("log");
    let mut bridge = logging_to(&home, &log);
    let doubles = ["s", "t"].map(|id| {
        let double = Double::sound(&home);
        bridge.add(id, &double);
        double
    });
    let server = Process::named_by(&bridge.connect("s")["pid"]);
    let _ = bridge.watch();
    let frozen = disk.freeze();

    for _ in 0..20 {
        assert_eq!(bridge.tool_text("s", "echo", &json!({})), "{}");
    }
    // Starts and changes need the disk, and wait for it alone.
    let start = bridge.request("mcp_connect", &json!({"server_id": "t"}));
    let add = bridge.request("add_server", &doubles[1].definition("u"));
    let remove = bridge.request("remove_server", &json!({"server_id": "t"}));
    assert_eq!(bridge.tool_text("s", "echo", &json!({})), "{}");
    server.signal(Signal::SIGKILL);
    let _ = bridge.wait_for_state("s", "crashed");
    wait_until("health to say that the log stands still", LIMIT, || has(&bridge, "log_failing"));
    assert!(bridge.request("ping", &json!({})).wait(PROMPT).is_ok());
    assert_eq!([&start, &add, &remove].map(harbor_tests::Pending::is_open), [true; 3]);

    let tree = bridge.tree();
    bridge.signal(Signal::SIGTERM);
    let (own, below) = tree.split_first().unwrap();
    assert_gone(below, DOWN_LIMIT);
    // What is still to be written keeps a thread of it in the kernel; nothing of it runs any more.
    assert_gone(&[*own], DOWN_LIMIT);
    drop(frozen);
    assert!(bridge.wait(DOWN_LIMIT).is_some_and(|status| status.success()));
}

#[test]
fn a_disk_that_has_room_again_is_well_without_another_change() {
    if !can_mount("a_disk_that_has_room_again_is_well_without_another_change") {
        return;
    }
    let home = Home::new();
    let _disk = Disk::new(&home.scratch("image"), &home.path());
    let bridge = Bridge::start(&home);
    let add = |id: &str| bridge.call("add_server", &json!({"server_id": id, "command": "/bin/true"}));
    add("s").unwrap();
    let filler = home.path().join("filler");
    let mut file = File::create(&filler).unwrap();
    for size in [1 << 16, 1] {
        while file.write(&vec![0; size]).is_ok_and(|written| written > 0) {}
    }
    assert!(add("t").is_err());
    assert!(has(&bridge, "database_failing"), "{:?}", wrong(&bridge));
    fs::remove_file(&filler).unwrap();
    drop(file);
    wait_until("all to be well", LIMIT, || wrong(&bridge).is_empty());
    add("t").unwrap();
}

#[test]
fn a_server_that_has_died_is_seen_though_its_runner_stands_still() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home).quick_restarts());
    let _ = bridge.watch();
    let server = Process::named_by(&bridge.connect("s")["pid"]);
    let runner = Process::named_by(&bridge.connection("s").unwrap()["runner_pid"]);
    runner.signal(Signal::SIGSTOP);
    server.signal(Signal::SIGKILL);
    let crashed = |event: &Value| event["server_id"] == "s" && event["new_state"] == "crashed";
    let _ = bridge.wait_for_event_within(LIMIT, crashed);
    assert_gone(&[runner], PROMPT);
    wait_until("another one", LIMIT, || {
        bridge.connection("s").is_some_and(|now| now["runner_pid"] != runner.pid)
    });
    assert_eq!(bridge.tool_text("s", "echo", &json!({})), "{}");
}

#[test]
fn the_tools_of_a_server_that_stands_still_are_those_that_it_listed_last() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let pids = ["a", "b", "c"].map(|id| {
        let connected = bridge.add_and_connect(id, &Double::sound(&home));
        Process::named_by(&connected["pid"])
    });
    let shown = home.done(&["tools"]);
    assert!(["a/echo", "b/echo", "c/echo"].iter().all(|tool| shown.contains(tool)), "{shown}");
    pids[..2].iter().for_each(|server| server.signal(Signal::SIGSTOP));
    let began = Instant::now();
    let (found, said, code) = home.harbor(&["tools"]);
    assert!(began.elapsed() < PROMPT, "both were waited for at once: {:?}", began.elapsed());
    let lines =
        ["a", "b"].map(|id| format!("{id} does not answer, so these are the tools that it listed last\n"));
    assert_eq!((found, said, code), (shown, lines.concat(), Some(0)));
    let (one, said, _) = home.harbor(&["tools", "a"]);
    assert!(one.contains("a/echo") && said == lines[0], "{one}{said}");
    pids[..2].iter().for_each(|server| server.signal(Signal::SIGCONT));
}

/// Lets nobody open a file until its standard input ends.
const HOLD: &str = "
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.fanotify_mark.argtypes = [ctypes.c_int, ctypes.c_uint, ctypes.c_uint64, ctypes.c_int, ctypes.c_char_p]
asked = libc.fanotify_init(4, os.O_RDONLY)  # FAN_CLASS_CONTENT
marked = libc.fanotify_mark(asked, 1, 0x10000, -100, sys.argv[1].encode())  # FAN_MARK_ADD, FAN_OPEN_PERM
print('held' if asked >= 0 and marked == 0 else 'not to be had', flush=True)
sys.stdin.read()
";

/// A file that is opened for as long as this is there.
struct Held(Child);

impl Held {
    /// None: this kernel does not have it.
    fn new(path: &Path) -> Option<Self> {
        let mut command = Command::new("python3");
        command.args(["-c", HOLD]).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut held = Self(command.spawn().unwrap());
        let mut said = String::new();
        BufReader::new(held.0.stdout.take().unwrap()).read_line(&mut said).unwrap();
        (said == "held\n").then_some(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

#[test]
fn a_package_that_takes_long_to_read_holds_up_its_own_server_only() {
    let name = "a_package_that_takes_long_to_read_holds_up_its_own_server_only";
    if !is_root(name) {
        return;
    }
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a"], "first");
    let bridge = registry.bridge(&home);
    bridge.ask("install_server", &json!({"source": "npm:tiny"}));
    bridge.add_and_connect("s", &Double::sound(&home));
    let stamp = home.path().join("servers/tiny/package/1/installed.json");
    let Some(held) = Held::new(&stamp) else {
        return left_out(name, "the kernel asks nobody who may open a file");
    };
    let change = bridge.request("set_sandbox", &json!({"server_id": "tiny", "sandbox": {"nice": 3}}));
    for _ in 0..20 {
        assert!(bridge.request("ping", &json!({})).wait(PROMPT).is_ok());
        assert_eq!(bridge.tool_text("s", "echo", &json!({})), "{}");
    }
    assert!(change.is_open());
    drop(held);
    assert!(change.wait(LIMIT).is_ok());
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "1.0.0", "it is there, and not installed again");
}
