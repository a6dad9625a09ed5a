//! call: calls one tool and shows what it says.
//!
//! Owns the arguments and the name that was probably meant. Must never send a call twice that may have reached its server,
//! nor start a server that failed: the bridge restarts it in its time. For an origin it starts none: what is seen is what
//! the origin would get.

use std::io::{self, Read};
use std::time::Duration;

use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_policy::limits;
use harbor_policy::suggest::hint;
use serde_json::value::RawValue;

use super::{remarks, servers, tools};
use crate::args::Call;
use crate::ask::Ask;
use crate::client::Client;
use crate::content::{Content, render};
use crate::errors::{Exit, Failure, Refusal};
use crate::reply::Members;
use crate::screen::{Screen, Status, remark};

/// The most that a call, or a definition, may ask for: what holds when nothing was typed.
const LONGEST: Duration = limits::MAX_CALL_TIMEOUT;

/// The most that a definition lets a call wait until its server runs.
const QUEUE_WAIT: Duration = Duration::from_secs(600);

/// The bridge ends a call in time; this is how much later we give the bridge up.
const GRACE: Duration = Duration::from_secs(5);

/// The request, its arguments checked.
pub fn ask(call: &Call) -> Result<Ask, Failure> {
    let arguments = arguments(call)?;
    let (mut ask, name) = match &call.asker {
        None => (Ask::about("mcp_call_tool", &call.server).text("tool_name", &call.tool), "arguments"),
        Some(asker) => {
            let tool = format!("{}/{}", call.server, call.tool);
            (Ask::on_behalf("host_call_tool", asker).text("tool_name", &tool), "args")
        }
    };
    ask.server = Some(call.server.clone());
    if let Some(arguments) = arguments {
        ask = ask.json(name, arguments);
    }
    if let Some(timeout) = call.timeout {
        ask = ask.number("timeout_ms", millis(timeout));
    }
    if let Some(most) = call.max_timeout {
        ask = ask.number("max_timeout_ms", millis(most));
    }
    Ok(if Status::is_visible() { ask.flag("progress", true) } else { ask })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn arguments(call: &Call) -> Result<Option<Json>, Failure> {
    match call.arguments.as_deref() {
        None => Ok(None),
        Some("-") => {
            let mut text = String::new();
            io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::Io("read the arguments", error))?;
            object(text.trim()).map(Some)
        }
        Some(text) => object(text.trim()).map(Some),
    }
}

/// The text of a JSON object, as it was typed.
fn object(text: &str) -> Result<Json, Failure> {
    let wrong = |what: String| Failure::Usage(format!("the arguments are no JSON object: {what}"));
    serde_json::from_str::<&RawValue>(text).map_err(|error| wrong(error.to_string()))?;
    match text.starts_with('{') {
        true => Ok(Json::from_valid(text.to_owned())),
        false => Err(wrong("they must start with {".into())),
    }
}

pub fn run(client: &mut Client, call: &Call, ask: &Ask, screen: &mut Screen) -> Result<(), Failure> {
    let answer = match reach(client, call, ask) {
        Err(Failure::Refused(refusal)) if refusal.is(Code::ToolNotFound) => {
            return Err(Failure::Refused(Box::new(with_hint(client, call, *refusal))));
        }
        other => other?,
    };
    let content = render(answer.raw("result").unwrap_or_default());
    show(&answer, &content, screen)?;
    match content.is_error {
        true if screen.json => Err(Failure::Said(Exit::ToolFailed)),
        true => {
            remark("harbor: the tool reported an error");
            if call.asker.is_none() {
                remarks::on_refusals(client, &call.server, answer.raw("result").unwrap_or_default());
            }
            Err(Failure::Said(Exit::ToolFailed))
        }
        false => Ok(()),
    }
}

/// Calls. A server that was found stopped is started, and called then: the first call was never sent to it.
fn reach(client: &mut Client, call: &Call, ask: &Ask) -> Result<Members, Failure> {
    match send(client, call, ask) {
        Err(Failure::Refused(refusal)) if call.asker.is_none() && refusal.found_it_stopped() => {
            servers::connect(client, &call.server)?;
            send(client, call, ask)
        }
        other => other,
    }
}

fn send(client: &mut Client, call: &Call, ask: &Ask) -> Result<Members, Failure> {
    let mut status = Status::new(&format!("calling {} …", call.tool));
    let limit = limit(call, Status::is_visible());
    client.request_with_progress(ask, limit, &mut |progress| status.show(&describe(progress)))
}

/// When we give the bridge up, which ends a call by itself. What only the definition knows is taken for the most that
/// it may be.
fn limit(call: &Call, progress: bool) -> Duration {
    let timeout = call.timeout.unwrap_or(LONGEST);
    let most = if progress { timeout.max(limits::PROGRESS_LIMIT) } else { timeout };
    call.max_timeout.unwrap_or(most) + QUEUE_WAIT + GRACE
}

fn describe(progress: &Members) -> String {
    let done = progress.raw("progress").unwrap_or_default();
    let total = progress.raw("total").map(|total| format!("/{total}")).unwrap_or_default();
    format!("{done}{total} {}", progress.text("message")).trim_end().to_owned()
}

/// The refusal, with the tool that was probably meant.
fn with_hint(client: &mut Client, call: &Call, refusal: Refusal) -> Refusal {
    let listed = tools::ask(client, &call.server).map(|answer| tools::read(&answer).0).unwrap_or_default();
    let names: Vec<_> = listed.iter().map(|tool| tool.text("name")).collect();
    // It may have come meanwhile.
    let others = names.iter().map(String::as_str).filter(|name| *name != call.tool);
    let hint = hint(&call.tool, others);
    Refusal { message: format!("{}{hint}", refusal.message), ..refusal }
}

fn show(answer: &Members, content: &Content, screen: &mut Screen) -> Result<(), Failure> {
    match screen.json {
        true => screen.json(&answer.to_json())?,
        false if content.text.is_empty() => {}
        false => screen.text(&content.text)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests;
