//! call: calls one tool and shows its result.
//!
//! Owns the request and the guess at the name that was meant. Must never send a call twice that may have
//! reached its server. Must never start a server that failed: the bridge restarts it in its time. For an
//! origin it starts none, since the person sees what the origin would get.

mod fit;

use std::time::Duration;

use harbor_client::errors::{Exit, Failure, Refusal};
use harbor_client::id::source_id;
use harbor_client::payload::Payload;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{HostCallTool, ListServers, McpCallTool, Progress};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_policy::limits;
use harbor_policy::suggest::hint;

use super::{arguments, progress, result_notes, servers, tool_list, tools};
use crate::args::{Arguments, Call};
use crate::client::{Client, QUICK};
use crate::content::{only_judge, render};
use crate::media::Shelf;
use crate::screen::{Screen, Status};

/// The most that a call, or a definition, may ask for: what holds when nothing was typed.
const LONGEST: Duration = limits::MAX_CALL_TIMEOUT;

/// The most that a definition lets a call wait until its server runs.
const QUEUE_WAIT: Duration = Duration::from_secs(600);

/// The bridge ends a call in time; this is how much later we give the bridge up.
const GRACE: Duration = Duration::from_secs(5);

/// The request: the owner's own, or one on behalf of an origin.
#[derive(Debug)]
pub enum Calling {
    Own(McpCallTool),
    Origins(HostCallTool),
}

/// The request, its arguments checked; whether it reports progress is for the person to see.
pub fn ask(call: &Call, shows_progress: bool) -> Result<Calling, Failure> {
    Shelf::check(call.save.as_deref())?;
    let given = arguments::given(&call.arguments)?;
    let (timeout_ms, max_timeout_ms) = (call.timeout.map(millis), call.max_timeout.map(millis));
    let progress = shows_progress.then_some(true);
    Ok(match &call.asker {
        None => Calling::Own(McpCallTool {
            server_id: source_id(&call.server)?,
            tool_name: call.tool.clone(),
            arguments: given,
            timeout_ms,
            max_timeout_ms,
            progress,
            task: None,
            unless_stopped: Some(true),
            answers: None,
        }),
        Some(asker) => Calling::Origins(HostCallTool {
            origin: Some(asker.origin.to_string()),
            profile: asker.profile.clone(),
            tab_id: None,
            tool_name: format!("{}/{}", call.server, call.tool),
            args: given,
            timeout_ms,
            max_timeout_ms,
            run_id: None,
            progress,
            answers: None,
        }),
    })
}

/// True if somebody sees the progress of a call.
pub fn shows_progress(screen: &Screen) -> bool {
    !screen.json && Status::is_visible()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

pub fn run(client: &mut Client, call: &Call, ask: &Calling, screen: &mut Screen) -> Result<(), Failure> {
    let Called { result, beside, mut shown } = match reach(client, call, ask, shows_progress(screen)) {
        Err(Failure::Refused(refusal)) if refusal.is(Code::ToolNotFound) => {
            return Err(Failure::Refused(Box::new(with_hint(client, call, *refusal))));
        }
        Err(Failure::Refused(refusal)) if refusal.is_of_arguments() => {
            refitted(client, call, *refusal, screen)?
        }
        Err(Failure::Refused(refusal)) => {
            result_notes::on_call(&refusal.beside());
            return Err(Failure::Refused(refusal));
        }
        other => other?,
    };
    let mut shelf = Shelf::new(call.save.as_deref(), &call.tool);
    let result = result.as_str();
    // Programs get it as it is.
    let is_laid_out = !screen.json || shelf.saves();
    let content = if is_laid_out { render(result, &mut shelf) } else { only_judge(result) };
    if shelf.saves() {
        shown.insert("saved", shelf.to_json());
    }
    show(&shown, &content.text, screen)?;
    let closed = shelf.close(screen.json);
    match content.is_error {
        true if screen.json => Err(Failure::Said(Exit::ToolFailed)),
        true => {
            remark("harbor: the tool reported an error");
            result_notes::on_call(&beside);
            Err(Failure::Said(Exit::ToolFailed))
        }
        false => {
            result_notes::on_call(&beside);
            closed
        }
    }
}

/// Calls. A server that was found stopped is started, and called then: the first call was never sent to it.
fn reach(client: &mut Client, call: &Call, ask: &Calling, shown: bool) -> Result<Called, Failure> {
    match send(client, call, ask, shown) {
        Err(Failure::Refused(refusal)) if call.asker.is_none() && refusal.found_it_stopped() => {
            servers::connect(client, &call.server)?;
            send(client, call, ask, shown)
        }
        other => other,
    }
}

/// The outcome of a call.
struct Called {
    /// The result as its server wrote it.
    result: Json,
    /// The bridge's remarks beside it.
    beside: Vec<String>,
    /// The whole answer, for `--json`.
    shown: Payload,
}

fn send(client: &mut Client, call: &Call, ask: &Calling, shown: bool) -> Result<Called, Failure> {
    let mut status = shown.then(|| Status::new(&format!("calling {} …", call.tool)));
    let limit = limit(call, shown);
    let on_progress = &mut |push: &Progress| {
        status.iter_mut().for_each(|status| status.show(&progress::line(&call.tool, push)));
    };
    match ask {
        Calling::Own(ask) => client
            .ask_with_progress(ask, limit, on_progress)
            .map(|answer| (answer.members(), answer.into_value()))
            .map(|(shown, answer)| Called {
                shown,
                result: answer.result,
                beside: answer.beside.unwrap_or_default(),
            }),
        Calling::Origins(ask) => client
            .ask_with_progress(ask, limit, on_progress)
            .map(|answer| (answer.members(), answer.into_value()))
            .map(|(shown, answer)| Called {
                shown,
                result: answer.result,
                beside: answer.beside.unwrap_or_default(),
            }),
    }
    .map_err(|failure| failure.of_call().about(&call.server))
}

/// How long we wait for the bridge, for other requests than tool calls.
pub fn longest() -> Duration {
    LONGEST + QUEUE_WAIT + GRACE
}

/// How long we wait for the bridge, which ends a call by itself. A limit that only the definition knows
/// counts as the greatest possible one.
fn limit(call: &Call, progress: bool) -> Duration {
    let timeout = call.timeout.unwrap_or(LONGEST);
    let most = if progress { timeout.max(limits::PROGRESS_LIMIT) } else { timeout };
    call.max_timeout.unwrap_or(most) + QUEUE_WAIT + GRACE
}

/// Calls again with the arguments in the types of the tool's schema, after the bridge refused them without
/// asking the server. If that is not enough, says which are missing or unknown.
fn refitted(client: &mut Client, call: &Call, refusal: Refusal, screen: &Screen) -> Result<Called, Failure> {
    let listed =
        tools::ask(client, &call.server).map(|answer| tool_list::read(&answer.tools).0).unwrap_or_default();
    let tool = listed.iter().find(|tool| tool.text("name") == call.tool);
    let schema = tool.map(|tool| tool.object("inputSchema")).unwrap_or_default();
    let mut refusal = refusal;
    if let Arguments::Words(words) = &call.arguments
        && let Some(words) = fit::coerced(words, &schema)
    {
        let call = Call { arguments: Arguments::Words(words), ..call.clone() };
        match send(client, &call, &ask(&call, shows_progress(screen))?, shows_progress(screen)) {
            Err(Failure::Refused(again)) if again.is_of_arguments() => refusal = *again,
            other => return other,
        }
    }
    // What was read from stdin is gone.
    let given = match &call.arguments {
        Arguments::Stdin => None,
        typed => arguments::given(typed)?,
    };
    let given = given.map(|given| Payload::of(&given.0)).unwrap_or_default();
    let name = format!("{}/{}", call.server, call.tool);
    if let Some(said) = fit::mismatch(&given, &schema).filter(|_| call.arguments != Arguments::Stdin) {
        refusal.message = format!("the arguments do not fit {name}: {said}");
    }
    Err(Failure::Refused(Box::new(Refusal { server: Some(name), ..refusal })))
}

/// The message about a tool that was named without its server.
pub fn unnamed(client: &mut Client, name: &str) -> Failure {
    let servers =
        client.ask(&ListServers {}, QUICK).map(|answer| answer.into_value().servers).unwrap_or_default();
    let ids = || servers.iter().map(|server| server.server_id.as_str());
    if ids().any(|id| id == name) {
        let text = format!(
            "{name} is a server, and a tool is named SERVER/TOOL\n`harbor tools {name}` lists its tools"
        );
        return Failure::Usage(text);
    }
    let mut has = |server: &&str| {
        let listed = tool_list::at_hand(server).and_then(|ask| client.ask(&ask, QUICK));
        let tools = listed.map(|answer| tool_list::read(&answer.tools).0).unwrap_or_default();
        tools.iter().any(|tool| tool.text("name") == name)
    };
    let meant: Vec<_> = ids().filter(|id| has(id)).map(|id| format!("{id}/{name}")).collect();
    let meant =
        if meant.is_empty() { String::new() } else { format!("; did you mean {}?", meant.join(" or ")) };
    Failure::Usage(format!("a tool is named SERVER/TOOL{meant}\n`harbor tools` lists the tools"))
}

/// The refusal, with the tool that was probably meant.
fn with_hint(client: &mut Client, call: &Call, refusal: Refusal) -> Refusal {
    let listed =
        tools::ask(client, &call.server).map(|answer| tool_list::read(&answer.tools).0).unwrap_or_default();
    let names: Vec<_> = listed.iter().map(|tool| tool.text("name")).collect();
    // It may have come meanwhile.
    let others = names.iter().map(String::as_str).filter(|name| *name != call.tool);
    let hint = hint(&call.tool, others);
    Refusal { message: format!("{}{hint}", refusal.message), ..refusal }
}

fn show(answer: &Payload, text: &str, screen: &mut Screen) -> Result<(), Failure> {
    match screen.json {
        true => screen.json(&answer.to_json())?,
        false if text.is_empty() => {}
        false => screen.text(text)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests;
