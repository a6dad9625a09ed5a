//! set: how a server is supervised and what it is started with, shown and changed.
//!
//! Owns how it is shown. Must never judge what is allowed, nor restart what runs, nor leave a key among the variables.

use harbor_client::errors::Failure;
use harbor_client::id::server_id;
use harbor_client::payload::Payload;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{ApprovalsGuard, GetDefinition, ServerView, SetSupervision};
use harbor_ipc_proto::field::JsonObject;

use super::add;
use super::definition_secrets::{self, Apart};
use super::printing::print;
use super::unreachable_places;
use crate::args::{Set, supervision_option};
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::table::flatten;

pub fn run(client: &mut Client, wanted: &Set, screen: &mut Screen) -> Result<(), Failure> {
    if wanted.is_of_client() {
        return guard(client, wanted, screen);
    }
    let mut wanted = wanted.clone();
    let keys = definition_secrets::keys(&mut wanted.env);
    take_back(client, &mut wanted, &keys)?;
    let answer = client.ask(&ask(&wanted)?, QUICK)?;
    definition_secrets::keep(client, &wanted.server, &keys)?;
    print(screen, &answer, |answer| describe(&answer.server))?;
    if !screen.json && (wanted.changes_something() || !keys.is_empty()) {
        later(&wanted.server, &answer.next_start).iter().for_each(|text| remark(text));
        let is_told = answer.next_start.iter().any(|field| of_start(field).is_some());
        if !is_told && wanted.changes_start() {
            remark(&format!("{} starts with that from its next start on", wanted.server));
        }
    }
    unreachable_places::tell_words(
        client,
        &wanted.server,
        wanted.args.as_deref().unwrap_or_default(),
        &wanted.env,
    );
    definition_secrets::tell(&wanted.server, &keys);
    definition_secrets::warn_of_arguments(
        &wanted.server,
        &definition_secrets::in_arguments(wanted.args.as_deref().unwrap_or_default()),
    );
    Ok(())
}

fn guard(client: &mut Client, wanted: &Set, screen: &mut Screen) -> Result<(), Failure> {
    let ask = ApprovalsGuard { origin: wanted.server.clone(), guard: wanted.guard };
    let answer = client.ask(&ask, QUICK)?;
    print(screen, &answer, |answer| match answer.guard {
        true => "guard  on: Harbor asks you before anything private leaves through this client".into(),
        false => format!("guard  off (`harbor set {} --guard on`)", wanted.server),
    })
}

/// Removes variables from the definition that are secrets from now on.
fn take_back(client: &mut Client, wanted: &mut Set, keys: &[Apart]) -> Result<(), Failure> {
    if keys.is_empty() {
        return Ok(());
    }
    let server_id = server_id(&wanted.server)?;
    let has = client.ask(&GetDefinition { server_id }, QUICK)?.into_value().definition.env_names;
    wanted.unset.extend(keys.iter().map(|(name, ..)| name.clone()).filter(|name| has.contains(name)));
    Ok(())
}

/// Without a change it asks for none, and is answered with what holds.
fn ask(wanted: &Set) -> Result<SetSupervision, Failure> {
    Ok(SetSupervision {
        server_id: server_id(&wanted.server)?,
        supervision: add::supervision(&wanted.changes),
        reset: add::some(&wanted.reset, wanted.reset.is_empty()),
        label: wanted.label.clone(),
        args: wanted.args.clone(),
        env: add::some(&wanted.env, wanted.env.is_empty()),
        unset: add::some(&wanted.unset, wanted.unset.is_empty()),
    })
}

fn describe(server: &ServerView) -> String {
    let word = |on: bool| if on { "yes" } else { "no" };
    // By name, as they are typed.
    let said = Payload::of(&JsonObject::written(&server.supervision).0);
    let mut lines = vec![
        format!("label       {}", flatten(&server.label)),
        format!("manual      {}", word(server.supervision.lazy == Some(false))),
        format!("auto-start  {}", word(server.supervision.auto_start == Some(true))),
    ];
    let others = said.names().filter(|name| !matches!(*name, "lazy" | "auto_start"));
    let others = others.filter_map(|name| Some((supervision_option(name)?, said.raw(name)?)));
    let others: Vec<_> = others
        .map(|(option, value)| format!("  {option} {}", typed(&option, value)).trim_end().to_owned())
        .collect();
    match others.is_empty() {
        true => lines.push("everything else has its default (`harbor help set`)".into()),
        false => {
            lines.push("beyond the defaults (`harbor help set`)".into());
            lines.extend(others);
        }
    }
    lines.join("\n")
}

/// A value of the wire in the form that is typed: times in seconds.
fn typed(option: &str, value: &str) -> String {
    // A switch has no value.
    if value == "true" {
        return String::new();
    }
    let word = value
        .replace("\",\"", ",")
        .trim_matches(['[', ']', '"'])
        .replace("on_crash", "on-crash")
        .replace("per_principal", "per-principal");
    let is_plain = !matches!(
        option,
        "--restart-delays"
            | "--start-timeout"
            | "--call-timeout"
            | "--queue-wait"
            | "--hung-grace"
            | "--eof-grace"
            | "--term-grace"
            | "--idle-stop"
    );
    let seconds = |ms: &str| ms.trim().parse().map(|ms: u64| millis(ms));
    match is_plain {
        true => word,
        false => word.split(',').map(|ms| seconds(ms).unwrap_or_default()).collect::<Vec<_>>().join(","),
    }
}

fn millis(ms: u64) -> String {
    let text = format!("{}.{:03}", ms / 1000, ms % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The settings that a running server gets only at its next start.
fn later(name: &str, next_start: &[String]) -> Option<String> {
    let named = |field: &String| of_start(field).map(str::to_owned).or_else(|| supervision_option(field));
    let options: Vec<_> = next_start.iter().filter_map(named).collect();
    let those = options.join(", ");
    (!options.is_empty()).then(|| format!("{those}: takes effect at the next start: `harbor restart {name}`"))
}

/// The words for a setting of a start.
fn of_start(field: &str) -> Option<&'static str> {
    match field {
        "args" => Some("its arguments"),
        "env" => Some("its variables"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::client::Supervision;

    use super::super::rig::command;
    use super::*;

    const ANSWER: &str = r#"{"type":"set_supervision_result","request_id":"1","server":{"server_id":"x","label":"The x","supervision":{"restart":"on_crash","restart_delays_ms":[100,2000],"eof_grace_ms":1500,"lazy":true,"instance":"per_principal","private":true,"reads":["a","b"]}},"next_start":["eof_grace_ms"]}"#;

    #[test]
    fn what_was_said_is_shown_as_it_is_typed() {
        let wanted = Set { server: "x".into(), ..Set::default() };
        let ran = command(false, &[ANSWER], |client, screen| run(client, &wanted, screen));
        assert_eq!(ran.asked, [r#"{"type":"set_supervision","request_id":"1","server_id":"x"}"#]);
        assert_eq!(
            ran.printed,
            "label       The x\nmanual      no\nauto-start  no\nbeyond the defaults (`harbor help set`)\n  \
             --eof-grace 1.5\n  --instance per-principal\n  --private\n  --reads a,b\n  --restart on-crash\n  \
             --restart-delays 0.1,2\n"
        );
        let said = "--eof-grace: takes effect at the next start: `harbor restart x`";
        assert_eq!(later("x", &["eof_grace_ms".into()]).as_deref(), Some(said));
    }

    #[test]
    fn of_an_ai_client_the_guard_is_set() {
        let wanted = Set { server: "client://x".into(), guard: Some(true), ..Set::default() };
        let answer = r#"{"type":"approvals_guard_result","request_id":"1","guard":true}"#;
        let ran = command(false, &[answer], |client, screen| run(client, &wanted, screen));
        let asked = r#"{"type":"approvals_guard","request_id":"1","origin":"client://x","guard":true}"#;
        assert_eq!(ran.asked, [asked]);
        assert_eq!(
            ran.printed,
            "guard  on: Harbor asks you before anything private leaves through this client\n"
        );
    }

    #[test]
    fn what_is_asked_for_is_what_was_typed() {
        let changes = Supervision { lazy: Some(true), ..Supervision::default() };
        let wanted = Set {
            server: "x".into(),
            changes,
            label: Some("L".into()),
            reset: vec!["restart".into()],
            args: Some(vec!["-v".into()]),
            env: [("MODE".to_owned(), "fast".to_owned())].into(),
            unset: vec!["OLD".into()],
            guard: None,
        };
        let ran = command(true, &[ANSWER], |client, screen| run(client, &wanted, screen));
        let asked = r#"{"type":"set_supervision","request_id":"1","server_id":"x","supervision":{"lazy":true},"reset":["restart"],"label":"L","args":["-v"],"env":{"MODE":"fast"},"unset":["OLD"]}"#;
        assert_eq!(ran.asked, [asked]);
        let both = later("x", &["args".into(), "env".into()]);
        assert_eq!(
            both.as_deref(),
            Some("its arguments, its variables: takes effect at the next start: `harbor restart x`")
        );
    }
}
