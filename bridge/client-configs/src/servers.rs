//! The servers that a client's configuration names, and what Harbor can take over of each.
//!
//! Owns the words that clients use for this. Must never show a value of an environment variable: a reason
//! gives names only.

use std::collections::{BTreeMap, BTreeSet};

use harbor_policy::credentials::is_secret_name;
use serde_json::Value;

use super::entry::is_ours;
use super::launch::{Launch, Skip};
use super::placeholders::{Surroundings, Unresolved, Use};
use super::{engine, remote_entries};

/// The keys that may have the servers, whoever wrote the file.
const KEYS: [&str; 4] = ["mcpServers", "servers", "context_servers", "mcp_servers"];

/// A server as it stands there.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<'a> {
    /// The name that the client has for it.
    pub name: &'a str,
    /// The project for which alone it is.
    pub project: Option<&'a str>,
    /// Its entry in the file.
    pub entry: &'a Value,
}

/// All servers of a file, those of single projects too. Only those of one `key`, if it is known.
#[must_use]
pub fn named<'a>(root: &'a Value, key: Option<&str>) -> Vec<Named<'a>> {
    let wanted = |name: &str| key.is_none_or(|key| key == name);
    let mut found = Vec::new();
    for key in KEYS.into_iter().filter(|name| wanted(name)) {
        add(&mut found, &root[key], None);
    }
    // As VS Code had them among its settings.
    if key.is_none() {
        add(&mut found, &root["mcp"]["servers"], None);
    }
    // As Claude Code has those that were added for one project.
    if wanted(KEYS[0]) {
        for (project, settings) in root["projects"].as_object().into_iter().flatten() {
            add(&mut found, &settings[KEYS[0]], Some(project));
        }
    }
    found
}

fn add<'a>(found: &mut Vec<Named<'a>>, servers: &'a Value, project: Option<&'a str>) {
    let servers = servers.as_object().into_iter().flatten();
    found.extend(servers.map(|(name, entry)| Named { name, project, entry }));
}

/// How the server of an entry is started.
///
/// # Errors
/// Says why it is left out.
pub fn launch(entry: &Value, disabled_too: bool, around: &Surroundings<'_>) -> Result<Launch, Skip> {
    if !entry.is_object() {
        return Err(Skip::Malformed("the entry"));
    }
    if is_ours(entry) {
        return Err(Skip::Ours);
    }
    let off = entry["disabled"] == true || entry["enabled"] == false;
    if off && !disabled_too {
        return Err(Skip::Disabled);
    }
    if remote_entries::is_meant(entry) {
        let mut launch = Launch::default();
        launch.remote = Some(remote_entries::read(entry, around, &mut launch.taken)?);
        return Ok(launch);
    }
    if let Some(file) = entry["envFile"].as_str() {
        return Err(Skip::EnvFile(file.to_owned()));
    }
    // Zed had the three in an object of their own once.
    let program = if entry["command"].is_object() { &entry["command"] } else { entry };
    let command = [&program["command"], &program["path"]].into_iter().find_map(Value::as_str);
    let command = command.filter(|command| !command.is_empty()).ok_or(Skip::NoCommand)?;
    let mut launch = Launch::default();
    launch.command = around.put(command, "its command", &mut launch.taken)?;
    launch.args = args(&program["args"], around, &mut launch.taken)?;
    launch.env = environment(&program["env"], around, &mut launch.taken, &mut launch.missing)?;
    forwarded(&entry["env_vars"], around, &mut launch)?;
    engine::take(&mut launch, around)?;
    if launch.image.is_some() {
        return Ok(launch);
    }
    let cwd = match &entry["cwd"] {
        Value::Null => None,
        Value::String(text) => Some(around.put(text, "its directory", &mut launch.taken)?),
        _ => return Err(Skip::Malformed("cwd")),
    };
    launch.cwd = cwd.map(|cwd| absolute(&cwd, around)).transpose()?;
    placed(launch, around)
}

fn args(found: &Value, around: &Surroundings<'_>, taken: &mut BTreeSet<Use>) -> Result<Vec<String>, Skip> {
    let wrong = Skip::Malformed("args");
    match found {
        Value::Null => Ok(Vec::new()),
        Value::Array(words) => words
            .iter()
            .map(|word| {
                Ok(around.put(word.as_str().ok_or_else(|| wrong.clone())?, "its arguments", taken)?)
            })
            .collect(),
        _ => Err(wrong),
    }
}

fn environment(
    found: &Value,
    around: &Surroundings<'_>,
    taken: &mut BTreeSet<Use>,
    missing: &mut BTreeSet<String>,
) -> Result<BTreeMap<String, String>, Skip> {
    let wrong = Skip::Malformed("env");
    let variables = match found {
        Value::Null => return Ok(BTreeMap::new()),
        Value::Object(variables) => variables,
        _ => return Err(wrong),
    };
    let mut all = BTreeMap::new();
    for (name, value) in variables {
        let value = match value {
            // One that the server shall not have, and here it has none anyway.
            Value::Null => continue,
            Value::String(text) => {
                let put = around.put(text, &format!("its variable {name}"), taken);
                let is_unknown = matches!(put, Err(Unresolved::Input(_) | Unresolved::Unset(_)));
                if is_unknown && is_secret_name(name) && is_one_placeholder(text) {
                    missing.insert(name.clone());
                    continue;
                }
                put.map_err(|why| Skip::Unresolved(why, Some(name.clone())))?
            }
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            _ => return Err(wrong),
        };
        all.insert(name.clone(), value);
    }
    Ok(all)
}

/// True if the whole text is one placeholder.
fn is_one_placeholder(text: &str) -> bool {
    text.starts_with('$') && text.matches('$').count() == 1 && (text.ends_with('}') || !text.contains('{'))
}

/// Passes on the variables that the client passes on. A variable that is not set is left out.
fn forwarded(found: &Value, around: &Surroundings<'_>, launch: &mut Launch) -> Result<(), Skip> {
    let names = match found {
        Value::Null => return Ok(()),
        Value::Array(names) => names,
        _ => return Err(Skip::Malformed("env_vars")),
    };
    for name in names {
        let name = name.as_str().or_else(|| name["name"].as_str()).ok_or(Skip::Malformed("env_vars"))?;
        if let Some(value) = around.hand_on(name, &format!("its variable {name}"), &mut launch.taken) {
            launch.env.entry(name.to_owned()).or_insert(value);
        }
    }
    Ok(())
}

/// The absolute path for a path that may be relative to the project.
fn absolute(path: &str, around: &Surroundings<'_>) -> Result<String, Skip> {
    match around.workspace {
        _ if path.starts_with('/') => Ok(path.to_owned()),
        // A shell would read it; a client that starts a program does not.
        Some(workspace) if !path.starts_with('~') => {
            Ok(format!("{}/{path}", workspace.trim_end_matches('/')))
        }
        _ => Err(Skip::Relative(path.to_owned())),
    }
}

/// The launch with paths that mean the same here: the project's directory is where its servers run.
fn placed(mut launch: Launch, around: &Surroundings<'_>) -> Result<Launch, Skip> {
    if launch.command.contains('/') {
        launch.command = absolute(&launch.command, around)?;
    }
    if launch.cwd.is_some() {
        return Ok(launch);
    }
    let dotted = |arg: &&String| arg.starts_with("./") || arg.starts_with("../");
    match around.workspace {
        None => match launch.args.iter().find(dotted) {
            Some(arg) => Err(Skip::Relative(arg.clone())),
            None => Ok(launch),
        },
        Some(workspace) => {
            let named = |arg: &&String| {
                !arg.starts_with(['-', '/'])
                    && absolute(arg, around).is_ok_and(|whole| (around.is_there)(&whole))
            };
            if launch.args.iter().any(|arg| dotted(&arg) || named(&arg)) {
                launch.cwd = Some(workspace.to_owned());
            }
            Ok(launch)
        }
    }
}
