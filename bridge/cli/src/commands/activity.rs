//! activity: the audit log for people: who called what, when, how it ended.
//!
//! Owns the short view, in local time. With `--json` a line stays as it is in the file. Must never keep quiet
//! about lines that the log lacks.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use harbor_client::errors::Failure;
use harbor_client::payload::{Payload, items};
use harbor_client::terminal::remark;

use super::audit;
use crate::args::Activity;
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::table::{Table, flatten};
use crate::when::{self, to_the_second};

/// The pause between two looks at a log that is followed.
const PAUSE: Duration = Duration::from_secs(1);

pub fn show(client: &mut Client, wanted: &Activity, screen: &mut Screen) -> Result<(), Failure> {
    let mut ask = audit::ask(&wanted.audit);
    let answer = client.ask(&ask, QUICK)?;
    let records = lines(&answer.records);
    match (screen.json, records.is_empty()) {
        (true, _) => print(screen, &records)?,
        (false, true) if !wanted.follow => remark("no activity yet"),
        (false, true) => {}
        (false, false) => screen.table(&tabulate(&records))?,
    }
    audit::warn(answer.failing, answer.unaudited);
    if !wanted.follow {
        return Ok(());
    }
    screen.flush()?;
    // What has the time of the last line may be there already.
    let mut last = records.iter().map(timestamp).max().unwrap_or_else(when::now);
    let mut seen: BTreeSet<String> = records.iter().map(Payload::to_json).collect();
    loop {
        thread::sleep(PAUSE);
        ask.since = Some(last);
        let answer = client.ask(&ask, QUICK)?;
        let new: Vec<_> =
            lines(&answer.records).into_iter().filter(|line| !seen.contains(&line.to_json())).collect();
        last = new.iter().map(timestamp).max().unwrap_or(last).max(last);
        seen.extend(new.iter().map(Payload::to_json));
        if screen.json {
            print(screen, &new)?;
        } else {
            for line in rows(&new) {
                screen.text(&line.join("  "))?;
            }
        }
        screen.flush()?;
    }
}

fn lines(records: &harbor_ipc_proto::json::Json) -> Vec<Payload> {
    items(records).iter().filter_map(|line| Payload::parse(line.get().as_bytes())).collect()
}

fn print(screen: &mut Screen, records: &[Payload]) -> Result<(), Failure> {
    for record in records {
        screen.text(&record.to_json())?;
    }
    Ok(())
}

fn timestamp(record: &Payload) -> u64 {
    record.number("timestamp").unwrap_or_default()
}

fn tabulate(records: &[Payload]) -> Table {
    let mut table = Table::new(&["WHEN", "WHO", "WHAT", "RESULT"]).evenly();
    rows(records).into_iter().for_each(|row| table.add(row));
    table
}

fn rows(records: &[Payload]) -> Vec<[String; 4]> {
    let times: Vec<_> = records.iter().map(timestamp).collect();
    let times = local(&times).unwrap_or_else(|| times.iter().map(|time| to_the_second(*time)).collect());
    let row = |(record, time): (&Payload, String)| [time, who(record), what(record), result(record)];
    records.iter().zip(times).map(row).collect()
}

/// The one for whom it was done; else the one who did it.
fn who(record: &Payload) -> String {
    let origin = record.text("origin");
    let who = if origin.is_empty() { record.text("by") } else { origin };
    match who.as_str() {
        "owner" => "you".into(),
        extension if extension.starts_with("extension:") => "browser".into(),
        other => flatten(other.strip_prefix("client://").unwrap_or(other)),
    }
}

/// The subject of a line: `time/now`, with the event before it if it is no call.
fn what(record: &Payload) -> String {
    let what = audit::what(record);
    match record.text("event").as_str() {
        "call" | "refused" => what,
        event => format!("{event} {what}").trim_end().to_owned(),
    }
}

/// The result of a line: `ok, 41 ms`, `refused: ERR_SCOPE_REQUIRED`, `failed: ERR_TOOL_TIMEOUT`.
fn result(record: &Payload) -> String {
    let took = record.value("duration_ms").as_f64().map(|ms| format!(", {ms:.0} ms")).unwrap_or_default();
    let times = record.number("count").map(|count| format!(" ×{count}")).unwrap_or_default();
    match (record.text("event").as_str(), record.text("code").as_str(), record.text("decision").as_str()) {
        (_, "", "denied") | ("refused", "", _) => format!("refused{times}"),
        ("refused", code, _) | (_, code, "denied") => format!("refused: {}{times}", flatten(code)),
        (_, "", _) if record.value("tool_error") == true => {
            format!("the tool reported an error{took}{times}")
        }
        (_, "", _) => format!("ok{took}{times}"),
        (_, code, _) => format!("failed: {}{took}{times}", flatten(code)),
    }
}

/// These times by the person's clock. `date` knows the time zone. None if it does not answer.
fn local(times: &[u64]) -> Option<Vec<String>> {
    let mut date = Command::new("date")
        .args(["-f", "-", "+%Y-%m-%d %H:%M:%S"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let text: String = times.iter().map(|time| format!("@{}\n", time / 1000)).collect();
    let mut stdin = date.stdin.take()?;
    // From a thread of its own: it may answer before it has read all.
    let writer = thread::spawn(move || -> io::Result<()> { stdin.write_all(text.as_bytes()) });
    let output = date.wait_with_output().ok()?;
    let _ = writer.join();
    let shown: Vec<_> = String::from_utf8(output.stdout).ok()?.lines().map(str::to_owned).collect();
    (shown.len() == times.len()).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> [String; 3] {
        let record = Payload::parse(text.as_bytes()).unwrap();
        [who(&record), what(&record), result(&record)]
    }

    #[test]
    fn a_line_says_who_called_what_and_how_it_ended() {
        for (text, shown) in [
            (
                r#"{"event":"call","by":"extension:abc","origin":"https://a.example","server":"time","tool":"now","decision":"allowed","duration_ms":40.9}"#,
                ["https://a.example", "time/now", "ok, 41 ms"],
            ),
            (
                r#"{"event":"call","by":"owner","server":"time","tool":"now","decision":"allowed","tool_error":true,"duration_ms":1}"#,
                ["you", "time/now", "the tool reported an error, 1 ms"],
            ),
            (
                r#"{"event":"call","by":"client://cursor","server":"time","tool":"now","decision":"allowed","code":"ERR_TOOL_TIMEOUT","duration_ms":30000}"#,
                ["cursor", "time/now", "failed: ERR_TOOL_TIMEOUT, 30000 ms"],
            ),
            (
                r#"{"event":"refused","by":"owner","origin":"https://a.example","scope":"mcp:tools.list","decision":"denied","code":"ERR_SCOPE_REQUIRED","count":7}"#,
                ["https://a.example", "mcp:tools.list", "refused: ERR_SCOPE_REQUIRED ×7"],
            ),
            (
                r#"{"event":"grant","by":"owner","scope":"mcp:tools.call","grant_type":"ALLOW_ALWAYS","decision":"allowed"}"#,
                ["you", "grant mcp:tools.call always", "ok"],
            ),
            (
                r#"{"event":"consent","by":"client://cursor","origin":"client://cursor","asked_tools":["files/drop"],"decision":"denied","outcome":"denied"}"#,
                ["cursor", "consent files/drop", "refused"],
            ),
        ] {
            assert_eq!(row(text), shown, "{text}");
        }
    }

    #[test]
    fn times_are_local() {
        let shown = local(&[1_795_262_400_000, 0]).unwrap();
        assert!(shown.len() == 2 && shown.iter().all(|time| time.len() == 19), "{shown:?}");
    }
}
