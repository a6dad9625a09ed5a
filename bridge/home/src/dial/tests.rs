//! The search for the bridge, against bridges that misbehave.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::Command;

use harbor_ipc_proto::client::envelope::Incoming;
use harbor_ipc_proto::client::{ConnectionRequest, Request};
use harbor_ipc_proto::frame::put_frame;
use nix::sys::socket::{Backlog, listen};
use tempfile::TempDir;

use super::*;

const LIMIT: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(200);

const WELCOME: &str =
    r#"{"type":"attach_result","request_id":"attach","protocol":1,"build":"0.1.0-dev","pid":7}"#;

fn refusal(code: &str) -> String {
    format!(
        r#"{{"type":"error","request_id":"attach","error":{{"code":"{code}","message":"no","details":{{"protocol":0,"build":"old"}}}}}}"#
    )
}

/// A home in a temporary directory, and what a dial there needs.
fn home(limit: Duration) -> (TempDir, Dial) {
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    let dial = Dial {
        home: home.path().to_owned(),
        run_dir: at("run"),
        socket: at("run/bridge.sock"),
        token: at("run/token"),
        lock: at("run/bridge.lock"),
        log: at("logs/bridge.log"),
        program: at("harbor-bridge"),
        role: Role::Cli,
        until: Instant::now() + limit,
    };
    (home, dial)
}

fn make_private_dir(path: &Path) {
    fs::create_dir(path).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
}

/// A home with a socket that listens.
fn listening(limit: Duration) -> (TempDir, Dial, UnixListener) {
    let (home, dial) = home(limit);
    make_private_dir(&dial.run_dir);
    fs::write(&dial.token, "secret\n").unwrap();
    let listener = UnixListener::bind(&dial.socket).unwrap();
    (home, dial, listener)
}

/// Answers one connection after another with these texts; gives the frames that were read. An empty text
/// closes the connection without an answer.
fn answer(listener: UnixListener, texts: Vec<String>) -> thread::JoinHandle<Vec<Vec<u8>>> {
    let one = move |text: String| {
        let (mut stream, _) = listener.accept().unwrap();
        let mut header = [0; HEADER];
        stream.read_exact(&mut header).unwrap();
        let mut body = vec![0; usize::try_from(u32::from_le_bytes(header)).unwrap()];
        stream.read_exact(&mut body).unwrap();
        if !text.is_empty() {
            let mut frame = Vec::new();
            put_frame(&mut frame, |out| out.extend_from_slice(text.as_bytes()));
            put_frame(&mut frame, |out| out.extend_from_slice(b"next"));
            stream.write_all(&frame).unwrap();
        }
        body
    };
    thread::spawn(move || texts.into_iter().map(one).collect())
}

/// A bridge that is a shell script. A child writes it, since a file that another thread's child still holds
/// open for writing cannot be started.
fn script(dial: &Dial, text: &str) {
    let script = format!("#!/bin/sh\n{text}\n");
    let write = r#"printf '%s' "$1" > "$0"; chmod 700 "$0""#;
    let status = Command::new("sh").args(["-c", write]).arg(&dial.program).arg(script).status().unwrap();
    assert!(status.success());
}

#[test]
fn attaches_to_the_bridge_that_runs_and_reads_no_further_than_its_answer() {
    let (_home, mut dial, listener) = listening(LIMIT);
    dial.role = Role::Relay { extension_id: "abc".into() };
    let peer = answer(listener, vec![WELCOME.into()]);
    let mut stream = dial.run(true).unwrap().unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"\x04\0\0\0next");
    let frames = peer.join().unwrap();
    let Request::Connection(ConnectionRequest::Attach(attach)) = Incoming::parse(&frames[0]).unwrap().request
    else {
        panic!("no attach")
    };
    assert_eq!((attach.token.as_str(), attach.role.as_str()), ("secret", "relay"));
    assert_eq!((attach.protocol, attach.extension_id.as_deref()), (Some(CLIENT_PROTOCOL), Some("abc")));
}

#[test]
fn tries_again_while_the_bridge_changes_hands() {
    let (_home, dial, listener) = listening(LIMIT);
    let peer = answer(
        listener,
        vec![refusal("unauthorized"), String::new(), refusal("shutting_down"), WELCOME.into()],
    );
    assert!(dial.run(true).unwrap().is_some());
    assert_eq!(peer.join().unwrap().len(), 4);
}

#[test]
fn a_token_that_stays_wrong_is_an_error_at_the_limit() {
    let (_home, dial, listener) = listening(SHORT);
    drop(answer(listener, vec![refusal("unauthorized"); 20]));
    let error = dial.run(true).unwrap_err();
    assert!(matches!(&error, DialError::Refused(Code::Unauthorized, text) if text == "no"), "{error}");
}

#[test]
fn what_was_heard_is_said_also_where_the_last_try_is_cut_off() {
    let (_home, dial, listener) = listening(SHORT);
    let _nobody_takes_the_next = listener.try_clone().unwrap();
    drop(answer(listener, vec![refusal("unauthorized")]));
    let error = dial.run(true).unwrap_err();
    assert!(matches!(&error, DialError::Refused(Code::Unauthorized, text) if text == "no"), "{error}");
}

#[test]
fn versions_that_do_not_fit_say_which_is_older() {
    let newer = WELCOME.replace("\"protocol\":1", "\"protocol\":9");
    for (text, hint) in [
        (refusal("version_mismatch"), "bridge (build old, protocol 0) is older than this program"),
        (newer, "is older than the running bridge (build 0.1.0-dev, protocol 9)"),
        (refusal("version_mismatch").replace("protocol", "x"), "do not fit"),
    ] {
        let (_home, dial, listener) = listening(LIMIT);
        drop(answer(listener, vec![text]));
        let error = dial.run(true).unwrap_err();
        assert_eq!(error.code(), Code::VersionMismatch);
        assert!(error.to_string().contains(hint), "{error}");
        assert!(error.to_string().contains("harbor shutdown"), "{error}");
    }
}

#[test]
fn other_answers_end_the_search() {
    for (text, code) in [
        (refusal("ERR_PERMISSION_DENIED"), Code::PermissionDenied),
        ("[]".into(), Code::BridgeUnreachable),
        ("nonsense".into(), Code::BridgeUnreachable),
    ] {
        let (_home, dial, listener) = listening(LIMIT);
        drop(answer(listener, vec![text]));
        assert_eq!(dial.run(true).unwrap_err().code(), code);
    }
}

#[test]
fn a_bridge_that_hangs_costs_no_more_than_the_limit() {
    let (_home, dial, _listener) = listening(SHORT);
    let started = Instant::now();
    let error = dial.run(true).unwrap_err();
    assert!(matches!(error, DialError::Slow { waited_for: "the bridge to answer", .. }), "{error}");
    assert!(started.elapsed() < LIMIT);
}

/// Whatever ends a system call with a limit early: here it is children of this process that end.
#[test]
fn a_signal_does_not_end_the_wait_for_a_connection() {
    let (_home, dial, listener) = listening(LIMIT);
    listen(&listener, Backlog::new(0).unwrap()).unwrap();
    let _first = UnixStream::connect(&dial.socket).unwrap();
    thread::scope(|scope| {
        let second = scope.spawn(|| connect_within(&dial.socket, LIMIT));
        for _ in 0..20 {
            let children: Vec<_> = (0..8).map(|_| Command::new("true").spawn().unwrap()).collect();
            children.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
        }
        assert!(!second.is_finished(), "there is no room yet");
        listener.accept().unwrap();
        second.join().unwrap().unwrap();
    });
}

#[test]
fn without_a_bridge_there_is_none_and_none_is_started() {
    let (_home, dial) = home(LIMIT);
    assert!(dial.run(false).unwrap().is_none());
    let (_home, dial, listener) = listening(LIMIT);
    drop(listener);
    assert!(dial.run(false).unwrap().is_none());
}

#[test]
fn what_others_could_have_made_is_refused() {
    let (_home, dial, _listener) = listening(LIMIT);
    fs::set_permissions(&dial.run_dir, Permissions::from_mode(0o777)).unwrap();
    let error = dial.run(true).unwrap_err();
    assert!(matches!(&error, DialError::NotOurs(path) if *path == dial.run_dir), "{error}");
}

#[test]
fn starts_a_bridge_and_waits_until_it_listens() {
    let (home, dial, listener) = listening(LIMIT);
    // The socket comes to its place only when the script puts it there.
    fs::rename(&dial.socket, home.path().join("hidden")).unwrap();
    script(
        &dial,
        r#"echo "$@" $PWD >&2; mv "$HARBOR_HOME/hidden" "$HARBOR_HOME/run/bridge.sock"; echo ready"#,
    );
    let peer = answer(listener, vec![WELCOME.into()]);
    assert!(dial.run(true).unwrap().is_some());
    peer.join().unwrap();
    assert_eq!(fs::read_to_string(&dial.log).unwrap(), "serve --detached /\n");
    assert_eq!(fs::metadata(&dial.log).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(dial.log.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
}

#[test]
fn a_faster_bridge_is_waited_for() {
    let (home, dial, listener) = listening(LIMIT);
    fs::rename(&dial.socket, home.path().join("hidden")).unwrap();
    script(&dial, r#"mv "$HARBOR_HOME/hidden" "$HARBOR_HOME/run/bridge.sock"; exit 75"#);
    let peer = answer(listener, vec![WELCOME.into()]);
    assert!(dial.run(true).unwrap().is_some());
    peer.join().unwrap();
}

#[test]
fn a_lock_that_stays_held_is_an_error_at_the_limit() {
    let (_home, dial) = home(Duration::from_secs(1));
    script(&dial, "exit 75");
    let error = dial.run(true).unwrap_err();
    assert!(error.to_string().contains("holds the lock"), "{error}");
}

#[test]
fn a_bridge_that_fails_to_start_is_quoted() {
    let (_home, dial) = home(LIMIT);
    make_private_dir(dial.log.parent().unwrap());
    fs::write(&dial.log, "from an earlier life\n").unwrap();
    script(&dial, "for n in 1 2 3 4 5 6 7 8 9; do echo line $n >&2; done; exit 3");
    let error = dial.run(true).unwrap_err();
    let DialError::Ended { status, tail, log } = &error else { panic!("{error}") };
    assert_eq!((status.code(), log), (Some(3), &dial.log));
    assert_eq!(*tail, (2..=9).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_bridge_that_is_not_installed_is_named() {
    let (_home, dial) = home(LIMIT);
    let error = dial.run(true).unwrap_err();
    assert!(error.to_string().contains("harbor-bridge: No such file"), "{error}");
}
