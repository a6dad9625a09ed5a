//! The rights of an AI client, in the words of `mcp install`, `import --replace`, `tools --client` and
//! `grants`; and its limit.
//!
//! ```text
//!  its grants, or that it is new ──────┐
//!  `--only` of the entry in its file ──┴─► what it may use, in one sentence
//! ```
//!
//! Owns that sentence, and that `--only` is in the grants, too: whoever starts `harbor mcp` under a client's
//! name may use what its grants allow. Must never give a client more than the person has typed: a limit in a
//! file only takes away.

use harbor_client::errors::Failure;
use harbor_home::Paths;
use harbor_ipc_proto::client::{GrantView, HostGetPermissions, HostGrantPermission};
use harbor_policy::grants::{DEFAULT_PROFILE, GrantType};
use harbor_policy::tool_name::{Allowlist, EVERY, split};

use super::super::grants::shorten;
use super::first_use::first_use;
use crate::client::{Client, QUICK};

/// The scopes by which a client has tools.
const SCOPES: [&str; 2] = ["mcp:tools.list", "mcp:tools.call"];

/// The rights that the bridge has stored for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientAccess {
    /// It has not connected yet, and may use all tools when it does.
    New,
    /// It may use these; none when empty.
    Tools(Vec<String>),
    /// It may use these for a while only; `lists` says if it may list them, too.
    ForNow { tools: Vec<String>, lists: bool },
    /// It has no grant for tools.
    Nothing,
}

/// The rights of a client of this name.
pub fn held(client: &mut Client, name: &str) -> Result<ClientAccess, Failure> {
    let ask = HostGetPermissions { origin: Some(origin(name)), profile: None, tab_id: None };
    let answer = client.ask(&ask, QUICK)?.into_value();
    Ok(if answer.is_new == Some(true) { ClientAccess::New } else { of_grants(answer.grants) })
}

fn of_grants(grants: Vec<GrantView>) -> ClientAccess {
    let of_calls = |grant: &GrantView| grant.scope == SCOPES[1] && grant.profile == DEFAULT_PROFILE;
    let lists = grants.iter().any(|grant| {
        grant.scope == SCOPES[0]
            && grant.profile == DEFAULT_PROFILE
            && grant.grant_type != GrantType::Deny.as_str()
    });
    let calls: Vec<_> = grants.into_iter().filter(of_calls).collect();
    if calls.iter().any(|grant| grant.grant_type == GrantType::Deny.as_str()) {
        return ClientAccess::Tools(Vec::new());
    }
    let is_always = |grant: &&GrantView| grant.grant_type == GrantType::AllowAlways.as_str();
    let tools = |grant: &GrantView| grant.allowed_tools.clone().unwrap_or_else(|| vec![EVERY.to_owned()]);
    match (calls.iter().find(is_always), calls.first()) {
        (Some(grant), _) => ClientAccess::Tools(tools(grant)),
        (None, Some(grant)) => ClientAccess::ForNow { tools: tools(grant), lists },
        (None, None) => ClientAccess::Nothing,
    }
}

/// The rights of a client, from a bridge that is started if needed. Without a database no bridge has met any
/// client.
pub fn held_here(paths: &Paths, name: &str) -> Result<ClientAccess, Failure> {
    match bridge(paths)? {
        Some(mut client) => held(&mut client, name),
        None if first_use(paths) == "all" => Ok(ClientAccess::New),
        None => Ok(ClientAccess::Nothing),
    }
}

/// The running bridge. If none runs and there is a database, starts one.
fn bridge(paths: &Paths) -> Result<Option<Client>, Failure> {
    match Client::connect_running(paths)? {
        None if paths.database().exists() => Client::connect(paths).map(Some),
        running => Ok(running),
    }
}

/// Gives a client these tools and no others.
pub fn set(client: &mut Client, name: &str, tools: &[String]) -> Result<(), Failure> {
    for scope in SCOPES {
        let ask = HostGrantPermission {
            origin: origin(name),
            profile: None,
            scope: scope.to_owned(),
            grant_type: Some(GrantType::AllowAlways.as_str().to_owned()),
            tab_id: None,
            expires_at: None,
            allowed_tools: Some(tools.to_vec()),
        };
        client.ask(&ask, QUICK)?;
    }
    Ok(())
}

/// Gives a client these tools and no others, and returns its access then. Denied tools stay denied. If no
/// bridge can know the client, it is new, and gets the tools as its first grants.
pub fn give(paths: &Paths, name: &str, tools: &[String]) -> Result<ClientAccess, Failure> {
    let Some(mut client) = bridge(paths)? else { return held_here(paths, name) };
    let wanted = ClientAccess::Tools(tools.to_vec());
    if held(&mut client, name)? != wanted {
        set(&mut client, name, tools)?;
    }
    held(&mut client, name)
}

/// Limits a client to those of these tools that it has, and returns its access then. A new client gets its
/// first grants when it comes: those of its entry's `--only`.
pub fn limit(paths: &Paths, name: &str, only: &[String]) -> Result<ClientAccess, Failure> {
    let Some(mut client) = bridge(paths)? else { return held_here(paths, name) };
    let held = held(&mut client, name)?;
    let tools = match &held {
        ClientAccess::New => only.to_vec(),
        ClientAccess::Tools(had) => within(had, only),
        ClientAccess::ForNow { .. } | ClientAccess::Nothing => return Ok(held),
    };
    if held != ClientAccess::Tools(tools.clone()) {
        set(&mut client, name, &tools)?;
    }
    Ok(ClientAccess::Tools(tools))
}

/// The part of `only` that `had` allows.
pub fn within(had: &[String], only: &[String]) -> Vec<String> {
    let Ok(allowed) = Allowlist::parse(had) else { return Vec::new() };
    let mut tools = Vec::new();
    for pattern in only {
        let is_covered = split(pattern).is_ok_and(|(source, tool)| allowed.covers(&source, tool));
        match pattern.strip_suffix(EVERY) {
            _ if is_covered => tools.push(pattern.clone()),
            Some(start) => tools.extend(had.iter().filter(|entry| entry.starts_with(start)).cloned()),
            None => {}
        }
    }
    tools.sort();
    tools.dedup();
    tools
}

/// A sentence about the tools that a client may use, with the command that changes it. `only`: the limit in
/// its own file.
pub fn sentence(title: &str, name: &str, held: &ClientAccess, only: &[String], paths: &Paths) -> String {
    let switch = format!("`harbor tools --client {name} --off 'SERVER/*'`");
    let origin = origin(name);
    match held {
        ClientAccess::New => {
            let tools = if only.is_empty() { "all tools".into() } else { only.join(", ") };
            format!(
                "{title} has not connected yet. When it does, it may use {tools}. To limit it first: {switch}"
            )
        }
        ClientAccess::Tools(had) if had.iter().any(|entry| entry == EVERY) && is_all(only) => {
            format!("{title} may use all tools. To limit it: {switch}")
        }
        ClientAccess::Tools(had) => {
            let tools = if only.is_empty() { had.clone() } else { within(had, only) };
            let tools = if tools.is_empty() { "no tools".into() } else { shorten(Some(tools)) };
            format!(
                "{title} may use {tools}. To change it: `harbor tools --client {name} --on SERVER/TOOL`, or `--off`; all of it: \
                 `harbor grants {origin}`"
            )
        }
        ClientAccess::ForNow { tools, lists } => {
            let tools = if is_all(tools) { "all tools".into() } else { shorten(Some(tools.clone())) };
            let lacks = match lists {
                true => String::new(),
                false => {
                    format!(", but not list them: `harbor grant {origin} mcp:tools.list` allows that, too")
                }
            };
            format!("{title} may use {tools} for a while{lacks}; see `harbor grants {origin}`")
        }
        ClientAccess::Nothing => {
            let why = match first_use(paths).as_str() {
                "closed" => ", because harbor.db was lost",
                "all" => ", because you decided about its permissions yourself",
                _ => " (mcp.firstUse in config.toml)",
            };
            format!(
                "{title} may use no tools yet{why}; allow them: `harbor grant {origin} mcp:tools.list --always` and \
                 `harbor grant {origin} mcp:tools.call --always`"
            )
        }
    }
}

fn is_all(only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|pattern| pattern == EVERY)
}

fn origin(name: &str) -> String {
    format!("client://{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_gives_nothing_that_was_taken() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for (had, only, may) in [
            ("*", "git/log time/*", "git/log time/*"),
            ("*", "browser/tabs", ""),
            ("git/* time/now", "git/log time/*", "git/log time/now"),
            ("git/log", "git/log git/show", "git/log"),
            ("git/log time/now", "*", "git/log time/now"),
            ("", "git/*", ""),
        ] {
            assert_eq!(within(&words(had), &words(only)), words(may), "{had}: {only}");
        }
    }
}
