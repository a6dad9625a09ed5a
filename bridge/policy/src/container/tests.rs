//! What an engine is told, level by level, and that nothing from outside becomes an option.

use proptest::prelude::*;

use super::*;

const ID: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

const MACHINE: Machine =
    Machine { user: 1000, group: 100, unified: true, processes: Some(9), open_files: Some(1024) };

fn pinned(engine: Engine, rootless: bool) -> Pinned {
    Pinned { reference: "mcp/time".into(), engine, id: ID.into(), digest: None, rootless }
}

fn facts() -> SandboxFacts {
    SandboxFacts {
        home: Some("/home/u".into()),
        harbor_home: "/home/u/.harbor".into(),
        data: "/home/u/.harbor/servers/s/data".into(),
        tmp: "/home/u/.harbor/servers/s/tmp".into(),
        ..SandboxFacts::default()
    }
}

/// Facts in which these paths are what they seem.
fn with(paths: &[&str]) -> SandboxFacts {
    SandboxFacts {
        granted: paths.iter().map(|path| (path.to_string(), path.to_string())).collect(),
        ..facts()
    }
}

fn list(paths: &[&str]) -> Option<Vec<String>> {
    Some(paths.iter().map(ToString::to_string).collect())
}

fn line(settings: &SandboxSettings, facts: &SandboxFacts, image: &Pinned) -> Result<Vec<String>, String> {
    let held = held(settings, facts, Some(image), &MACHINE)?;
    let start = ContainerStart {
        name: "harbor-i-s-1",
        instance: "i",
        server: "s",
        image,
        variables: &["KEY".into()],
        args: &["--flag".into(), "a b".into()],
    };
    run(&start, &held, facts, &MACHINE)
}

fn at(level: Level) -> SandboxSettings {
    SandboxSettings { level: Some(level), ..SandboxSettings::default() }
}

const HEAD: &str = "run --rm --interactive --pull=never --stop-timeout=0 --name=harbor-i-s-1 \
    --label=harbor.instance=i --label=harbor.server=s";
const BOUNDS: &str = "--ulimit=nofile=1024:1024 --ulimit=fsize=1073741824:1073741824";
const SHARES: &str = "--memory=2147483648b --pids-limit=512";
const TAIL: &str = "--volume=/home/u/.harbor/servers/s/data:/data:rw,Z --env=HOME=/data --env=KEY";
const ARGS: &str = "--flag a b";
const CLOSED: &str =
    "--security-opt=no-new-privileges --read-only --cap-drop=all --tmpfs=/tmp:rw,nosuid,nodev,mode=1777";

#[test]
fn every_level_has_its_line() {
    let podman = |settings| line(&settings, &facts(), &pinned(Engine::Podman, true)).unwrap().join(" ");
    let docker = |settings| line(&settings, &facts(), &pinned(Engine::Docker, false)).unwrap().join(" ");
    assert_eq!(
        podman(at(Level::Off)),
        format!("{HEAD} --http-proxy=false --ulimit=nproc=9:9 {TAIL} {ID} {ARGS}")
    );
    assert_eq!(docker(at(Level::Off)), format!("{HEAD} {TAIL} {ID} {ARGS}"));
    assert_eq!(
        docker(at(Level::Basic)),
        format!("{HEAD} --security-opt=no-new-privileges {BOUNDS} {SHARES} {TAIL} {ID} {ARGS}")
    );
    assert_eq!(
        docker(at(Level::Standard)),
        format!("{HEAD} {CLOSED} --user=1000:100 {BOUNDS} {SHARES} {TAIL} {ID} {ARGS}")
    );
    assert_eq!(
        podman(at(Level::Standard)),
        format!(
            "{HEAD} --http-proxy=false {CLOSED} --user=0:0 {BOUNDS} --ulimit=nproc=9:9 {SHARES} {TAIL} {ID} {ARGS}"
        )
    );
    assert_eq!(
        docker(at(Level::Strict)),
        format!("{HEAD} --network=none {CLOSED} --user=1000:100 {BOUNDS} {SHARES} {TAIL} {ID} {ARGS}")
    );
}

#[test]
fn every_setting_is_an_option_or_refused_by_name() {
    let docker = |settings: SandboxSettings, facts: &SandboxFacts| {
        line(&settings, facts, &pinned(Engine::Docker, false))
    };
    let words = |settings, facts: &SandboxFacts, first: &str| -> Vec<String> {
        let line: Vec<String> = docker(settings, facts).unwrap();
        line.into_iter().filter(|word| word.starts_with(first)).collect()
    };
    let none = SandboxSettings::default();
    let network = |kind| SandboxSettings { network: Some(kind), ..SandboxSettings::default() };
    assert_eq!(words(network(NetworkKind::Loopback), &facts(), "--network"), ["--network=none"]);
    assert_eq!(words(network(NetworkKind::All), &facts(), "--network"), [""; 0]);
    let hosts = SandboxSettings { hosts: list(&["x.org"]), ..network(NetworkKind::Hosts) };
    assert!(docker(hosts, &facts()).unwrap_err().contains("--network"));
    assert_eq!(
        words(SandboxSettings { memory_mb: Some(64), ..none.clone() }, &facts(), "--memory"),
        ["--memory=67108864b"]
    );
    assert_eq!(
        words(SandboxSettings { processes: Some(9), ..none.clone() }, &facts(), "--pids"),
        ["--pids-limit=9"]
    );
    assert_eq!(
        words(SandboxSettings { nice: Some(10), ..none.clone() }, &facts(), "--cpu"),
        ["--cpu-shares=110"]
    );
    let many = docker(SandboxSettings { open_files: Some(2048), ..none.clone() }, &facts()).unwrap_err();
    assert!(many.contains("open_files"), "{many}");
    let granted = SandboxSettings { read: list(&["/srv/a b"]), write: list(&["/srv/w"]), ..none.clone() };
    assert_eq!(
        words(granted, &with(&["/srv/a b", "/srv/w"]), "--mount"),
        [
            "--mount=type=bind,source=/srv/a b,target=/srv/a b,readonly",
            "--mount=type=bind,source=/srv/w,target=/srv/w"
        ]
    );
    let linked = SandboxFacts { granted: vec![("/srv/link".into(), "/srv/real".into())], ..facts() };
    assert_eq!(
        words(SandboxSettings { read: list(&["/srv/link"]), ..none.clone() }, &linked, "--mount"),
        ["--mount=type=bind,source=/srv/real,target=/srv/link,readonly"]
    );
    let absent = SandboxFacts { absent: vec!["/srv/a".into()], ..with(&["/srv/a"]) };
    assert_eq!(words(SandboxSettings { read: list(&["/srv/a"]), ..none }, &absent, "--mount"), [""; 0]);
}

#[test]
fn what_is_protected_or_cannot_be_said_is_refused() {
    let refused = |path: &str| {
        let settings = SandboxSettings { read: list(&[path]), ..SandboxSettings::default() };
        held(&settings, &with(&[path]), None, &MACHINE).unwrap_err()
    };
    for path in ["/home/u/.ssh", "/home/u/.harbor", "/home/u/.harbor/harbor.db", "/", "/home/u", "/proc"] {
        assert!(refused(path).contains("is never granted"), "{path}");
    }
    assert!(refused("/srv/a,readonly=false").contains("cannot be given"));
    assert!(refused("/srv/a\"b").contains("cannot be given"));
    assert!(refused("/data/x").contains("own data directory"));
    let colon = SandboxFacts { data: "/a:b/data".into(), ..facts() };
    assert!(held(&at(Level::Off), &colon, None, &MACHINE).unwrap_err().contains(':'));
}

#[test]
fn what_the_machine_cannot_hold_is_told_and_refused_where_it_is_required() {
    let old = Machine { unified: false, ..MACHINE };
    let image = pinned(Engine::Podman, true);
    let of = |settings: &SandboxSettings| held(settings, &facts(), Some(&image), &old);
    assert_eq!(of(&at(Level::Standard)).unwrap().missing.len(), 1);
    assert_eq!(of(&at(Level::Off)).unwrap().missing.len(), 0);
    let required = SandboxSettings { required: Some(true), ..SandboxSettings::default() };
    assert!(of(&required).unwrap_err().contains("control groups"));
    assert!(of(&at(Level::Strict)).is_err());
    let rootful = held(&required, &facts(), Some(&pinned(Engine::Podman, false)), &old).unwrap();
    assert_eq!((rootful.missing.len(), rootful.held_by.as_str()), (0, "container (podman)"));
}

fn any_level() -> impl Strategy<Value = Level> {
    proptest::sample::select(Level::ALL)
}

proptest! {
    /// Before the image there are options that were chosen here, each in one word; behind it are the server's own arguments
    /// as they were given. No value of a variable is anywhere, since none is known here.
    #[test]
    fn nothing_from_outside_becomes_an_option(
        level in any_level(),
        paths in proptest::collection::vec("/srv/[-a-z =;$']{1,12}", 0..4),
        args in proptest::collection::vec("[-a-z=]{0,12}", 0..4),
        is_docker in any::<bool>(),
    ) {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let facts = with(&paths);
        let settings = SandboxSettings { read: list(&paths), ..at(level) };
        let image = pinned(if is_docker { Engine::Docker } else { Engine::Podman }, !is_docker);
        let Ok(held) = held(&settings, &facts, Some(&image), &MACHINE) else { return Ok(()) };
        let variables = ["TOKEN".to_owned()];
        let start = ContainerStart {
            name: "n", instance: "i", server: "s", image: &image, variables: &variables, args: &args,
        };
        let line = run(&start, &held, &facts, &MACHINE).unwrap();
        let at_image = line.iter().position(|word| word == ID).unwrap();
        prop_assert_eq!(&line[at_image + 1..], args.as_slice());
        prop_assert!(line[1..at_image].iter().all(|word| word.starts_with("--")));
        let known = [
            "--rm", "--interactive", "--pull", "--stop-timeout", "--name", "--label", "--network", "--http-proxy",
            "--security-opt", "--read-only", "--cap-drop", "--tmpfs", "--user", "--ulimit", "--memory",
            "--pids-limit", "--cpu-shares", "--volume", "--mount", "--env",
        ];
        let name = |word: &String| word.split('=').next().unwrap().to_owned();
        prop_assert!(line[1..at_image].iter().all(|word| known.contains(&name(word).as_str())));
        let given = line[..at_image].iter().filter_map(|word| word.strip_prefix("--env="));
        prop_assert_eq!(given.collect::<Vec<_>>(), ["HOME=/data", "TOKEN"]);
        let mounts = line[..at_image].iter().filter(|word| word.starts_with("--mount=")).count();
        let mut places = paths.clone();
        places.sort_unstable();
        places.dedup();
        prop_assert!(mounts <= places.len());
    }
}
