//! The manifests of servers that Harbor's own interpreters run: a WebAssembly manifest, version 1, and that of a server of the
//! browser's extension, whose runtime is `js`, `wasm` or `remote`.
//!
//! ```text
//!  text (somebody else's JSON) ─► InterpretedManifest: the program or address, variables, secrets, hosts, memory, notes
//! ```
//!
//! Pure. Owns the reading of these two forms. Must never believe one: what it wants is shown before it is installed, a file that it
//! names lies beside it, and its signature counts for nothing, since it brings its own key.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::environment::wrong_of_others;

/// The most entries of a list that are read.
const MOST: usize = 64;

/// The most characters of a text that is shown.
const MAX_WORDS: usize = 500;

/// A page of WebAssembly's memory, in bytes.
const PAGE: u64 = 64 * 1024;

/// A manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterpretedManifest {
    /// The server's name, unless the person gives one.
    pub name: String,
    /// A name for people; may be empty.
    pub title: String,
    /// Its own description; may be empty.
    pub description: String,
    /// The program, or where it is.
    pub program: Program,
    /// Variables.
    pub env: BTreeMap<String, String>,
    /// Names of the secrets that it needs.
    pub secrets: Vec<String>,
    /// Hosts that a script wants to reach.
    pub hosts: Vec<String>,
    /// MiB of memory that it wants.
    pub memory: Option<u64>,
    /// False if it asks not to be started at once.
    pub starts: bool,
    /// Notes for the person, a sentence each.
    pub notes: Vec<String>,
}

/// The server's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A script.
    Script(ProgramBytes),
    /// A module of WebAssembly.
    Module(ProgramBytes),
    /// A remote server.
    Remote {
        /// Its address.
        url: String,
        /// True if it speaks HTTP+SSE.
        sse: bool,
    },
}

/// The bytes of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramBytes {
    /// The manifest has them.
    Here(Vec<u8>),
    /// A file beside the manifest has them: a path without `..`.
    File(String),
}

/// The reason why a manifest cannot be used, as the end of a sentence that begins with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongManifest(pub String);

/// True if a manifest has one of these forms.
#[must_use]
pub fn is_meant(manifest: &Value) -> bool {
    manifest["runtime"].is_string() || manifest["wasm"]["file"].is_string()
}

/// Reads one.
///
/// # Errors
/// The fault in it.
pub fn read(manifest: &Value) -> Result<InterpretedManifest, WrongManifest> {
    let (mut notes, is_of_extension) = (Vec::new(), manifest["runtime"].is_string());
    let program = if is_of_extension { of_extension(manifest)? } else { of_wasm(manifest, &mut notes)? };
    let named = if is_of_extension { ["id", "name"] } else { ["name", "id"] };
    let name = named.into_iter().map(|key| words(&manifest[key])).find(|name| !name.is_empty());
    let hosts = texts(&manifest["capabilities"]["network"]["hosts"]);
    let (every, hosts): (Vec<_>, Vec<_>) = hosts.into_iter().partition(|host| host.contains('*'));
    if !every.is_empty() {
        notes.push(format!("it asks for the hosts {}; allow each by its name: --host", every.join(", ")));
    }
    if !hosts.is_empty() && matches!(program, Program::Module(_)) {
        notes.push("it asks for the network, which a module does not get".into());
    }
    if !manifest["capabilities"]["filesystem"].is_null() {
        notes.push("it asks for files; allow directories: --read, --write".into());
    }
    let mut secrets = secrets_of(manifest);
    let token = words(&manifest["oauth"]["tokenEnvVar"]);
    if !token.is_empty() {
        notes.push(format!("Harbor does not sign in for it; its token is the secret {token}"));
        secrets.push(token);
    }
    let env = variables(manifest)?;
    secrets.retain(|name| !env.contains_key(name));
    secrets.sort();
    secrets.dedup();
    secrets.truncate(MOST);
    for name in secrets.iter().chain(env.keys()) {
        if let Some(why) = wrong_of_others(name) {
            return Err(WrongManifest(format!("wants the variable {name:.100}, which {why}")));
        }
    }
    let pages = manifest["wasm"]["memory"]["maximum"].as_u64();
    Ok(InterpretedManifest {
        name: name.ok_or_else(|| WrongManifest("has no name".into()))?,
        title: words(&manifest["displayName"]),
        description: words(&manifest["description"]),
        program,
        env,
        secrets,
        hosts,
        memory: pages.map(|pages| pages.saturating_mul(PAGE).div_ceil(1024 * 1024).clamp(1, 4096)),
        starts: manifest["autostart"] != false,
        notes,
    })
}

/// The program of a manifest for WebAssembly.
fn of_wasm(manifest: &Value, notes: &mut Vec<String>) -> Result<Program, WrongManifest> {
    let version = words(&manifest["manifestVersion"]);
    if !version.is_empty() && version != "1" && !version.starts_with("1.") {
        return Err(WrongManifest(format!(
            "has the manifestVersion {version}, but this Harbor reads only version 1"
        )));
    }
    if words(&manifest["wasm"]["wasi"]["version"]) == "preview2" {
        return Err(WrongManifest(
            "has a component (WASI preview 2); Harbor runs modules for preview 1: build it for wasm32-wasip1"
                .into(),
        ));
    }
    if !manifest["signature"].is_null() {
        notes.push("its signature brings its own key, which proves nothing".into());
    }
    Ok(Program::Module(beside(&words(&manifest["wasm"]["file"]), "--wasm")?))
}

/// The program of a server of the extension.
fn of_extension(manifest: &Value) -> Result<Program, WrongManifest> {
    let said = |key: &str| words(&manifest[key]);
    let content = |bytes: &[&str], files: &[&str], option: &str| {
        if let Some(text) = bytes.iter().find_map(|key| manifest[*key].as_str()) {
            let bytes = STANDARD.decode(text.trim());
            return bytes
                .map(ProgramBytes::Here)
                .map_err(|_| WrongManifest("has a program that is no base64".into()));
        }
        let file = files.iter().map(|key| said(key)).find(|file| !file.is_empty()).unwrap_or_default();
        beside(&file, option)
    };
    match said("runtime").as_str() {
        "js" => Ok(Program::Script(content(&["scriptBase64"], &["scriptUrl", "entrypoint"], "--js")?)),
        "wasm" => Ok(Program::Module(content(
            &["moduleBytesBase64", "wasmBase64"],
            &["moduleUrl", "wasmUrl", "entrypoint"],
            "--wasm",
        )?)),
        "remote" if said("remoteTransport") == "websocket" => {
            Err(WrongManifest("has a server that speaks WebSocket, which is no transport of MCP".into()))
        }
        "remote" => Ok(Program::Remote { url: said("remoteUrl"), sse: said("remoteTransport") == "sse" }),
        other => Err(WrongManifest(format!("has the runtime {other:.100}; use js, wasm or remote"))),
    }
}

/// A file beside the manifest. `option`: how `harbor add` takes one from elsewhere.
fn beside(file: &str, option: &str) -> Result<ProgramBytes, WrongManifest> {
    let wrong = |why: String| Err(WrongManifest(why));
    if file.is_empty() {
        return wrong("has no program".into());
    }
    if file.starts_with("https://") || file.starts_with("http://") {
        return wrong(match option {
            "--wasm" => format!(
                "has its module at {file}; install that by its hash: harbor install {file} --sha256 HEX"
            ),
            _ => format!("has its script at {file}; download it, and add it: harbor add NAME {option} FILE"),
        });
    }
    let file = file.strip_prefix("file:").unwrap_or(file).trim_start_matches("./");
    if file.starts_with('/') || file.contains(['\\', '\0']) || file.split('/').any(|part| part == "..") {
        return wrong(format!("names the file {file:.200}, which does not lie beside it"));
    }
    Ok(ProgramBytes::File(file.to_owned()))
}

fn variables(manifest: &Value) -> Result<BTreeMap<String, String>, WrongManifest> {
    let mut all = BTreeMap::new();
    let mut add = |name: String, value: &Value| {
        if !name.is_empty() && !value.is_null() {
            all.insert(name, value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
    };
    let objects = [&manifest["environment"], &manifest["env"]].into_iter().filter_map(Value::as_object);
    for (name, value) in objects.flatten().take(MOST) {
        let default = if value.is_object() { &value["default"] } else { value };
        add(name.clone(), default);
    }
    for one in manifest["env"].as_array().into_iter().flatten().take(MOST) {
        match one.as_str().and_then(|text| text.split_once('=')) {
            Some((name, value)) => add(name.to_owned(), &Value::from(value)),
            None => add(words(&one["name"]), &one["value"]),
        }
    }
    match all.values().any(|value| value.len() > 4096) {
        true => Err(WrongManifest("has a variable of more than 4096 bytes".into())),
        false => Ok(all),
    }
}

/// Names of secrets, in whichever of the known forms.
fn secrets_of(manifest: &Value) -> Vec<String> {
    let name = |one: &Value| match one {
        Value::String(name) => name.clone(),
        one if one["optional"] == true || one["required"] == false => String::new(),
        one => [&one["name"], &one["key"]]
            .into_iter()
            .map(words)
            .find(|name| !name.is_empty())
            .unwrap_or_default(),
    };
    let lists = [&manifest["secretsDecl"], &manifest["secrets"]];
    let all = lists.into_iter().filter_map(Value::as_array).flatten().take(MOST).map(name);
    all.filter(|name| !name.is_empty()).collect()
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().into_iter().flatten().filter_map(Value::as_str).take(MOST);
    all.map(str::to_owned).collect()
}

/// A text on one line, of a bounded length.
fn words(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default();
    text.chars().filter(|c| !c.is_control()).take(MAX_WORDS).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_script_of_the_extension_is_read() {
        let manifest = json!({
            "id": "echo-js", "name": "Echo", "version": "1", "runtime": "js", "scriptBase64": "cmV0dXJu",
            "env": [{"name": "MODE", "value": "fast"}, "LEVEL=2"],
            "secretsDecl": [{"name": "API_KEY", "label": "Key"}, {"name": "OTHER", "optional": true}],
            "capabilities": {"network": {"hosts": ["api.example.com", "*.example.org"]}},
            "oauth": {"provider": "google", "tokenEnvVar": "TOKEN"}, "autostart": false,
        });
        assert!(is_meant(&manifest));
        let read = read(&manifest).unwrap();
        assert_eq!((read.name.as_str(), read.starts, read.memory), ("echo-js", false, None));
        assert_eq!(read.program, Program::Script(ProgramBytes::Here(b"return".to_vec())));
        assert_eq!((read.env["MODE"].as_str(), read.env["LEVEL"].as_str()), ("fast", "2"));
        let object = json!({"id": "x", "runtime": "js", "scriptUrl": "a.js", "env": {"A": "1", "B": 2}});
        assert_eq!(super::read(&object).unwrap().env["B"], "2");
        assert_eq!(read.secrets, ["API_KEY", "TOKEN"]);
        assert_eq!(read.hosts, ["api.example.com"]);
        assert!(
            read.notes[0].contains("*.example.org") && read.notes[1].contains("does not sign in"),
            "{read:?}"
        );
    }

    #[test]
    fn a_module_and_a_remote_server_are_read() {
        let manifest = json!({
            "manifestVersion": "1.0", "name": "time", "displayName": "Time", "description": "Tells\nthe time",
            "wasm": {"file": "./time.wasm", "wasi": {"version": "preview1"}, "memory": {"maximum": 2048}},
            "environment": {"ZONE": {"default": "UTC"}}, "signature": {"algorithm": "ed25519"},
        });
        let time = read(&manifest).unwrap();
        assert_eq!((time.title.as_str(), time.description.as_str()), ("Time", "Tellsthe time"));
        assert_eq!(time.program, Program::Module(ProgramBytes::File("time.wasm".into())));
        assert_eq!((time.memory, time.env["ZONE"].as_str()), (Some(128), "UTC"));
        assert!(time.notes[0].contains("its own key"), "{time:?}");
        let remote =
            json!({"id": "r", "runtime": "remote", "remoteUrl": "https://h/mcp", "remoteTransport": "sse"});
        let program = Program::Remote { url: "https://h/mcp".into(), sse: true };
        assert_eq!(read(&remote).unwrap().program, program);
    }

    #[test]
    fn what_cannot_be_used_is_told() {
        let js = |more: &[(&str, Value)]| {
            let mut all = json!({"id": "x", "runtime": "js", "scriptUrl": "a.js"});
            more.iter().for_each(|(name, value)| all[*name] = value.clone());
            all
        };
        for (manifest, said) in [
            (js(&[("scriptUrl", json!("../a.js"))]), "does not lie beside it"),
            (js(&[("scriptUrl", json!("/etc/passwd"))]), "does not lie beside it"),
            (js(&[("scriptUrl", json!("https://h/a.js"))]), "download it"),
            (js(&[("scriptUrl", json!(7))]), "has no program"),
            (js(&[("scriptBase64", json!("%"))]), "no base64"),
            (js(&[("runtime", json!("python"))]), "use js, wasm or remote"),
            (js(&[("id", json!(""))]), "has no name"),
            (js(&[("env", json!([{"name": "LD_PRELOAD", "value": "x"}]))]), "LD_PRELOAD"),
            (json!({"id": "x", "runtime": "wasm", "wasmUrl": "https://h/a.wasm"}), "--sha256"),
            (json!({"id": "x", "runtime": "remote", "remoteTransport": "websocket"}), "WebSocket"),
            (json!({"name": "x", "manifestVersion": "2", "wasm": {"file": "a"}}), "only version 1"),
            (json!({"name": "x", "wasm": {"file": "a", "wasi": {"version": "preview2"}}}), "preview 1"),
        ] {
            let WrongManifest(why) = read(&manifest).unwrap_err();
            assert!(why.contains(said), "{manifest}: {why}");
        }
        for strange in [json!(null), json!([]), json!({"runtime": 7}), json!({"wasm": []})] {
            assert!(!is_meant(&strange) && read(&strange).is_err(), "{strange}");
        }
    }
}
