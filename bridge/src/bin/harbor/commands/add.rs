//! add: defines a server and starts it.
//!
//! Owns turning what was typed here into what means the same elsewhere: the bridge runs in another directory.

use std::env;
use std::path::{self, Path, PathBuf};

use super::print;
use super::servers::{START, running};
use crate::args::Definition;
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::errors::Failure;
use crate::reply::Members;
use crate::screen::{Screen, Status};

pub fn current_dir() -> Result<PathBuf, Failure> {
    env::current_dir().map_err(|error| Failure::Io("find the current directory", error))
}

/// The request for a definition that was typed in the directory `here`.
pub fn ask(definition: &Definition, here: &Path) -> Result<Ask, Failure> {
    let mut ask = Ask::about("add_server", &definition.name).list("args", &definition.args);
    // A bare name is looked up in PATH; everything else is a path.
    ask = match definition.command.contains('/') {
        true => ask.text("command", &absolute(&definition.command, here)?),
        false => ask.text("command", &definition.command),
    };
    if let Some(cwd) = &definition.cwd {
        ask = ask.text("cwd", &absolute(cwd, here)?);
    }
    if let Some(label) = &definition.label {
        ask = ask.text("label", label);
    }
    if !definition.env.is_empty() {
        ask = ask.map("env", &definition.env);
    }
    if !definition.roots.is_empty() {
        let roots: Result<Vec<_>, _> = definition.roots.iter().map(|root| file_uri(root, here)).collect();
        ask = ask.list("roots", &roots?);
    }
    if let Some(timeout) = definition.start_timeout {
        ask = ask.number("start_timeout_ms", u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    }
    Ok(ask)
}

pub fn run(
    client: &mut Client,
    definition: &Definition,
    ask: &Ask,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let name = &definition.name;
    let mut added = client.request(ask, QUICK)?;
    if !screen.json {
        let verb = if added.value("replaced") == true { "replaced" } else { "added" };
        screen.text(&format!("{verb} {name}"))?;
    }
    if definition.start {
        let connected = start(client, name)?;
        if !screen.json {
            return Ok(screen.text(&running(name, Some(connected.objects("tools").len() as u64)))?);
        }
        added.insert("connection", connected.to_json());
    }
    print(screen, &added, |_| format!("start it with `harbor start {name}`"))
}

fn start(client: &mut Client, name: &str) -> Result<Members, Failure> {
    let _status = Status::new(&format!("starting {name} …"));
    client.request(&Ask::about("mcp_connect", name), START).map_err(|mut failure| {
        if let Failure::Refused(refusal) = &mut failure {
            let stays = format!("the definition of {name} stays; `harbor start {name}` tries again");
            refusal.message = format!("{name} did not start: {}\n{stays}", refusal.message);
        }
        failure
    })
}

fn absolute(path: &str, here: &Path) -> Result<String, Failure> {
    // `..` stays, since behind a link it means another place than its text says.
    let whole =
        path::absolute(here.join(path)).map_err(|error| Failure::Io("make a path absolute", error))?;
    let whole = whole.into_os_string().into_string();
    whole.map_err(|whole| Failure::Usage(format!("{} is not UTF-8", whole.display())))
}

fn file_uri(path: &str, here: &Path) -> Result<String, Failure> {
    if path.starts_with("file://") {
        return Ok(path.to_owned());
    }
    let mut uri = "file://".to_owned();
    for byte in absolute(path, here)?.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use super::super::rig::command;
    use super::*;
    use crate::errors::Exit;
    use harbor_ipc_proto::client::Request;
    use harbor_ipc_proto::client::envelope::Incoming;
    use harbor_ipc_proto::frame::HEADER;
    use std::time::Duration;

    const ADDED: &str = r#"{"type":"add_server_result","request_id":"1","replaced":false,"server":{"a":{}}}"#;

    fn definition(command: &str) -> Definition {
        Definition { name: "time".into(), command: command.into(), start: true, ..Definition::default() }
    }

    fn asked(definition: &Definition) -> harbor_ipc_proto::client::AddServer {
        let frame = ask(definition, Path::new("/here")).unwrap().to_frame("1");
        let Request::AddServer(request) = Incoming::parse(&frame[HEADER..]).unwrap().request else {
            panic!()
        };
        request
    }

    #[test]
    fn paths_mean_the_same_to_the_bridge() {
        let request = asked(&Definition {
            cwd: Some("sub".into()),
            roots: vec!["my files/ä".into(), "/abs".into(), "file:///as/is".into()],
            start_timeout: Some(Duration::from_millis(1500)),
            ..definition("./run")
        });
        assert_eq!(request.command, "/here/run");
        assert_eq!(request.cwd.unwrap(), "/here/sub");
        let roots = ["file:///here/my%20files/%C3%A4", "file:///abs", "file:///as/is"];
        assert_eq!(request.roots.unwrap(), roots);
        assert_eq!(request.start_timeout_ms, Some(1500));
        assert_eq!(asked(&definition("uvx")).command, "uvx");
        assert_eq!(asked(&definition("/bin/x")).command, "/bin/x");
    }

    fn add(json: bool, start: bool, answers: &[&str]) -> super::super::rig::Ran {
        let definition = Definition { start, ..definition("uvx") };
        let ask = ask(&definition, Path::new("/")).unwrap();
        command(json, answers, |client, screen| run(client, &definition, &ask, screen))
    }

    #[test]
    fn a_server_is_added_and_started() {
        let connected = r#"{"type":"mcp_connect_result","request_id":"2","connected":true,"tools":[{},{}]}"#;
        let ran = add(false, true, &[ADDED, connected]);
        assert_eq!(ran.printed, "added time\ntime is running: 2 tools (`harbor tools time`)\n");
        assert_eq!(ran.asked[1], r#"{"type":"mcp_connect","request_id":"2","server_id":"time"}"#);
        let ran = add(true, true, &[ADDED, connected]);
        assert_eq!(
            ran.printed,
            "{\"connection\":{\"connected\":true,\"tools\":[{},{}]},\"replaced\":false,\"server\":{\"a\":{}}}\n"
        );
    }

    #[test]
    fn a_server_may_stay_stopped() {
        assert_eq!(add(false, false, &[ADDED]).printed, "added time\nstart it with `harbor start time`\n");
        assert_eq!(add(true, false, &[ADDED]).printed, "{\"replaced\":false,\"server\":{\"a\":{}}}\n");
    }

    #[test]
    fn a_failed_start_leaves_the_definition_and_says_so() {
        let failed =
            r#"{"type":"error","request_id":"2","error":{"code":"connection_failed","message":"no"}}"#;
        let ran = add(false, true, &[ADDED, failed]);
        assert_eq!(ran.exit, Exit::Unavailable);
        assert_eq!(
            ran.failure.unwrap(),
            "time did not start: no\nthe definition of time stays; `harbor start time` tries again\n\
             `harbor logs time` shows what the server said"
        );
    }
}
