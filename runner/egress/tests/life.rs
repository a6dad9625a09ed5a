//! The real proxy's beginning and end, and what clients do that behave badly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use harbor_child::own;
use harbor_ipc_proto::BUILD;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use support::{PATIENCE, Proxy, accept, heard, patient, program, target, wait_for_the_end};

const PROGRAM: &str = env!("CARGO_BIN_EXE_harbor-egress");
const MAX_CONNECTIONS: usize = 128;

fn said(mut command: Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_wrong_start_is_told_in_one_line() {
    let own = std::process::id().to_string();
    for (arguments, code, line) in [
        (&[][..], 2, "it is started by harbor-runner; run `harbor help` instead".to_owned()),
        (&["0.0.0-old", &own][..], 2, format!("the runner is from build 0.0.0-old, this proxy from {BUILD}")),
        (
            &[BUILD, &own, "a b"][..],
            2,
            "its rules must be hosts like example.com, *.example.com, 192.0.2.7 or [2001:db8::1], each with :PORT, :* \
             or nothing; \"a b\" is not one"
                .into(),
        ),
        (&[BUILD, "1"][..], 1, "the parent has ended".into()),
    ] {
        let (mut command, _) = program(PROGRAM);
        command.args(arguments);
        assert_eq!(said(command), (Some(code), String::new(), format!("harbor-egress: {line}\n")));
    }
}

#[test]
fn it_takes_only_a_socket_that_listens_on_loopback() {
    let own = std::process::id().to_string();
    let connected = TcpStream::connect(target().1);
    let everywhere = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
    let mut stdins = vec![Stdio::null(), std::os::fd::OwnedFd::from(everywhere).into()];
    stdins.extend(connected.ok().map(|stream| std::os::fd::OwnedFd::from(stream).into()));
    for stdin in stdins {
        let mut command = Command::new(PROGRAM);
        command.args([BUILD, &own]).stdin(stdin);
        assert_eq!(said(command).0, Some(1));
    }
}

#[test]
fn it_ends_with_its_parent_however_that_ends() {
    // Orphans come here, and are waited for.
    own::become_subreaper().unwrap();
    // The shell is the parent; a background job's stdin would be /dev/null.
    let script = r#"exec 3<&0; "$1" "$2" $$ <&3 & echo $!; wait"#;
    let (mut command, address) = program("/bin/sh");
    let mut shell = command.args(["-c", script, "sh", PROGRAM, BUILD]).spawn().unwrap();
    // It holds the listening socket, too.
    drop(command);
    let mut line = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut client = patient(TcpStream::connect(address).unwrap());
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert!(heard(&mut client).starts_with("HTTP/1.1 400"), "it runs");
    let mut client = patient(TcpStream::connect(address).unwrap());
    client.write_all(b"GET ").unwrap();
    shell.kill().unwrap();
    shell.wait().unwrap();
    wait_for_the_end(&mut client);
    let proxy = Pid::from_raw(line.trim().parse().unwrap());
    assert_eq!(waitpid(proxy, None).unwrap(), WaitStatus::Signaled(proxy, Signal::SIGKILL, false));
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
}

#[test]
fn sigterm_ends_it_with_tunnels_open() {
    let (target, address) = target();
    let mut proxy = Proxy::to(&target);
    let (mut client, mut server) = (proxy.tunnel(address), accept(&target));
    kill(Pid::from_raw(proxy.child.id().cast_signed()), Signal::SIGTERM).unwrap();
    proxy.child.wait().unwrap();
    wait_for_the_end(&mut client);
    wait_for_the_end(&mut server);
}

/// As an ordinary user, whom the kernel would otherwise let read a process of the same user.
#[test]
fn nobody_reads_its_memory() {
    let directory = std::env::temp_dir().join(format!("harbor-egress-{}", std::process::id()));
    fs::create_dir(&directory).unwrap();
    let copy = directory.join("harbor-egress");
    // By a process of its own: another test's child that begins just now would hold a file that this one writes.
    assert!(Command::new("cp").arg(PROGRAM).arg(&copy).status().unwrap().success());
    let (mut command, address) = program(copy.to_str().unwrap());
    command.args([BUILD, &std::process::id().to_string()]);
    if nix::unistd::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    let proxy = Proxy { child: command.spawn().unwrap(), address };
    fs::remove_dir_all(&directory).unwrap();
    assert!(proxy.ask("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400"), "it runs");
    let process = format!("/proc/{}", proxy.child.id());
    assert_eq!(fs::metadata(format!("{process}/environ")).unwrap().uid(), 0);
    assert_eq!(fs::read(format!("{process}/environ")).unwrap_or_default(), b"");
}

#[test]
fn the_connections_beyond_the_most_are_turned_away_until_one_ends() {
    let proxy = Proxy::start(&[]);
    let mut silent: Vec<TcpStream> = (0..MAX_CONNECTIONS).map(|_| proxy.connect()).collect();
    for _ in 0..10 {
        let mut client = proxy.connect();
        assert!(heard(&mut client).starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
    }
    silent.pop();
    let begin = Instant::now();
    // It may see the new client before it sees that the old one has gone.
    while !proxy.ask("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400") {
        assert!(begin.elapsed() < PATIENCE);
    }
}

#[test]
fn many_tunnels_carry_at_once() {
    let (target, address) = target();
    let proxy = Proxy::to(&target);
    let mut ends: Vec<_> = (0..MAX_CONNECTIONS).map(|_| (proxy.tunnel(address), accept(&target))).collect();
    for (at, (client, _)) in ends.iter_mut().enumerate() {
        write!(client, "{at}").unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
    }
    for (at, (_, server)) in ends.iter_mut().enumerate() {
        assert_eq!(heard(server), at.to_string());
    }
}

#[test]
fn a_client_that_vanishes_takes_its_connection_along_and_nothing_else() {
    let (target, address) = target();
    let proxy = Proxy::to(&target);
    for _ in 0..2 * MAX_CONNECTIONS {
        let client = proxy.tunnel(address);
        let mut server = accept(&target);
        drop(client);
        wait_for_the_end(&mut server);
    }
    let mut client = proxy.tunnel(address);
    let mut server = accept(&target);
    server.write_all(b"x").unwrap();
    drop(server);
    assert_eq!(heard(&mut client), "x");
}
