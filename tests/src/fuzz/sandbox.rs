//! Sandboxes: what a server's words say that it was refused, settings as a client sends them, and a lowered offer.

use harbor_ipc_proto::client::{Level, NetworkKind, SandboxSettings};
use harbor_ipc_proto::field::PutField as _;
use harbor_ipc_proto::link::runner::Lack;
use harbor_ipc_proto::link::sandbox::{Network, Offer};
use harbor_policy::sandbox::hint::{Advice, Hint, Said, advice, hints, is_about, said};
use harbor_policy::sandbox::hosts::Allowed;
use harbor_policy::sandbox::offer::Lowered;
use harbor_policy::sandbox::paths::{clean, parent};
use harbor_policy::sandbox::protected::why_never;
use harbor_policy::sandbox::settings::{checked, network, numbers};
use harbor_policy::sandbox::{NamedPath, SandboxFacts, profile};

use super::Target;

pub(super) const DENIED: Target = Target {
    name: "denied",
    run: refused,
    corpus: &[
        b"Error: EACCES: permission denied, open '/x/y'\n    at /a/b.js:1",
        b"EACCES: permission denied, rename '/home/u/.ssh/a.tmp' -> '/srv/x/a'",
        b"{\"text\":\"ENOENT: no such file or directory, stat \\\"/home/u/notes\\\"\"}",
        b"PermissionError: [Errno 13] Permission denied: '/x/./y//z'",
        b"mkdir: cannot create directory \xe2\x80\x98/x/y'z\xe2\x80\x99: Permission denied",
        b"fatal: could not open `/x/y' for writing: Read-only file system",
        b"cat: /x/my file: Permission denied\ncat: /x/../y: Permission denied",
        b"rename /x/a /x/b: operation not permitted",
        b"EPERM, open '/x\xe2\x80\xaey\x1b[2J'",
        b"Permission denied (os error 13): </usr/bin/x>, /etc/shadow.",
        b"Error: Cannot find module '../lib/x'\nRequire stack:\n- /opt/tool/bin/tool.js",
        b"Cannot find module '/srv/a/x.js' imported from /srv/a/y.mjs",
        b"ModuleNotFoundError: No module named 'helper.x'",
        b"connect EPERM /var/run/docker.sock - Local (undefined:undefined)",
        b"listen EACCES: permission denied /home/u/.harbor/run/bridge.sock",
        b"multiprocessing/connection.py\nPermissionError: [Errno 1] Operation not permitted",
        b"curl: (6) Could not resolve host: api.example.com",
        b"fork: retry: Resource temporarily unavailable\nMemoryError\nEFBIG\nEMFILE",
        b"fatal: '/srv/repo' does not appear to be a git repository",
        b"",
    ],
};

pub(super) const SANDBOX_SETTINGS: Target = Target {
    name: "sandbox_settings",
    run: settings,
    corpus: &[
        br#"{"level":"strict","required":true,"network":"hosts","hosts":["*.example.com:443","[::1]:*"],"nice":19}"#,
        br#"{"level":"standard","read":["/srv/a","/usr//./b/"],"write":["/srv/w"],"sockets":["/run/postgresql/s"]}"#,
        br#"{"memory_mb":64,"processes":8,"open_files":1048576,"file_size_mb":1,"disk_mb":1048577,"nice":0}"#,
        br#"{"level":"off","network":"all","hosts":[]}"#,
        br#"{"level":"basic","network":"none"}"#,
        br#"{"network":"loopback","hosts":["a b"]}"#,
        br#"{"network":"hosts","hosts":["\u0000\u001b","ex%61mple.com"]}"#,
        br#"{"read":["/a/../b"],"write":["\ud800"],"nice":-1,"nice":1e999}"#,
        br#"{"level":null,"levle":"strict"}"#,
        b"[]",
        b"",
    ],
};

pub(super) const LOWERED: Target = Target {
    name: "lowered",
    run: lowered,
    corpus: &[
        b"landlock=3,seccomp=no,namespaces=no",
        b" landlock=0 , landlock=7,,",
        b"seccomp=yes",
        b"landlock=+4294967296",
        b"namespaces=no=no",
        b"",
    ],
};

fn facts() -> SandboxFacts {
    SandboxFacts {
        home: Some("/home/u".into()),
        harbor_home: "/home/u/.harbor".into(),
        data: "/home/u/.harbor/servers/s/data".into(),
        tmp: "/home/u/.harbor/servers/s/tmp".into(),
        socket: "/home/u/.harbor/run/bridge.sock".into(),
        proxy: "/opt/harbor/harbor-egress".into(),
        ..SandboxFacts::default()
    }
}

/// What a server says is read as lines; of what comes of it no character does anything, and it is an option and one word.
fn refused(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for said in said(&text) {
        match said {
            Said::Refused(refusal) => allowed(&text, &refusal.path, refusal.write),
            Said::Lacks(lack) => hinted(&lack),
        }
    }
}

/// A path is a clean one that stands in the text; advice is never of what is protected.
fn allowed(text: &str, path: &str, write: bool) {
    assert_eq!(clean(path).as_deref(), Some(path));
    assert!(path != "/" && !path.contains(char::is_control) && !path.contains('\u{202e}'), "{path:?}");
    assert!(path.split('/').all(|part| text.contains(part)), "{path:?}");
    assert!(is_about(&format!("'{path}'"), path), "{path:?}");
    let facts = facts();
    match advice(path, write, &facts) {
        Ok(Advice { option, .. }) => {
            let (name, word) = option.split_once(' ').expect("an option and its value");
            let granted = unquoted(word);
            assert_eq!(name, if write { "--write" } else { "--read" });
            assert!(granted == *path || write && granted == parent(path), "{option}");
            assert_eq!(why_never(&granted, &facts), None);
        }
        Err(why) => assert!(why.contains(" granted") && !why.contains(char::is_control), "{why:?}"),
    }
}

/// In every network, since hosts are of no matter where all may be reached.
fn hinted(lack: &Lack<'_>) {
    let script = NamedPath { path: "/srv/a/s.py".into(), package_root: None, is_cwd: false };
    let facts = SandboxFacts { named: vec![script], ..facts() };
    for network in [NetworkKind::All, NetworkKind::None] {
        let settings = SandboxSettings { network: Some(network), ..SandboxSettings::default() };
        let profile = profile(&settings, &facts, &full()).expect("nothing is granted");
        for Hint { what, only_if, advice } in hints(lack, &profile, &facts) {
            assert!(!what.contains(char::is_control) && !what.contains('\u{202e}'), "{what:?}");
            assert!(only_if.iter().all(|path| clean(path).as_ref() == Some(path)), "{only_if:?}");
            let Ok(Advice { option, .. }) = advice else { continue };
            // Of numbers there may be two.
            let (first, second) = option.split_once(" --memory ").unwrap_or((&option, "1"));
            let (name, word) = first.split_once(' ').expect("an option and its value");
            let granted = unquoted(word);
            let is_read = name == "--read";
            assert!(!is_read || why_never(&granted, &facts).is_none(), "{option}");
            assert!(
                is_read
                    || matches!(name, "--socket" | "--host")
                    || (name, word) == ("--network", "loopback")
                    || granted.parse::<u64>().is_ok() && second.parse::<u64>().is_ok(),
                "{option}"
            );
        }
    }
}

/// What a shell makes of a word, if it is one word and nothing else.
fn unquoted(word: &str) -> String {
    let Some(inner) = word.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) else {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@,:=".contains(&byte);
        assert!(word.bytes().all(plain), "{word:?}");
        return word.to_owned();
    };
    let parts: Vec<&str> = inner.split(r"'\''").collect();
    assert!(parts.iter().all(|part| !part.contains('\'')), "{word:?}");
    parts.join("'")
}

/// What is read is written as it was; what is checked is within its ranges, and a profile gives no more than that.
fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let read = match SandboxSettings::parse(&text) {
        Ok(read) => read,
        Err(wrong) => return known(wrong.field),
    };
    let mut written = Vec::new();
    read.put(&mut written);
    let written = String::from_utf8(written).expect("it is text");
    assert_eq!(SandboxSettings::parse(&written).as_ref(), Ok(&read));
    assert_eq!(SandboxSettings::default().with(read.clone()), read);
    match checked(&read) {
        Ok(()) => followed(&read),
        Err(wrong) => {
            known(wrong.field);
            let said = wrong.to_string();
            assert!(said.len() < 1500 && !said.contains(char::is_control), "{said:?}");
            assert_eq!(profile(&read, &facts(), &full()), Err(said));
        }
    }
}

fn known(field: &str) {
    let mut fields = SandboxSettings::DOC.fields.iter().map(|field| field.name);
    assert!(field == SandboxSettings::DOC.tag || fields.any(|name| name == field), "{field}");
}

fn full() -> Offer<'static> {
    Offer { landlock: 8, seccomp: true, namespaces: true, why_no_namespaces: "".into(), answers: true }
}

fn followed(settings: &SandboxSettings) {
    const MIB: u64 = 1 << 20;
    let numbers = numbers(settings).expect("they are in their ranges");
    assert!((64..=MIB).contains(&(numbers.memory / MIB)) && numbers.nice <= 19);
    assert!((8..=65_536).contains(&numbers.processes) && (64..=MIB).contains(&numbers.open_files));
    assert!([numbers.file_size, numbers.disk].iter().all(|size| (1..=MIB).contains(&(size / MIB))));
    let of = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
    let (hosts, level) = (of(&settings.hosts), settings.level.unwrap_or_default());
    let paths = [&settings.read, &settings.write, &settings.sockets].map(of).concat();
    assert!(paths.iter().all(|path| clean(path).is_some()), "{paths:?}");
    let kind = network(settings);
    assert_eq!(hosts.is_empty(), kind != NetworkKind::Hosts);
    assert!(Allowed::parse(&hosts).is_ok(), "{hosts:?}");
    let profile = match profile(settings, &facts(), &full()) {
        Ok(profile) => profile,
        Err(why) => {
            return assert!(!why.is_empty() && !paths.is_empty(), "{why}: only paths can be too much");
        }
    };
    assert_eq!((profile.level, profile.network), (level, kind));
    match &profile.launch.network {
        Network::Hosts { allowed, .. } => assert!(allowed.iter().eq(hosts.iter())),
        Network::Machine => assert!(matches!(level, Level::Off | Level::Basic)),
        Network::Outgoing => assert_eq!((level, kind), (Level::Standard, NetworkKind::All)),
        Network::None => assert_eq!(kind, NetworkKind::None),
        Network::Loopback => assert_eq!(kind, NetworkKind::Loopback),
    }
}

/// What is left is what both the kernel and the words have, and nothing more.
fn lowered(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let words: Vec<&str> = text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    let version = |word: &str| word.strip_prefix("landlock=").and_then(|version| version.parse::<u32>().ok());
    let is_known =
        |word: &&str| ["seccomp=no", "namespaces=no", "answers=no"].contains(word) || version(word).is_some();
    let lowered = Lowered::parse(&text);
    assert_eq!(lowered.is_some(), words.iter().all(is_known), "{text:?}");
    let Some(lowered) = lowered else { return };
    let most = words.iter().rev().find_map(|word| version(word)).unwrap_or(u32::MAX);
    for bits in 0..16 {
        let offer = Offer {
            landlock: if bits & 1 == 0 { 5 } else { 0 },
            seccomp: bits & 2 == 0,
            namespaces: bits & 4 == 0,
            why_no_namespaces: "as found".into(),
            answers: bits & 8 == 0,
        };
        let left = lowered.of(offer.clone());
        assert_eq!(left.landlock, offer.landlock.min(most));
        assert_eq!(left.seccomp, offer.seccomp && !words.contains(&"seccomp=no"));
        let answers = !words.iter().any(|word| ["seccomp=no", "answers=no"].contains(word));
        assert_eq!(left.answers, offer.answers && answers);
        assert_eq!(left.namespaces, offer.namespaces && !words.contains(&"namespaces=no"));
        assert_eq!(left.why_no_namespaces == "as found", !words.contains(&"namespaces=no"));
        assert_eq!(lowered.of(left.clone()), left);
    }
}
