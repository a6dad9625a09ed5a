//! stats: how often, how long, how much, since the bridge began.
//!
//! Owns how counts are shown. Must never add them up itself: the bridge counts.

use std::collections::BTreeMap;

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{CallCounts, DecisionCount, HostGetStats, StatsView};
use harbor_policy::origin::Origin;

use super::audit;
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::table::Table;

pub fn show(client: &mut Client, origin: Option<&Origin>, screen: &mut Screen) -> Result<(), Failure> {
    let ask = HostGetStats { origin: origin.map(ToString::to_string), profile: None, tab_id: None };
    let answer = client.ask(&ask, QUICK)?;
    match screen.json {
        true => screen.json(&answer.to_json())?,
        false => show_tables(&answer.stats, origin, screen)?,
    }
    if let Some(audit) = &answer.stats.audit {
        audit::warn(audit.failing, audit.unaudited);
    }
    Ok(())
}

fn show_tables(stats: &StatsView, origin: Option<&Origin>, screen: &mut Screen) -> Result<(), Failure> {
    let failures = failures(&stats.calls);
    let origins = match origin {
        Some(origin) => BTreeMap::from([(origin.to_string(), stats.calls.clone())]),
        None => stats.callsByOrigin.clone().unwrap_or_default(),
    };
    let tools = stats.callsByTool.clone().unwrap_or_default();
    let tables = [counts("TOOL", &tools), counts("ORIGIN", &origins), decided(&stats.decisions)];
    let mut shown = false;
    for table in tables.iter().filter(|table| !table.is_empty()) {
        if shown {
            screen.text("")?;
        }
        screen.table(table)?;
        shown = true;
    }
    match failures.is_empty() {
        false => screen.text(&format!("\nfailed: {failures}"))?,
        true if !shown => remark("no calls and no decisions since the bridge started"),
        true => {}
    }
    Ok(())
}

fn counts(of_what: &'static str, of: &BTreeMap<String, CallCounts>) -> Table {
    let mut table =
        Table::new(&[of_what, "CALLS", "FAILED", "TOOL ERRORS", "P50 MS", "P99 MS", "BYTES IN", "BYTES OUT"])
            .without(&["BYTES IN", "BYTES OUT", "P50 MS"]);
    for (name, counts) in of {
        table.add([
            name.clone(),
            counts.calls.to_string(),
            counts.failures.to_string(),
            counts.toolErrors.to_string(),
            millis(counts.durationUs.p50),
            millis(counts.durationUs.p99),
            counts.bytesIn.to_string(),
            counts.bytesOut.to_string(),
        ]);
    }
    table
}

fn decided(decisions: &[DecisionCount]) -> Table {
    let mut table = Table::new(&["ORIGIN", "SCOPE", "DECISION", "COUNT"]);
    for decision in decisions {
        table.add([
            decision.origin.clone(),
            decision.scope.to_string(),
            decision.decision.to_string(),
            decision.count.to_string(),
        ]);
    }
    table
}

/// `2 ERR_TOOL_TIMEOUT, 1 ERR_TOOL_FAILED`.
fn failures(calls: &CallCounts) -> String {
    let each = calls.failuresByCode.iter();
    each.map(|(code, count)| format!("{count} {code}")).collect::<Vec<_>>().join(", ")
}

/// Microseconds as milliseconds.
pub fn millis(micros: u64) -> String {
    format!("{}.{}", micros / 1000, micros % 1000 / 100)
}

#[cfg(test)]
mod tests {
    use harbor_client::errors::Exit;

    use super::super::rig::{command, complete_object, error};
    use super::*;

    const COUNTS: &str = r#"{"calls":3,"failures":1,"toolErrors":2,"failuresByCode":{"ERR_TOOL_TIMEOUT":1},"bytesIn":20,"bytesOut":300,"durationUs":{"p50":1290,"p99":30000000,"max":30000001,"sum":9},"queuedUs":{"p50":0,"p99":0,"max":0,"sum":0}}"#;

    fn answer(stats: &str) -> String {
        format!(r#"{{"type":"host_get_stats_result","request_id":"1","stats":{stats}}}"#)
    }

    fn stats() -> String {
        format!(
            r#"{{"calls":{COUNTS},"callsByTool":{{"time/now":{COUNTS}}},"callsByOrigin":{{"https://a.example":{COUNTS}}},"decisions":[{{"origin":"https://a.example","scope":"mcp:tools.call","decision":"allowed","count":3}}],"audit":{{"failing":false,"unaudited":0}}}}"#
        )
    }

    #[test]
    fn tools_origins_and_decisions_are_tables() {
        let ran = command(false, &[&answer(&stats())], |c, s| show(c, None, s));
        assert_eq!(
            ran.printed,
            "TOOL      CALLS  FAILED  TOOL ERRORS  P50 MS  P99 MS   BYTES IN  BYTES OUT\n\
             time/now  3      1       2            1.2     30000.0  20        300\n\
             \n\
             ORIGIN             CALLS  FAILED  TOOL ERRORS  P50 MS  P99 MS   BYTES IN  BYTES OUT\n\
             https://a.example  3      1       2            1.2     30000.0  20        300\n\
             \n\
             ORIGIN             SCOPE           DECISION  COUNT\n\
             https://a.example  mcp:tools.call  allowed   3\n\
             \n\
             failed: 1 ERR_TOOL_TIMEOUT\n"
        );
        assert_eq!(ran.asked, [r#"{"type":"host_get_stats","request_id":"1"}"#]);
        let ran = command(true, &[&answer(&stats())], |c, s| show(c, None, s));
        assert_eq!(ran.printed, format!("{{\"stats\":{}}}\n", complete_object("Stats", &stats())));
    }

    #[test]
    fn what_was_not_counted_is_left_out() {
        let decided =
            r#"{"decisions":[{"origin":"client://x","scope":"web:fetch","decision":"denied","count":1}]}"#;
        let ran = command(false, &[&answer(decided)], |c, s| show(c, None, s));
        assert_eq!(
            ran.printed,
            "ORIGIN      SCOPE      DECISION  COUNT\nclient://x  web:fetch  denied    1\n"
        );
        let ran = command(false, &[&answer(r#"{"callsByTool":{}}"#)], |c, s| show(c, None, s));
        assert_eq!((ran.printed.as_str(), ran.exit), ("", Exit::Done));
    }

    #[test]
    fn of_one_origin() {
        let origin = Origin::parse("client://x").unwrap();
        let of_it = format!(r#"{{"calls":{COUNTS},"decisions":[]}}"#);
        let ran = command(false, &[&answer(&of_it)], |c, s| show(c, Some(&origin), s));
        assert_eq!(
            ran.printed,
            "ORIGIN      CALLS  FAILED  TOOL ERRORS  P50 MS  P99 MS   BYTES IN  BYTES OUT\n\
             client://x  3      1       2            1.2     30000.0  20        300\n\
             \n\
             failed: 1 ERR_TOOL_TIMEOUT\n"
        );
        assert_eq!(ran.asked, [r#"{"type":"host_get_stats","request_id":"1","origin":"client://x"}"#]);
        let ran = command(false, &[&error("ERR_INTERNAL")], |c, s| show(c, Some(&origin), s));
        assert_eq!(ran.exit, Exit::Failed);
    }
}
