//! grant, revoke, grants: what a person allows an origin, and forbids it.
//!
//! Owns the sentence about a grant. Must never say that something is allowed without a warning while a DENY stands.

use std::collections::BTreeSet;

use harbor_policy::grants::DEFAULT_PROFILE;
use harbor_policy::origin::Origin;
use harbor_policy::suggest::hint;

use super::print;
use crate::args::{Grant, Revoke};
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::errors::Failure;
use crate::reply::Members;
use crate::screen::{Screen, remark};
use crate::table::Table;
use crate::when;

/// A cell names so many tools, and says how many more there are.
const NAMED: usize = 3;

pub fn grant(client: &mut Client, grant: &Grant, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.request(&ask_to_grant(grant), QUICK)?;
    let now = when::now();
    print(screen, &answer, |answer| sentence(&answer.object("grant"), now))?;
    if let Some(warning) = warning(&answer) {
        remark(&warning);
    }
    let servers = named_servers(grant.tools.as_deref().unwrap_or_default());
    if !servers.is_empty()
        // The grant is made; where this cannot be had, nothing is said.
        && let Ok(defined) = client.request(&Ask::new("list_servers"), QUICK)
    {
        undefined(&servers, &defined).iter().for_each(|text| remark(text));
    }
    Ok(())
}

/// The servers that are named by patterns.
fn named_servers(patterns: &[String]) -> BTreeSet<&str> {
    patterns.iter().filter_map(|pattern| Some(pattern.split_once('/')?.0)).collect()
}

/// Says which servers there are not. It may be a slip, or the server may come later.
fn undefined(servers: &BTreeSet<&str>, defined: &Members) -> Vec<String> {
    let defined: Vec<_> = defined.objects("servers").iter().map(|server| server.text("server_id")).collect();
    let names = || defined.iter().map(String::as_str);
    let missing = servers.iter().filter(|server| !names().any(|name| name == **server));
    missing
        .map(|server| {
            format!("harbor: the grant is made, but there is no server {server}{}", hint(server, names()))
        })
        .collect()
}

fn ask_to_grant(grant: &Grant) -> Ask {
    let ask = Ask::on_behalf("host_grant_permission", &grant.asker)
        .text("scope", grant.scope.as_str())
        .text("grant_type", grant.grant_type.as_str());
    let ask = match grant.expires_at {
        Some(expires_at) => ask.number("expires_at", expires_at),
        None => ask,
    };
    match &grant.tools {
        Some(tools) => ask.list("allowed_tools", tools),
        None => ask,
    }
}

/// `https://example.com may mcp:tools.call: time/*, always`.
fn sentence(grant: &Members, now: u64) -> String {
    let (who, scope) = (who(grant), grant.text("scope"));
    let tools = match tools(grant) {
        None => String::new(),
        Some(tools) if tools.is_empty() => ": no tools".into(),
        Some(tools) => format!(": {}", tools.join(", ")),
    };
    let until = grant.number("expires_at").map(|end| format!(" until {}", when::until(end, now)));
    match word(&grant.text("grant_type")) {
        "deny" => format!("{who} may not {scope}"),
        word => format!("{who} may {scope}{tools}, {word}{}", until.unwrap_or_default()),
    }
}

/// `https://example.com (profile work)`.
fn who(grant: &Members) -> String {
    match grant.text("profile") {
        profile if is_default(&profile) => grant.text("origin"),
        profile => format!("{} (profile {profile})", grant.text("origin")),
    }
}

fn is_default(profile: &str) -> bool {
    profile.is_empty() || profile == DEFAULT_PROFILE
}

/// What was just allowed is not, while a DENY stands.
fn warning(answer: &Members) -> Option<String> {
    let grant = answer.object("grant");
    if answer.value("denied") != true || word(&grant.text("grant_type")) == "deny" {
        return None;
    }
    let profile = Some(grant.text("profile")).filter(|profile| !is_default(profile));
    let profile = profile.map(|profile| format!(" --profile {profile:?}")).unwrap_or_default();
    let (origin, scope) = (grant.text("origin"), grant.text("scope"));
    Some(format!(
        "harbor: a DENY stands, and nothing of this is allowed until `harbor revoke {origin} {scope} --deny{profile}` \
         takes it away"
    ))
}

pub fn revoke(client: &mut Client, revoke: &Revoke, screen: &mut Screen) -> Result<(), Failure> {
    let Revoke { asker, scope, grant_type } = revoke;
    let ask = Ask::on_behalf("host_revoke_permission", asker).text("scope", scope.as_str());
    let ask = match grant_type {
        Some(grant_type) => ask.text("grant_type", grant_type.as_str()),
        None => ask,
    };
    let answer = client.request(&ask, QUICK)?;
    let (origin, scope) = (asker.origin.as_str(), scope.as_str());
    let of = asker.profile.as_ref().map(|profile| format!(" (profile {profile})")).unwrap_or_default();
    let what = grant_type.map(|grant_type| word(grant_type.as_str()));
    if answer.value("revoked") == false {
        let what = what.map(|word| format!(" ({word})")).unwrap_or_default();
        let message = format!("{origin}{of} has no grant for {scope}{what}: nothing was revoked");
        return Err(Failure::Nothing(message, format!("`harbor grants {origin}` shows what it may")));
    }
    print(screen, &answer, |_| format!("revoked {scope} of {origin}{of}: {}", what.unwrap_or("all grants")))
}

pub fn list(client: &mut Client, origin: Option<&Origin>, screen: &mut Screen) -> Result<(), Failure> {
    let ask = match origin {
        Some(origin) => Ask::new("host_get_permissions").text("origin", origin.as_str()),
        None => Ask::new("host_list_all_permissions"),
    };
    let answer = client.request(&ask, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    match answer.objects("grants") {
        grants if grants.is_empty() => remark(&none(origin)),
        grants => screen.table(&tabulate(&grants, when::now()))?,
    }
    Ok(())
}

fn none(origin: Option<&Origin>) -> String {
    match origin {
        Some(origin) => format!("{origin} has no grants; `harbor grant {origin} SCOPE` makes one"),
        None => "no grants; `harbor grant ORIGIN SCOPE` makes one".into(),
    }
}

/// Profiles and tabs have a column only where there are any.
fn tabulate(grants: &[Members], now: u64) -> Table {
    let profiles = grants.iter().any(|grant| !is_default(&grant.text("profile")));
    let tabs = grants.iter().any(|grant| grant.raw("tab_id").is_some());
    let all = [
        ("ORIGIN", true),
        ("PROFILE", profiles),
        ("SCOPE", true),
        ("GRANT", true),
        ("TAB", tabs),
        ("TOOLS", true),
        ("UNTIL", true),
    ];
    let header: Vec<_> = all.iter().filter(|(_, shown)| *shown).map(|(name, _)| *name).collect();
    let mut table = Table::new(&header);
    for grant in grants {
        let tab = grant.number("tab_id").map_or_else(|| "-".into(), |tab| tab.to_string());
        let until = grant.number("expires_at").map_or_else(|| "-".into(), |end| when::until(end, now));
        let cells = [
            grant.text("origin"),
            grant.text("profile"),
            grant.text("scope"),
            word(&grant.text("grant_type")).into(),
            tab,
            shorten(tools(grant)),
            until,
        ];
        table.add(cells.into_iter().zip(all).filter(|(_, (_, shown))| *shown).map(|(cell, _)| cell));
    }
    table
}

/// What a cell says of the tools of a grant.
pub fn shorten(tools: Option<Vec<String>>) -> String {
    match tools {
        None => "all".into(),
        Some(tools) if tools.is_empty() => "none".into(),
        Some(tools) if tools.len() <= NAMED + 1 => tools.join(", "),
        Some(tools) => format!("{} and {} more", tools[..NAMED].join(", "), tools.len() - NAMED),
    }
}

/// The tools that a grant is for; `None`: all.
pub fn tools(grant: &Members) -> Option<Vec<String>> {
    serde_json::from_str(grant.raw("allowed_tools")?).ok()
}

/// A type of grant as it is typed.
pub fn word(grant_type: &str) -> &str {
    match grant_type {
        "ALLOW_ONCE" => "once",
        "ALLOW_ALWAYS" => "always",
        "DENY" => "deny",
        other => other,
    }
}

#[cfg(test)]
mod tests;
