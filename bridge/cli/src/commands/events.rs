//! events: each change of a server's state, as it comes.
//!
//! Owns how a change looks.

use std::collections::BTreeMap;

use harbor_client::errors::Failure;
use harbor_client::reply::Answer;
use harbor_ipc_proto::client::{ServerEvent, ServerView, WatchServers};

use super::{follow, restarts};
use crate::client::Client;
use crate::screen::Screen;
use crate::table::flatten;
use crate::when::{ahead, utc};

/// The restarts that each server's definition allows, as far as we were told.
type RestartLimits = BTreeMap<String, Option<u32>>;

pub fn show(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.follow::<ServerEvent, _>(&WatchServers { watch: None })?;
    let limit = |server: &ServerView| (server.server_id.clone(), restarts::limit(&server.supervision));
    let mut limits: RestartLimits = answer.servers.iter().map(limit).collect();
    follow::each(client, |event: Answer<ServerEvent>| {
        // A new definition, which may say another limit than the one that we know.
        if event.old_state.is_none() {
            limits.remove(&event.server_id);
        }
        follow::line(screen, &event.members(), || describe(&event, &limits))
    })
}

fn describe(event: &ServerEvent, limits: &RestartLimits) -> String {
    let (time, name) = (event.timestamp, &event.server_id);
    let message = event.message.as_deref().map(flatten).filter(|message| !message.is_empty());
    let message = message.map(|message| format!(": {message}")).unwrap_or_default();
    let limit = limits.get(name).copied().flatten();
    let restart = restart(event, limit, time).map(|restart| format!(" ({restart})")).unwrap_or_default();
    format!("{} {name}: {}{message}{restart}", utc(time), change(event))
}

/// `running → crashed`; a server that is new was nothing before.
fn change(event: &ServerEvent) -> String {
    let (old, new, busy) =
        (event.old_state.as_deref().unwrap_or_default(), event.new_state.as_ref(), event.busy);
    let with = |state: &str, busy: bool| if busy { format!("{state} (busy)") } else { state.to_owned() };
    match old {
        "" => format!("added → {new}"),
        // Only `busy` has changed.
        old if old == new => format!("{} → {}", with(old, !busy), with(new, busy)),
        old => format!("{old} → {}", with(new, busy)),
    }
}

/// The restart of an event: the coming one, or the one under way.
fn restart(event: &ServerEvent, limit: Option<u32>, time: u64) -> Option<String> {
    let attempt = event.attempt?;
    let retry = event.next_retry.map(|retry| ahead(retry, time));
    let under_way = matches!(event.new_state.as_ref(), "installing" | "starting");
    (attempt > 0 && (retry.is_some() || under_way)).then(|| restarts::phrase(attempt, limit, retry))
}

#[cfg(test)]
mod tests {
    use harbor_client::errors::Exit;

    use super::super::rig::{command, typed};
    use super::*;
    use crate::screen::tests::Paper;

    const WATCHING: &str = r#"{"type":"watch_servers_result","request_id":"1","watching":true,"servers":[{"server_id":"time","supervision":{}},{"server_id":"x","supervision":{"restart_attempts":"unlimited"}}]}"#;
    const CRASHED: &str = r#"{"type":"server_event","server_id":"time","old_state":"running","new_state":"crashed","timestamp":1000,"busy":false,"cause":"exited","message":"it exited with code 1","attempt":1,"next_retry":3000}"#;

    fn line(event: &str) -> String {
        let limits = RestartLimits::from([("time".into(), Some(3)), ("x".into(), None)]);
        let line = describe(&typed(event), &limits);
        line.strip_prefix("1970-01-01 00:00:01.000Z ").unwrap().to_owned()
    }

    #[test]
    fn a_line_per_event_until_the_bridge_ends() {
        let started = r#"{"type":"server_event","server_id":"time","old_state":"crashed","new_state":"starting","timestamp":3000,"busy":false,"attempt":1}"#;
        let answers = [WATCHING, CRASHED, started].join("\n");
        let ran = command(false, &[&answers], show);
        assert_eq!(
            ran.printed,
            "1970-01-01 00:00:01.000Z time: running → crashed: it exited with code 1 (restart 1 of 3 in 2 s)\n\
             1970-01-01 00:00:03.000Z time: crashed → starting (restart 1 of 3)\n"
        );
        assert_eq!(ran.asked, [r#"{"type":"watch_servers","request_id":"1"}"#]);
        assert_eq!(ran.exit, Exit::NoBridge);
        assert!(ran.failure.unwrap().starts_with("the bridge has ended"));
    }

    #[test]
    fn as_json_one_object_per_line() {
        let ran = command(true, &[&[WATCHING, CRASHED, CRASHED].join("\n")], show);
        let event: serde_json::Value = serde_json::from_str(ran.printed.lines().next().unwrap()).unwrap();
        assert_eq!((&event["new_state"], &event["next_retry"]), (&"crashed".into(), &3000.into()));
        assert_eq!((event.get("type"), ran.printed.lines().count()), (None, 2));
    }

    #[test]
    fn a_reader_that_left_ends_it_quietly() {
        let paper = Paper::default();
        let ran =
            command(false, &[&[WATCHING, CRASHED, CRASHED].join("\n")], |c, _| show(c, &mut paper.torn(1)));
        assert_eq!((ran.exit, ran.failure, paper.read().lines().count()), (Exit::Done, None, 1));
    }

    #[test]
    fn a_new_definition_may_have_another_limit() {
        let added = r#"{"type":"server_event","server_id":"time","new_state":"stopped","timestamp":1000}"#;
        let ran = command(false, &[&[WATCHING, added, CRASHED].join("\n")], show);
        assert!(ran.printed.contains("Z time: added → stopped\n"), "{}", ran.printed);
        assert!(ran.printed.ends_with("(restart 1 in 2 s)\n"), "{}", ran.printed);
    }

    #[test]
    fn changes() {
        let event = |server: &str, rest: &str| {
            line(&format!(r#"{{"server_id":"{server}","timestamp":1000,{rest}}}"#))
        };
        assert_eq!(
            event("time", r#""old_state":"running","new_state":"running","busy":true"#),
            "time: running → running (busy)"
        );
        assert_eq!(
            event("time", r#""old_state":"running","new_state":"running","busy":false,"attempt":2"#),
            "time: running (busy) → running"
        );
        assert_eq!(
            event(
                "x",
                r#""old_state":"starting","new_state":"crashed","message":"a\nb","attempt":7,"next_retry":1000"#
            ),
            "x: starting → crashed: a b (restart 7 now)"
        );
        assert_eq!(event("x", r#""old_state":"stopped","new_state":"removed""#), "x: stopped → removed");
    }
}
