//! add: defines a server and starts it.
//!
//! Owns the translation of words typed here into words that mean the same to the bridge, which runs in
//! another directory.

use std::path::Path;

use harbor_client::errors::Failure;
use harbor_client::id::server_id;
use harbor_client::payload::Payload;
use harbor_client::reply::Answer;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    AddRemoteServer, AddRemoteServerResult, AddServer, AddServerResult, ConnectServerResult, NetworkKind,
    SandboxSettings, ServerChange, ServerView, Supervision,
};
use harbor_ipc_proto::field::JsonObject;
use harbor_policy::program::{JS_RUNNER, WASM_RUNNER};

use super::definition_secrets::{self, Apart};
use super::places::{absolute, current_dir, settings};
use super::remote::Spoken;
use super::result_notes;
use super::script::{Module, Script};
use super::servers::{self, STOP};
use super::unreachable_places;
use crate::args::{Definition, options_of};
use crate::client::Client;
use crate::screen::{Screen, Status};

/// A definition on its way: of a program or an image, or of a remote server.
#[derive(Debug)]
pub enum Adding {
    Here(AddServer),
    Remote(AddRemoteServer),
}

/// The result of adding a server.
pub struct Added {
    server: ServerView,
    replaced: bool,
    old_data: Option<String>,
    old_sandbox: Option<SandboxSettings>,
    program_change: Option<ServerChange>,
    /// The whole answer, for `--json`.
    shown: Payload,
}

impl Added {
    /// The whole answer.
    pub fn json(&self) -> String {
        self.shown.to_json()
    }
}

/// The program of a server that Harbor's interpreters run.
#[derive(Debug)]
pub enum Interpreted {
    Script(Script),
    Module(Module),
}

impl Interpreted {
    /// The program that a definition names, if it names one.
    fn read(definition: &Definition, here: &Path) -> Result<Option<Self>, Failure> {
        Ok(match (&definition.script, &definition.module) {
            (Some(file), _) => Some(Self::Script(Script::read(file, here)?)),
            (None, Some(file)) => Some(Self::Module(Module::read(file, here)?)),
            (None, None) => None,
        })
    }
}

/// The request for a definition that was typed in the directory `here`.
pub fn ask(definition: &Definition, here: &Path) -> Result<Adding, Failure> {
    let program = Interpreted::read(definition, here)?;
    ask_for(definition, program, here)
}

/// The request for a definition with this program, if Harbor interprets it.
pub fn ask_for(
    definition: &Definition,
    program: Option<Interpreted>,
    here: &Path,
) -> Result<Adding, Failure> {
    let server_id = server_id(&definition.name)?;
    let (label, env) = (definition.label.clone(), some(&definition.env, definition.env.is_empty()));
    let roots: Result<Vec<_>, _> = definition.roots.iter().map(|root| file_uri(root, here)).collect();
    let roots = Some(roots?).filter(|roots| !roots.is_empty());
    let supervision = supervision(&definition.supervision);
    if let Some(remote) = &definition.remote {
        let Spoken { transport_type, headers, allow_private, allow_http } = Spoken::of(remote);
        return Ok(Adding::Remote(AddRemoteServer {
            server_id,
            url: remote.url.clone(),
            transport_type,
            headers,
            env,
            label,
            roots,
            supervision,
            allow_private,
            allow_http,
            keep_env: None,
            keep_headers: None,
            keep_url: None,
        }));
    }
    let sandbox = settings(&of_interpreted(definition, program.is_some()), here)?;
    if let Some(Interpreted::Module(_)) = &program {
        Module::may_have(&sandbox)?;
    }
    let (own, file, script, module) = match program {
        Some(Interpreted::Script(Script { file, text })) => (Some(JS_RUNNER), Some(file), Some(text), None),
        Some(Interpreted::Module(Module { file, base64 })) => {
            (Some(WASM_RUNNER), Some(file), None, Some(base64))
        }
        None => (None, None, None, None),
    };
    Ok(Adding::Here(AddServer {
        server_id,
        command: own.map_or_else(|| command(definition, here), |own| Ok(Some(own.to_owned())))?,
        image: definition.image.clone(),
        engine: definition.engine.clone(),
        args: Some(file.into_iter().chain(definition.args.iter().cloned()).collect()),
        env,
        cwd: definition.cwd.as_ref().map(|cwd| absolute(cwd, here)).transpose()?,
        label,
        roots,
        supervision,
        as_is: definition.as_is.then_some(true),
        sandbox: written(&sandbox),
        secrets: some(&definition.secrets, definition.secrets.is_empty()),
        keep_data: definition.keep_data.then_some(true),
        keep_env: None,
        script,
        module,
    }))
}

/// The sandbox's settings. A script or module has no network unless one was typed.
fn of_interpreted(definition: &Definition, is_interpreted: bool) -> SandboxSettings {
    let mut typed = definition.sandbox.clone();
    if is_interpreted {
        typed.network = typed.network.or(Some(NetworkKind::None));
    }
    typed
}

/// A bare name is looked up in PATH; everything else is a path. An image has no command.
fn command(definition: &Definition, here: &Path) -> Result<Option<String>, Failure> {
    Ok(match definition.command.contains('/') {
        _ if definition.image.is_some() => None,
        true => Some(absolute(&definition.command, here)?),
        false => Some(definition.command.clone()),
    })
}

/// A copy of the values that were typed, if any were.
pub fn some<T: Clone>(said: &T, is_empty: bool) -> Option<T> {
    (!is_empty).then(|| said.clone())
}

/// The supervision's settings, if any were typed.
pub fn supervision(said: &Supervision) -> Option<JsonObject> {
    (*said != Supervision::default()).then(|| JsonObject::written(said))
}

/// The sandbox's settings, if any were typed.
pub fn sandbox(said: &SandboxSettings, here: &Path) -> Result<Option<JsonObject>, Failure> {
    Ok(written(&settings(said, here)?))
}

fn written(sandbox: &SandboxSettings) -> Option<JsonObject> {
    (*sandbox != SandboxSettings::default()).then(|| JsonObject::written(sandbox))
}

pub fn run(
    client: &mut Client,
    definition: &Definition,
    (ask, secrets): (&Adding, &[Apart]),
    screen: &mut Screen,
) -> Result<(), Failure> {
    let name = &definition.name;
    let mut added = define(client, name, ask)?;
    definition_secrets::keep(client, name, secrets)?;
    definition_secrets::tell(name, secrets);
    definition_secrets::warn_of_arguments(name, &definition_secrets::in_arguments(&definition.args));
    old_sandbox(name, &added).iter().for_each(|text| remark(text));
    relative(definition, &current_dir()?).iter().for_each(|text| remark(text));
    unreachable_places::tell_words(client, name, &definition.args, &definition.env);
    if !screen.json {
        let verb = if added.replaced { "replaced" } else { "added" };
        screen.text(&format!("{verb} {name}"))?;
        // Before the start, which may be the installation: that can take minutes.
        tell_package(screen, &added.server)?;
    }
    if definition.start {
        let connected = start(client, name)?;
        if !screen.json {
            if added.server.package.is_none() {
                tell_package(screen, &connected.server)?;
            }
            result_notes::on_image(&connected.server);
            servers::tell(client, name, &connected, screen)?;
            result_notes::on_sandbox(name, connected.server.sandbox.as_ref(), &definition.secrets);
            return Ok(());
        }
        added.shown.insert("connection", connected.to_json());
    }
    match screen.json {
        true => Ok(screen.json(&added.shown.to_json())?),
        false => Ok(screen.text(&begin(definition))?),
    }
}

/// The message about the start of a server that was only added.
fn begin(definition: &Definition) -> String {
    let name = &definition.name;
    match definition.supervision.lazy {
        Some(false) => format!("start it: `harbor start {name}`"),
        _ => format!("it starts when it is used; start it now: `harbor start {name}`"),
    }
}

/// The rights that the replaced definition had, and how to give them back.
fn old_sandbox(name: &str, added: &Added) -> Option<String> {
    let options = options_of(added.old_sandbox.as_ref()?);
    (!options.is_empty()).then(|| {
        format!(
            "{name}: its earlier sandbox settings are gone; restore them: `harbor sandbox {name} {options}`"
        )
    })
}

/// A script that was named as seen from here, while the server is remote.
fn relative(definition: &Definition, here: &Path) -> Option<String> {
    let is_script = |arg: &&String| !arg.starts_with(['-', '/']) && here.join(arg).is_file();
    let script = definition.args.iter().find(is_script).filter(|_| definition.cwd.is_none())?;
    let name = &definition.name;
    Some(format!(
        "{name}: {script} is looked up in the server's data directory; use its full path, or `--cwd .`"
    ))
}

/// A running server of this name is stopped first.
pub fn define(client: &mut Client, name: &str, ask: &Adding) -> Result<Added, Failure> {
    let status = Status::new(&format!("storing {name} …"));
    let added = match ask {
        Adding::Here(ask) => {
            let answer = client.ask(ask, STOP)?;
            let shown = answer.members();
            let AddServerResult { server, replaced, old_data, old_sandbox, program_change } =
                answer.into_value();
            Added { server, replaced, old_data, old_sandbox, program_change, shown }
        }
        Adding::Remote(ask) => {
            let answer = client.ask(ask, STOP)?;
            let shown = answer.members();
            let AddRemoteServerResult { server, replaced, program_change } = answer.into_value();
            Added { server, replaced, old_data: None, old_sandbox: None, program_change, shown }
        }
    };
    drop(status);
    // Also where the result is JSON, and before the server runs: it may well be an old trap.
    let kept = matches!(ask, Adding::Here(ask) if ask.keep_data == Some(true));
    result_notes::on_old_data(name, added.old_data.as_deref(), kept);
    added.program_change.iter().for_each(result_notes::on_program);
    Ok(added)
}

/// Says which package is installed, if the command was recognised as one.
fn tell_package(screen: &mut Screen, server: &ServerView) -> Result<(), Failure> {
    match &server.package {
        None => Ok(()),
        Some(package) => {
            Ok(screen.text(&format!("package: {package} (installed, then run without npx or uvx)"))?)
        }
    }
}

fn start(client: &mut Client, name: &str) -> Result<Answer<ConnectServerResult>, Failure> {
    servers::connect(client, name).map_err(|mut failure| {
        if let Failure::Refused(refusal) = &mut failure {
            let stays = format!("the definition stays; try again: `harbor start {name}`");
            refusal.message = format!("{name} did not start: {}\n{stays}", refusal.message);
        }
        failure
    })
}

fn file_uri(path: &str, here: &Path) -> Result<String, Failure> {
    if path.starts_with("file://") {
        return Ok(path.to_owned());
    }
    let mut uri = "file://".to_owned();
    for byte in absolute(path, here)?.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use harbor_client::errors::Exit;

    use super::super::rig::{command, complete_object, typed};
    use super::*;
    use harbor_ipc_proto::client::{Attempts, RestartWhen};

    const ADDED: &str = r#"{"type":"add_server_result","request_id":"1","replaced":false,"server":{"a":{}}}"#;

    const CONNECTED: &str = r#"{"type":"connect_server_result","request_id":"2","server":{"tool_count":2}}"#;

    fn definition(command: &str) -> Definition {
        Definition { name: "time".into(), command: command.into(), start: true, ..Definition::default() }
    }

    fn asked(definition: &Definition) -> AddServer {
        match ask(definition, Path::new("/here")).unwrap() {
            Adding::Here(request) => request,
            Adding::Remote(_) => panic!(),
        }
    }

    #[test]
    fn paths_mean_the_same_to_the_bridge() {
        let request = asked(&Definition {
            cwd: Some("sub".into()),
            roots: vec!["my files/ä".into(), "/abs".into(), "file:///as/is".into()],
            ..definition("./run")
        });
        assert_eq!(request.command.unwrap(), "/here/run");
        assert_eq!(request.cwd.unwrap(), "/here/sub");
        let roots = ["file:///here/my%20files/%C3%A4", "file:///abs", "file:///as/is"];
        assert_eq!(request.roots.unwrap(), roots);
        assert_eq!((request.supervision, request.as_is), (None, None), "only what was said");
        assert_eq!(asked(&definition("uvx")).command.unwrap(), "uvx");
        assert_eq!(asked(&definition("/bin/x")).command.unwrap(), "/bin/x");
        let image = Definition { image: Some("mcp/time".into()), ..definition("") };
        assert_eq!((asked(&image).command, asked(&image).image.as_deref()), (None, Some("mcp/time")));
    }

    #[test]
    fn settings_are_sent_as_they_were_said() {
        let supervision = Supervision {
            restart: Some(RestartWhen::OnCrash),
            restart_attempts: Some(Attempts::Unlimited),
            restart_delays_ms: Some(vec![2000, 4500]),
            start_timeout_ms: Some(1500),
            lazy: Some(false),
            ..Supervision::default()
        };
        let request = asked(&Definition { supervision, as_is: true, ..definition("npx") });
        assert_eq!(
            request.supervision.unwrap().0.as_str(),
            r#"{"restart":"on_crash","restart_attempts":"unlimited","restart_delays_ms":[2000,4500],"start_timeout_ms":1500,"lazy":false}"#
        );
        assert_eq!(request.as_is, Some(true));
    }

    fn add(json: bool, start: bool, answers: &[&str]) -> super::super::rig::Ran {
        let definition = Definition { start, ..definition("uvx") };
        let ask = ask(&definition, Path::new("/")).unwrap();
        command(json, answers, |client, screen| run(client, &definition, (&ask, &[]), screen))
    }

    #[test]
    fn a_server_is_added_and_started() {
        let ran = add(false, true, &[ADDED, CONNECTED]);
        assert_eq!(ran.printed, format!("added time\ntime is running: 2 tools (`harbor tools time`)\n"));
        let asked = r#"{"type":"connect_server","request_id":"2","server_id":"time""#;
        assert!(ran.asked[1].starts_with(asked), "{}", ran.asked[1]);
        let ran = add(true, true, &[ADDED, CONNECTED]);
        assert_eq!(
            ran.printed,
            format!(
                "{{\"connection\":{{\"connection_info\":{},\"server\":{}}},\"replaced\":false,\"server\":{}}}\n",
                complete_object("ConnectionInfo", "{}"),
                complete_object("Server", r#"{"tool_count":2}"#),
                complete_object("Server", r#"{"a":{}}"#)
            )
        );
    }

    #[test]
    fn the_package_is_told_once() {
        let with =
            |answer: &str| answer.replace(r#""server":{"#, r#""server":{"package":"mcp-server-time","#);
        let line = "package: mcp-server-time (installed, then run without npx or uvx)\n";
        for (added, connected) in [
            (with(ADDED), CONNECTED.to_owned()),
            (ADDED.to_owned(), with(CONNECTED)),
            (with(ADDED), with(CONNECTED)),
        ] {
            let ran = add(false, true, &[&added, &connected]);
            assert_eq!(
                ran.printed,
                format!("added time\n{line}time is running: 2 tools (`harbor tools time`)\n")
            );
        }
    }

    #[test]
    fn a_server_may_stay_stopped() {
        let told = "added time\nit starts when it is used; start it now: `harbor start time`\n";
        assert_eq!(add(false, false, &[ADDED]).printed, told);
        let server = complete_object("Server", r#"{"a":{}}"#);
        assert_eq!(
            add(true, false, &[ADDED]).printed,
            format!("{{\"replaced\":false,\"server\":{server}}}\n"),
            "also what this version does not know"
        );
    }

    #[test]
    fn a_failed_start_leaves_the_definition_and_says_so() {
        let failed =
            r#"{"type":"error","request_id":"2","error":{"code":"connection_failed","message":"no"}}"#;
        let ran = add(false, true, &[ADDED, failed]);
        assert_eq!(ran.exit, Exit::Unavailable);
        assert_eq!(
            ran.failure.unwrap(),
            "time did not start: no\nthe definition stays; try again: `harbor start time`\n\
             see `harbor logs time`"
        );
    }

    #[test]
    fn what_a_replaced_definition_allowed_is_told_as_it_is_typed() {
        let added = |old_sandbox: Option<&str>| Added {
            server: typed("{}"),
            replaced: true,
            old_data: None,
            program_change: None,
            old_sandbox: old_sandbox.map(|old| SandboxSettings::parse(old).unwrap()),
            shown: Payload::default(),
        };
        assert_eq!(old_sandbox("s", &added(None)), None);
        let old =
            r#"{"level":"strict","required":true,"write":["/a","/b c"],"hosts":["*.x.org"],"memory_mb":64}"#;
        let said = old_sandbox("s", &added(Some(old))).unwrap();
        let options = "--sandbox strict --required --write /a --write '/b c' --host '*.x.org' --memory 64";
        assert!(said.contains(&format!("`harbor sandbox s {options}`")), "{said}");
    }

    #[test]
    fn a_script_that_is_named_from_here_is_told() {
        let here = tempfile::tempdir().unwrap();
        std::fs::write(here.path().join("server.py"), "").unwrap();
        let with = |args: &[&str], cwd: Option<&str>| {
            let args = args.iter().map(ToString::to_string).collect();
            let cwd = cwd.map(Into::into);
            relative(&Definition { args, cwd, ..definition("python3") }, here.path()).is_some()
        };
        assert!(with(&["-I", "server.py"], None));
        assert!(!with(&["server.py"], Some(".")) && !with(&["stdio"], None));
    }
}
