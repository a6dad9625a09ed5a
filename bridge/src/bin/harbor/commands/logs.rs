//! logs: the newest lines of a server.
//!
//! Owns how a line looks.

use super::print;
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::errors::Failure;
use crate::reply::Members;
use crate::screen::{Screen, remark};

pub fn show(
    client: &mut Client,
    server: &str,
    lines: Option<u64>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut ask = Ask::about("mcp_get_logs", server);
    if let Some(lines) = lines {
        ask = ask.number("limit", lines);
    }
    let answer = client.request(&ask, QUICK)?;
    if !screen.json && answer.objects("logs").is_empty() {
        remark(&format!("{server} has logged nothing"));
        return Ok(());
    }
    print(screen, &answer, |answer| {
        answer.objects("logs").iter().map(describe).collect::<Vec<_>>().join("\n")
    })
}

fn describe(line: &Members) -> String {
    let time = utc(line.value("timestamp").as_u64().unwrap_or_default());
    let source = match line.text("level") {
        level if level.is_empty() => line.text("source"),
        level => format!("{} {level}", line.text("source")),
    };
    format!("{time} {source}: {}", line.text("text").trim_end())
}

/// Milliseconds since 1970 as `2026-11-03 12:34:56.789Z`.
fn utc(millis: u64) -> String {
    let (days, rest) = (millis / 86_400_000, millis % 86_400_000);
    // Counted in years that start in March, so that the leap day is the last one; 719,468 days lie between
    // that calendar's start and 1970. After Howard Hinnant's "chrono-compatible low-level date algorithms".
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    let year = year + era * 400;
    let (seconds, millis) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use super::super::rig::command;
    use super::*;

    #[test]
    fn times() {
        assert_eq!(utc(0), "1970-01-01 00:00:00.000Z");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00.000Z");
        assert_eq!(utc(1_709_251_199_999), "2024-02-29 23:59:59.999Z");
        assert_eq!(utc(1_793_710_245_006), "2026-11-03 12:50:45.006Z");
    }

    #[test]
    fn lines_say_when_and_whence() {
        let logs = r#"[{"timestamp":0,"source":"stderr","text":"hello\n"},{"timestamp":1,"source":"mcp","level":"warning","text":"hm"}]"#;
        let answer = format!(r#"{{"type":"mcp_get_logs_result","request_id":"1","logs":{logs}}}"#);
        let ran = command(false, &[&answer], |c, s| show(c, "time", Some(2), s));
        assert_eq!(
            ran.printed,
            "1970-01-01 00:00:00.000Z stderr: hello\n1970-01-01 00:00:00.001Z mcp warning: hm\n"
        );
        assert_eq!(ran.asked, [r#"{"type":"mcp_get_logs","request_id":"1","server_id":"time","limit":2}"#]);
        let ran = command(true, &[&answer], |c, s| show(c, "time", None, s));
        assert_eq!(ran.printed, format!("{{\"logs\":{logs}}}\n"));
        let none = r#"{"type":"mcp_get_logs_result","request_id":"1","logs":[]}"#;
        assert_eq!(command(false, &[none], |c, s| show(c, "time", None, s)).printed, "");
    }
}
