//! What a failure says, and how the program ends.

use super::*;

#[test]
fn a_server_that_does_not_start_is_heard() {
    let mut failure = refused("connection_failed");
    let Failure::Refused(refusal) = &mut failure else { panic!("refused") };
    refusal.details = Some(r#"{"stderr_tail":"no such file\nbye"}"#.into());
    let text = failure.message().unwrap();
    assert_eq!(text, "no\nit said:\n    no such file\n    bye\nsee `harbor logs time`");
}

fn refused(code: &str) -> Failure {
    let details = Some(r#"{"cause":"x"}"#.to_owned());
    let refusal = Refusal {
        code: code.into(),
        message: "no".into(),
        details,
        server: Some("time".into()),
        profile: None,
    };
    Failure::Refused(Box::new(refusal))
}

#[test]
fn exit_codes() {
    for (code, exit) in [
        ("invalid_params", 2),
        ("shutting_down", 3),
        ("not_found", 4),
        ("not_connected", 5),
        ("connection_failed", 5),
        ("ERR_SERVER_UNAVAILABLE", 5),
        ("ERR_TOOL_TIMEOUT", 6),
        ("ERR_TOOL_FAILED", 7),
        ("ERR_TOOL_NOT_FOUND", 4),
        ("ERR_PERMISSION_DENIED", 8),
        ("ERR_SCOPE_REQUIRED", 8),
        ("ERR_TOOL_NOT_ALLOWED", 8),
        ("ERR_BUDGET_EXCEEDED", 1),
        ("ERR_RATE_LIMITED", 1),
        ("of_the_future", 1),
    ] {
        assert_eq!(refused(code).exit() as u8, exit, "{code}");
    }
    assert_eq!(Failure::Lost.exit() as u8, 3);
    assert_eq!(Failure::Ended.exit() as u8, 3);
    assert_eq!((Failure::Unsent.exit() as u8, Failure::CallLost.exit() as u8), (3, 9));
    assert_eq!(Failure::Slow(1).exit() as u8, 6);
    assert_eq!(Failure::Usage(String::new()).exit() as u8, 2);
    let all: Vec<u8> = Exit::ALL.iter().map(|(exit, _)| *exit as u8).collect();
    assert_eq!(all, (0..10).collect::<Vec<u8>>());
}

#[test]
fn a_message_says_what_to_do_next() {
    assert_eq!(refused("not_connected").message().unwrap(), "no\nstart it: `harbor start time`");
    assert_eq!(refused("ERR_INTERNAL").message().unwrap(), "no");
}

#[test]
fn a_refusal_names_the_command_that_changes_it() {
    let next = |code: &str, details: &str, profile: Option<&str>| {
        let (details, profile) = (Some(details.to_owned()), profile.map(str::to_owned));
        let refusal = Refusal { code: code.into(), message: "no".into(), details, server: None, profile };
        refusal.next_step().unwrap_or_default()
    };
    let about = r#"{"origin":"https://a.example","scope":"mcp:tools.call","reason":"allowlist"}"#;
    for (code, details, profile, step) in [
        (
            "ERR_SCOPE_REQUIRED",
            about,
            None,
            "`harbor grant https://a.example mcp:tools.call` allows it temporarily",
        ),
        (
            "ERR_SCOPE_REQUIRED",
            about,
            Some("my work"),
            "`harbor grant https://a.example mcp:tools.call --profile \"my work\"` allows it temporarily",
        ),
        (
            "ERR_SCOPE_REQUIRED",
            r#"{"origin":"client://ai","scope":"mcp:tools.call"}"#,
            None,
            "`harbor grant client://ai mcp:tools.call --always` allows it",
        ),
        (
            "ERR_PERMISSION_DENIED",
            about,
            None,
            "`harbor revoke https://a.example mcp:tools.call --deny` revokes the denial",
        ),
        ("ERR_PERMISSION_DENIED", "{}", None, ""),
        (
            "ERR_TOOL_NOT_ALLOWED",
            about,
            None,
            "`harbor grants https://a.example` shows the tools that it may use; `harbor grant https://a.example \
             mcp:tools.call --tool SERVER/TOOL` allows one temporarily",
        ),
        (
            "ERR_TOOL_NOT_ALLOWED",
            r#"{"reason":"tool_changed","server_id":"time"}"#,
            None,
            "`harbor tools --changed time` shows the change, and how to accept it",
        ),
        (
            "ERR_TOOL_NOT_FOUND",
            r#"{"server_id":"time"}"#,
            None,
            "`harbor tools time` shows the tools of time",
        ),
        (
            "ERR_RATE_LIMITED",
            r#"{"retry_after_ms":1200}"#,
            None,
            "try again in 2 s; config.toml has the limits",
        ),
        ("ERR_RATE_LIMITED", r#"{"limit":"concurrent"}"#, None, ""),
        (
            "ERR_BUDGET_EXCEEDED",
            "{}",
            None,
            "`limits.maxCallsPerRun` in config.toml sets how many calls a run may make",
        ),
        (
            "invalid_params",
            r#"{"field":"tool_hash","server_id":"time"}"#,
            None,
            "`harbor tools --changed time` shows its present hash",
        ),
        ("invalid_params", r#"{"field":"origin"}"#, None, ""),
    ] {
        assert_eq!(next(code, details, profile), step, "{code} {details}");
    }
}

#[test]
fn of_an_installation_only_the_installers_own_words_are_shown() {
    let said = |tail: &str| {
        let mut failure = refused("connection_failed");
        let Failure::Refused(refusal) = &mut failure else { panic!("refused") };
        refusal.details = Some(format!(r#"{{"left":"nothing","stderr_tail":"{tail}"}}"#));
        failure.message().unwrap()
    };
    let git = said(r"$ git -c x fetch\nfatal: Could not resolve host");
    assert_eq!(git, "no\nit said:\n    fatal: Could not resolve host\nnothing was installed");
    assert_eq!(said(r"$ harbor-runner-http fetch\nrefused: no"), "no\nnothing was installed");
    let lacking = said(r#"usage: x","arguments":"they stand behind --"#);
    assert_eq!(lacking, "no\nit said:\n    usage: x\nnothing was installed; they stand behind --");
    let python = said(r#"usage: x","python":"install Python 3.12"#);
    assert_eq!(python, "no\nit said:\n    usage: x\nnothing was installed; install Python 3.12");
}

#[test]
fn of_a_remote_server_no_log_is_named() {
    let said = |code: &str, details: &str| {
        let mut failure = refused(code);
        let Failure::Refused(refusal) = &mut failure else { panic!("refused") };
        refusal.details = Some(details.into());
        failure.message().unwrap()
    };
    assert_eq!(
        said("connection_failed", r#"{"cause":"unreachable"}"#),
        "no\n`harbor start time` connects again; `harbor status time` shows its address"
    );
    let crashed = said("ERR_SERVER_UNAVAILABLE", r#"{"cause":"tls","state":"crashed"}"#);
    assert!(crashed.contains("connects at once"), "{crashed}");
}

#[test]
fn a_server_that_failed_is_told_with_its_cause() {
    assert_eq!(
        refused("ERR_SERVER_UNAVAILABLE").message().unwrap(),
        "no (x)\ntry again: `harbor start time`; log: `harbor logs time`"
    );
    let stopped = |code: &str, sent: bool| {
        let details = Some(format!(r#"{{"cause":"stopped","state":"stopped","sent":{sent}}}"#));
        let message = "it is stopped".to_owned();
        Refusal { code: code.into(), message, details, server: None, profile: None }
    };
    assert!(stopped("ERR_SERVER_UNAVAILABLE", false).found_it_stopped());
    assert!(!stopped("ERR_SERVER_UNAVAILABLE", true).found_it_stopped(), "it may have done its work");
    assert!(!stopped("connection_failed", false).found_it_stopped());
    assert_eq!(stopped("connection_failed", false).reason(), "it is stopped", "not twice");
}

#[test]
fn a_setting_of_the_sandbox_is_named_as_it_is_typed() {
    let told = |field: &str, message: &str| {
        let details = Some(format!(r#"{{"field":"{field}","expected":"x"}}"#));
        let (code, message) = ("invalid_params".into(), message.to_owned());
        Failure::Refused(Box::new(Refusal { code, message, details, server: None, profile: None }))
    };
    for (field, message, typed) in [
        (
            "memory_mb",
            "the sandbox's memory_mb must be 64 to 1048576 MiB",
            "--memory must be 64 to 1048576 MiB",
        ),
        (
            "open_files",
            "the sandbox's open_files must be 64 to 1048576",
            "--open-files must be 64 to 1048576",
        ),
        ("sockets", "the sandbox's sockets must be a list", "--socket must be a list"),
        ("hosts", "the sandbox's hosts must be empty", "--host must be empty"),
        ("future", "the sandbox's future must be bright", "the sandbox's future must be bright"),
        ("command", "field `command`: expected a program", "field `command`: expected a program"),
    ] {
        assert_eq!(told(field, message).message().unwrap(), typed);
    }
    let json = told("memory_mb", "the sandbox's memory_mb must be 64").json().unwrap();
    assert!(
        json.contains("the sandbox's memory_mb must be 64"),
        "programs know the name on the wire: {json}"
    );
}

#[test]
fn an_argument_that_does_not_fit_is_shown_as_it_is_typed() {
    for (path, wanted, typed) in [
        ("/a", "integer", "`a:=VALUE` gives a value as JSON, such as a:=1; "),
        ("/a", "string", "`a=TEXT` gives a text; "),
        ("/a/0", "string", ""),
    ] {
        let mut failure = refused("invalid_params");
        let Failure::Refused(refusal) = &mut failure else { panic!("refused") };
        let why = format!(r#"it is not of type \"{wanted}\""#);
        refusal.details = Some(format!(r#"{{"path":"{path}","reason":"{why}","server_id":"time"}}"#));
        let step = refusal.next_step().unwrap();
        assert_eq!(step, format!("{typed}`harbor tools time/TOOL` shows the schema"));
    }
}

#[test]
fn as_json() {
    assert_eq!(
        refused("not_found").json().unwrap(),
        r#"{"error":{"code":"not_found","message":"no","hint":"`harbor list` shows the servers, `harbor tools` their tools","details":{"cause":"x"}}}"#
    );
    assert_eq!(
        Failure::Usage("say \"x\"".into()).json().unwrap(),
        r#"{"error":{"code":"invalid_params","message":"say \"x\""}}"#
    );
    assert_eq!(
        Failure::Usage("unknown option --x\nusage: harbor list".into()).json().unwrap(),
        r#"{"error":{"code":"invalid_params","message":"unknown option --x","hint":"usage: harbor list"}}"#
    );
    let nothing = Failure::Nothing("none".into(), "do that".into());
    assert_eq!(
        nothing.json().unwrap(),
        r#"{"error":{"code":"not_found","message":"none","hint":"do that"}}"#
    );
    assert_eq!((nothing.message().unwrap().as_str(), nothing.exit()), ("none\ndo that", Exit::NotFound));
    assert_eq!(Failure::Said(Exit::ToolFailed).json(), None);
}

#[test]
fn a_reader_that_left_is_no_failure() {
    let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
    assert_eq!((failure.exit(), failure.message()), (Exit::Done, None));
}
