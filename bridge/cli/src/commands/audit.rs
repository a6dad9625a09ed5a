//! audit: who did what, and what was decided.
//!
//! Owns how a line of the log is shown. With `--json` a line stays as it is in the file. Must never keep
//! quiet about lines that the log lacks.

use harbor_client::errors::Failure;
use harbor_client::payload::{Payload, items};
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::HostGetAudit;

use super::grants;
use super::printing::count;
use crate::args::Audit;
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::table::Table;
use crate::when::to_the_second;

pub fn show(client: &mut Client, audit: &Audit, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&ask(audit), QUICK)?;
    if screen.json {
        for line in items(&answer.records) {
            screen.text(line.get())?;
        }
    } else {
        let lines = items(&answer.records);
        let records =
            lines.iter().filter_map(|line| Payload::parse(line.get().as_bytes())).collect::<Vec<_>>();
        match records.is_empty() {
            true => remark("the audit log has no such lines"),
            false => screen.table(&tabulate(&records))?,
        }
    }
    warn(answer.failing, answer.unaudited);
    Ok(())
}

pub fn ask(audit: &Audit) -> HostGetAudit {
    HostGetAudit { origin: audit.origin.clone(), since: audit.since, limit: audit.limit }
}

/// Says on stderr what the log lacks, if anything.
pub fn warn(failing: bool, unaudited: u64) {
    warnings(failing, unaudited).iter().for_each(|warning| remark(warning));
}

fn warnings(failing: bool, unaudited: u64) -> Vec<String> {
    let failing = failing.then(|| {
        "harbor: the audit log cannot be written at present; is the disk full or read-only?".to_owned()
    });
    let unaudited = Some(unaudited).filter(|lines| *lines > 0);
    let unaudited = unaudited.map(|lines| {
        let lines = count(usize::try_from(lines).unwrap_or(usize::MAX), "line");
        format!("harbor: {lines} could not be written to the audit log since the bridge started")
    });
    failing.into_iter().chain(unaudited).collect()
}

const HEADER: &[&str] = &["TIME", "EVENT", "BY", "ORIGIN", "WHAT", "DECISION", "MS", "BYTES IN", "BYTES OUT"];

fn tabulate(records: &[Payload]) -> Table {
    let mut table = Table::new(HEADER).without(&["BYTES OUT", "BYTES IN", "BY", "MS"]).evenly();
    for record in records {
        table.add([
            to_the_second(record.number("timestamp").unwrap_or_default()),
            record.text("event"),
            record.text("by"),
            or_dash(record.text("origin")),
            or_dash(what(record)),
            decision(record),
            record.value("duration_ms").as_f64().map_or_else(|| "-".into(), |ms| format!("{ms:.1}")),
            number(record, "bytes_in"),
            number(record, "bytes_out"),
        ]);
    }
    table
}

/// The subject of a record: `time/now`, `docs: resources/read`, `mcp:tools.call always: time/*`, or the
/// subject of a question to the person. For a message that was refused as such, its type.
pub fn what(record: &Payload) -> String {
    let (server, tool) = (record.text("server"), record.text("tool"));
    if !server.is_empty() {
        return match (record.text("key"), tool.as_str(), record.text("message")) {
            (key, ..) if !key.is_empty() => format!("{server} {key}"),
            (_, "", message) if message.is_empty() => server,
            (_, "", message) => format!("{server}: {message}"),
            (_, tool, _) => format!("{server}/{tool}"),
        };
    }
    let scope = match record.text("scope") {
        scope if scope.is_empty() => {
            return match tools_in(record, "asked_tools") {
                None if record.text("message").is_empty() => record.text("url"),
                None => record.text("message"),
                asked => grants::shorten(asked),
            };
        }
        scope => scope,
    };
    let word = Some(record.text("grant_type")).filter(|grant| !grant.is_empty());
    let word = word.map(|grant| format!(" {}", grants::word(&grant))).unwrap_or_default();
    let tools = tools_in(record, "allowed_tools").map(|tools| format!(": {}", grants::shorten(Some(tools))));
    format!("{scope}{word}{}", tools.unwrap_or_default())
}

/// The tools that a grant is for (`None`: all), or that a person was asked about.
fn tools_in(record: &Payload, name: &str) -> Option<Vec<String>> {
    serde_json::from_str(record.raw(name)?).ok()
}

/// `allowed`, or the reason why not or of the failure, with the number of events in the line.
fn decision(record: &Payload) -> String {
    let decision = match record.text("code") {
        code if code.is_empty() => or_dash(record.text("decision")),
        code => code,
    };
    record.number("count").map_or(decision.clone(), |count| format!("{decision} ×{count}"))
}

fn number(record: &Payload, name: &str) -> String {
    record.number(name).map_or_else(|| "-".into(), |number| number.to_string())
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::super::rig::command;
    use super::*;

    const CALL: &str = r#"{"time":"2026-11-21T12:00:00.000Z","timestamp":1795262400000,"event":"call","by":"owner","origin":"https://a.example","profile":"default","server":"time","tool":"now","tool_hash":"ab","decision":"allowed","duration_ms":12.345,"queued_ms":0.001,"bytes_in":2,"bytes_out":40}"#;
    const FAILED: &str = r#"{"timestamp":1795262400001,"event":"call","by":"client://x","server":"time","tool":"now","decision":"allowed","code":"ERR_TOOL_TIMEOUT","duration_ms":30000.000,"bytes_in":2}"#;
    const REFUSED: &str = r#"{"timestamp":1795262400002,"event":"refused","by":"owner","origin":"https://a.example","scope":"mcp:tools.list","decision":"denied","code":"ERR_SCOPE_REQUIRED","count":7}"#;
    const GRANT: &str = r#"{"timestamp":1795262400003,"event":"grant","by":"owner","origin":"https://a.example","scope":"mcp:tools.call","grant_type":"ALLOW_ALWAYS","allowed_tools":["time/*"],"decision":"allowed"}"#;

    fn answer(records: &[&str]) -> String {
        let records = records.join(",");
        format!(
            r#"{{"type":"host_get_audit_result","request_id":"1","records":[{records}],"failing":false,"unaudited":0}}"#
        )
    }

    #[test]
    fn the_log_is_a_table() {
        let ran =
            command(false, &[&answer(&[CALL, FAILED, REFUSED, GRANT])], |c, s| show(c, &Audit::default(), s));
        let lines: Vec<_> = ran.printed.lines().collect();
        assert_eq!(
            lines,
            [
                "TIME                  EVENT    BY          ORIGIN             WHAT                           DECISION               MS       BYTES IN  BYTES OUT",
                "2026-11-21 12:00:00Z  call     owner       https://a.example  time/now                       allowed                12.3     2         40",
                "2026-11-21 12:00:00Z  call     client://x  -                  time/now                       ERR_TOOL_TIMEOUT       30000.0  2         -",
                "2026-11-21 12:00:00Z  refused  owner       https://a.example  mcp:tools.list                 ERR_SCOPE_REQUIRED ×7  -        -         -",
                "2026-11-21 12:00:00Z  grant    owner       https://a.example  mcp:tools.call always: time/*  allowed                -        -         -",
            ]
        );
        assert_eq!(ran.asked, [r#"{"type":"host_get_audit","request_id":"1"}"#]);
    }

    #[test]
    fn a_line_says_how_many_it_stands_for() {
        let decided = |record: &str| decision(&Payload::parse(record.as_bytes()).unwrap());
        assert_eq!(decided(r#"{"event":"refused","decision":"denied","count":940}"#), "denied ×940");
        assert_eq!(decided(r#"{"event":"revoke"}"#), "-");
    }

    #[test]
    fn a_message_that_was_refused_is_named() {
        let record = r#"{"event":"refused","message":"add_server","decision":"denied","code":"ERR_PERMISSION_DENIED"}"#;
        assert_eq!(what(&Payload::parse(record.as_bytes()).unwrap()), "add_server");
        assert_eq!(what(&Payload::default()), "");
        let fetched = r#"{"event":"chat_fetch_page","url":"https://a.example/b"}"#;
        assert_eq!(what(&Payload::parse(fetched.as_bytes()).unwrap()), "https://a.example/b");
    }

    #[test]
    fn as_json_each_line_is_as_it_is_in_the_file() {
        let audit = Audit { origin: Some("owner".into()), since: Some(5), limit: Some(2) };
        let ran = command(true, &[&answer(&[CALL, FAILED])], |c, s| show(c, &audit, s));
        assert_eq!(ran.printed, format!("{CALL}\n{FAILED}\n"));
        assert_eq!(
            ran.asked,
            [r#"{"type":"host_get_audit","request_id":"1","origin":"owner","since":5,"limit":2}"#]
        );
        let ran = command(true, &[&answer(&[])], |c, s| show(c, &Audit::default(), s));
        assert_eq!(ran.printed, "");
    }

    #[test]
    fn what_the_log_lacks_is_said() {
        assert_eq!(warnings(false, 0), [""; 0]);
        assert_eq!(
            warnings(true, 1),
            [
                "harbor: the audit log cannot be written at present; is the disk full or read-only?",
                "harbor: 1 line could not be written to the audit log since the bridge started"
            ]
        );
    }
}
