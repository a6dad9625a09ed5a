//! Changes of a server's supervision, arguments and variables while it lives.
//!
//! Owns the change of a definition's supervision, label, arguments and variables. Must never stop or start a server for it, nor
//! have it run another program.

use std::collections::BTreeMap;
use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{Sampling, SetSupervision, SetSupervisionResult, Supervision};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_policy::container::variables;
use harbor_policy::environment;
use harbor_policy::lifecycle::State;

use super::arguments;
use super::audit_record::about;
use super::definition::supervised;
use super::installations::Installations;
use super::replacing::{is_unchanged, stored};
use crate::host::asker::Sender;
use crate::host::{invalid, server_view, to_the_end};
use crate::store::definitions::Definition;

/// The settings that may be reset.
const NAMES: &str = "label, restart, restart_attempts, restart_delays_ms, restart_jitter_percent, start_timeout_ms, call_timeout_ms, queue_wait_ms, hung_grace_ms, eof_grace_ms, term_grace_ms, auto_start, lazy, idle_stop_ms, instance, max_instances, private, reads, writes, destroys or sampling";

pub(super) async fn set(
    installs: &Rc<Installations>,
    sender: &Rc<Sender>,
    message: SetSupervision,
) -> Result<SetSupervisionResult, ErrorBody> {
    let server = installs.host.server(&message.server_id)?;
    let before = server.definition();
    let definition = changed(&before, &message)?;
    if definition == *before {
        return Ok(SetSupervisionResult {
            server: server_view(&installs.host, &server),
            next_start: Vec::new(),
        });
    }
    let (installs, sender) = (installs.clone(), sender.clone());
    to_the_end(async move {
        let id = message.server_id;
        installs.host.trail.decided(SetSupervision::TAG, &sender, about(&id), true).await?;
        let _changing = installs.changing.lock().await;
        // That waited for the audit log.
        is_unchanged(&installs, &id, &before)?;
        installs.definitions.change(&id, &definition).await.map_err(|error| stored(&error))?;
        let next_start =
            if has_process(server.state()) { of_a_start(&before, &definition) } else { Vec::new() };
        installs.supervisor.supervise(&id, definition);
        Ok(SetSupervisionResult { server: server_view(&installs.host, &server), next_start })
    })
    .await
}

fn changed(definition: &Definition, message: &SetSupervision) -> Result<Definition, ErrorBody> {
    let (mut supervision, mut label) = (definition.supervision.clone(), definition.label.clone());
    for name in message.reset.iter().flatten() {
        match name == "label" {
            true => label = None,
            false if supervision.reset(name) => {}
            false => return Err(invalid("reset", NAMES)),
        }
    }
    if let Some(changes) = &message.supervision {
        supervision = supervision.with(Supervision::parse(changes.0.as_str())?);
    }
    let supervision = in_one_form(supervision);
    let label = message.label.clone().or(label);
    let (args, env) = (arguments(definition, message)?, variables_of(definition, message)?);
    let changed = Definition { supervision, label, args, env, ..definition.clone() };
    supervised(&changed)?;
    match changed.program() == definition.program() {
        true => Ok(changed),
        false => {
            let id = &message.server_id;
            let message = format!(
                "with these arguments {id} would run another program; `harbor edit {id}` replaces its definition"
            );
            Err(ErrorBody::new(Code::InvalidParams, message).with("field", "args"))
        }
    }
}

fn arguments(definition: &Definition, message: &SetSupervision) -> Result<Vec<String>, ErrorBody> {
    match &message.args {
        None => Ok(definition.args.clone()),
        Some(_) if definition.remote.is_some() => {
            Err(invalid("args", "only for a program, not for a remote server"))
        }
        Some(args) if args.iter().any(|arg| arg.contains('\0')) => {
            Err(invalid("args", "texts without NUL characters"))
        }
        Some(args) => Ok(arguments::with_own(definition, args)),
    }
}

fn variables_of(
    definition: &Definition,
    message: &SetSupervision,
) -> Result<BTreeMap<String, String>, ErrorBody> {
    let mut env = definition.env.clone();
    for name in message.unset.iter().flatten() {
        if env.remove(name).is_none() {
            let id = &message.server_id;
            let message = format!(
                "{id} has no variable {name} in its definition; `harbor secrets {id}` lists its secrets"
            );
            return Err(ErrorBody::new(Code::InvalidParams, message).with("field", "unset"));
        }
    }
    let new = message.env.iter().flatten();
    if let Some(why) = new.clone().find_map(|(name, value)| environment::wrong_variable(name, value)) {
        return Err(invalid("env", why));
    }
    if definition.image.is_some()
        && let Some(why) = new.clone().find_map(|(name, _)| variables::wrong(name))
    {
        return Err(ErrorBody::new(Code::InvalidParams, why).with("field", "env"));
    }
    env.extend(new.map(|(name, value)| (name.clone(), value.clone())));
    Ok(env)
}

/// A switch with its default value becomes none.
fn in_one_form(supervision: Supervision) -> Supervision {
    Supervision {
        auto_start: supervision.auto_start.filter(|on| *on),
        lazy: supervision.lazy.filter(|on| !*on),
        private: supervision.private.filter(|on| *on),
        sampling: supervision.sampling.filter(|setting| *setting != Sampling::Ask),
        ..supervision
    }
}

fn has_process(state: State) -> bool {
    matches!(state, State::Installing | State::Starting | State::Running | State::Stopping)
}

/// The settings that a runner gets when it starts a server, and not again.
fn of_a_start(before: &Definition, after: &Definition) -> Vec<String> {
    let of = |definition: &Definition| {
        let said = &definition.supervision;
        [
            ("start_timeout_ms", said.start_timeout_ms),
            ("eof_grace_ms", said.eof_grace_ms),
            ("term_grace_ms", said.term_grace_ms),
        ]
    };
    let pairs = of(before).into_iter().zip(of(after));
    let times = pairs.filter(|(before, after)| before != after).map(|(_, (name, _))| name);
    let others = [("args", before.args != after.args), ("env", before.env != after.env)];
    let others = others.into_iter().filter(|(_, is_other)| *is_other).map(|(name, _)| name);
    times.chain(others).map(str::to_owned).collect()
}
