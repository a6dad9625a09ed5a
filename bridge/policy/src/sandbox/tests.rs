//! A few profiles as a whole; the laws at random: nothing protected, nothing softened, never more for less.

use harbor_ipc_proto::link::sandbox::PathAccess::{Device, Read, Write};
use proptest::prelude::*;

use super::*;

mod laws;

pub(super) fn facts() -> SandboxFacts {
    let own = |name: &str| format!("/home/u/.harbor/servers/s/{name}");
    SandboxFacts {
        home: Some("/home/u".into()),
        harbor_home: "/home/u/.harbor".into(),
        data: own("data"),
        tmp: own("tmp"),
        system: vec![("/usr".into(), Read), ("/dev/null".into(), Device), ("/dev/shm".into(), Write)],
        program: vec!["/usr/bin/node".into(), "/home/u/.nvm".into()],
        named: vec![NamedPath { path: own("data"), package_root: None, is_cwd: true }],
        hideable: vec!["/home".into(), "/mnt".into(), "/run".into()],
        socket: "/home/u/.harbor/run/bridge.sock".into(),
        proxy: "/opt/harbor/egress".into(),
        ..SandboxFacts::default()
    }
}

pub(super) fn full() -> Offer<'static> {
    Offer { landlock: 8, seccomp: true, namespaces: true, why_no_namespaces: "".into(), answers: true }
}

fn without_namespaces() -> Offer<'static> {
    Offer { namespaces: false, why_no_namespaces: "unshare: not permitted".into(), ..full() }
}

fn list(entries: &[&str]) -> Option<Vec<String>> {
    Some(entries.iter().map(ToString::to_string).collect())
}

fn at(level: Level) -> SandboxSettings {
    SandboxSettings { level: Some(level), ..SandboxSettings::default() }
}

fn place(path: &str, access: PathAccess, why: Why) -> SandboxPlace {
    SandboxPlace { path: path.into(), access, why }
}

fn default_limits() -> SandboxLimits<'static> {
    let own = |name: &str| format!("/home/u/.harbor/servers/s/{name}").into();
    SandboxLimits {
        memory: Some(2 << 30),
        processes: Some(512),
        open_files: Some(4_096),
        file_size: Some(1 << 30),
        nice: 5,
        disk: Some(4 << 30),
        writable: vec![own("data"), own("tmp")],
    }
}

/// The place at a path, if it is one.
fn found(profile: &Profile, path: &str) -> Option<(PathAccess, Why)> {
    profile.places.iter().find(|place| place.path == path).map(|place| (place.access, place.why))
}

const REACHES_ALL: &str = "its network is unrestricted: services of this machine, the local network and the metadata of a cloud (169.254.169.254) are within reach";

#[test]
fn the_default_on_a_kernel_that_can_all() {
    let places = vec![
        place("/dev/null", Device, Why::System),
        place("/dev/shm", Write, Why::System),
        place("/home/u/.harbor/servers/s/data", Write, Why::Data),
        place("/home/u/.harbor/servers/s/tmp", Write, Why::Temporary),
        place("/home/u/.nvm", Read, Why::Program),
        place("/usr", Read, Why::System),
    ];
    let rule = |place: &SandboxPlace| PathRule { path: place.path.clone().into(), access: place.access };
    let wanted = Profile {
        level: Level::Standard,
        network: NetworkKind::All,
        launch: Sandbox {
            landlock: 7,
            paths: places.iter().map(rule).collect(),
            mounts: Some(Mounts {
                hidden: vec!["/home".into(), "/mnt".into(), "/run".into(), "/dev/shm".into()],
                tmp: "/home/u/.harbor/servers/s/tmp".into(),
                links: vec![],
            }),
            network: Network::Outgoing,
            filter: Some(Filter {
                unix_sockets: false,
                udp: true,
                listen: false,
                attributes_by_path: true,
                hiding: false,
                scheduling: true,
            }),
            limits: default_limits(),
            fewer_capabilities: true,
            listening: Some(Listening { port: None, unix_sockets: false }),
        },
        places,
        held_by: "landlock 7, seccomp, namespaces".into(),
        missing: vec![],
        warnings: vec![REACHES_ALL.into()],
    };
    assert_eq!(profile(&SandboxSettings::default(), &facts(), &full()), Ok(wanted));
}

#[test]
fn off_and_basic_hold_no_files_and_say_so() {
    let off = profile(&at(Level::Off), &facts(), &full()).unwrap();
    assert_eq!((off.launch, off.places, off.held_by.as_str()), (Sandbox::default(), vec![], "nothing"));
    let basic = profile(&at(Level::Basic), &facts(), &full()).unwrap();
    let wanted = Sandbox { limits: default_limits(), ..Sandbox::default() };
    assert_eq!((basic.launch, basic.places, basic.held_by.as_str()), (wanted, vec![], "limits"));
    for warnings in [off.warnings, basic.warnings] {
        assert!(matches!(&warnings[..], [one] if one.contains("read run/token")), "{warnings:?}");
    }
    let refused = SandboxSettings { network: Some(NetworkKind::None), ..at(Level::Off) };
    assert!(profile(&refused, &facts(), &full()).unwrap_err().contains("network must be all"));
}

#[test]
fn a_kernel_that_can_nothing_is_told() {
    let offer = Offer { why_no_namespaces: "".into(), ..Offer::default() };
    let profile = profile(&SandboxSettings::default(), &facts(), &offer).unwrap();
    assert_eq!(profile.held_by, "nothing");
    assert_eq!(
        profile.missing,
        [
            "Landlock is missing: it can read and write every file that you can",
            "it can bind TCP ports: Landlock 4 or newer prevents this",
            "it can signal processes of yours: Landlock 6 or newer prevents this",
            "it can connect to abstract Unix sockets: Landlock 6 or newer prevents this",
            "system calls are not filtered: Unix sockets (D-Bus, docker, ssh-agent), UDP and listening are open",
            "namespaces do not work here (the kernel does not say why): it can see names and sizes of other files, and \
             /run and the home are not hidden",
        ]
    );
    assert_eq!(
        (profile.launch.network, profile.launch.filter, profile.launch.mounts),
        (Network::Machine, None, None)
    );
    assert!(!profile.places.iter().any(|place| place.path == "/dev/shm"), "it is everybody's");
}

#[test]
fn what_needs_namespaces_is_refused_without() {
    let refused = |settings| profile(&settings, &facts(), &without_namespaces()).unwrap_err();
    let why = "needs namespaces, which do not work here: unshare: not permitted";
    assert_eq!(refused(at(Level::Strict)), format!("the level strict {why}"));
    for (kind, hosts) in
        [(NetworkKind::None, None), (NetworkKind::Loopback, None), (NetworkKind::Hosts, list(&["a.b"]))]
    {
        let settings = SandboxSettings { network: Some(kind), hosts, ..at(Level::Standard) };
        assert_eq!(refused(settings), format!("the network {} {why}", kind.as_str()));
    }
    let required = SandboxSettings { required: Some(true), ..at(Level::Standard) };
    assert!(
        refused(required.clone())
            .starts_with("the whole level standard is required, but this kernel cannot enforce it")
    );
    assert!(profile(&required, &facts(), &full()).is_ok());
}

#[test]
fn each_network_has_its_own_filter() {
    let with = |level, kind, hosts: Option<Vec<String>>| {
        let settings = SandboxSettings { network: kind, hosts, ..at(level) };
        let launch = profile(&settings, &facts(), &full()).unwrap().launch;
        let filter = launch.filter.unwrap();
        (launch.network, filter.udp, filter.listen)
    };
    let proxied = |allowed: &[&str]| Network::Hosts {
        proxy: "/opt/harbor/egress".into(),
        allowed: allowed.iter().map(|host| host.to_string().into()).collect(),
        port: PROXY_PORT,
    };
    assert_eq!(with(Level::Standard, None, None), (Network::Outgoing, true, false));
    assert_eq!(with(Level::Strict, None, None), (Network::None, false, true));
    assert_eq!(with(Level::Strict, Some(NetworkKind::Loopback), None), (Network::Loopback, false, true));
    let hosts = with(Level::Strict, Some(NetworkKind::Hosts), list(&["*.a.b:1"]));
    assert_eq!(hosts, (proxied(&["*.a.b:1"]), false, true));
    let installs =
        SandboxFacts { installs: true, package: Some("/home/u/.harbor/servers/s/package".into()), ..facts() };
    let profile = profile(&at(Level::Strict), &installs, &full()).unwrap();
    assert_eq!(profile.launch.network, Network::Outgoing, "what is installed comes from somewhere");
    assert_eq!(found(&profile, "/home/u/.harbor/servers/s/package"), Some((Write, Why::Package)));
    assert_eq!(profile.launch.limits.writable.len(), 3);
}

#[test]
fn one_port_of_the_machine_is_granted_where_a_runner_can_answer() {
    let with = |settings: SandboxSettings, offer: &Offer<'_>| {
        profile(&settings, &facts(), offer).map(|profile| profile.launch.listening)
    };
    let port = |listen| SandboxSettings { listen: Some(listen), ..SandboxSettings::default() };
    let given = Listening { port: Some(9009), unix_sockets: false };
    assert_eq!(with(port(9009), &full()), Ok(Some(given)));
    let own = SandboxSettings { sockets: list(&["/home/u/.harbor/servers/s/tmp"]), ..port(9009) };
    assert_eq!(with(own, &full()), Ok(Some(Listening { unix_sockets: true, ..given })));
    let mute = Offer { answers: false, ..full() };
    let lacks = |offer: &Offer<'_>| profile(&SandboxSettings::default(), &facts(), offer).unwrap().missing;
    assert!(lacks(&mute)[0].starts_with("it can bind UDP ports"), "{:?}", lacks(&mute));
    assert!(!lacks(&Offer { landlock: 3, ..full() }).concat().contains("ports"));
    assert!(with(port(9009), &mute).unwrap_err().starts_with("Harbor cannot grant a port here"));
    assert_eq!(with(SandboxSettings::default(), &mute), Ok(None));
    for wrong in [
        port(1023),
        port(65_536),
        SandboxSettings { level: Some(Level::Off), ..port(9009) },
        SandboxSettings { network: Some(NetworkKind::Loopback), ..port(9009) },
        SandboxSettings { level: Some(Level::Strict), ..port(9009) },
    ] {
        assert!(with(wrong, &full()).unwrap_err().starts_with("the sandbox's listen must be"));
    }
}

#[test]
fn what_is_named_is_read_and_never_widened() {
    let named = |path: &str, root: Option<&str>, is_cwd| NamedPath {
        path: path.into(),
        package_root: root.map(Into::into),
        is_cwd,
    };
    let facts = SandboxFacts {
        named: vec![
            named("/home/u", None, true),
            named("/home/u/a.py", Some("/home/u"), false),
            named("/home/u/p/src/b.js", Some("/home/u/p"), false),
            named("/home/u/.ssh/id", None, false),
            named("/usr/share/dict", None, false),
        ],
        ..facts()
    };
    let profile = profile(&SandboxSettings::default(), &facts, &full()).unwrap();
    for path in ["/home/u/a.py", "/home/u/p/src/b.js", "/home/u/p"] {
        assert_eq!(found(&profile, path), Some((Read, Why::Argument)), "{path}");
    }
    for path in ["/home/u", "/home/u/.ssh/id", "/usr/share/dict"] {
        assert_eq!(found(&profile, path), None, "{path}");
    }
    let [_, cwd, key] = &profile.warnings[..] else { panic!("{:?}", profile.warnings) };
    assert!(cwd.starts_with("its working directory is /home/u, which stays closed: "), "{cwd}");
    assert!(cwd.ends_with("name directories below it, for example `--read /home/u/DIRECTORY`"), "{cwd}");
    assert!(key.starts_with("an argument names /home/u/.ssh/id, which stays closed: "), "{key}");
}

#[test]
fn what_is_granted_is_given_or_refused() {
    let granted = |read: &[&str], write: &[&str], sockets: &[&str]| {
        let (read, write, sockets) = (list(read), list(write), list(sockets));
        let settings = SandboxSettings { read, write, sockets, ..SandboxSettings::default() };
        let facts = SandboxFacts {
            granted: vec![
                ("/home/u/link".into(), "/home/u/.ssh".into()),
                ("/srv/l".into(), "/srv/real".into()),
            ],
            named: vec![NamedPath { path: "/srv/w/x".into(), package_root: None, is_cwd: false }],
            not_sockets: vec!["/run/user/1000".into()],
            repositories: vec!["/srv/code".into()],
            ..facts()
        };
        profile(&settings, &facts, &full())
    };
    let profile =
        granted(&["/srv/l", "/srv/w"], &["/srv/w"], &["/run/postgresql/s", "/run/user/1000/bus"]).unwrap();
    assert_eq!(found(&profile, "/srv/real"), Some((Read, Why::Granted)));
    assert_eq!(found(&profile, "/srv/w"), Some((Write, Why::Granted)));
    assert_eq!(found(&profile, "/srv/w/x"), Some((Write, Why::Argument)));
    assert_eq!(found(&profile, "/run/postgresql/s"), Some((Write, Why::Granted)));
    assert_eq!(profile.warnings[1..], ["with /run/user/1000/bus it can leave the sandbox"]);
    assert!(profile.launch.filter.unwrap().unix_sockets);
    assert!((profile.allows("/srv/w/y", true), profile.allows("/srv/real/y", true)) == (true, false));
    for (read, write, socket) in [
        (&["/home/u/link"][..], &[][..], &[][..]),
        (&["/home/u"], &[], &[]),
        (&[], &["/usr/local/bin"], &[]),
        (&[], &[], &["/home/u/.harbor/run/bridge.sock"]),
        (&[], &[], &["/"]),
    ] {
        assert!(
            granted(read, write, socket).unwrap_err().contains(" is never granted"),
            "{read:?} {write:?} {socket:?}"
        );
    }
    assert!(granted(&[], &[], &["/run/user/1000"]).unwrap_err().contains("is not a socket"));
    for run_later in ["/home/u/.local/bin", "/srv/code"] {
        let later = granted(&[], &[run_later], &[]).unwrap();
        assert!(later.warnings[1].contains("it can leave the sandbox"), "{run_later}");
    }
}

#[test]
fn what_a_server_may_have_moved_is_not_granted() {
    let moved = || list(&["/srv/w/out"]);
    let facts = SandboxFacts { led_out: moved().unwrap(), ..facts() };
    let none = SandboxSettings::default;
    for settings in [
        SandboxSettings { read: moved(), ..none() },
        SandboxSettings { write: moved(), ..none() },
        SandboxSettings { sockets: moved(), ..none() },
    ] {
        let why = profile(&settings, &facts, &full()).unwrap_err();
        assert!(why.starts_with("/srv/w/out is not granted: it passes through a symbolic link"), "{why}");
    }
}

#[test]
fn what_a_path_names_and_nobody_grants_is_told() {
    let facts = SandboxFacts { left_out: vec!["/home/u/private".into()], ..facts() };
    let warnings =
        |read| profile(&SandboxSettings { read, ..at(Level::Standard) }, &facts, &full()).unwrap().warnings;
    let told = warnings(None);
    assert!(told[1].starts_with("its PATH names /home/u/private, which stays closed: "), "{told:?}");
    assert_eq!(warnings(list(&["/home/u/private"])), [REACHES_ALL]);
}

#[test]
fn hidden_directories_are_few() {
    let hidden = |facts: &SandboxFacts| mounts(facts, &[]).hidden;
    let root = SandboxFacts {
        home: Some("/root".into()),
        harbor_home: "/srv/h".into(),
        hideable: vec!["/run".into()],
        ..facts()
    };
    assert_eq!(hidden(&root), ["/root", "/run", "/srv/h", "/dev/shm"]);
    let odd = SandboxFacts {
        home: Some("/".into()),
        harbor_home: "/tmp/h".into(),
        hideable: vec![],
        system: vec![],
        ..facts()
    };
    assert_eq!(hidden(&odd), [""; 0]);
    let settings = SandboxSettings { write: list(&["/mnt"]), ..at(Level::Standard) };
    let granted = SandboxFacts { granted: vec![("/mnt".into(), "/mnt".into())], ..facts() };
    let granted = profile(&settings, &granted, &full()).unwrap().launch.mounts.unwrap();
    assert_eq!(granted.hidden, ["/home", "/run", "/dev/shm"], "what is granted whole is seen");
}

#[test]
fn links_are_there_where_they_are_hidden_and_lead_to_what_is_granted() {
    let pair = |link: &str, real: &str| (link.to_owned(), real.to_owned());
    let facts = SandboxFacts {
        named: vec![NamedPath { path: "/srv/app/srv.js".into(), package_root: None, is_cwd: false }],
        granted: vec![("/home/u/way".into(), "/home/u/notes".into())],
        links: vec![
            pair("/home/u/all", "/srv"),
            pair("/home/u/app", "/srv/app"),
            pair("/home/u/notes/own", "/srv/app/srv.js"),
            pair("/home/u/other", "/srv/other"),
            pair("/home/u/way", "/home/u/notes"),
            pair("/srv/seen", "/srv/app"),
            pair("/tmp/app", "/srv/app/srv.js"),
        ],
        ..facts()
    };
    let settings = SandboxSettings { read: list(&["/home/u/way"]), ..at(Level::Standard) };
    let links = profile(&settings, &facts, &full()).unwrap().launch.mounts.unwrap().links;
    let links: Vec<_> = links.iter().map(|(link, real)| (link.as_ref(), real.as_ref())).collect();
    assert_eq!(
        links,
        [
            ("/home/u/all", "/srv"),
            ("/home/u/app", "/srv/app"),
            ("/home/u/way", "/home/u/notes"),
            ("/tmp/app", "/srv/app/srv.js"),
        ]
    );
}

#[test]
fn the_environment_follows_the_profile() {
    let confined = |settings: &SandboxSettings, facts: &SandboxFacts| {
        let confined = profile(settings, facts, &full()).unwrap().confined(facts)?;
        Some((confined.home.to_owned(), confined.no_proxy, confined.installs_into.map(ToOwned::to_owned)))
    };
    let (data, package) = (facts().data, "/home/u/.harbor/servers/s/package".to_owned());
    assert_eq!(confined(&at(Level::Off), &facts()), None);
    assert_eq!(confined(&at(Level::Basic), &facts()), Some((data.clone(), None, None)));
    let installs = SandboxFacts { installs: true, package: Some(package.clone()), ..facts() };
    assert_eq!(confined(&at(Level::Strict), &installs), Some((data, None, Some(package))));
    for (hosts, direct) in [
        (&["a.b"][..], "localhost,127.0.0.1,::1"),
        (&["127.0.0.1:80", "[::1]"], "localhost"),
        (&["localhost:8080"], "127.0.0.1,::1"),
    ] {
        let settings =
            SandboxSettings { network: Some(NetworkKind::Hosts), hosts: list(hosts), ..at(Level::Standard) };
        let found = confined(&settings, &facts()).unwrap().1;
        assert_eq!(found.as_deref(), Some(direct), "{hosts:?}");
    }
}
