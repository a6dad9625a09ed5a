//! The server of the tool `time.now`, as a module of WebAssembly. What speaks MCP is put behind it: `mcp.rs.txt` of
//! `harbor new server`.

const SERVER: (&str, &str) = ("mcp-time", "1.0.0");

const TOOLS: &[Tool] = &[Tool {
    name: "time.now",
    description: "The present time in UTC",
    input: r#"{"type":"object","properties":{}}"#,
    run: now,
}];

fn now(_arguments: &Json) -> Result<String, String> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seconds = since.map_err(|_| "the clock is before 1970")?.as_secs();
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    Ok(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

/// The date of a day since 1970. Years are counted from March, so that the day of leap years is the last one
/// (Howard Hinnant, chrono-Compatible Low-Level Date Algorithms).
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}
