//! Servers and what is asked of them, as they are typed.

use std::time::Duration;

use harbor_ipc_proto::client::{
    Attempts, CredentialType, Instance, NetworkKind, RestartWhen, Sampling, Supervision,
};

use super::super::*;
use super::{command, refused_with, words};

fn added(line: &[&str]) -> Definition {
    match command(&[&["add", "x"], line].concat()) {
        Command::Add(definition) => *definition,
        other => panic!("{other:?}"),
    }
}

#[test]
fn add_takes_everything_behind_the_dashes_as_it_is() {
    let line = [
        "add",
        "--label",
        "The time",
        "--env=A=1",
        "time",
        "--env",
        "B=x=y",
        "--cwd",
        "work",
        "--root",
        "r",
        "--json",
        "--start-timeout",
        "2.5",
        "--secret",
        "API_KEY",
        "--no-start",
        "--",
        "./run",
        "--json",
        "--",
        "-x",
    ];
    let definition = Definition {
        name: "time".into(),
        label: Some("The time".into()),
        cwd: Some("work".into()),
        env: [("A".into(), "1".into()), ("B".into(), "x=y".into())].into(),
        roots: vec!["r".into()],
        supervision: Supervision { start_timeout_ms: Some(2500), ..Supervision::default() },
        secrets: vec!["API_KEY".into()],
        command: "./run".into(),
        args: words(&["--json", "--", "-x"]),
        ..Definition::default()
    };
    assert_eq!(command(&line), Command::Add(definition.into()));
    let dashed = added(&["--label", "-l", "--env", "-X=-1", "--", "y"]);
    assert_eq!((dashed.label.as_deref(), dashed.env["-X"].as_str()), (Some("-l"), "-1"));
}

#[test]
fn a_remote_server() {
    let line = ["--url", "https://a.com/mcp", "--header", "X-Key: a: b", "--transport=sse", "--allow-http"];
    let remote = Remote {
        url: "https://a.com/mcp".into(),
        transport: Some("sse".into()),
        headers: [("X-Key".to_owned(), "a: b".to_owned())].into(),
        allow_private: false,
        allow_http: true,
    };
    let definition =
        Definition { name: "x".into(), start: true, remote: Some(remote), ..Definition::default() };
    assert_eq!(added(&line), definition);
    let allows = |url: &str| added(&["--url", url]).remote.unwrap().allow_private;
    assert!(!allows("http://localhost:3000/mcp") && allows("https://10.0.0.1/mcp"));
    refused_with(&[
        (&["add", "x", "--url", "ftp://a.com"], "https://"),
        (&["add", "x", "--url", "https://a.com", "--", "x"], "cannot be used with"),
        (&["add", "x", "--url", "https://a.com", "--cwd", "."], "'--cwd <DIR>'"),
        (&["add", "x", "--url", "https://a.com", "--secret", "K"], "'--secret <KEY>'"),
        (&["add", "x", "--url", "https://a.com", "--transport", "x"], "http, sse, auto"),
        (&["add", "x", "--url", "https://a.com", "--header", "Host: b"], "Harbor itself sets"),
        (&["add", "x", "--url", "https://a.com", "--header", "x"], "'Name: value'"),
        (&["add", "x", "--header", "X: y", "--", "run"], "--url"),
    ]);
}

#[test]
fn a_definition_that_makes_no_sense_is_refused() {
    refused_with(&[
        (&["add", "time", "npx"], "put `--` before the command"),
        (&["add", "time", "--"], "<COMMAND>"),
        (&["add", "time", "--", ""], "the command is empty"),
        (&["add", "--", "npx"], "<NAME>"),
        (&["add", "a b", "--", "npx"], "use 1 to 64 letters"),
        (&["add", "x", "--engine", "podman", "--", "y"], "--image"),
        (&["add", "x", "--read", "", "--", "y"], "'--read <PATH>'"),
        (&["add", "x", "--cwd=", "--", "y"], "'--cwd <DIR>'"),
        (
            &["add", "x", "--host", "a.example", "--network", "none", "--", "y"],
            "--network none and --host: hosts belong",
        ),
    ]);
}

#[test]
fn whose_process_it_is_and_what_its_tools_do() {
    let of_instances = ["--instance", "per-principal", "--max-instances=64"];
    let of_models = ["--private", "--reads", "list,read", "--destroys=drop", "--sampling", "deny", "--", "y"];
    let supervision = Supervision {
        instance: Some(Instance::PerPrincipal),
        max_instances: Some(64),
        private: Some(true),
        reads: Some(vec!["list".into(), "read".into()]),
        destroys: Some(vec!["drop".into()]),
        sampling: Some(Sampling::Deny),
        ..Supervision::default()
    };
    assert_eq!(added(&[&of_instances[..], &of_models].concat()).supervision, supervision);
}

#[test]
fn how_a_server_is_supervised() {
    let line = [
        "--restart",
        "on-crash",
        "--restart-attempts=unlimited",
        "--restart-delays",
        "0,2.5,3600",
        "--restart-jitter",
        "100",
        "--start-timeout",
        "600",
        "--call-timeout",
        "0.001",
        "--queue-wait",
        "0",
        "--hung-grace",
        "0.1",
        "--eof-grace",
        "60",
        "--term-grace",
        "0.3",
        "--auto-start",
        "--manual",
        "--idle-stop",
        "604800",
        "--as-is",
        "--",
        "y",
    ];
    let add = added(&line);
    assert!(add.as_is && add.start);
    let supervision = Supervision {
        restart: Some(RestartWhen::OnCrash),
        restart_attempts: Some(Attempts::Unlimited),
        restart_delays_ms: Some(vec![0, 2500, 3_600_000]),
        restart_jitter_percent: Some(100),
        start_timeout_ms: Some(600_000),
        call_timeout_ms: Some(1),
        queue_wait_ms: Some(0),
        hung_grace_ms: Some(100),
        eof_grace_ms: Some(60_000),
        term_grace_ms: Some(300),
        auto_start: Some(true),
        lazy: Some(false),
        idle_stop_ms: Some(604_800_000),
        ..Supervision::default()
    };
    assert_eq!(add.supervision, supervision);
    let Command::Set(set) =
        command(&["set", "x", "--no-manual", "--reset", "idle-stop", "--reset", "restart_delays_ms"])
    else {
        panic!("set")
    };
    assert_eq!((set.changes.lazy, set.changes.auto_start), (Some(true), None));
    assert_eq!(set.reset, ["idle_stop_ms", "restart_delays_ms"]);
    for (line, text) in [
        (&["set", "client://x", "--manual"][..], "only --guard"),
        (&["set", "x", "--guard", "on"], "harbor set client://NAME --guard on"),
        (&["set", "client://x", "--guard", "maybe"], "use on or off"),
    ] {
        refused_with(&[(line, text)]);
    }
    for (option, value, text) in [
        ("--restart", "on_crash", "never, on-crash, always"),
        ("--sampling", "always", "ask, allow, deny"),
        ("--restart-attempts", "1000001", "use a whole number from 0 to 1000000, or unlimited"),
        ("--restart-attempts", "-1", "use a whole number from 0"),
        ("--restart-delays", "", "use numbers of seconds from 0 to 3600, with a comma between two"),
        ("--restart-delays", "2,,4", "use numbers of seconds"),
        ("--restart-delays", "3600.1", "use numbers of seconds"),
        ("--restart-jitter", "101", "101 is not in 0..=100"),
        ("--start-timeout", "600.5", "use a number of seconds from 1 to 600"),
        ("--call-timeout", "0", "use a number of seconds from 0.001 to 3600"),
        ("--queue-wait", "601", "use a number of seconds from 0 to 600"),
        ("--hung-grace", "0.05", "use a number of seconds from 0.1 to 3600"),
        ("--eof-grace", "inf", "use a number of seconds from 0 to 60"),
        ("--term-grace", "nan", "use a number of seconds from 0 to 60"),
        ("--idle-stop", "0.5", "use a number of seconds from 1 to 604800"),
    ] {
        refused_with(&[(&["set", "x", option, value], text), (&["set", "x", option, value], option)]);
    }
}

#[test]
fn whoever_names_hosts_means_their_network() {
    let network = |more: &[&str]| {
        let line = [&["sandbox", "x", "--host", "a.example", "--host", "b.example"], more].concat();
        let Command::Sandbox(wanted) = command(&line) else { panic!("sandbox") };
        (wanted.changes.network, wanted.changes.hosts.map_or(0, |hosts| hosts.len()))
    };
    for more in [&[][..], &["--network", "hosts"], &["--network", "all", "--network=hosts"]] {
        assert_eq!(network(more), (Some(NetworkKind::Hosts), 2), "{more:?}");
    }
    refused_with(&[
        (&["sandbox", "x", "--forget", ""], "'--forget <ENTRY>'"),
        (&["sandbox", "x", "--reset", "color"], "memory"),
    ]);
}

#[test]
fn calls() {
    let call = |line: &[&str]| match command(&[&["call"], line].concat()) {
        Command::Call(call) => *call,
        other => panic!("{other:?}"),
    };
    let long = call(&["time/a/b", "--timeout", "3", "--max-timeout=9"]);
    assert_eq!(
        (long.timeout, long.max_timeout),
        (Some(Duration::from_secs(3)), Some(Duration::from_secs(9)))
    );
    let given = |line: &[&str]| {
        let call = call(line);
        assert_eq!((call.server.as_str(), call.tool.as_str()), ("time", "a/b"));
        call.arguments
    };
    assert_eq!(given(&["time/a/b"]), Arguments::Nothing);
    assert_eq!(given(&["time/a/b", "{}"]), Arguments::Json("{}".into()));
    assert_eq!(given(&["time/a/b", "-", "--timeout", "3"]), Arguments::Stdin);
    let text = |key: &str, text: &str| Argument { key: key.into(), value: Value::Text(text.into()) };
    let arguments = || Arguments::Words(vec![text("a", "1"), text("-b", "--json")]);
    assert_eq!(given(&["time/a/b", "a=1", "--", "-b=--json"]), arguments());
    assert_eq!(given(&["--", "time/a/b", "a=1", "-b=--json"]), arguments());
    assert_eq!(
        given(&["time/a/b", "a=1", "--timeout", "3", "b=2"]),
        Arguments::Words(vec![text("a", "1"), text("b", "2")])
    );
    let other = call(&["time/a/b", "--as", "client://x", "--profile", "p", "--save", "d"]);
    assert_eq!(other.save.as_deref(), Some("d"));
    assert_eq!(
        other.asker,
        Some(Asker { origin: Origin::parse("client://x").unwrap(), profile: Some("p".into()) })
    );
    refused_with(&[
        (&["call", "time/"], "a tool is named SERVER/TOOL"),
        (&["call", "time/x", "{}", "y"], "y: use either one JSON object or key=value words"),
        (&["call", "time/x", "a=1", "b"], "b: use key=value"),
        (&["call", "time/x", "--save="], "'--save <DIR>'"),
        (&["call", "time/x", "-b=1"], "'-b'"),
        (
            &["call", "time/x", "--timeout", "9", "--max-timeout", "3"],
            "--max-timeout must be at least as long as --timeout",
        ),
    ]);
}

#[test]
fn packages_and_their_servers() {
    let install = |line: &[&str]| match command(&[&["install"], line].concat()) {
        Command::Install(package) => *package,
        other => panic!("{other:?}"),
    };
    let package = install(&[
        "npm:x@1", "--name", "n", "--yes", "--manual", "--env", "A=b", "--secret", "KEY", "--", "-x", "y",
    ]);
    let definition = Definition {
        name: "n".into(),
        env: [("A".into(), "b".into())].into(),
        supervision: Supervision { lazy: Some(false), ..Supervision::default() },
        secrets: vec!["KEY".into()],
        args: words(&["-x", "y"]),
        ..Definition::default()
    };
    assert_eq!(package, Package { source: "npm:x@1".into(), yes: true, definition, ..Package::default() });
    let entry = install(&["files", "--input", "dir=/a", "--input=dir=/b=c", "--package", "2"]);
    assert_eq!((entry.way, &entry.inputs["dir"]), (Some(1), &words(&["/a", "/b=c"])));

    let (hex, plain) = ("0a".repeat(32), "binary:https://h/a.zip");
    assert_eq!(install(&[plain]).source, plain);
    let all = install(&[plain, "--sha256", &hex.to_uppercase(), "--bin", "x/a", "--allow-private"]).source;
    assert_eq!(all, format!("{plain}#sha256={hex}&bin=x/a&allow=private"));
    assert_eq!(install(&[&all, "--allow-http"]).source, all.replace("allow=", "allow=http&allow="));
    refused_with(&[
        (&["install", &all, "--bin", "b"], "occurs twice"),
        (&["install", "binary:http://h/a"], "--allow-http"),
        (&["install", "npm:a", "--sha256", &hex], "are for downloaded programs"),
        (&["install", plain, "--header", "x: y"], "for remote servers"),
        (&["install", "files", "--input", "dir"], "NAME=VALUE"),
        (&["install", "npm:x", "--header", "x: y"], "for remote servers"),
        (&["install", "https://example.com/mcp", "--read", "/a"], "are for programs"),
        (&["upgrade", "x", "--undo", "--to", "2"], "cannot be used with"),
    ]);
}

#[test]
fn secrets_are_named_and_never_typed() {
    let new = |kind, username: Option<&str>| {
        let (server, key, username) = ("a".into(), "K".into(), username.map(str::to_owned));
        let new = NewSecret { server, key, kind, username, expires_at: None, site: None };
        Command::Secrets { wanted: Some(Secrets::Set(new)) }
    };
    assert_eq!(command(&["secrets"]), Command::Secrets { wanted: None });
    assert_eq!(command(&["secrets", "set", "a", "K"]), new(CredentialType::ApiKey, None));
    assert_eq!(
        command(&["secrets", "set", "a", "K", "--type", "api-key"]),
        new(CredentialType::ApiKey, None)
    );
    let password = ["secrets", "set", "a", "K", "--type", "password", "--username", "ada"];
    assert_eq!(command(&password), new(CredentialType::Password, Some("ada")));
    assert_eq!(
        command(&["secrets", "lock"]),
        Command::Secrets { wanted: Some(Secrets::Keep(Keeping::Lock)) }
    );
    refused_with(&[
        (&["secrets", "set", "a"], "<KEY>"),
        (&["secrets", "set", "a", "K", "hunter2"], "a secret does not belong on the command line"),
        (&["secrets", "set", "a", "K=hunter2"], "a secret does not belong on the command line"),
        (&["secrets", "unlock", "hunter2"], "a secret does not belong on the command line"),
        (&["secrets", "set", "a", "K", "--expires", "x"], "use a time in the future"),
    ]);
}

#[test]
fn listed_or_one_of_them() {
    let reading = Reading { server: "files".into(), uri: "file:///a b".into(), save: None };
    assert_eq!(
        command(&["resources", "files"]),
        Command::Resources { server: Some("files".into()), wanted: None }
    );
    assert_eq!(
        command(&["resources", "read", "files", "file:///a b"]),
        Command::Resources { server: None, wanted: Some(Resources::Read(reading)) }
    );
    let argument = |key: &str, value| Argument { key: key.into(), value };
    let arguments =
        vec![argument("who", Value::Text("Ada".into())), argument("-t", Value::File("/x".into()))];
    assert_eq!(
        command(&["prompts", "get", "files", "greet", "who=Ada", "--", "-t=@/x"]),
        Command::Prompts {
            server: None,
            wanted: Some(Prompts::Get(Prompt { server: "files".into(), name: "greet".into(), arguments }))
        }
    );
    let page = PageWanted { limit: Some(5), ..PageWanted::default() };
    let found = CatalogWanted::Search { words: words(&["time", "zone"]), page };
    let line = ["catalog", "search", "time", "zone", "--limit", "5"];
    assert_eq!(command(&line), Command::Catalog { wanted: Some(found), list: ListWanted::default() });
    refused_with(&[
        (&["prompts", "get", "files", "greet", "n:=1"], "n: a prompt accepts only texts: use key=text"),
        (&["catalog", "search", "x", "--featured"], "--featured"),
        (&["catalog", "--limit", "201"], "201 is not in 1..=200"),
    ]);
}
