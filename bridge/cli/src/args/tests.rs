//! What the command line understands, and how it says no.

mod walk;

use super::mcp::Http;
use super::*;
use harbor_ipc_proto::client::{Attempts, NetworkKind, RestartWhen, SandboxSettings};

/// 2026-11-21 12:00 UTC.
pub(super) const NOON: u64 = 1_795_262_400_000;

pub(super) fn words(line: &[&str]) -> Vec<String> {
    line.iter().map(|&word| word.to_owned()).collect()
}

pub(super) fn command(line: &[&str]) -> Command {
    parse(&words(line), NOON).unwrap().command
}

pub(super) fn complaint(line: &[&str]) -> String {
    match parse(&words(line), NOON) {
        Err(Failure::Usage(text)) => text,
        other => panic!("{line:?}: {other:?}"),
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
    let parsed = parse(&words(&line), NOON).unwrap();
    assert!(parsed.json);
    assert_eq!(
        parsed.command,
        Command::Add(Box::new(Definition {
            name: "time".into(),
            label: Some("The time".into()),
            cwd: Some("work".into()),
            env: [("A".into(), "1".into()), ("B".into(), "x=y".into())].into(),
            roots: vec!["r".into()],
            supervision: Supervision { start_timeout_ms: Some(2500), ..Supervision::default() },
            as_is: false,
            sandbox: SandboxSettings::default(),
            secrets: vec!["API_KEY".into()],
            keep_data: false,
            start: false,
            remote: None,
            image: None,
            engine: None,
            command: "./run".into(),
            args: words(&["--json", "--", "-x"]),
        }))
    );
}

#[test]
fn the_small_commands() {
    let name = || "time".to_owned();
    let removal = |data| Command::Remove(Removal { server: name(), data });
    assert_eq!(command(&["remove", "time"]), removal(None));
    assert_eq!(command(&["remove", "--data", "time"]), removal(Some(true)));
    assert_eq!(command(&["remove", "time", "--keep-data"]), removal(Some(false)));
    assert!(complaint(&["remove", "time", "--keep-data", "--data"]).contains("say one of them"));
    assert_eq!(command(&["start", "time"]), Command::Start(name()));
    assert_eq!(command(&["stop", "time"]), Command::Stop(name()));
    assert_eq!(command(&["list"]), Command::List);
    assert_eq!(command(&["tools"]), Command::Tools(Listing::Running));
    assert_eq!(command(&["tools", "time"]), Command::Tools(Listing::Of(name())));
    assert_eq!(command(&["restart", "time"]), Command::Restart(name()));
    assert_eq!(command(&["events"]), Command::Events);
    assert_eq!(command(&["ping"]), Command::Ping);
    assert_eq!(command(&["shutdown"]), Command::Shutdown);
}

#[test]
fn logs() {
    let logs = |lines, follow| Command::Logs(Logs { server: "time".into(), lines, follow });
    assert_eq!(command(&["logs", "time"]), logs(None, false));
    assert_eq!(command(&["logs", "--lines=7", "time"]), logs(Some(7), false));
    assert_eq!(command(&["logs", "-n", "1000", "time"]), logs(Some(1000), false));
    for line in [&["logs", "time", "-f"], &["logs", "-f", "time"], &["logs", "time", "--follow"]] {
        assert_eq!(command(line), logs(None, true), "{line:?}");
    }
}

#[test]
fn how_a_server_is_supervised() {
    let Command::Add(add) = command(&[
        "add",
        "x",
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
        "--lazy",
        "--idle-stop",
        "604800",
        "--as-is",
        "--",
        "y",
    ]) else {
        panic!("add")
    };
    assert!(add.as_is && add.start);
    assert_eq!(
        add.supervision,
        Supervision {
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
            lazy: Some(true),
            idle_stop_ms: Some(604_800_000),
        }
    );
    let Command::Add(add) = command(&["add", "x", "--restart-attempts", "0", "--restart=never", "--", "y"])
    else {
        panic!("add")
    };
    let (restart, restart_attempts) = (Some(RestartWhen::Never), Some(Attempts::Most(0)));
    assert_eq!(add.supervision, Supervision { restart, restart_attempts, ..Supervision::default() });
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
}

#[test]
fn settings_out_of_range_are_refused() {
    for (option, value, text) in [
        ("--restart", "on_crash", "use never, on-crash or always"),
        ("--restart-attempts", "1000001", "use a whole number from 0 to 1000000, or unlimited"),
        ("--restart-attempts", "-1", "use a whole number from 0"),
        ("--restart-delays", "", "use numbers of seconds from 0 to 3600, with a comma between two"),
        ("--restart-delays", "2,,4", "use numbers of seconds"),
        ("--restart-delays", "3600.1", "use numbers of seconds"),
        ("--restart-jitter", "101", "use a whole number from 0 to 100"),
        ("--start-timeout", "600.5", "use a number of seconds from 1 to 600"),
        ("--call-timeout", "0", "use a number of seconds from 0.001 to 3600"),
        ("--queue-wait", "601", "use a number of seconds from 0 to 600"),
        ("--hung-grace", "0.05", "use a number of seconds from 0.1 to 3600"),
        ("--eof-grace", "inf", "use a number of seconds from 0 to 60"),
        ("--term-grace", "61", "use a number of seconds from 0 to 60"),
        ("--idle-stop", "0.5", "use a number of seconds from 1 to 604800"),
    ] {
        let complaint = complaint(&["add", "x", option, value, "--", "y"]);
        assert!(complaint.starts_with(&format!("{option} {value}: {text}")), "{complaint}");
    }
}

#[test]
fn calls() {
    let call = |arguments, timeout| {
        let (server, tool) = ("time".to_owned(), "a/b".to_owned());
        let max_timeout = None;
        Command::Call(Call { server, tool, arguments, timeout, max_timeout, asker: None, save: None })
    };
    let Command::Call(long) = command(&["call", "time/a/b", "--timeout", "3", "--max-timeout=9"]) else {
        panic!("call")
    };
    assert_eq!(
        (long.timeout, long.max_timeout),
        (Some(Duration::from_secs(3)), Some(Duration::from_secs(9)))
    );
    assert_eq!(command(&["call", "time/a/b"]), call(Arguments::Nothing, None));
    assert_eq!(command(&["call", "time/a/b", "{}"]), call(Arguments::Json("{}".into()), None));
    let text = |key: &str, text: &str| Argument { key: key.into(), value: Value::Text(text.into()) };
    let arguments = || Arguments::Words(vec![text("a", "1"), text("-b", "--json")]);
    assert_eq!(command(&["call", "time/a/b", "a=1", "--", "-b=--json"]), call(arguments(), None));
    assert_eq!(command(&["call", "--", "time/a/b", "a=1", "-b=--json"]), call(arguments(), None));
    assert_eq!(
        command(&["call", "time/a/b", "-", "--timeout", "3"]),
        call(Arguments::Stdin, Some(Duration::from_secs(3)))
    );
    let Command::Call(other) =
        command(&["call", "time/a/b", "--as", "client://x", "--profile", "p", "--save", "d"])
    else {
        panic!("call")
    };
    assert_eq!(other.save.as_deref(), Some("d"));
    let (origin, profile) = (Origin::parse("client://x").unwrap(), Some("p".into()));
    assert_eq!(other.asker, Some(Asker { origin, profile }));
}

#[test]
fn help_and_version_have_many_names() {
    for line in [&[][..], &["--help"], &["-h"], &["help"], &["--json"]] {
        assert_eq!(command(line), Command::Help(None), "{line:?}");
    }
    for line in [&["help", "add"][..], &["add", "--help"], &["--help", "add"], &["add", "-h", "x"]] {
        assert_eq!(command(line), Command::Help(Some("add")), "{line:?}");
    }
    for line in [&["--version"][..], &["-V"], &["version"], &["version", "--json"]] {
        assert_eq!(command(line), Command::Version, "{line:?}");
    }
}

#[test]
fn every_command_of_the_table_is_known() {
    for topic in TOPICS {
        let line = match topic.name {
            "add" => vec!["add", "x", "--", "y"],
            "install" => vec![topic.name, "npm:x"],
            "completions" => vec![topic.name, "bash"],
            "call" | "accept" => vec![topic.name, "x/y"],
            "grant" | "revoke" => vec![topic.name, "https://a.example", "web:fetch"],
            name if topic.usage.starts_with("NAME") => vec![name, "x"],
            name => vec![name],
        };
        let expected = if topic.name == "host" { "nativehost" } else { topic.name };
        let found = format!("{:?}", command(&line)).to_lowercase();
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (line, text) in [
        (&["lists"][..], "unknown command lists; did you mean list?"),
        (&["uninstall", "time"], "unknown command uninstall; did you mean `harbor remove NAME`?"),
        (&["--jsn"], "unknown option --jsn; did you mean --json?"),
        (&["add", "x", "--lable", "y"], "unknown option --lable; did you mean --label?"),
        (&["list", "--lines", "3"], "unknown option --lines"),
        (&["add", "x", "--label"], "--label needs a value: TEXT"),
        (&["add", "x", "--no-start=1", "--", "y"], "--no-start takes no value"),
        (&["add", "time", "npx"], "put `--` and the server's command behind its name"),
        (&["add", "time", "--"], "put `--` and the server's command behind its name"),
        (&["add", "--", "npx"], "which server? Its name is missing"),
        (&["add", "a b", "--", "npx"], "\"a b\" is no server's name: use 1 to 64 letters"),
        (
            &["add", "x", "--start-timeout", "0", "--", "y"],
            "--start-timeout 0: use a number of seconds from 1 to",
        ),
        (&["start"], "which server? Its name is missing"),
        (&["start", "a", "b"], "unexpected argument b"),
        (&["start", "a", "--", "b"], "`--` has no meaning here"),
        (&["list", "a"], "unexpected argument a"),
        (&["call", "time"], "time: a tool is named as SERVER/TOOL"),
        (&["call", "time/x", "{}", "y"], "y: arguments are one JSON object, or key=value words, not both"),
        (&["call", "time/x", "a=1", "b"], "b: an argument is key=text"),
        (&["call", "time/x", "--save="], "--save is empty: name a directory; `.` is the current one"),
        (&["call", "time/x", "-b=1"], "unknown option -b"),
        (
            &["call", "time/x", "--timeout", "9", "--max-timeout", "3"],
            "--max-timeout is shorter than --timeout",
        ),
        (&["call", "time/x", "--max-timeout", "0"], "--max-timeout 0: use a number of seconds"),
        (
            &["sandbox", "x", "--forget", ""],
            "--forget is empty: name a path, socket or host that was granted",
        ),
        (&["sandbox", "x", "--read="], "--read is empty: name a file or directory; `.` is the current one"),
        (&["sandbox", "x", "--write", "a", "--write", ""], "--write is empty: name a file or directory"),
        (&["sandbox", "x", "--socket", ""], "--socket is empty: name a Unix socket"),
        (&["sandbox", "x", "--host", ""], "--host is empty: name a host, such as example.com"),
        (&["add", "x", "--read", "", "--", "y"], "--read is empty: name a file"),
        (&["add", "x", "--cwd", "", "--", "y"], "--cwd is empty: name a directory; `.` is the current one"),
        (&["add", "x", "--root", "", "--", "y"], "--root is empty: name a file or directory"),
        (
            &["sandbox", "x", "--network", "all", "--host", "example.com"],
            "--network all and --host: hosts belong to --network hosts; leave out one of the two",
        ),
        (
            &["add", "x", "--host", "example.com", "--network", "none", "--", "y"],
            "--network none and --host: hosts belong",
        ),
        (&["logs", "time", "-x"], "unknown option -x"),
        (&["list", "-f"], "unknown option -f"),
        (&["logs", "time", "-f=1"], "-f takes no value"),
        (&["call", "time/x", "--timeout", "nan"], "--timeout nan: use a number of seconds"),
        (&["logs", "time", "--lines", "0"], "--lines 0: use a whole number from 1 to 1000"),
        (
            &["logs", "time", "-n", "99999999999999999999"],
            "--lines 99999999999999999999: use a whole number from 1 to 1000",
        ),
        (&["help", "lsit"], "unknown command lsit; did you mean list?"),
    ] {
        let complaint = complaint(line);
        assert!(complaint.starts_with(text), "{complaint}");
        assert_eq!(complaint.lines().count(), 2, "{complaint}");
    }
}

#[test]
fn an_ai_client_has_a_name_and_maybe_a_choice_of_tools() {
    let mcp = |client: &str, only: &[&str]| {
        Command::Mcp(Mcp { client: client.into(), only: words(only), lazy: false, http: None })
    };
    assert_eq!(command(&["mcp"]), mcp("default", &[]));
    let line = ["mcp", "--client", "Some Client", "--only", "a/b", "--only=c/*"];
    assert_eq!(command(&line), mcp("Some Client", &["a/b", "c/*"]));
    let http = Http { listen: "127.0.0.1:0".parse().unwrap(), origins: words(&["https://a.example"]) };
    let over_http = Mcp { client: "default".into(), only: words(&[]), lazy: false, http: Some(http) };
    let line = ["mcp", "--http", "localhost:0", "--allow-origin", "https://a.example"];
    assert_eq!(command(&line), Command::Mcp(over_http));
    assert_eq!(command(&["mcp", "token"]), Command::McpToken(TokenWanted::List));
    assert_eq!(command(&["mcp", "token", "a"]), Command::McpToken(TokenWanted::Make("a".into(), false)));
    let delete = Command::McpToken(TokenWanted::Delete("a".into()));
    assert_eq!(command(&["mcp", "token", "a", "--delete"]), delete);
    for (line, text) in [
        (&["mcp", "--json"][..], "--json has no meaning here"),
        (&["mcp", "--only", "time"], "--only time: a tool is named server/tool"),
        (&["mcp", "--client="], "--client: use 1 to 128 bytes"),
        (&["mcp", "token", "a\nb"], "a client's name has no control characters"),
        (&["mcp", "--http", "0.0.0.0:1"], "--http 0.0.0.0:1: only this machine is served"),
        (&["mcp", "--http", "[::]:1"], "--http [::]:1: only this machine is served"),
        (&["mcp", "--http", "8765"], "--http 8765: use an address and a port"),
        (&["mcp", "--http=localhost:1", "--client=x"], "--client: over HTTP"),
        (&["mcp", "--allow-origin", "https://a.example"], "--allow-origin has a meaning with --http only"),
        (&["mcp", "--http=[::1]:1", "--allow-origin=client://a"], "--allow-origin client://a: use an origin"),
        (&["mcp", "token", "--only=a/b"], "--only has no meaning here"),
        (&["mcp", "token", "--delete"], "--delete: whose?"),
        (&["mcp", "--delete"], "--delete has a meaning behind `token NAME` only"),
    ] {
        assert!(complaint(line).starts_with(text), "{}", complaint(line));
    }
}

#[test]
fn a_secret_is_not_repeated() {
    assert!(!complaint(&["add", "x", "--env", "hunter2", "--", "y"]).contains("hunter2"));
}

#[test]
fn json_is_noticed_even_when_nothing_else_makes_sense() {
    assert!(wants_json(&words(&["nope", "--json"])));
    assert!(!wants_json(&words(&["add", "x", "--", "--json"])));
}

#[test]
fn the_table_of_the_walk_has_every_command_and_option() {
    let entries = walk::table();
    for topic in TOPICS.iter().chain([help::find("complete").unwrap()]) {
        let paths = || entries.iter().filter(|entry| entry.path[0] == topic.name);
        for form in topic.forms {
            let verb = form.split(' ').next().unwrap();
            assert!(paths().any(|entry| entry.path[1..] == [verb]), "{} {form}", topic.name);
        }
        assert!(paths().any(|entry| entry.path.len() == 1), "{}", topic.name);
        for option in topic.all_options() {
            for name in [option.name, option.short].into_iter().filter(|name| !name.is_empty()) {
                assert!(paths().any(|entry| entry.options.contains_key(name)), "{} {name}", topic.name);
            }
        }
    }
}
