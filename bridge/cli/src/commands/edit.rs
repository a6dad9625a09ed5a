//! edit: a server's definition in the person's editor.
//!
//! ```text
//!  get_definition ─► a private file ─► the editor ─► read, checked ─► add_server: all of it at once, or nothing
//!                                         ▲                └─ what is wrong with it: once more, or the file is kept
//!                                         └────────────────┘
//! ```
//!
//! Owns the document. Must never put a value of a variable or a header into it, nor lose the person's text
//! without their word. Arguments may be secret, so a signal that ends us removes the file, too.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::thread;

use harbor_client::errors::{Exit, Failure};
use harbor_client::id::server_id;
use harbor_client::terminal::remark;
use harbor_client_configs::Format;
use harbor_home::Paths;
use harbor_home::files::write_atomically;
use harbor_ipc_proto::client::{AddRemoteServer, AddServer, DefinitionView, GetDefinition, ListServers};
use harbor_ipc_proto::field::{JsonObject, Message, read_object};
use nix::errno::Errno;
use nix::sys::signal::{Signal, raise};
use serde_json::{Map, Value, json};

use super::add::{self, Adding};
use super::servers;
use super::signals::Signals;
use crate::client::{Client, QUICK};
use crate::consent;
use crate::screen::Screen;

/// The mark in place of a value that is not shown, and stays.
const KEPT: &str = "***";

/// The editor where none is set.
const EDITOR: &str = "vi";

const HEAD: &str = "// How Harbor starts this server. Save it and leave the editor to apply it; leave it unchanged to \
                    change nothing.\n\
                    // A value \"***\" stays unchanged. Do not put keys here: `harbor secrets set SERVER KEY` stores \
                                 them.\n";

pub fn run(client: &mut Client, server: &str, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let before = client.ask(&GetDefinition { server_id: server_id(server)? }, QUICK)?.into_value().definition;
    let text = format!("{HEAD}{:#}\n", document(&before)?);
    let draft = Draft::new(paths, server, &text)?;
    loop {
        let edited = draft.edited()?;
        if edited == text {
            draft.remove();
            remark(&format!("{server} is unchanged"));
            return Ok(());
        }
        match asked(&before, &edited).and_then(|ask| apply(client, server, &ask, screen)) {
            Ok(()) => {
                draft.remove();
                return Ok(());
            }
            Err(wrong) => {
                let Some(said) = wrong.message() else { return Err(wrong) };
                let kept = format!("your text is in {}", draft.path.display());
                if consent::is_possible("edit").is_err() {
                    remark(&kept);
                    return Err(wrong);
                }
                remark(&said);
                if !consent::ask("Edit it again?")? {
                    remark(&format!("nothing was changed; {kept}"));
                    return Err(Failure::Said(Exit::Failed));
                }
            }
        }
    }
}

/// The text in the editor, until it is applied.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn new(paths: &Paths, server: &str, text: &str) -> Result<Self, Failure> {
        let path = paths.home().join(format!("edit-{server}-{}.json", process::id()));
        goes_with_us(&path).map_err(|errno| Failure::Io("hold signals back", io::Error::from(errno)))?;
        let written = write_atomically(&path, text.as_bytes());
        written
            .map_err(|error| Failure::Io("write the definition for the editor", io::Error::other(error)))?;
        Ok(Self { path })
    }

    /// Runs the editor, and reads the text when it has ended.
    fn edited(&self) -> Result<String, Failure> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| EDITOR.to_owned());
        // It may have arguments of its own, as for git.
        let ran =
            Command::new("/bin/sh").args(["-c", &format!("{editor} \"$1\""), "sh"]).arg(&self.path).status();
        match ran {
            Ok(status) if status.success() => {}
            Ok(_) => {
                self.remove();
                return Err(Failure::Usage(format!(
                    "the editor failed ({editor}); set EDITOR to another editor"
                )));
            }
            Err(error) => return Err(Failure::Io("start the editor", error)),
        }
        fs::read_to_string(&self.path).map_err(|error| Failure::Io("read what you wrote", error))
    }

    fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// From now on, a signal that ends us first removes this file. The editor gets its signals itself.
fn goes_with_us(path: &Path) -> Result<(), Errno> {
    let signals = Signals::hold_back()?;
    let path = path.to_owned();
    thread::spawn(move || {
        while let Ok(signal) = signals.wait() {
            let _ = match signal {
                Signal::SIGCONT => Ok(()),
                Signal::SIGTSTP => raise(Signal::SIGSTOP),
                signal => {
                    let _ = fs::remove_file(&path);
                    signals.obey(signal)
                }
            };
        }
    });
    Ok(())
}

/// A definition as it is edited.
fn document(definition: &DefinitionView) -> Result<Value, Failure> {
    let settings = |written: JsonObject| {
        serde_json::from_str::<Value>(written.0.as_str())
            .map_err(|error| Failure::Io("show the definition", io::Error::other(error)))
    };
    let hidden = |names: &[String]| -> Map<String, Value> {
        names.iter().map(|name| (name.clone(), KEPT.into())).collect()
    };
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| drop(all.insert(name.to_owned(), value));
    let DefinitionView { command, image, engine, cwd, url, .. } = definition;
    match url {
        Some(url) => {
            put("url", json!(url));
            put("transport_type", json!(definition.transport_type.as_deref().unwrap_or("auto")));
            put("headers", hidden(&definition.header_names).into());
            put("allow_private", json!(definition.allow_private));
            put("allow_http", json!(definition.allow_http));
        }
        None => {
            let named = [("command", command), ("image", image), ("engine", engine), ("cwd", cwd)];
            named
                .into_iter()
                .for_each(|(name, value)| value.iter().for_each(|value| put(name, json!(value))));
            put("args", json!(definition.args));
            put("secrets", json!(definition.secrets));
            put("as_is", json!(definition.as_is));
            put("sandbox", settings(JsonObject::written(&definition.sandbox))?);
        }
    }
    put("label", json!(definition.label));
    put("env", hidden(&definition.env_names).into());
    put("roots", json!(definition.roots));
    put("supervision", settings(JsonObject::written(&definition.supervision))?);
    Ok(all.into())
}

/// The request that an edited document is.
fn asked(before: &DefinitionView, text: &str) -> Result<Adding, Failure> {
    let wrong = |what: String| Failure::Usage(format!("{what}; nothing was changed"));
    let root = Format::Json.read(text).map_err(|why| wrong(why.to_string()))?;
    let known = document(before)?;
    let mut all = root.as_object().cloned().unwrap_or_default();
    let others = ["command", "image", "engine", "cwd"];
    let is_known = |name: &str| known.get(name).is_some() || before.url.is_none() && others.contains(&name);
    if let Some(name) = all.keys().find(|name| !is_known(name)) {
        return Err(wrong(format!("a definition has no field `{name}`")));
    }
    all.retain(|_, value| !value.is_null());
    let keeps = |all: &mut Map<String, Value>, name: &str| -> Vec<String> {
        let Some(values) = all.get_mut(name).and_then(Value::as_object_mut) else { return Vec::new() };
        let kept = values.iter().filter(|(_, value)| *value == KEPT).map(|(name, _)| name.clone()).collect();
        values.retain(|_, value| *value != KEPT);
        kept
    };
    let (env, headers) = (keeps(&mut all, "env"), keeps(&mut all, "headers"));
    all.insert("keep_env".into(), env.into());
    all.insert("server_id".into(), before.server_id.clone().into());
    if before.url.is_none() {
        return Ok(Adding::Here(read::<AddServer>(all)?));
    }
    all.insert("keep_headers".into(), headers.into());
    let same = all.get("url").and_then(Value::as_str) == before.url.as_deref();
    all.insert("keep_url".into(), same.into());
    Ok(Adding::Remote(read::<AddRemoteServer>(all)?))
}

fn read<T: Message>(all: Map<String, Value>) -> Result<T, Failure> {
    read_object(&Value::Object(all).to_string()).map_err(|error| {
        Failure::Usage(format!(
            "`{}`: expected {}, not {}; nothing was changed",
            error.field, error.expected, error.found
        ))
    })
}

fn apply(client: &mut Client, server: &str, ask: &Adding, screen: &mut Screen) -> Result<(), Failure> {
    let all = client.ask(&ListServers {}, QUICK)?.into_value().servers;
    let ran = all.iter().any(|one| one.server_id == server && one.state == "running");
    let added = add::define(client, server, ask)?;
    if screen.json {
        screen.json(&added.json())?;
    } else {
        screen.text(&format!("{server} is changed"))?;
    }
    if ran {
        servers::connect(client, server)?;
        remark(&format!("{server} was running and was started again"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::rig::typed;
    use super::*;

    const TIME: &str = r#"{"server_id":"time","command":"uvx","args":["mcp-server-time"],"env_names":["MODE","TOKEN"],"roots":[],"as_is":false,"secrets":["KEY"],"supervision":{"lazy":false},"sandbox":{"network":"none"},"header_names":[],"allow_private":false,"allow_http":false}"#;
    const DOCS: &str = r#"{"server_id":"docs","args":[],"env_names":[],"roots":[],"as_is":true,"secrets":[],"supervision":{},"sandbox":{},"url":"https://docs.example/mcp","transport_type":"auto","header_names":["X-Team"],"allow_private":false,"allow_http":false}"#;

    fn edited(definition: &str, change: impl Fn(String) -> String) -> Result<String, String> {
        let before: DefinitionView = typed(definition);
        let text = change(format!("{HEAD}{:#}", document(&before).unwrap()));
        match asked(&before, &text) {
            Ok(Adding::Here(ask)) => Ok(JsonObject::written(&ask).0.as_str().to_owned()),
            Ok(Adding::Remote(ask)) => Ok(JsonObject::written(&ask).0.as_str().to_owned()),
            Err(failure) => Err(failure.message().unwrap()),
        }
    }

    #[test]
    fn a_document_is_the_definition_again_and_values_stay_unseen() {
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let same = json(&edited(TIME, |text| text).unwrap());
        assert_eq!(
            same,
            json!({"server_id": "time", "command": "uvx", "args": ["mcp-server-time"], "env": {}, "keep_env": ["MODE", "TOKEN"],
                "roots": [], "as_is": false, "secrets": ["KEY"], "supervision": {"lazy": false}, "sandbox": {"network": "none"}})
        );
        let other = edited(TIME, |text| {
            text.replace("\"MODE\": \"***\"", "\"MODE\": \"fast\", // now").replace("\"uvx\"", "\"/bin/x\"")
        });
        let other = json(&other.unwrap());
        assert_eq!((&other["env"], &other["keep_env"]), (&json!({"MODE": "fast"}), &json!(["TOKEN"])));
        let docs = json(&edited(DOCS, |text| text).unwrap());
        assert_eq!((&docs["keep_url"], &docs["keep_headers"]), (&json!(true), &json!(["X-Team"])));
        let moved = json(&edited(DOCS, |text| text.replace("/mcp", "/v2")).unwrap());
        assert_eq!((&moved["keep_url"], &moved["url"]), (&json!(false), &json!("https://docs.example/v2")));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let wrong = |from: &str, to: &str| edited(TIME, |text| text.replace(from, to)).unwrap_err();
        assert_eq!(wrong("\"label\"", "\"lable\""), "a definition has no field `lable`; nothing was changed");
        assert!(wrong("\"args\": [", "\"args\": {").starts_with("line "));
        let said = wrong("\"as_is\": false", "\"as_is\": 1");
        assert!(said.starts_with("`as_is`: expected ") && said.ends_with("; nothing was changed"), "{said}");
    }
}
