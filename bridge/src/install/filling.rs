//! An entry's recipe, filled in with what the person said: a complete `install_server`.
//!
//! Owns which of the two counts. An entry's sandbox is Harbor's default, and what the person says wins.

use std::collections::BTreeMap;
use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{InstallServer, Instance, SandboxSettings, Supervision};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::{JsonObject, put_object};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::secret::SecretMap;
use harbor_policy::recipe::source::{InstallSource, default_name, sort};
use harbor_policy::recipe::{Recipe, RecipeValues, Unfilled};
use harbor_policy::remote::{parse, says_loopback};

use super::definition::supervision;
use super::entries::NamedSource;
use super::installations::{InstallCaller, Installations};
use crate::host::invalid;

/// The message with the source of the named entry, and all that the entry adds. A message that names no entry
/// stays unchanged.
pub(super) async fn expanded(
    installs: &Rc<Installations>,
    caller: &InstallCaller,
    message: InstallServer,
) -> Result<InstallServer, ErrorBody> {
    let planned = message.planned.as_deref();
    let wanted = NamedSource { source: &message.source, manifest: message.manifest.as_ref(), planned };
    let Some(found) = wanted.find(installs, caller).await? else {
        return match (&message.inputs, message.package) {
            (None, None) => Ok(message),
            _ => Err(invalid("inputs", "said of an entry of the catalog only")),
        };
    };
    let id = found.source.clone();
    let (_, recipe) = found.chosen(message.package)?;
    let source = sort(&recipe.source).ok();
    let name = message.server_id.clone().or(found.server_id.clone());
    let name = name.or_else(|| source.as_ref().and_then(default_name)).ok_or_else(|| {
        let message = format!("no name can be made from {id}; pass --name");
        ErrorBody::new(Code::InvalidParams, message).with("field", "server_id")
    })?;
    let secrets = secrets_of(&id, recipe, message.secret_values.as_ref())?;
    let data = installs.supervisor.data_directory(&name);
    let given = RecipeValues {
        inputs: &message.inputs.clone().unwrap_or_default(),
        env: &message.env.clone().unwrap_or_default(),
        secrets: &secrets,
        data: &data.to_string_lossy(),
        incomplete: message.incomplete == Some(true),
    };
    let filled = recipe.fill(given).map_err(|why| unfilled(&id, &why))?;
    not_this_machine(&filled.source, message.allow_private)?;
    let supervision = match found.stateful {
        true => Some(apart(message.supervision)?),
        false => message.supervision,
    };
    let sse = recipe.sse.then(|| "sse".to_owned());
    Ok(InstallServer {
        source: filled.source,
        manifest: None,
        planned: message.planned.or(found.planned),
        package: None,
        inputs: None,
        server_id: Some(name),
        args: Some([filled.args, message.args.unwrap_or_default()].concat()),
        env: Some(filled.env),
        headers: joined(filled.headers, message.headers),
        transport_type: message.transport_type.or(sse),
        secrets: Some([filled.secrets, message.secrets.unwrap_or_default()].concat()),
        sandbox: Some(widened(filled.sandbox, message.sandbox)?),
        supervision,
        ..message
    })
}

/// The names of the given secrets, if the entry admits their values.
fn secrets_of(id: &str, recipe: &Recipe, given: Option<&SecretMap>) -> Result<Vec<String>, ErrorBody> {
    let given = || given.iter().flat_map(|given| &given.0);
    let wrong = given().find_map(|(name, value)| Some((name, recipe.wrong_secret(name, value.expose())?)));
    match wrong {
        None => Ok(given().map(|(name, _)| name.clone()).collect()),
        Some((name, expected)) => {
            let message = format!(
                "{id}: the secret {name}: expected {expected}; `harbor secrets set` stores any value"
            );
            Err(ErrorBody::new(Code::InvalidParams, message).with("field", "secret_values"))
        }
    }
}

/// The supervision of a stateful server: each origin has an instance, unless the person says otherwise.
fn apart(said: Option<JsonObject>) -> Result<JsonObject, ErrorBody> {
    let said = supervision(said)?;
    let instance = said.instance.or(Some(Instance::PerPrincipal));
    Ok(JsonObject::written(&Supervision { instance, ..said }))
}

/// Refuses this machine's address from an entry, which is somebody else's. A person who types it means it.
fn not_this_machine(source: &str, allow_private: Option<bool>) -> Result<(), ErrorBody> {
    let Ok(InstallSource::Remote(url)) = sort(source) else { return Ok(()) };
    match allow_private != Some(true) && parse(&url).is_ok_and(|url| says_loopback(&url)) {
        true => {
            let text =
                "the entry's address is this machine itself; allow_private (--allow-private) allows it";
            Err(ErrorBody::new(Code::InvalidParams, text).with("field", "source"))
        }
        false => Ok(()),
    }
}

fn unfilled(id: &str, why: &Unfilled) -> ErrorBody {
    let error = ErrorBody::new(Code::InvalidParams, format!("{id}: {why}")).with("field", "inputs");
    match why {
        Unfilled::Missing(inputs, env) => {
            let list = |all: &[(String, String)]| {
                let names: Vec<_> = all.iter().map(|(name, _)| Json::string(name).into_string()).collect();
                Json::from_valid(format!("[{}]", names.join(",")))
            };
            error.with_json("missing_inputs", list(inputs)).with_json("missing_variables", list(env))
        }
        _ => error,
    }
}

fn joined(
    own: BTreeMap<String, String>,
    said: Option<BTreeMap<String, String>>,
) -> Option<BTreeMap<String, String>> {
    let all: BTreeMap<_, _> = own.into_iter().chain(said.unwrap_or_default()).collect();
    (!all.is_empty()).then_some(all)
}

/// The sandbox of an entry with the person's settings: places are added, everything else is the person's.
fn widened(own: SandboxSettings, said: Option<JsonObject>) -> Result<JsonObject, ErrorBody> {
    let said = match said {
        Some(said) => SandboxSettings::parse(said.0.as_str())?,
        None => SandboxSettings::default(),
    };
    let both = |a: &Option<Vec<String>>, b: &Option<Vec<String>>| {
        let all: Vec<_> = a.iter().chain(b).flatten().cloned().collect();
        (!all.is_empty()).then_some(all)
    };
    let (read, write) = (both(&own.read, &said.read), both(&own.write, &said.write));
    let hosts = both(&own.hosts, &said.hosts);
    let settings = SandboxSettings { read, write, hosts, ..own.with(said) };
    let mut text = Vec::new();
    put_object(&mut text, &settings);
    Ok(JsonObject(Json::from_valid(String::from_utf8(text).unwrap_or_default())))
}
