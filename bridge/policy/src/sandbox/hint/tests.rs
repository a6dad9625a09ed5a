//! Real messages of real programs, what is no refusal, and whatever comes.

use std::borrow::Cow;

use harbor_ipc_proto::client::{Level, NetworkKind, SandboxSettings};
use harbor_ipc_proto::link::sandbox::Offer;
use proptest::prelude::*;

use super::advice::RUN_OUTSIDE;
use super::*;
use crate::sandbox::paths::clean;
use crate::sandbox::{NamedPath, SandboxFacts, profile};

/// The first refusal of a path in a text.
fn denied(text: &str) -> Option<PathRefusal> {
    said(text).into_iter().find_map(|said| match said {
        Said::Refused(refusal) => Some(refusal),
        Said::Lacks(_) => None,
    })
}

/// The first that is lacking.
fn lacks(text: &str) -> Option<Lack<'static>> {
    said(text).into_iter().find_map(|said| match said {
        Said::Refused(_) => None,
        Said::Lacks(lack) => Some(lack),
    })
}

fn read(path: &str) -> Option<PathRefusal> {
    Some(PathRefusal { path: path.into(), write: false, missing: false })
}

fn write(path: &str) -> Option<PathRefusal> {
    Some(PathRefusal { path: path.into(), write: true, missing: false })
}

fn missing(path: &str) -> Option<PathRefusal> {
    Some(PathRefusal { path: path.into(), write: false, missing: true })
}

#[test]
fn real_messages_are_read() {
    for (text, wanted) in [
        // Node.
        ("Error: EACCES: permission denied, open '/x/y'", read("/x/y")),
        ("Error: EPERM: operation not permitted, mkdir '/x/y'", write("/x/y")),
        ("[Error: EROFS: read-only file system, open '/x/y.txt'] {", write("/x/y.txt")),
        ("EACCES: permission denied, rename '/x/a.tmp' -> '/x/a'", write("/x/a")),
        ("Error: EACCES: permission denied, copyfile '/a/from' -> '/b/to'", write("/b/to")),
        ("Error: ENOENT: no such file or directory, stat '/home/u/notes'", missing("/home/u/notes")),
        ("\u{1b}[31mError: EACCES: permission denied, scandir '/x'\u{1b}[39m", read("/x")),
        (r#"{"text":"EACCES: permission denied, open \"/x/y z\""}"#, read("/x/y z")),
        // Python.
        ("PermissionError: [Errno 13] Permission denied: '/x/y'", read("/x/y")),
        ("PermissionError: [Errno 1] Operation not permitted: '/a' -> '/b'", read("/b")),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/x/y'", missing("/x/y")),
        ("OSError: [Errno 30] Read-only file system: '/x/y'", write("/x/y")),
        // C and shells.
        ("cat: /x/my file: Permission denied", read("/x/my file")),
        ("cat: /x/writing/y: Permission denied", read("/x/writing/y")),
        ("/usr/bin/cat: /x/y: Permission denied", read("/x/y")),
        ("bash: line 1: /x/y: Permission denied", read("/x/y")),
        ("ls: cannot open directory '/root': Permission denied", read("/root")),
        ("mkdir: cannot create directory \u{2018}/x/y\u{2019}: Permission denied", write("/x/y")),
        ("touch: cannot touch '/x/y': Read-only file system", write("/x/y")),
        ("rm: cannot remove '/x/y': Operation not permitted", write("/x/y")),
        ("fatal: could not open `/x/y' for writing: Permission denied", write("/x/y")),
        ("/usr/bin/chromium: 77: .: cannot open /etc/chromium.d/*: No such file", missing("/etc/chromium.d")),
        // Go.
        ("2024/01/02 03:04:05 open /x/y: permission denied", read("/x/y")),
        ("mkdir /x/y: permission denied", write("/x/y")),
        ("rename /x/a /x/b: permission denied", write("/x/a")),
        ("stat /x/y: no such file or directory", missing("/x/y")),
        // Rust.
        ("Error: failed to read /x/y: Permission denied (os error 13)", read("/x/y")),
        ("failed to open file `/x/y`: Permission denied (os error 13)", read("/x/y")),
        ("Permission denied (os error 13) at path \"/x/y\"", read("/x/y")),
        ("Permission denied (os error 13): /x/y.", read("/x/y")),
        // git.
        ("fatal: '/x/repo' does not appear to be a git repository", missing("/x/repo")),
        ("fatal: not a git repository: '/x/repo'", missing("/x/repo")),
        ("fatal: repository '/x/repo' does not exist", missing("/x/repo")),
        ("git.exc.NoSuchPathError: /x/repo", missing("/x/repo")),
        ("Error executing tool git_status: /x/my repo", missing("/x/my repo")),
        // A line of several.
        ("starting\nError: EACCES: permission denied, open '/x/y'\n    at /a/b.js:1", read("/x/y")),
    ] {
        assert_eq!(denied(text), wanted, "{text:?}");
    }
}

#[test]
fn a_browser_that_may_make_no_socket_says_so() {
    let said = "FATAL:chrome/browser/process_singleton_posix.cc:297] Check failed: . socket() failed: Operation not permitted (1)";
    assert_eq!(lacks(said), Some(Lack::Socket { path: "".into(), listen: true }));
    assert_eq!(lacks("socket() failed: Operation not permitted (1)"), None);
}

#[test]
fn what_a_server_lacks_is_read() {
    let module = |name: &'static str| Some(Lack::Module(name.into()));
    let socket = |path: &'static str, listen| Some(Lack::Socket { path: path.into(), listen });
    let host = |name: &'static str| Some(Lack::Host(name.into()));
    for (text, wanted) in [
        // Modules.
        ("ModuleNotFoundError: No module named 'helper'", module("helper")),
        ("ModuleNotFoundError: No module named 'a.b'; 'a' is not a package", module("a")),
        ("Error: Cannot find module '/opt/t/lib/x.js'", module("/opt/t/lib/x.js")),
        (
            "Error: Cannot find module '../lib/x'\nRequire stack:\n- /opt/t/bin/t.js\n- /y",
            module("/opt/t/lib/x"),
        ),
        ("Error: Cannot find module 'express'\nRequire stack:\n- /opt/t/t.js", module("express")),
        ("Error: Cannot find module '@a/b/c'", module("@a/b")),
        (
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/o/lib/x.js' imported from /o/bin/t.mjs",
            module("/o/lib/x.js"),
        ),
        ("Cannot find package 'zod' imported from /o/bin/t.mjs", module("zod")),
        // Limits.
        ("MemoryError", Some(Lack::Memory)),
        ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB", Some(Lack::Memory)),
        (
            "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
            Some(Lack::Memory),
        ),
        ("OSError: [Errno 12] Cannot allocate memory", Some(Lack::Memory)),
        ("OSError: [Errno 27] File too large", Some(Lack::FileSize)),
        ("Error: EFBIG: file too large, write", Some(Lack::FileSize)),
        ("dd: error writing '/d/x': File too large", Some(Lack::FileSize)),
        ("OSError: [Errno 24] Too many open files: '/x'", Some(Lack::OpenFiles)),
        ("Error: EMFILE: too many open files, open '/x'", Some(Lack::OpenFiles)),
        ("RuntimeError: can't start new thread", Some(Lack::Threads)),
        (
            "thread 'main' panicked: failed to spawn thread: Os { code: 11, kind: WouldBlock }",
            Some(Lack::Threads),
        ),
        ("runtime: failed to create new OS thread (have 9 already; errno=11)", Some(Lack::Threads)),
        ("RangeError: Array buffer allocation failed", Some(Lack::Memory)),
        ("bash: fork: retry: Resource temporarily unavailable", Some(Lack::Processes)),
        ("Error: spawn /usr/bin/git EAGAIN", Some(Lack::Processes)),
        ("java.lang.OutOfMemoryError: unable to create native thread", Some(Lack::Threads)),
        // Sockets.
        ("Error: listen EPERM: operation not permitted /d/x.sock", socket("/d/x.sock", true)),
        ("Error: connect EPERM /run/x - Local (undefined:undefined)", socket("/run/x", false)),
        ("Error: connect ENOENT /run/x", socket("/run/x", false)),
        ("Error: EACCES: permission denied, open '/tmp/tsx-0/1.pipe'", socket("/tmp/tsx-0/1.pipe", false)),
        (
            "dial unix /var/run/docker.sock: socket: operation not permitted",
            socket("/var/run/docker.sock", false),
        ),
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it",
            socket("/var/run/docker.sock", false),
        ),
        (
            "connection to server on socket \"/run/postgresql/.s.PGSQL.5432\" failed: Operation not permitted",
            socket("/run/postgresql/.s.PGSQL.5432", false),
        ),
        (
            "  File \"/usr/lib/python3.13/asyncio/unix_events.py\", line 3, in create_unix_server\n    \
             sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)\n           ~~~~^^^\n  \
             _socket.socket.__init__(self, family, type, proto, fileno)\n\
             PermissionError: [Errno 1] Operation not permitted",
            socket("", true),
        ),
        ("failed to bind socket: '/d/control': Operation not permitted", socket("/d/control", true)),
        // Hosts.
        ("Error: getaddrinfo ENOTFOUND api.example.com", host("api.example.com")),
        ("getaddrinfo EAI_AGAIN API.Example.com:443", host("api.example.com")),
        ("curl: (6) Could not resolve host: example.com", host("example.com")),
        ("dial tcp: lookup example.com on 127.0.0.53:53: no such host", host("example.com")),
        (
            "HTTPSConnectionPool(host='example.com', port=443): NameResolutionError(\"Failed to resolve 'example.com' \
             ([Errno -3] Temporary failure in name resolution)\")",
            host("example.com"),
        ),
        ("wget: unable to resolve host address \u{2018}example.com\u{2019}", host("example.com")),
    ] {
        assert_eq!(lacks(text), wanted, "{text:?}");
    }
}

#[test]
fn what_a_server_may_not_do_is_read() {
    let attributes = |path: &'static str| Some(Lack::Attributes(path.into()));
    for (text, wanted) in [
        ("error: chmod on /d/c.lock failed: Operation not permitted", attributes("/d/c.lock")),
        ("Error: EPERM: operation not permitted, chmod '/d/x'", attributes("/d/x")),
        ("chmod: changing permissions of '/d/x': Operation not permitted", attributes("/d/x")),
        ("cp: preserving times for '/d/chmod': Operation not permitted", attributes("/d/chmod")),
    ] {
        assert_eq!(lacks(text), wanted, "{text:?}");
    }
}

#[test]
fn what_others_limit_is_not_lacking() {
    for text in [
        "File too large (max 10 MB)",
        "[Errno 240] x",
        "too many open files in system",
        "Error: EMFILE: too many open files, watch '/x'",
        "Resource temporarily unavailable",
        "PermissionError: [Errno 1] Operation not permitted",
        "listen EADDRINUSE: address already in use /x.sock",
        "listen: permission denied",
        "0.0.0.0: permission denied",
        "open '/d/listen/0.0.0.0': permission denied",
        "chmod /d/x: permission denied",
        "open /d/chmod: operation not permitted",
        "Error: Cannot find module './x'\nat load",
        "Cannot find module '../\u{202e}'\nRequire stack:\n- /x/y.js",
        "No module named '../../x y'",
        "getaddrinfo ENOTFOUND localhost",
        "getaddrinfo ENOTFOUND $(x).example",
        "https://example.com/ is down",
    ] {
        assert_eq!(lacks(text), None, "{text:?}");
    }
}

fn facts() -> SandboxFacts {
    SandboxFacts {
        home: Some("/home/u".into()),
        harbor_home: "/home/u/.harbor".into(),
        data: "/home/u/.harbor/servers/s/data".into(),
        tmp: "/home/u/.harbor/servers/s/tmp".into(),
        socket: "/home/u/.harbor/run/bridge.sock".into(),
        ..SandboxFacts::default()
    }
}

/// What is said of a lack: what, only if there is what, and the option or why there is none.
fn hinted(
    lack: &Lack<'_>,
    settings: &SandboxSettings,
    facts: &SandboxFacts,
) -> Vec<(String, Option<String>, String)> {
    hinted_on(lack, settings, facts, true)
}

/// The same with namespaces or without.
fn hinted_on(
    lack: &Lack<'_>,
    settings: &SandboxSettings,
    facts: &SandboxFacts,
    namespaces: bool,
) -> Vec<(String, Option<String>, String)> {
    let offer = Offer { landlock: 7, seccomp: true, namespaces, why_no_namespaces: "".into(), answers: true };
    let profile = profile(settings, facts, &offer).unwrap();
    let shown =
        |hint: Hint| (hint.what, hint.only_if, hint.advice.map_or_else(|why| why, |advice| advice.option));
    hints(lack, &profile, facts).into_iter().map(shown).collect()
}

#[test]
fn limits_are_doubled_up_to_the_most_that_can_be_set() {
    let settings =
        SandboxSettings { open_files: Some(600_000), memory_mb: Some(1 << 20), ..Default::default() };
    let hinted = |lack| hinted(&lack, &settings, &facts());
    let said = |what: &str, option: &str| vec![(what.to_owned(), None, option.to_owned())];
    assert_eq!(hinted(Lack::FileSize), said("larger files than 1024 MiB", "--file-size 2048"));
    assert_eq!(hinted(Lack::Processes), said("more processes and threads than 512", "--processes 1024"));
    assert_eq!(hinted(Lack::OpenFiles), said("more open files than 600000", "--open-files 1048576"));
    assert_eq!(hinted(Lack::Memory), []);
}

#[test]
fn threads_need_room_for_their_stacks() {
    let of = |processes, memory_mb| {
        let settings =
            SandboxSettings { processes: Some(processes), memory_mb: Some(memory_mb), ..Default::default() };
        hinted(&Lack::Threads, &settings, &facts()).pop().map(|(what, _, option)| (what, option))
    };
    let said = |what: &str, option: &str| Some((what.to_owned(), option.to_owned()));
    let short = "more threads than 512, or than 2048 MiB have room for (8 MiB each)";
    assert_eq!(of(512, 2_048), said(short, "--processes 1024 --memory 8192"));
    assert_eq!(of(100, 1_024), said("more threads than 100", "--processes 200 --memory 1600"));
    assert_eq!(of(100, 2_048), said("more threads than 100", "--processes 200"));
    assert_eq!(of(65_536, 1 << 19), None);
}

#[test]
fn who_may_not_listen_is_told_of_the_port_that_would_be_granted() {
    let of = |port, listen, namespaces| {
        let settings = SandboxSettings { listen, ..SandboxSettings::default() };
        hinted_on(&Lack::Listen(port), &settings, &facts(), namespaces).pop().map(|(_, _, option)| option)
    };
    assert_eq!(of(9009, None, true).unwrap(), "--listen 9009");
    assert_eq!(of(9009, Some(9008), false).unwrap(), "--listen 9009");
    assert!(of(9009, Some(9009), true).unwrap().contains("only at 127.0.0.1 and ::1"));
    assert!(of(80, None, true).unwrap().starts_with("ports below 1024"));
    assert_eq!(of(0, None, true).unwrap(), "--network loopback");
    assert!(of(0, None, false).unwrap().ends_with("needs namespaces, which do not work here"));
    for settings in [
        SandboxSettings { network: Some(NetworkKind::Loopback), ..SandboxSettings::default() },
        SandboxSettings { level: Some(Level::Off), ..SandboxSettings::default() },
    ] {
        assert_eq!(hinted(&Lack::Listen(9009), &settings, &facts()), []);
    }
}

#[test]
fn nothing_changes_its_own_modes_without_namespaces() {
    let own = "/home/u/.harbor/servers/s/data/x";
    let of = |path: &'static str, namespaces| {
        hinted_on(&Lack::Attributes(path.into()), &SandboxSettings::default(), &facts(), namespaces).pop()
    };
    let (what, only_if, why) = of(own, false).unwrap();
    assert_eq!((what, only_if), (format!("changing the mode, owner, times or attributes of {own}"), None));
    assert!(why.ends_with("not even of its own files"), "{why}");
    assert_eq!(of(own, true), None);
    assert_eq!(of("/srv/x", false), None, "that is a path to be written");
}

#[test]
fn hosts_matter_where_not_all_are_reached() {
    let of = |network, hosts: Option<&str>, host: &str| {
        let hosts = hosts.map(|host| vec![host.to_owned()]);
        let settings = SandboxSettings { network: Some(network), hosts, ..SandboxSettings::default() };
        let host = Cow::Borrowed(host);
        hinted(&Lack::Host(host), &settings, &facts()).pop().map(|(_, _, option)| option)
    };
    let option = Some("--host a.example.com".to_owned());
    assert_eq!(of(NetworkKind::All, None, "a.example.com"), None);
    assert_eq!(of(NetworkKind::None, None, "a.example.com"), option);
    assert_eq!(of(NetworkKind::Loopback, None, "a.example.com"), option);
    assert_eq!(of(NetworkKind::Hosts, Some("b.example.com"), "a.example.com"), option);
    let allowed = of(NetworkKind::Hosts, Some("*.example.com"), "a.example.com").unwrap();
    assert!(allowed.starts_with("it is allowed, but the program looks up its address itself"), "{allowed}");
}

#[test]
fn sockets_are_allowed_by_their_own_option() {
    let of = |path: &'static str, listen, sockets: Option<&str>| {
        let sockets = sockets.map(|path| vec![path.to_owned()]);
        let settings = SandboxSettings { sockets, ..SandboxSettings::default() };
        hinted(&Lack::Socket { path: path.into(), listen }, &settings, &facts()).pop()
    };
    let said = |what: &str, only_if: Option<&str>, option: &str| {
        Some((what.to_owned(), only_if.map(str::to_owned), option.to_owned()))
    };
    let own = "--socket /home/u/.harbor/servers/s/tmp";
    assert_eq!(of("", true, None), said("Unix sockets of its own", None, own));
    assert_eq!(of("/tmp/x", true, None), said("the socket /tmp/x", None, own), "its /tmp is its own");
    let data = "/home/u/.harbor/servers/s/data/x";
    let wanted = said(&format!("the socket {data}"), None, "--socket /home/u/.harbor/servers/s/data");
    assert_eq!(of(data, true, None), wanted);
    assert_eq!(of(data, true, Some("/home/u/.harbor/servers/s/data")), None, "it is allowed already");
    let (what, only_if, option) = of("/tmp/x", false, Some("/home/u/.harbor/servers/s/tmp")).unwrap();
    assert_eq!((what, only_if), ("the socket /tmp/x".into(), Some("/tmp/x".into())), "that of all others");
    assert_eq!(option, "--socket /tmp/x");
    let docker = "/var/run/docker.sock";
    let wanted = said("the socket /var/run/docker.sock", Some(docker), "--socket /var/run/docker.sock");
    assert_eq!(of(docker, false, None), wanted);
    assert_eq!(of(docker, false, Some(docker)), None);
    let (_, only_if, why) = of("/srv/x.sock", true, None).unwrap();
    assert!(
        only_if.unwrap() == "/srv" && why.starts_with("it may listen only in its own directories"),
        "{why}"
    );
    let (_, _, why) = of("/home/u/.harbor/run/bridge.sock", false, None).unwrap();
    assert!(why.contains("never"), "{why}");
}

#[test]
fn a_module_is_looked_for_where_its_script_stands_alone() {
    let named = |path: &str, is_cwd| NamedPath { path: path.into(), package_root: None, is_cwd };
    let facts = SandboxFacts {
        named: vec![named("/srv/a/s.py", false), named("/srv/cwd", true), named("/home/u/n.py", false)],
        ..facts()
    };
    let of = |name: &'static str| hinted(&Lack::Module(name.into()), &SandboxSettings::default(), &facts);
    let hint = |file: &str, option: &str| (file.to_owned(), Some(file.to_owned()), option.to_owned());
    let beside = of("x");
    assert!(beside.contains(&hint("/srv/a/x.py", "--read /srv/a")), "{beside:?}");
    assert!(beside.contains(&hint("/srv/a/node_modules/x", "--read /srv/a/node_modules")));
    assert!(beside.contains(&hint("/home/u/x.py", "--read /home/u/x.py")), "never the home");
    assert!(beside.iter().all(|(file, ..)| !file.starts_with("/srv/cwd/")));
    let (file, _, why) = &of("/home/u/.ssh/x")[0];
    assert!(file == "/home/u/.ssh/x" && why.contains("never"), "{why}");
}

/// /home/u/bin/tool leads to /opt/tool/bin/tool.js, which requires ../lib/x.
#[test]
fn a_program_behind_a_link_is_given_the_directory_that_it_requires() {
    let facts = SandboxFacts {
        program: vec!["/opt/tool/bin/tool.js".into(), "/usr/bin/node".into()],
        links: vec![("/home/u/bin/tool".into(), "/opt/tool/bin/tool.js".into())],
        ..facts()
    };
    let text = "Error: Cannot find module '../lib/x'\nRequire stack:\n- /opt/tool/bin/tool.js";
    let hints = hinted(&lacks(text).unwrap(), &SandboxSettings::default(), &facts);
    let file = "/opt/tool/lib/x.js".to_owned();
    assert!(hints.contains(&(file.clone(), Some(file.clone()), "--read /opt/tool/lib".into())), "{hints:?}");
    assert!(is_about(text, &file));
    let granted = SandboxSettings { read: Some(vec!["/opt/tool/lib".into()]), ..SandboxSettings::default() };
    assert_eq!(hinted(&lacks(text).unwrap(), &granted, &facts), [], "then it is the module that is missing");
}

#[test]
fn what_names_no_path_is_no_refusal() {
    for text in [
        "",
        "Permission denied",
        "EACCES",
        "opened /x/y",
        "GET https://example.com/x: permission denied",
        "open x/y: permission denied",
        "open '/x/../y': permission denied",
        "MYEACCES '/x'",
        "EACCES: permission denied, open '/x\u{1b}[2J'",
        "EACCES: permission denied, open '/x\u{202e}y'",
        "EACCES: permission denied, open '/'",
        "Error executing tool git_status: /x\u{1b}[2J",
        "Error: x/y",
    ] {
        assert_eq!(denied(text), None, "{text:?}");
    }
    let late = format!("{}\ncat: /x: Permission denied", "é".repeat(MAX_TEXT));
    assert_eq!(denied(&late), None);
}

#[test]
fn advice_is_what_a_shell_takes() {
    let facts = SandboxFacts {
        home: Some("/home/u".into()),
        harbor_home: "/home/u/.harbor".into(),
        ..SandboxFacts::default()
    };
    let advice = |path, write| advice(path, write, &facts).map(|advice| advice.option);
    assert_eq!(advice("/home/u/notes/a.md", false), Ok("--read /home/u/notes/a.md".into()));
    assert_eq!(advice("/home/u/notes/a.md", true), Ok("--write /home/u/notes".into()));
    assert_eq!(advice("/home/u/a.md", true), Ok("--write /home/u/a.md".into()), "never the home");
    assert_eq!(advice("/srv/it's mine", false), Ok(r"--read '/srv/it'\''s mine'".into()));
    for (path, write) in [
        ("/home/u/.ssh/id", false),
        ("/home/u/.harbor/run/token", true),
        ("/usr/x", true),
        ("/home/u", false),
    ] {
        assert!(advice(path, write).unwrap_err().contains("never"), "{path}");
    }
}

#[test]
fn advice_says_what_is_run_outside() {
    let facts = SandboxFacts {
        home: Some("/home/u".into()),
        harbor_home: "/home/u/.harbor".into(),
        ..SandboxFacts::default()
    };
    for (path, option, is_minded) in [
        ("/home/u/.bashrc", "--write /home/u/.bashrc", true),
        ("/home/u/.vimrc", "--write /home/u/.vimrc", true),
        ("/home/u/.config/autostart/x.desktop", "--write /home/u/.config/autostart", true),
        ("/home/u/bin/ls", "--write /home/u/bin", true),
        ("/home/u/proj/.git/hooks/pre-commit", "--write /home/u/proj/.git/hooks", true),
        ("/home/u/notes/a.md", "--write /home/u/notes", false),
    ] {
        let mind = is_minded.then_some(RUN_OUTSIDE);
        let written = option.strip_prefix("--write ").map(str::to_owned);
        let wanted = Advice { option: option.into(), mind, written };
        assert_eq!(advice(path, true, &facts), Ok(wanted.clone()), "{path}");
        let mind = wanted.without_its_path().mind.unwrap();
        assert!(mind.contains("create it first") && mind.contains(RUN_OUTSIDE) == is_minded, "{mind}");
    }
    let read = Advice::plain("--read /home/u/.bashrc".into());
    assert_eq!(advice("/home/u/.bashrc", false, &facts), Ok(read));
}

proptest! {
    #[test]
    fn whatever_a_server_writes_is_read_without_harm(text in "(?s).{0,200}") {
        let _ = said(&text);
    }

    #[test]
    fn what_is_found_is_plain(
        words in proptest::collection::vec(
            prop_oneof![
                Just("EACCES"), Just("permission denied"), Just(": "), Just(" "), Just("'"), Just("`"), Just("\""),
                Just("/x/y"), Just("/"), Just(" -> "), Just("\\"), Just("\u{2018}"), Just("é"), Just(".."),
                Just("ENOENT"), Just("\n"), Just("Cannot find module '"), Just("../x"), Just("\nRequire stack:\n- "),
                Just("listen "), Just("connect "), Just("chmod "), Just(" failed: "), Just("0.0.0.0"), Just("unix://"), Just("ENOTFOUND "), Just("a.example"), Just("\u{202e}"), Just("mkdir"),
            ],
            0..24,
        ),
    ) {
        for said in said(&words.concat()) {
            let (path, may_be_none) = match said {
                Said::Refused(found) => (found.path, false),
                Said::Lacks(Lack::Module(path) | Lack::Socket { path, .. } | Lack::Attributes(path)) => (path.into_owned(), true),
                Said::Lacks(_) => continue,
            };
            prop_assert!(clean(&path).as_ref() == Some(&path) || may_be_none && !path.starts_with('/'), "{:?}", path);
            prop_assert!(!path.contains(char::is_control) && !path.contains('\u{202e}'), "{:?}", path);
        }
    }
}

#[test]
fn no_command_is_made_of_what_could_be_read_otherwise_or_is_too_wide() {
    let odd = ["/srv/a\\'; touch x #", "/srv/a\u{200b}b", "/srv/a\u{3164}b"];
    for path in odd.iter().map(ToString::to_string).chain([format!("/srv/{}", "a".repeat(1100))]) {
        let why = advice(&path, false, &facts()).unwrap_err();
        assert!(why.contains("type it yourself"), "{path}: {why}");
    }
    for (path, write, wanted) in [
        ("/opt", false, None),
        ("/mnt", false, None),
        ("/opt/x", true, Some("--write /opt/x")),
        ("/srv/app/x", true, Some("--write /srv/app")),
        ("/opt/app", false, Some("--read /opt/app")),
    ] {
        let option = advice(path, write, &facts()).ok().map(|advice| advice.option);
        assert_eq!(option.as_deref(), wanted, "{path}");
    }
}
