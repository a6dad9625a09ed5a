//! logs: the newest lines of a server, and those that come.
//!
//! Owns the form of a line, and that an installer's output is out of the way.

use harbor_client::errors::Failure;
use harbor_client::id::server_id;
use harbor_client::reply::Answer;
use harbor_client::terminal::{disarm, remark};
use harbor_ipc_proto::client::{LogLine, McpGetLogs, ServerLog};

use super::follow;
use crate::args::Logs;
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::when::utc;

/// The source of what an installer printed.
const INSTALL: &str = "install";

/// The number of lines that are shown by default.
const LINES_SHOWN: u64 = 200;

/// The most lines that the bridge gives.
const MOST: u64 = 1000;

pub fn show(client: &mut Client, logs: &Logs, screen: &mut Screen) -> Result<(), Failure> {
    // A program sees by `source` what each line is.
    let logs = &Logs { all: logs.all || screen.json, install: logs.install && !screen.json, ..logs.clone() };
    let ask = ask(logs)?;
    if logs.follow {
        return go_on(client, &ask, logs, screen);
    }
    let answer = client.ask(&ask, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    let lines = newest(logs, &answer.logs);
    let name = &logs.server;
    match (lines.is_empty(), answer.logs.is_empty()) {
        (true, true) => remark(&format!("{name} has logged nothing")),
        (true, false) if logs.install => remark(&format!("the installation of {name} has logged nothing")),
        (true, false) => remark(&format!(
            "{name} has logged only its installation; show that: `harbor logs {name} --install`"
        )),
        (false, _) => {
            screen.text(&lines.into_iter().map(describe).collect::<Vec<_>>().join("\n"))?;
        }
    }
    Ok(())
}

/// The newest lines that are wanted. More were asked for, since those of the installation do not count.
fn newest<'a>(logs: &Logs, all: &'a [LogLine]) -> Vec<&'a LogLine> {
    let lines: Vec<_> = all.iter().filter(|line| is_wanted(logs, &line.source)).collect();
    let most = usize::try_from(logs.lines.unwrap_or(LINES_SHOWN)).unwrap_or(usize::MAX);
    lines[lines.len().saturating_sub(most)..].to_vec()
}

fn is_wanted(logs: &Logs, source: &str) -> bool {
    logs.all || (source == INSTALL) == logs.install
}

fn ask(logs: &Logs) -> Result<McpGetLogs, Failure> {
    let follow = logs.follow.then_some(true);
    let limit = if logs.all { logs.lines } else { Some(MOST) };
    Ok(McpGetLogs { server_id: server_id(&logs.server)?, limit, follow })
}

fn go_on(client: &mut Client, ask: &McpGetLogs, logs: &Logs, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.follow::<ServerLog, _>(ask)?;
    let wanted = newest(logs, &answer.logs);
    let shown = answer.parts("logs");
    let lines =
        answer.logs.iter().zip(shown).filter(|(line, _)| wanted.iter().any(|one| std::ptr::eq(*one, *line)));
    for (line, shown) in lines {
        follow::line(screen, &shown, || describe(line))?;
    }
    follow::each(client, |line: Answer<ServerLog>| {
        if line.server_id != logs.server || !is_wanted(logs, &line.source) {
            return Ok(());
        }
        // So that all lines look the same to a program, those of the answer and those that came later.
        let mut shown = line.members();
        shown.remove("server_id");
        follow::line(screen, &shown, || describe(&line_of(&line)))
    })
}

fn line_of(pushed: &ServerLog) -> LogLine {
    let ServerLog { timestamp, source, level, text, .. } = pushed.clone();
    LogLine { timestamp, source, level, text }
}

fn describe(line: &LogLine) -> String {
    let time = utc(line.timestamp);
    let source = match line.level.as_deref().unwrap_or_default() {
        "" => line.source.to_string(),
        level => format!("{} {level}", line.source),
    };
    // In a pipe too: whoever looks at the log later has a terminal. A line of its own for what is on one line only, so
    // that no server can write what looks like another line of the log.
    let text = disarm(line.text.trim_end()).replace('\n', "\n    ");
    format!("{time} {source}: {text}")
}

#[cfg(test)]
mod tests {
    use harbor_client::errors::Exit;

    use super::super::rig::{command, error};
    use harbor_ipc_proto::field::read_object;

    use super::*;
    use crate::screen::tests::Paper;

    #[test]
    fn no_server_can_write_what_looks_like_another_line() {
        let forged = r#"{"timestamp":0,"source":"mcp","level":"info","text":"a\n2026-01-01 00:00:00.000Z harbor: \u001b[1mall is well\u202e"}"#;
        let line = describe(&read_object(forged).unwrap());
        assert_eq!(
            line,
            "1970-01-01 00:00:00.000Z mcp info: a\n    2026-01-01 00:00:00.000Z harbor: \\u{1b}[1mall is well\\u{202e}"
        );
    }

    const LINES: &str = r#"[{"timestamp":0,"source":"stderr","text":"hello\n"},{"timestamp":1,"source":"mcp","level":"warning","text":"hm"}]"#;
    const PRINTED: &str =
        "1970-01-01 00:00:00.000Z stderr: hello\n1970-01-01 00:00:00.001Z mcp warning: hm\n";

    fn typed(lines: Option<u64>, follow: bool) -> Logs {
        Logs { server: "time".into(), lines, follow, all: true, install: false }
    }

    fn answer(logs: &str) -> String {
        format!(r#"{{"type":"mcp_get_logs_result","request_id":"1","logs":{logs}}}"#)
    }

    /// The answer and what is pushed behind it, of another server too.
    fn followed() -> String {
        let push = |server: &str, text: &str| {
            format!(
                r#"{{"type":"server_log","server_id":"{server}","timestamp":2,"source":"harbor","text":"{text}"}}"#
            )
        };
        [answer(LINES), push("time", "restarted"), push("files", "not this"), push("time", "again")]
            .join("\n")
    }

    #[test]
    fn lines_say_when_and_whence() {
        let ran = command(false, &[&answer(LINES)], |c, s| show(c, &typed(Some(2), false), s));
        assert_eq!(ran.printed, PRINTED);
        assert_eq!(ran.asked, [r#"{"type":"mcp_get_logs","request_id":"1","server_id":"time","limit":2}"#]);
        let ran = command(true, &[&answer(LINES)], |c, s| show(c, &typed(None, false), s));
        assert_eq!(ran.printed, format!("{{\"logs\":{LINES}}}\n"));
        assert_eq!(command(false, &[&answer("[]")], |c, s| show(c, &typed(None, false), s)).printed, "");
    }

    #[test]
    fn what_the_installer_printed_is_shown_on_request() {
        let install = r#"{"timestamp":0,"source":"install","text":"Downloading"}"#;
        let lines = LINES.replacen('[', &format!("[{install},"), 1);
        let show_as = |lines: &str, all: bool, install: bool| {
            let logs = Logs { all, install, ..typed(None, false) };
            command(false, &[&answer(lines)], |c, s| show(c, &logs, s))
        };
        let of_install = "1970-01-01 00:00:00.000Z install: Downloading\n";
        assert_eq!(show_as(&lines, false, false).printed, PRINTED);
        assert!(show_as(&lines, false, false).asked[0].ends_with("\"limit\":1000}"));
        assert_eq!(show_as(&lines, false, true).printed, of_install);
        assert_eq!(show_as(&lines, true, false).printed, format!("{of_install}{PRINTED}"));
        let logs = Logs { lines: Some(1), ..typed(None, false) };
        let ran = command(false, &[&answer(&lines)], |c, s| show(c, &Logs { all: false, ..logs.clone() }, s));
        assert_eq!(ran.printed.lines().count(), 1, "those that are hidden do not count");
        assert_eq!(show_as(&format!("[{install}]"), false, false).printed, "");
    }

    #[test]
    fn following_goes_on_until_the_bridge_ends() {
        let ran = command(false, &[&followed()], |c, s| show(c, &typed(None, true), s));
        let time = "1970-01-01 00:00:00.002Z";
        assert_eq!(ran.printed, format!("{PRINTED}{time} harbor: restarted\n{time} harbor: again\n"));
        assert_eq!(
            ran.asked,
            [r#"{"type":"mcp_get_logs","request_id":"1","server_id":"time","follow":true}"#]
        );
        assert_eq!(ran.exit, Exit::NoBridge);
        assert!(ran.failure.unwrap().starts_with("the bridge has ended"));
        let ran = command(false, &[&error("not_found")], |c, s| show(c, &typed(None, true), s));
        assert_eq!((ran.exit, ran.printed.as_str()), (Exit::NotFound, ""));
    }

    #[test]
    fn followed_as_json_there_is_one_object_per_line() {
        let ran = command(true, &[&followed()], |c, s| show(c, &typed(Some(9), true), s));
        let lines: Vec<_> = ran.printed.lines().collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0], r#"{"source":"stderr","text":"hello\n","timestamp":0}"#);
        assert_eq!(lines[2], r#"{"source":"harbor","text":"restarted","timestamp":2}"#);
    }

    #[test]
    fn a_reader_that_left_ends_it_quietly() {
        let paper = Paper::default();
        let ran = command(false, &[&followed()], |c, _| show(c, &typed(None, true), &mut paper.torn(3)));
        assert_eq!((ran.exit, ran.failure), (Exit::Done, None));
        assert_eq!(paper.read(), format!("{PRINTED}1970-01-01 00:00:00.002Z harbor: restarted\n"));
    }
}
