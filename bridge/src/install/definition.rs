//! A definition made of a message: lengths, absolute paths, names of variables.
//!
//! Owns the checks that the message's types do not make. Must never look at the disk.

use std::collections::BTreeMap;
use std::path::Path;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{AddServer, CredentialType, Instance, Supervision};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::JsonObject;
use harbor_policy::container::{Engine, reference, variables};
use harbor_policy::credentials::{MAX_KEYS, wrong_key};
use harbor_policy::environment;
use harbor_policy::package::source;
use harbor_policy::settings::Settings;

use super::{modules, sandbox_settings, scripts};
use crate::host::invalid;
use crate::store::definitions::{Definition, Image};

/// The error for a text that is no source.
pub(super) fn wrong_source(field: &'static str, why: String) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, why).with("field", field).with("expected", source::KINDS)
}

/// Checks what the message's types do not: lengths, absolute paths, names of variables.
pub(super) fn definition(message: AddServer) -> Result<Definition, ErrorBody> {
    let image = image(&message)?;
    let env: BTreeMap<_, _> = message.env.unwrap_or_default();
    let args = message.args.unwrap_or_default();
    let no_nul = |text: &String| !text.contains('\0');
    let command = message.command.unwrap_or_default();
    if image.is_none() {
        may_be_run(&command, &args)?;
    }
    let script = message.script;
    if let Some(script) = &script {
        scripts::may_be_kept(&command, &args, script)?;
    }
    if message.module.is_some() {
        modules::may_be_kept(&command, &args)?;
    }
    if !args.iter().all(no_nul) {
        return Err(invalid("args", "texts without NUL characters"));
    }
    if let Some(why) = env.iter().find_map(|(name, value)| environment::wrong_variable(name, value)) {
        return Err(invalid("env", why));
    }
    if let Some(why) = image.as_ref().and_then(|_| env.keys().find_map(|name| variables::wrong(name))) {
        return Err(ErrorBody::new(Code::InvalidParams, why).with("field", "env"));
    }
    if message.cwd.as_ref().is_some_and(|cwd| !Path::new(cwd).is_absolute() || !no_nul(cwd)) {
        return Err(invalid("cwd", "an absolute path"));
    }
    let roots = message.roots.unwrap_or_default();
    if !roots.iter().all(|uri| uri.starts_with("file://")) {
        return Err(invalid("roots", "file:// URIs"));
    }
    let definition = Definition {
        command,
        image,
        args,
        env,
        cwd: message.cwd,
        label: message.label,
        roots,
        supervision: supervision(message.supervision)?,
        as_is: message.as_is == Some(true),
        sandbox: sandbox_settings::checked(sandbox_settings::said(message.sandbox)?)?,
        secrets: secret_names(message.secrets)?,
        remote: None,
        script,
        // Its hash is known once the module is kept.
        module: None,
        install_env: BTreeMap::new(),
        with: Vec::new(),
    };
    supervised(&definition)?;
    Ok(definition)
}

/// Checks the command: a source, or a program.
fn may_be_run(command: &str, args: &[String]) -> Result<(), ErrorBody> {
    if command.is_empty() || command.contains('\0') {
        return Err(invalid("command", "a program: an absolute path, or a name to look up in PATH"));
    }
    if source::is_source(command) {
        return source::read(command, args).map(drop).map_err(|why| wrong_source("command", why));
    }
    match command.contains('/') && !Path::new(command).is_absolute() {
        true => Err(invalid("command", "an absolute path, or a name without '/'")),
        false => Ok(()),
    }
}

/// Checks that a server can be supervised with these settings.
///
/// # Errors
/// Which setting is wrong.
pub(super) fn supervised(definition: &Definition) -> Result<(), ErrorBody> {
    let ranges = Settings::new(&definition.supervision, false);
    let settings = ranges.map_err(|wrong| invalid(wrong.field, wrong.expected))?;
    match definition.image.is_some() && settings.instance == Instance::PerPrincipal {
        true => Err(invalid("instance", "shared: a container has one process for all")),
        false => Ok(()),
    }
}

/// The names of secrets, each once, if they are allowed.
pub(super) fn secret_names(given: Option<Vec<String>>) -> Result<Vec<String>, ErrorBody> {
    let mut names = given.unwrap_or_default();
    names.sort();
    names.dedup();
    // Whether it is a header is decided with its value.
    let wrong = names.iter().find_map(|name| wrong_key(CredentialType::Header, name));
    let too_many = (names.len() > MAX_KEYS).then_some("at most 256 names");
    wrong.or(too_many).map_or(Ok(names), |expected| Err(invalid("secrets", expected)))
}

/// The image, if the message names one: then it must have nothing that only a command has.
fn image(message: &AddServer) -> Result<Option<Image>, ErrorBody> {
    let Some(reference) = message.image.clone() else {
        let alone = message.engine.is_none();
        return if alone { Ok(None) } else { Err(invalid("engine", "only with an image")) };
    };
    if message.command.is_some() {
        return Err(invalid("command", "absent if there is an image"));
    }
    if let Some(why) = reference::wrong(&reference) {
        return Err(invalid("image", why));
    }
    if message.engine.as_deref().is_some_and(|engine| Engine::of(engine).is_none()) {
        return Err(invalid("engine", "podman or docker"));
    }
    if message.cwd.is_some() {
        return Err(invalid("cwd", "absent if there is an image: it has its own"));
    }
    Ok(Some(Image { reference, engine: message.engine.clone() }))
}

/// The settings of a server's supervision, as they are said.
pub(super) fn supervision(given: Option<JsonObject>) -> Result<Supervision, ErrorBody> {
    given.map_or_else(|| Ok(Supervision::default()), |given| Ok(Supervision::parse(given.0.as_str())?))
}
