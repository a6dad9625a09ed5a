//! The bytes of every message between the bridge and a runner.

use super::super::codec::{CodecError, get_message, put_message};
use super::*;
use crate::link::oauth::{Client, Given, Proof};
use crate::link::sandbox::{Filter, Listening, Mounts, Network, PathAccess, PathRule, SandboxLimits};

fn bytes<M: Encode>(message: &M) -> Vec<u8> {
    let mut out = Vec::new();
    put_message(&mut out, message);
    out.split_off(4)
}

fn launch() -> Launch<'static> {
    Launch {
        command: "node".into(),
        args: vec!["x.js".into()],
        env: vec![("A".into(), "b".into())],
        cwd: "/".into(),
        known_era: Some(Era::Modern),
        offers_roots: false,
        start_timeout_ms: 5,
        max_line: 6,
        eof_grace_ms: 7,
        term_grace_ms: 8,
        sandbox: Sandbox::default(),
        afterwards: vec!["rm".into()],
        remote: None,
        known_revision: None,
    }
}

#[test]
fn golden_bytes_of_a_remote_server() {
    let remote = Remote {
        url: "u".into(),
        transport: Transport::Sse,
        headers: vec![("n".into(), "v".into())],
        allow_private: true,
        allow_http: false,
        grant: None,
    };
    assert_eq!(bytes(&remote), b"\x01u\x02\x01\x01n\x01v\x01\x00\x00");
    let with = Launch { remote: Some(remote.clone()), ..launch() };
    let written = bytes(&with);
    assert!(written.ends_with(&[&b"\x01"[..], &bytes(&remote), b"\x00"].concat()));
    assert_eq!(get_message::<Launch<'_>>(&written), Ok(with));
    let kinds = [
        RemoteEnd::Unreachable,
        RemoteEnd::Unauthorized,
        RemoteEnd::SessionLost,
        RemoteEnd::Forbidden,
        RemoteEnd::Tls,
        RemoteEnd::NoMcp,
        RemoteEnd::NeedsAuthorization,
        RemoteEnd::NotAuthorized,
    ];
    for (number, kind) in (0u8..).zip(kinds) {
        let cause = EndCause::Remote { kind, why: "w".into() };
        let ended = FromRunner::Ended { server: 1, cause, stderr_tail: "s".into() };
        assert_eq!(bytes(&ended), [&b"\x09\x01\x0e"[..], &[number], b"\x01w\x01s"].concat());
    }
}

#[test]
fn golden_bytes_of_a_death() {
    let cause = EndCause::Signalled { signal: 9 };
    let died = FromRunner::Died { server: 1, cause, stderr_tail: "s".into() };
    assert_eq!(bytes(&died), b"\x14\x01\x02\x12\x01s");
}

#[test]
fn golden_bytes_of_authorizations() {
    let secret = |text: &str| Secret::new(text.into());
    let grant = Grant {
        access_token: secret("a"),
        refresh_token: Some(secret("r")),
        expires_at: Some(5),
        scopes: vec!["s".into()],
        granted_at: 6,
        client: Client { id: "c".into(), secret: None, proof: Proof::Post, is_given: true },
        issuer: "i".into(),
        token_endpoint: "t".into(),
        revocation_endpoint: None,
        resource: "u".into(),
    };
    let of_grant = b"\x01a\x01\x01r\x01\x05\x01\x01s\x06\x01c\x00\x02\x01\x01i\x01t\x00\x01u";
    let wish = Wish {
        redirect_uri: "h".into(),
        client: Some(Given { id: "c".into(), secret: Some(secret("s")), issuer: None }),
        client_document: None,
        scopes: vec!["s".into()],
        challenge: None,
    };
    let of_wish = b"\x01h\x01\x01c\x01\x01s\x00\x00\x01\x01s\x00";
    let of_launch = bytes(&launch());
    for (message, expected) in [
        (
            ToRunner::Authorize { server: 1, launch: launch(), wish },
            [b"\x0b\x01", &of_launch[..], of_wish].concat(),
        ),
        (ToRunner::Redirected { server: 1, query: secret("q") }, b"\x0c\x01\x01q".to_vec()),
        (ToRunner::Revoke { server: 1, launch: launch() }, [b"\x0d\x01", &of_launch[..]].concat()),
        (ToRunner::Renew { server: 1, launch: launch() }, [b"\x0e\x01", &of_launch[..]].concat()),
        (
            ToRunner::Renewed { server: 1, renewal: Renewal::Granted(grant.clone().into()) },
            [&b"\x0f\x01\x00"[..], of_grant].concat(),
        ),
        (
            ToRunner::Renewed { server: 1, renewal: Renewal::Failed("w".into()) },
            b"\x0f\x01\x01\x01w".to_vec(),
        ),
    ] {
        assert_eq!(bytes(&message), expected);
        assert_eq!(get_message::<ToRunner<'_>>(&expected), Ok(message));
    }
    for (message, expected) in [
        (
            FromRunner::AskPerson { server: 1, url: "u".into(), state: secret("s") },
            b"\x11\x01\x01u\x01s".to_vec(),
        ),
        (FromRunner::Granted { server: 1, grant }, [&b"\x12\x01"[..], of_grant].concat()),
        (FromRunner::Challenged { server: 1, challenge: "c".into() }, b"\x13\x01\x01c".to_vec()),
        (FromRunner::Stale { server: 1, token: secret("t") }, b"\x15\x01\x01t".to_vec()),
    ] {
        assert_eq!(bytes(&message), expected);
        assert_eq!(get_message::<FromRunner<'_>>(&expected), Ok(message));
    }
}

fn tool() -> Tool<'static> {
    Tool {
        name: "n".into(),
        title: None,
        description: Some("\"d\"".into()),
        input_schema: Some("{}".into()),
        output_schema: None,
        annotations: None,
        hash: [7; 32],
        hidden: true,
        via: Some("[]".into()),
        more: Some("{}".into()),
        former: Some([8; 32]),
    }
}

/// Every message once, in wire order, with its bytes. A changed line here is a changed protocol.
#[test]
fn golden_bytes_to_runner() {
    let call = |operation| ToRunner::Call { server: 1, id: 2, progress: true, capabilities: None, operation };
    let golden: Vec<(ToRunner<'_>, &[u8])> = vec![
        (ToRunner::Hello { protocol: 1, build: "b".into() }, b"\x00\x01\x01b"),
        (
            ToRunner::Connect { server: 1, launch: launch() },
            b"\x01\x01\x04node\x01\x04x.js\x01\x01A\x01b\x01/\x01\x01\x00\x05\x06\x07\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x02rm\x00\x00",
        ),
        (ToRunner::Disconnect { server: 1 }, b"\x02\x01"),
        (
            ToRunner::Call {
                server: 1,
                id: 2,
                progress: false,
                capabilities: Some("{}".into()),
                operation: Operation::Ping,
            },
            b"\x03\x01\x02\x00\x01\x02{}\x0b",
        ),
        (call(Operation::ListTools), b"\x03\x01\x02\x01\x00\x00"),
        (call(Operation::ListResources), b"\x03\x01\x02\x01\x00\x01"),
        (call(Operation::ListResourceTemplates), b"\x03\x01\x02\x01\x00\x02"),
        (call(Operation::ListPrompts), b"\x03\x01\x02\x01\x00\x03"),
        (
            call(Operation::CallTool { name: "t".into(), arguments: "{}".into(), task: None }),
            b"\x03\x01\x02\x01\x00\x04\x01t\x02{}\x00",
        ),
        (call(Operation::ReadResource { uri: "u".into() }), b"\x03\x01\x02\x01\x00\x05\x01u"),
        (
            call(Operation::GetPrompt { name: "p".into(), arguments: "{}".into() }),
            b"\x03\x01\x02\x01\x00\x06\x01p\x02{}",
        ),
        (
            call(Operation::Complete { reference: "{}".into(), argument: "{}".into(), context: None }),
            b"\x03\x01\x02\x01\x00\x07\x02{}\x02{}\x00",
        ),
        (call(Operation::Subscribe { uri: "u".into() }), b"\x03\x01\x02\x01\x00\x08\x01u"),
        (call(Operation::Unsubscribe { uri: "u".into() }), b"\x03\x01\x02\x01\x00\x09\x01u"),
        (call(Operation::SetLogLevel { level: "info".into() }), b"\x03\x01\x02\x01\x00\x0a\x04info"),
        (call(Operation::Ping), b"\x03\x01\x02\x01\x00\x0b"),
        (
            call(Operation::Task { method: "tasks/get".into(), params: "{}".into() }),
            b"\x03\x01\x02\x01\x00\x0c\x09tasks/get\x02{}",
        ),
        (call(Operation::FetchTools { check_output: true }), b"\x03\x01\x02\x01\x00\x0d\x01"),
        (ToRunner::Cancel { server: 1, id: 2, reason: "r".into() }, b"\x04\x01\x02\x01r"),
        (
            ToRunner::Answer { server: 1, ask: 3, answer: AskAnswer::Result("{}".into()) },
            b"\x05\x01\x03\x00\x02{}",
        ),
        (
            ToRunner::Answer {
                server: 1,
                ask: 3,
                answer: AskAnswer::Refused { code: -1, message: "m".into() },
            },
            b"\x05\x01\x03\x01\x01\x01m",
        ),
        (ToRunner::Shutdown, b"\x06"),
        (
            ToRunner::Run { server: 1, launch: launch() },
            b"\x07\x01\x04node\x01\x04x.js\x01\x01A\x01b\x01/\x01\x01\x00\x05\x06\x07\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x02rm\x00\x00",
        ),
        (ToRunner::Probe { server: 1, ping: true }, b"\x08\x01\x01"),
        (ToRunner::Kill { server: 1 }, b"\x09\x01"),
        (ToRunner::Echo, b"\x0a"),
    ];
    for (message, wanted) in golden {
        let written = bytes(&message);
        assert_eq!(written, wanted, "{message:?}");
        assert_eq!(get_message::<ToRunner<'_>>(&written), Ok(message));
    }
}

/// A sandbox with something in each place, and every kind of network.
#[test]
fn golden_bytes_of_sandboxes() {
    let rule = |access| PathRule { path: "/p".into(), access };
    let whole = Sandbox {
        landlock: 7,
        paths: vec![rule(PathAccess::Read), rule(PathAccess::Device), rule(PathAccess::Write)],
        mounts: Some(Mounts {
            hidden: vec!["/h".into()],
            tmp: "/t".into(),
            links: vec![("/h/l".into(), "/p".into())],
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
        limits: SandboxLimits {
            memory: Some(1),
            processes: Some(2),
            open_files: Some(3),
            file_size: Some(4),
            nice: 5,
            disk: Some(6),
            writable: vec!["/w".into()],
        },
        fewer_capabilities: true,
        listening: Some(Listening { port: Some(9), unix_sockets: false }),
    };
    let written = bytes(&whole);
    let wanted = b"\x07\x03\x02/p\x00\x02/p\x01\x02/p\x02\x01\x01\x02/h\x02/t\x01\x04/h/l\x02/p\
                   \x01\x01\x00\x01\x00\x01\x00\x01\
                   \x01\x01\x01\x02\x01\x03\x01\x04\x05\x01\x06\x01\x02/w\x01\x01\x01\x09\x00";
    assert_eq!(written, wanted);
    assert_eq!(get_message::<Sandbox<'_>>(&written), Ok(whole));
    let hosts = Network::Hosts { proxy: "/e".into(), port: 9, allowed: vec!["a".into()] };
    let networks: [(Network<'_>, &[u8]); 5] = [
        (Network::Machine, b"\x00"),
        (Network::Outgoing, b"\x01"),
        (Network::None, b"\x02"),
        (Network::Loopback, b"\x03"),
        (hosts, b"\x04\x02/e\x09\x01\x01a"),
    ];
    for (network, wanted) in networks {
        assert_eq!(bytes(&network), wanted, "{network:?}");
    }
}

#[test]
fn golden_bytes_from_runner() {
    let ended = |cause| FromRunner::Ended { server: 1, cause, stderr_tail: "s".into() };
    let info = ServerInfo {
        era: Era::Legacy,
        protocol_version: "v".into(),
        name: "n".into(),
        version: "1".into(),
        capabilities: "{}".into(),
        instructions: None,
        insists: true,
    };
    let golden: Vec<(FromRunner<'_>, &[u8])> = vec![
        (FromRunner::Hello { protocol: 1, build: "b".into() }, b"\x00\x01\x01b"),
        (FromRunner::Started { server: 1, pid: 9 }, b"\x01\x01\x09"),
        (FromRunner::Connected { server: 1, info }, b"\x02\x01\x00\x01v\x01n\x011\x02{}\x00\x01"),
        (
            FromRunner::Progress {
                server: 1,
                id: 2,
                progress: "3".into(),
                total: None,
                message: Some("m".into()),
            },
            b"\x04\x01\x02\x013\x00\x01\x01m",
        ),
        (FromRunner::ListChanged { server: 1, list: List::Prompts }, b"\x05\x01\x02"),
        (FromRunner::ResourceUpdated { server: 1, uri: "u".into() }, b"\x06\x01\x01u"),
        (
            FromRunner::Log { server: 1, source: LogSource::Mcp, level: None, text: "t".into() },
            b"\x07\x01\x02\x00\x01t",
        ),
        (
            FromRunner::Log { server: 1, source: LogSource::Runner, level: None, text: "t".into() },
            b"\x07\x01\x03\x00\x01t",
        ),
        (
            FromRunner::Ask { server: 1, ask: 3, call: Some(2), method: "m".into(), params: "{}".into() },
            b"\x08\x01\x03\x01\x02\x01m\x02{}",
        ),
        (ended(EndCause::Stopped), b"\x09\x01\x00\x01s"),
        (ended(EndCause::Exited { code: 1 }), b"\x09\x01\x01\x02\x01s"),
        (ended(EndCause::Signalled { signal: 9 }), b"\x09\x01\x02\x12\x01s"),
        (ended(EndCause::SpawnFailed { what: "w".into(), errno: 2 }), b"\x09\x01\x03\x01w\x04\x01s"),
        (
            ended(EndCause::ExitedBeforeContact { code: Some(1), signal: None }),
            b"\x09\x01\x04\x01\x02\x00\x01s",
        ),
        (ended(EndCause::ContactTimeout { limit_ms: 5 }), b"\x09\x01\x05\x05\x01s"),
        (ended(EndCause::ContactRefused { code: -1, message: "m".into() }), b"\x09\x01\x06\x01\x01m\x01s"),
        (ended(EndCause::ContactMalformed("w".into())), b"\x09\x01\x07\x01w\x01s"),
        (ended(EndCause::UnknownProtocolVersion("v".into())), b"\x09\x01\x08\x01v\x01s"),
        (ended(EndCause::ClosedStdout), b"\x09\x01\x09\x01s"),
        (ended(EndCause::OutOfMemory { code: None, signal: Some(9) }), b"\x09\x01\x0a\x00\x01\x12\x01s"),
        (ended(EndCause::Hung), b"\x09\x01\x0b\x01s"),
        (ended(EndCause::Overdue { limit_ms: 5 }), b"\x09\x01\x0c\x05\x01s"),
        (FromRunner::Probed { server: 1, quiet_ms: 7, unanswered_ms: Some(8) }, b"\x0a\x01\x07\x01\x08"),
        (FromRunner::Late { server: 1, count: 3 }, b"\x0b\x01\x03"),
        (FromRunner::Containment { pid_namespace: true, why: "".into() }, b"\x0c\x01\x00"),
        (
            FromRunner::Offer(Offer {
                landlock: 7,
                seccomp: true,
                namespaces: false,
                why_no_namespaces: "w".into(),
                answers: true,
            }),
            b"\x0d\x07\x01\x00\x01w\x01",
        ),
        (
            FromRunner::Denied { server: 1, path: "/p".into(), write: true, missing: false },
            b"\x0e\x01\x02/p\x01\x00",
        ),
        (FromRunner::Echo, b"\x10"),
    ];
    for (message, wanted) in golden {
        let written = bytes(&message);
        assert_eq!(written, wanted, "{message:?}");
        assert_eq!(get_message::<FromRunner<'_>>(&written), Ok(message));
    }
}

#[test]
fn golden_bytes_of_what_is_over_a_limit() {
    let all = [Resource::Memory, Resource::Processes, Resource::Disk, Resource::FreeSpace];
    for (number, resource) in (0..).zip(all) {
        let cause = EndCause::OverLimit { resource, limit: 5, used: 6 };
        let ended = FromRunner::Ended { server: 1, cause, stderr_tail: "s".into() };
        assert_eq!(bytes(&ended), [9, 1, 13, number, 5, 6, 1, b's']);
    }
}

#[test]
fn golden_bytes_of_what_is_lacking() {
    let lacks = |what| FromRunner::Lacks { server: 1, what };
    let golden: [(FromRunner<'_>, &[u8]); 10] = [
        (lacks(Lack::Memory), b"\x0f\x01\x00"),
        (lacks(Lack::FileSize), b"\x0f\x01\x01"),
        (lacks(Lack::OpenFiles), b"\x0f\x01\x02"),
        (lacks(Lack::Processes), b"\x0f\x01\x03"),
        (lacks(Lack::Module("m".into())), b"\x0f\x01\x04\x01m"),
        (lacks(Lack::Socket { path: "/s".into(), listen: true }), b"\x0f\x01\x05\x02/s\x01"),
        (lacks(Lack::Host("h".into())), b"\x0f\x01\x06\x01h"),
        (lacks(Lack::Threads), b"\x0f\x01\x07"),
        (lacks(Lack::Attributes("/a".into())), b"\x0f\x01\x08\x02/a"),
        (lacks(Lack::Listen(9)), b"\x0f\x01\x09\x09"),
    ];
    for (message, wanted) in golden {
        let written = bytes(&message);
        assert_eq!(written, wanted, "{message:?}");
        assert_eq!(get_message::<FromRunner<'_>>(&written), Ok(message));
    }
}

#[test]
fn golden_bytes_of_replies() {
    let reply = |outcome| FromRunner::Reply { server: 1, id: 2, outcome };
    let failed = |failure| reply(Outcome::Failed(failure));
    let golden: Vec<(FromRunner<'_>, &[u8])> = vec![
        (reply(Outcome::Result("{}".into())), b"\x03\x01\x02\x00\x02{}"),
        (reply(Outcome::ToolError("{}".into())), b"\x03\x01\x02\x05\x02{}"),
        (
            reply(Outcome::ServerError { code: -1, message: "m".into(), data: Some("1".into()) }),
            b"\x03\x01\x02\x01\x01\x01m\x01\x011",
        ),
        (
            reply(Outcome::Items { items: "[1]".into(), count: 1, flaws: vec!["f".into()] }),
            b"\x03\x01\x02\x03\x03[1]\x01\x01\x01f",
        ),
        (
            reply(Outcome::Tools { items: "[]".into(), tools: vec![tool()], flaws: vec![] }),
            b"\x03\x01\x02\x04\x02[]\x01\x01n\x00\x01\x03\"d\"\x01\x02{}\x00\x00\
              \x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\
              \x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x07\x01\x01\x02[]\x01\x02{}\x01\
              \x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\
              \x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08\x00",
        ),
        (failed(CallFailure::NotConnected), b"\x03\x01\x02\x02\x00"),
        (failed(CallFailure::NotOffered("w".into())), b"\x03\x01\x02\x02\x01\x01w"),
        (failed(CallFailure::Malformed("w".into())), b"\x03\x01\x02\x02\x02\x01w"),
        (failed(CallFailure::TooLarge { limit: 9 }), b"\x03\x01\x02\x02\x03\x09"),
        (failed(CallFailure::Congested), b"\x03\x01\x02\x02\x04"),
        (failed(CallFailure::InputRefused("w".into())), b"\x03\x01\x02\x02\x05\x01w"),
        (
            failed(CallFailure::InvalidArguments { path: "/a".into(), why: "w".into() }),
            b"\x03\x01\x02\x02\x06\x02/a\x01w",
        ),
        (failed(CallFailure::Lost("w".into())), b"\x03\x01\x02\x02\x07\x01w"),
    ];
    for (message, wanted) in golden {
        let written = bytes(&message);
        assert_eq!(written, wanted, "{message:?}");
        assert_eq!(get_message::<FromRunner<'_>>(&written), Ok(message));
    }
}

#[test]
fn bytes_that_are_no_message_are_refused() {
    assert_eq!(get_message::<ToRunner<'_>>(b"\x06\x00"), Err(CodecError::TrailingBytes));
    assert_eq!(get_message::<ToRunner<'_>>(b"\x63"), Err(CodecError::Malformed));
    assert_eq!(get_message::<ToRunner<'_>>(b""), Err(CodecError::Malformed));
    // A string that claims 2^64 - 1 bytes must be an error, neither a panic nor an allocation.
    let huge = b"\x00\x01\xfd\xff\xff\xff\xff\xff\xff\xff\xff";
    assert_eq!(get_message::<ToRunner<'_>>(huge), Err(CodecError::Malformed));
    let invalid_utf8 = b"\x00\x01\x02\xff\xff";
    assert_eq!(get_message::<ToRunner<'_>>(invalid_utf8), Err(CodecError::Malformed));
}
