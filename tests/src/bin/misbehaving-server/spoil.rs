//! The faults that show on a tool call. Must never answer a call that has none of them.

use std::fs::File;
use std::io::Write;
use std::process::{Command, exit};
use std::sync::atomic::Ordering;

use harbor_tests::double::echo_result;
use harbor_tests::faults::{EXIT_IN_CALL, Fault, KEPT_CALLS, LAST_CALL, OVER_THE_BOUND};

use crate::floods;
use crate::server::{Request, Server};
use crate::startup;

/// Does what the fault says on this call; false when the call goes its usual way.
pub fn call(server: &Server, request: &Request, tool: &str) -> bool {
    let id = &request.id;
    let number = 1 + server.called.fetch_add(1, Ordering::Relaxed);
    let first = number == 1;
    match server.settings.fault {
        Fault::MalformedResult => server.out.result(id, "\"done\""),
        Fault::PrintedAnswers => {
            let (result, rest) = (
                echo(server, request),
                "\n}\n{\"id\": 1, \"t\": \"PRIVATE\"},\n{\"id\": 1, \"t\": \"PRIVATE\"}\n}\nPRIVATE\n",
            );
            server.out.bytes(format!("{{\n  \"id\": {id},\n  \"result\": {{\n{result}{rest}").as_bytes());
        }
        Fault::InvalidUtf8 => {
            let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"text\":\"");
            server.out.bytes(&[head.as_bytes(), b"\xff\xfe", b"\"}]}}\n"].concat());
        }
        Fault::NoFinalNewline if first => {
            let result = echo(server, request);
            server.out.bytes(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").as_bytes());
            exit(0);
        }
        Fault::HugeLine if tool == "echo" => huge_line(server, id),
        Fault::AnswersOutOfOrder if tool == "echo" => keep(server, request),
        Fault::NeverAnswersCalls => {}
        Fault::Hangs => server.out.fall_silent(),
        Fault::EndlessLine if first => {
            server.out.fall_silent();
            floods::begin_line();
        }
        Fault::DiesOnEachCall => exit(EXIT_IN_CALL),
        Fault::DiesOnTwentiethCall if number == LAST_CALL => exit(EXIT_IN_CALL),
        Fault::ClosesStdout if first => {
            nix::unistd::dup2_stdout(nowhere()).expect("stdout can be replaced");
        }
        Fault::ClosesStdin if first => {
            server.out.result(id, &echo(server, request));
            nix::unistd::dup2_stdin(nowhere()).expect("stdin can be replaced");
            startup::linger()
        }
        Fault::LeavesFlood => {
            Command::new("setsid").arg("yes").spawn().expect("both are programs of any system");
            exit(EXIT_IN_CALL);
        }
        Fault::StopsReading if first => startup::linger(),
        _ => return false,
    }
    true
}

fn echo(server: &Server, request: &Request) -> String {
    echo_result(request.params.raw("arguments").unwrap_or("{}"), server.settings.modern)
}

fn nowhere() -> File {
    File::options().read(true).write(true).open("/dev/null").expect("it is always there")
}

fn huge_line(server: &Server, id: &str) {
    let mut line = b"{\"jsonrpc\":\"2.0\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"".to_vec();
    line.resize(line.len() + OVER_THE_BOUND, b'x');
    writeln!(line, "\"}}]}},\"id\":{id}}}").expect("memory takes everything");
    server.out.bytes(&line);
}

/// Keeps the call back, or answers all that were kept, the last one first.
fn keep(server: &Server, request: &Request) {
    let mut kept = server.kept.lock().unwrap();
    kept.push((request.id.clone(), echo(server, request)));
    if kept.len() == KEPT_CALLS {
        kept.drain(..).rev().for_each(|(id, result)| server.out.result(&id, &result));
    }
}
