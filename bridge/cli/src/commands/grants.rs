//! grant, revoke, grants: the person's permissions and denials for an origin.
//!
//! Owns the sentence about a grant. Must never say that something is allowed without a warning while a DENY stands.

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    GrantView, HostGetPermissions, HostGrantPermission, HostGrantPermissionResult, HostListAllPermissions,
    HostRevokePermission, UnstoredView,
};
use harbor_policy::grants::DEFAULT_PROFILE;
use harbor_policy::origin::Origin;

use super::patterns;
use super::printing::{count, print};
use crate::args::{Grant, Granted, Revoke};
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::table::Table;
use crate::when;

/// The number of names in a cell. The cell says how many more there are.
const NAMED: usize = 3;

pub fn grant(client: &mut Client, grant: &Grant, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&ask_to_grant(grant, when::now()), QUICK)?;
    let now = when::now();
    print(screen, &answer, |answer| sentence(&answer.grant, now))?;
    if let Some(warning) = warning(&answer) {
        remark(&warning);
    }
    ended(answer.ended).iter().for_each(|text| remark(text));
    if answer.unstored {
        remark(NOT_STORED);
    }
    // The grant is made; where this cannot be had, nothing is said.
    patterns::unknown(client, &grant.tool).iter().flatten().for_each(|text| remark(text));
    Ok(())
}

fn ask_to_grant(grant: &Grant, now: u64) -> HostGrantPermission {
    HostGrantPermission {
        origin: grant.granted.origin.to_string(),
        profile: grant.granted.profile.clone(),
        scope: grant.granted.scope.as_str().to_owned(),
        grant_type: Some(grant.grant_type().as_str().to_owned()),
        tab_id: None,
        expires_at: grant.length.map(|length| now.saturating_add(length)),
        allowed_tools: grant.tools(),
    }
}

/// `https://example.com may mcp:tools.call: time/*, always`.
fn sentence(grant: &GrantView, now: u64) -> String {
    let (who, scope) = (who(grant), &grant.scope);
    let tools = match &grant.allowed_tools {
        None => String::new(),
        Some(tools) if tools.is_empty() => ": no tools".into(),
        Some(tools) => format!(": {}", tools.join(", ")),
    };
    let until = grant.expires_at.map(|end| format!(" until {}", when::until(end, now)));
    match word(&grant.grant_type) {
        "deny" => format!("{who} may not {scope}"),
        word => format!("{who} may {scope}{tools}, {word}{}", until.unwrap_or_default()),
    }
}

/// `https://example.com (profile work)`.
fn who(grant: &GrantView) -> String {
    match grant.profile.as_str() {
        profile if is_default(profile) => grant.origin.clone(),
        profile => format!("{} (profile {profile})", grant.origin),
    }
}

fn is_default(profile: &str) -> bool {
    profile.is_empty() || profile == DEFAULT_PROFILE
}

/// The warning that a new grant has no effect while a DENY stands.
fn warning(answer: &HostGrantPermissionResult) -> Option<String> {
    let grant = &answer.grant;
    if !answer.denied || word(&grant.grant_type) == "deny" {
        return None;
    }
    let profile = Some(&grant.profile).filter(|profile| !is_default(profile));
    let profile = profile.map(|profile| format!(" --profile {profile:?}")).unwrap_or_default();
    let (origin, scope) = (&grant.origin, &grant.scope);
    Some(format!(
        "harbor: a DENY overrides this grant; remove it with `harbor revoke {origin} {scope} --deny{profile}`"
    ))
}

pub fn revoke(client: &mut Client, revoke: &Revoke, screen: &mut Screen) -> Result<(), Failure> {
    let (Granted { origin, scope, profile }, grant_type) = (&revoke.granted, revoke.grant_type());
    let ask = HostRevokePermission {
        origin: origin.to_string(),
        profile: profile.clone(),
        scope: scope.as_str().to_owned(),
        grant_type: grant_type.map(|grant_type| grant_type.as_str().to_owned()),
        tab_id: None,
    };
    let answer = client.ask(&ask, QUICK)?;
    let (origin, scope) = (origin.as_str(), scope.as_str());
    let of = profile.as_ref().map(|profile| format!(" (profile {profile})")).unwrap_or_default();
    let what = grant_type.map(|grant_type| word(grant_type.as_str()));
    if !answer.revoked {
        let what = what.map(|word| format!(" ({word})")).unwrap_or_default();
        let message = format!("{origin}{of} has no grant for {scope}{what}: nothing was revoked");
        return Err(Failure::Nothing(message, format!("`harbor grants {origin}` shows its grants")));
    }
    print(screen, &answer, |_| format!("revoked {scope} of {origin}{of}: {}", what.unwrap_or("all grants")))?;
    ended(answer.ended).iter().for_each(|text| remark(text));
    if answer.unstored {
        remark(NOT_STORED);
    }
    Ok(())
}

/// The warning about a change that is in force, but is not on disk.
const NOT_STORED: &str = "harbor: it is in force, but not written to the disk; it is lost if the bridge ends before \
                          there is room: `harbor health`";

/// Says how many calls were ended.
fn ended(calls: u32) -> Option<String> {
    let calls = usize::try_from(calls).ok().filter(|calls| *calls > 0)?;
    let what = if calls == 1 { "was ended, and its result is" } else { "were ended, and their results are" };
    Some(format!("harbor: {} that used it {what} dropped", count(calls, "call")))
}

pub fn list(client: &mut Client, origin: Option<&Origin>, screen: &mut Screen) -> Result<(), Failure> {
    match origin {
        Some(origin) => {
            let ask = HostGetPermissions { origin: Some(origin.to_string()), profile: None, tab_id: None };
            let answer = client.ask(&ask, QUICK)?;
            if screen.json {
                return Ok(screen.json(&answer.to_json())?);
            }
            show(&answer.grants, &answer.unstored, Some(origin), screen)
        }
        None => {
            let answer = client.ask(&HostListAllPermissions { profile: None, tab_id: None }, QUICK)?;
            if screen.json {
                return Ok(screen.json(&answer.to_json())?);
            }
            show(&answer.grants, &answer.unstored, None, screen)
        }
    }
}

fn show(
    grants: &[GrantView],
    unstored: &[UnstoredView],
    origin: Option<&Origin>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    match grants {
        [] => remark(&none(origin)),
        grants => screen.table(&tabulate(grants, when::now()))?,
    }
    unstored.iter().for_each(|one| remark(&not_stored(one)));
    Ok(())
}

/// The warning about a change that the next bridge would not know, as things are.
fn not_stored(one: &UnstoredView) -> String {
    let UnstoredView { origin, scope, change, .. } = one;
    format!(
        "harbor: {scope} of {origin} is {change} only until the bridge ends, since it is not written to the disk yet"
    )
}

fn none(origin: Option<&Origin>) -> String {
    match origin {
        Some(origin) => format!("{origin} has no grants; `harbor grant {origin} SCOPE` makes one"),
        None => "no grants; `harbor grant ORIGIN SCOPE` makes one".into(),
    }
}

/// Profiles and tabs have a column only where there are any.
fn tabulate(grants: &[GrantView], now: u64) -> Table {
    let profiles = grants.iter().any(|grant| !is_default(&grant.profile));
    let tabs = grants.iter().any(|grant| grant.tab_id.is_some());
    let running = grants.iter().any(|grant| grant.running.is_some());
    let all = [
        ("ORIGIN", true),
        ("PROFILE", profiles),
        ("SCOPE", true),
        ("GRANT", true),
        ("TAB", tabs),
        ("TOOLS", true),
        ("UNTIL", true),
        ("RUNNING", running),
    ];
    let header: Vec<_> = all.iter().filter(|(_, shown)| *shown).map(|(name, _)| *name).collect();
    let mut table = Table::new(&header);
    for grant in grants {
        let tab = grant.tab_id.map_or_else(|| "-".into(), |tab| tab.to_string());
        let until = match grant.expires_at {
            _ if grant.unstored == Some(true) => "the bridge ends".into(),
            None => "-".into(),
            Some(end) => when::until(end, now),
        };
        let calls = grant.running.map_or_else(|| "-".into(), |calls| calls.to_string());
        let cells = [
            grant.origin.clone(),
            grant.profile.clone(),
            grant.scope.to_string(),
            word(&grant.grant_type).into(),
            tab,
            shorten(grant.allowed_tools.clone()),
            until,
            calls,
        ];
        table.add(cells.into_iter().zip(all).filter(|(_, (_, shown))| *shown).map(|(cell, _)| cell));
    }
    table
}

/// The tools of a grant, shortened for a cell.
pub fn shorten(tools: Option<Vec<String>>) -> String {
    match tools {
        None => "all".into(),
        Some(tools) if tools.is_empty() => "none".into(),
        Some(tools) if tools.len() <= NAMED + 1 => tools.join(", "),
        Some(tools) => format!("{} and {} more", tools[..NAMED].join(", "), tools.len() - NAMED),
    }
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
