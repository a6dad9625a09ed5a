//! remove, start, stop, restart: one server's life.
//!
//! Owns how long each may take. Must never start what nobody asked for.

use std::time::Duration;

use harbor_client::errors::{Exit, Failure};
use harbor_client::id::server_id;
use harbor_client::reply::Answer;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    ConnectServer, ConnectServerResult, DisconnectServer, GetSandbox, GetServerStatus, Progress,
    RemoveServer, ServerView,
};
use harbor_ipc_proto::codes::Code;

use super::printing::{count, print};
use super::result_notes;
use crate::args::Removal;
use crate::client::{Client, QUICK};
use crate::consent;
use crate::screen::{Screen, Status};

/// The bridge ends a start by itself: an installation after 15 minutes, the start behind it after 10.
pub const START: Duration = Duration::from_secs(15 * 60 + 10 * 60 + 10);

/// A definition may give its server a minute after its stdin was closed, and one after SIGTERM.
pub const STOP: Duration = Duration::from_secs(2 * 60 + 10);

pub fn remove(client: &mut Client, removal: &Removal, screen: &mut Screen) -> Result<(), Failure> {
    let server = &removal.server;
    let with_data = removal.data || may_remove(client, removal, screen)?;
    let ask = RemoveServer { server_id: server_id(server)?, data: with_data.then_some(true) };
    let answer = client.ask(&ask, STOP)?;
    if !answer.removed {
        let data = if with_data { ", and no data of one" } else { "" };
        return Err(Failure::refused(Code::NotFound, format!("there is no server {server}{data}"), server));
    }
    let all = with_data && answer.data.is_none();
    let secrets = usize::try_from(answer.secrets).unwrap_or_default();
    let what = match (all, secrets) {
        (true, 0) => " and its data".to_owned(),
        (false, 0) => String::new(),
        (true, some) => format!(", its data and its {}", count(some, "secret")),
        (false, some) => format!(" and its {}", count(some, "secret")),
    };
    print(screen, &answer, |answer| {
        let ended = result_notes::ended_grants(answer.pins, &answer.grants);
        std::iter::once(format!("removed {server}{what}")).chain(ended).collect::<Vec<_>>().join("\n")
    })?;
    if let Some(left) = &answer.secrets_left {
        remark(&format!("{server}: its secrets are still on the disk: {left}"));
    }
    result_notes::on_kept_image(server, answer.image.as_ref());
    result_notes::on_kept_data(server, with_data, answer.data.as_deref());
    Ok(())
}

/// Asks once, before anything is gone, where somebody can be asked. Whether its data go, too.
fn may_remove(client: &mut Client, removal: &Removal, screen: &Screen) -> Result<bool, Failure> {
    let server = &removal.server;
    if removal.keep_data || screen.json || consent::is_possible("").is_err() {
        return Ok(false);
    }
    // One that is not there is said by the removal.
    if client.ask(&GetServerStatus { server_id: server_id(server)? }, QUICK).is_err() {
        return Ok(false);
    }
    let question = format!(
        "Remove {server}? Its secrets are deleted. y: keep its data, d: also delete its data [y/d/N] "
    );
    match consent::line(&question)?.trim() {
        "y" | "Y" | "yes" => Ok(false),
        "d" | "D" => Ok(true),
        _ => {
            remark("nothing was removed");
            Err(Failure::Said(Exit::Failed))
        }
    }
}

pub fn start(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = connect(client, server)?;
    tell(client, server, &answer, screen)
}

/// Says that a server runs, and the notes about its tools.
pub fn tell(
    client: &mut Client,
    server: &str,
    answer: &Answer<ConnectServerResult>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    print(screen, answer, |answer| running(server, &answer.server))?;
    if !screen.json {
        result_notes::on_start(client, server, &answer.server);
    }
    Ok(())
}

/// Starts a server unless it runs, and shows what happens until it does.
pub fn connect(client: &mut Client, server: &str) -> Result<Answer<ConnectServerResult>, Failure> {
    ask_to_run(client, server, &connect_ask(server, Status::is_visible())?)
}

/// Says how its sandbox may be the reason why a server did not start.
fn tell_refusals(client: &mut Client, server: &str, failure: &Failure) {
    if let Failure::Refused(refusal) = failure {
        let tail = refusal.details.as_deref().unwrap_or_default();
        result_notes::on_failed_start(client, server, &format!("{} {tail}", refusal.message));
        if let Ok(server_id) = server_id(server)
            && let Ok(answer) = client.ask(&GetSandbox { server_id }, QUICK)
        {
            result_notes::on_missing(server, Some(&answer.sandbox.summary));
        }
    }
}

fn ask_to_run(
    client: &mut Client,
    server: &str,
    ask: &ConnectServer,
) -> Result<Answer<ConnectServerResult>, Failure> {
    let mut status = Status::new(&format!("starting {server} …"));
    let started = client.ask_with_progress(ask, START, &mut |push| status.show(&news(server, push)));
    drop(status);
    started.inspect_err(|failure| tell_refusals(client, server, failure))
}

fn connect_ask(server: &str, progress: bool) -> Result<ConnectServer, Failure> {
    Ok(ConnectServer { server_id: server_id(server)?, progress: progress.then_some(true), restart: None })
}

/// The news of a start: `time: restart 2 of 3 in 4 s`. Empty if the bridge says nothing.
fn news(server: &str, progress: &Progress) -> String {
    match progress.message.as_deref().unwrap_or_default() {
        "" => String::new(),
        message => format!("{server}: {message}"),
    }
}

/// The message about a server that runs.
fn running(server: &str, shown: &ServerView) -> String {
    match shown.tool_count.and_then(|tools| usize::try_from(tools).ok()) {
        Some(0) => format!("{server} is running and offers no tools"),
        Some(tools) => format!("{server} is running: {} (`harbor tools {server}`)", count(tools, "tool")),
        None => format!("{server} is running; its tools could not be listed"),
    }
}

pub fn stop(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let status = Status::new(&format!("stopping {server} …"));
    let answer = client.ask(&DisconnectServer { server_id: server_id(server)? }, STOP)?;
    drop(status);
    print(screen, &answer, |_| format!("{server} is stopped"))
}

/// Restarts a server. A stopped server is started, too, since a restart means that it should run.
pub fn restart(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let ask = ConnectServer { restart: Some(true), ..connect_ask(server, Status::is_visible())? };
    let answer = ask_to_run(client, server, &ask)?;
    tell(client, server, &answer, screen)
}

#[cfg(test)]
mod tests {
    use harbor_client::errors::Exit;
    use harbor_ipc_proto::client::answer::request_frame;

    use super::super::rig::{command as run, complete_object, error, typed};
    use super::*;

    const CONNECT: &str = r#"{"type":"connect_server","request_id":"1","server_id":"time""#;
    const TIME: &str = r#"{"server_id":"time","label":"time","command":"/usr/bin/uvx","args":["x y","z"],"state":"running","pid":7,"tool_count":2}"#;

    #[test]
    fn starts_say_how_many_tools_there_are() {
        let answer = format!(r#"{{"type":"connect_server_result","request_id":"1","server":{TIME}}}"#);
        let ran = run(false, &[&answer], |c, s| start(c, "time", s));
        assert_eq!(ran.printed, "time is running: 2 tools (`harbor tools time`)\n");
        assert!(ran.asked[0].starts_with(CONNECT), "{}", ran.asked[0]);
        assert_eq!(running("x", &typed(r#"{"tool_count":0}"#)), "x is running and offers no tools");
        let unknown = "x is running; its tools could not be listed";
        assert_eq!(running("x", &typed("{}")), unknown);
    }

    #[test]
    fn whoever_sees_the_status_line_asks_for_progress() {
        let frame = |progress| request_frame("1", &connect_ask("time", progress).unwrap());
        let text = |progress| String::from_utf8(frame(progress)[4..].to_vec()).unwrap();
        assert_eq!(text(false), format!("{CONNECT}}}"));
        assert_eq!(text(true), format!("{CONNECT},\"progress\":true}}"));
        let line = |json: &str| news("time", &typed(json));
        assert_eq!(
            line(r#"{"progress":2,"message":"restart 2 of 3 in 4 s"}"#),
            "time: restart 2 of 3 in 4 s"
        );
        assert_eq!(line(r#"{"progress":2}"#), "");
    }

    #[test]
    fn progress_does_not_disturb_a_start() {
        let push =
            r#"{"type":"progress","request_id":"1","progress":1,"message":"installing x: Downloading"}"#;
        let answer = format!(r#"{{"type":"connect_server_result","request_id":"1","server":{TIME}}}"#);
        let ran = run(false, &[&format!("{push}\n{answer}")], |c, s| start(c, "time", s));
        assert_eq!(ran.printed, "time is running: 2 tools (`harbor tools time`)\n");
    }

    #[test]
    fn a_restart_is_one_request_so_that_nothing_comes_in_between() {
        let started = format!(r#"{{"type":"connect_server_result","request_id":"1","server":{TIME}}}"#);
        let ran = run(false, &[&started], |c, s| restart(c, "time", s));
        assert_eq!(ran.printed, "time is running: 2 tools (`harbor tools time`)\n");
        assert!(
            ran.asked[0].starts_with(CONNECT) && ran.asked[0].contains("\"restart\":true"),
            "{}",
            ran.asked[0]
        );
        let ran = run(true, &[&started], |c, s| restart(c, "time", s));
        let server = complete_object("Server", TIME);
        assert!(ran.printed.ends_with(&format!("\"server\":{server}}}\n")), "{}", ran.printed);
        let ran = run(false, &[&error("not_found")], |c, s| restart(c, "time", s));
        assert_eq!((ran.exit, ran.asked.len()), (Exit::NotFound, 1));
    }

    #[test]
    fn a_start_that_fails_points_to_the_log() {
        let ran = run(false, &[&error("connection_failed")], |c, s| start(c, "time", s));
        assert_eq!(ran.failure.unwrap(), "no\nsee `harbor logs time`");
        assert_eq!(ran.exit, Exit::Unavailable);
    }

    #[test]
    fn stops_and_removals_are_confirmed() {
        let answer = format!(r#"{{"type":"disconnect_server_result","request_id":"1","server":{TIME}}}"#);
        assert_eq!(run(false, &[&answer], |c, s| stop(c, "time", s)).printed, "time is stopped\n");
        let answer = |removed: &str| {
            format!(r#"{{"type":"remove_server_result","request_id":"1","removed":{removed}}}"#)
        };
        let removal = |data| Removal { server: "time".into(), data, keep_data: !data };
        let ran = run(false, &[&answer("true")], |c, s| remove(c, &removal(false), s));
        assert_eq!((ran.printed.as_str(), ran.asked[0].contains("data")), ("removed time\n", false));
        let ran = run(false, &[&answer("true")], |c, s| remove(c, &removal(true), s));
        assert!(ran.asked[0].ends_with(r#","data":true}"#), "{}", ran.asked[0]);
        assert_eq!(ran.printed, "removed time and its data\n");
        let left = answer(r#"true,"data":"/servers/time/data.old""#);
        assert_eq!(run(false, &[&left], |c, s| remove(c, &removal(true), s)).printed, "removed time\n");
        assert_eq!(run(true, &[&answer("false")], |c, s| remove(c, &removal(false), s)).exit, Exit::NotFound);
    }
}
