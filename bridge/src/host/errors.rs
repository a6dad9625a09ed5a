//! The errors for a call or a start that fails: one place for code, sentence and next step.

use std::sync::Arc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::{SourceId, SourceKind};
use harbor_policy::lifecycle::State;
use harbor_policy::suggest::hint;

use super::asker::Caller;
use crate::link::{CallError, EndReport, Failure, TIME_TO_ANSWER, TimeLimit};
use crate::supervisor::{NoInstance, StartError, Unavailable};

/// The reader of an error. Only the owner sees what a server wrote and how it is started: that may be another origin's
/// words, or a path of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorReader {
    /// The person.
    Owner,
    /// A page or an AI client.
    Origin,
}

impl ErrorReader {
    pub(super) fn of(caller: &Caller) -> Self {
        match caller {
            Caller::Owner(..) => Self::Owner,
            Caller::Origin(_) => Self::Origin,
        }
    }
}

/// The error for an unknown id, for the owner only, since origins must not learn names.
pub(super) fn not_found<'a>(id: &SourceId, defined: impl IntoIterator<Item = &'a str>) -> ErrorBody {
    let message = match id.kind() {
        SourceKind::Server => format!("no server {id} is defined{}", hint(id.as_str(), defined)),
        kind => format!("there is no {} {id} now", kind.as_str()),
    };
    ErrorBody::new(Code::NotFound, message).with("server_id", id.as_str())
}

/// A call of a browser that is not there. Said to those who were allowed to use it.
pub(super) fn no_browser(id: &SourceId) -> ErrorBody {
    let message = format!(
        "{id} is not connected: open the browser with Harbor's extension, and switch its browser tools on"
    );
    ErrorBody::new(Code::ServerUnavailable, message)
        .with("server_id", id.as_str())
        .with("cause", "no_browser")
        .with_json("sent", Json::from_valid("false".into()))
}

/// Only the compiler needs it: the host makes each permit for the kind of source that it asks.
pub(super) fn not_permitted(id: &SourceId) -> ErrorBody {
    let message = format!("the permission does not cover {id}, which is a {}", id.kind().as_str());
    ErrorBody::new(Code::ToolNotAllowed, message).with("reason", "source_kind").with("server_id", id.as_str())
}

/// Two sources have one id.
pub(super) fn taken(id: &SourceId) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, format!("{id} exists already")).with("field", "source_id")
}

pub(super) fn too_many(id: &SourceId) -> ErrorBody {
    let message = format!("too many requests are open on {id}; wait for answers before sending more");
    ErrorBody::new(Code::RateLimited, message).with("server_id", id.as_str())
}

/// The server's question waits for the person, or for the client that they use.
fn unanswered(id: &SourceId, limit: TimeLimit) -> ErrorBody {
    let seconds = TIME_TO_ANSWER.min(limit.whole).as_secs();
    let message = format!(
        "{id} asked a question about this call, but nobody answered within {seconds} s, so Harbor told it to stop. \
         Call it again, and answer its question"
    );
    ErrorBody::new(Code::ToolTimeout, message).with("server_id", id.as_str())
}

fn timeout(id: &SourceId, limit: TimeLimit, reader: ErrorReader) -> ErrorBody {
    let (quiet, whole) = (limit.quiet.as_millis(), limit.whole.as_millis());
    let message = match quiet == whole {
        true => format!("{id} did not answer within {quiet} ms, so Harbor told it to stop"),
        false => format!(
            "{id} made no progress for {quiet} ms, or did not answer within {whole} ms in all, so Harbor told it to stop"
        ),
    };
    let message = match (reader, id.kind()) {
        (ErrorReader::Origin, SourceKind::Server) => {
            format!("{message}. The person can give it more time: `harbor set {id} --call-timeout SECONDS`")
        }
        _ => format!("{message}; allow more time with a longer timeout"),
    };
    ErrorBody::new(Code::ToolTimeout, message).with("server_id", id.as_str())
}

/// The call was not sent. Says why, and when a call may help again.
pub(super) fn unavailable(id: &SourceId, why: &Unavailable, reader: ErrorReader) -> ErrorBody {
    let state = why.state.as_str();
    let reason = match (&why.last_exit, reader) {
        (Some(report), ErrorReader::Owner) => format!(" ({})", report.message),
        // Only the kind of the last end, which is among the details too.
        (Some(report), ErrorReader::Origin) if why.state == State::Failed => {
            format!(" (its last end: {})", report.cause.replace('_', " "))
        }
        _ => String::new(),
    };
    // A wait of less than a second is not mentioned.
    let waited = why.waited.map(|waited| waited.as_secs()).filter(|seconds| *seconds > 0);
    let waited = waited.map(|seconds| format!(" after {seconds} s of waiting")).unwrap_or_default();
    let start = match reader {
        ErrorReader::Owner => format!("when that is fixed, start it: `harbor start {id}`"),
        ErrorReader::Origin => format!("the person must start it first: `harbor start {id}`"),
    };
    let sign_in = format!("the person must sign in first: `harbor auth {id}`");
    let next = match (why.queue_full, why.state) {
        (true, _) => "too many calls are waiting for it; try again later",
        (_, State::Stopped | State::Stopping) => "start it first",
        (_, State::Failed) if why.last_exit.as_ref().is_some_and(|exit| exit.is_for_a_person()) => &sign_in,
        (_, State::Failed) if why.next_retry.is_none() => &start,
        (_, State::Failed) => "a call starts it again, at most once a minute; you can also start it now",
        (_, State::Crashed) => "it will be restarted automatically",
        (_, State::Installing) => "that may take minutes",
        _ => "try again later",
    };
    let soon = why.next_retry.filter(|_| why.state == State::Crashed);
    let soon = soon.map(|at| format!(" in {} ms", at.saturating_sub(wall_clock()))).unwrap_or_default();
    let message = format!("{id} is {state}{reason}{waited}; {next}{soon}. The call was not sent");
    let error = ErrorBody::new(Code::ServerUnavailable, message)
        .with("server_id", id.as_str())
        .with("state", state)
        .with_json("sent", Json::from_valid("false".into()));
    let error = match why.next_retry {
        Some(at) => error.with_json("next_retry", Json::from_valid(at.to_string())),
        None => error,
    };
    match &why.last_exit {
        _ if why.queue_full => error.with("cause", "queue_full"),
        Some(report) if report.is_for_a_person() => {
            with_report(ErrorBody { code: Code::AuthorizationRequired, ..error }, report, reader)
        }
        Some(report) => with_report(error, report, reader),
        None => error.with("cause", state),
    }
}

/// The caller has no instance.
pub(super) fn no_instance(id: &SourceId, why: &NoInstance, reader: ErrorReader) -> ErrorBody {
    match why {
        NoInstance::Unavailable(unavailable_now) => unavailable(id, unavailable_now, reader),
        NoInstance::Full(most) => {
            let message = format!(
                "{id} has a process for each page and AI client, at most {most}, and all are in use; the person can \
                 allow more with `harbor set {id} --max-instances N`. The call was not sent"
            );
            ErrorBody::new(Code::ServerUnavailable, message)
                .with("server_id", id.as_str())
                .with("cause", "instances_in_use")
                .with_json("sent", Json::from_valid("false".into()))
        }
    }
}

/// Adds the name of the instance, where the process is one.
pub(super) fn of_instance(error: ErrorBody, instance: Option<Arc<str>>) -> ErrorBody {
    match instance {
        Some(name) => error.with("instance", &name),
        None => error,
    }
}

pub(super) fn lost(id: &SourceId, limit: TimeLimit, why: &CallError, reader: ErrorReader) -> ErrorBody {
    let unavailable = |message: String| {
        ErrorBody::new(Code::ServerUnavailable, message)
            .with("server_id", id.as_str())
            .with_json("sent", Json::from_valid("true".into()))
    };
    match why {
        CallError::Ended(report) => {
            let reason = match reader {
                ErrorReader::Owner => format!(": {}", report.message),
                ErrorReader::Origin => String::new(),
            };
            let message = format!("{id} has ended{reason}. The call was not sent again");
            with_report(unavailable(message), report, reader)
        }
        CallError::RunnerLost => {
            unavailable(format!("the runner of {id} has ended. The call was not sent again"))
                .with("cause", "runner_lost")
        }
        CallError::Timeout => timeout(id, limit, reader),
        CallError::Unanswered => unanswered(id, limit),
        CallError::Congested => {
            unavailable(format!("the runner of {id} accepts no more calls")).with("cause", "congested")
        }
    }
}

/// The server that ran a call was removed or replaced.
pub(super) fn removed(id: &SourceId) -> ErrorBody {
    let message = format!(
        "{id} was removed or replaced while the call ran, so Harbor told it to stop and dropped its result. The call \
         was not sent again"
    );
    ErrorBody::new(Code::ServerUnavailable, message)
        .with("server_id", id.as_str())
        .with("cause", "server_removed")
        .with_json("sent", Json::from_valid("true".into()))
}

pub(super) fn server_error(id: &SourceId, code: i64, message: &str, data: Option<Json>) -> ErrorBody {
    let error = ErrorBody::new(Code::ToolFailed, format!("{id} answered with an error: {message}"))
        .with("server_id", id.as_str())
        .with_json("code", Json::from_valid(code.to_string()))
        .with("message", message);
    match data {
        Some(data) => error.with_json("data", data),
        None => error,
    }
}

pub(super) fn no_answer(id: &SourceId, failure: &Failure, reader: ErrorReader) -> ErrorBody {
    let (code, message, cause) = match failure {
        Failure::NotConnected => {
            (Code::ServerUnavailable, format!("{id} accepts no more requests"), "not_connected")
        }
        Failure::NotOffered(what) => (Code::ToolFailed, format!("{id} does not offer {what}"), "not_offered"),
        Failure::Malformed(why) => {
            (Code::ProtocolError, format!("the answer of {id} violates the protocol: {why}"), "malformed")
        }
        Failure::TooLarge(limit) => {
            (Code::ProtocolError, format!("the answer of {id} is longer than {limit} bytes"), "too_large")
        }
        Failure::Congested => {
            (Code::ServerUnavailable, format!("{id} does not read its input; restart it"), "congested")
        }
        Failure::Lost(why) => return lost_on_the_way(id, why, reader),
        Failure::NotAuthorized(why) => return not_authorized(id, why, reader),
        Failure::InvalidArguments(path, why) => return wrong_arguments(id, path, why, reader),
        Failure::InputRefused(why) => {
            (Code::ToolFailed, format!("{id} asked for input that it cannot get: {why}"), "input_refused")
        }
    };
    let error = ErrorBody::new(code, message).with("server_id", id.as_str()).with("cause", cause);
    match code {
        // The runner refused it before the server could see it.
        Code::ServerUnavailable => error.with_json("sent", Json::from_valid("false".into())),
        _ => error,
    }
}

/// The error for a call that the server may or may not have done. Only the owner learns where the server is and how it answers.
fn lost_on_the_way(id: &SourceId, why: &str, reader: ErrorReader) -> ErrorBody {
    let message = match reader {
        ErrorReader::Owner => format!("{id} gave no answer: {}", shown(why)),
        ErrorReader::Origin => format!("{id} gave no answer"),
    };
    ErrorBody::new(Code::ServerUnavailable, message)
        .with("server_id", id.as_str())
        .with("cause", "connection_lost")
        .with_json("sent", Json::from_valid("true".into()))
}

/// The server has read the request, and refused it.
fn not_authorized(id: &SourceId, why: &str, reader: ErrorReader) -> ErrorBody {
    let message = match reader {
        ErrorReader::Owner => format!("{}; sign in with `harbor auth {id}` to give them", shown(why)),
        ErrorReader::Origin => {
            format!("{id} requires more rights for this than your sign-in gave Harbor")
        }
    };
    ErrorBody::new(Code::AuthorizationRequired, message).with("server_id", id.as_str())
}

/// The arguments do not fit the tool's schema.
fn wrong_arguments(id: &SourceId, path: &str, why: &str, reader: ErrorReader) -> ErrorBody {
    // The field's name in the message that each of them sends.
    let field = if reader == ErrorReader::Owner { "arguments" } else { "args" };
    let message = format!("the arguments do not fit the tool's schema at {:?}: {why}", shown(path));
    ErrorBody::new(Code::InvalidParams, message)
        .with("field", field)
        .with("path", path)
        .with("reason", why)
        .with("server_id", id.as_str())
        .with_json("sent", Json::from_valid("false".into()))
}

/// A JSON pointer for people: the empty one, for the whole, is shown as `/`.
fn shown(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}

/// The error for a server that should have been started but does not run.
#[must_use]
pub fn start_failed(id: &ServerId, why: &StartError) -> ErrorBody {
    match why {
        StartError::Failed(report) => {
            let message = format!("{id} could not be started: {}", report.message);
            with_report(
                ErrorBody::new(Code::ConnectionFailed, message).with("server_id", id.as_str()),
                report,
                ErrorReader::Owner,
            )
        }
        StartError::Stopped => {
            let message = format!("{id} was stopped while it started");
            ErrorBody::new(Code::ConnectionFailed, message)
                .with("server_id", id.as_str())
                .with("cause", "stopped")
        }
    }
}

fn with_report(error: ErrorBody, report: &EndReport, reader: ErrorReader) -> ErrorBody {
    let error = error.with("cause", report.cause);
    match reader {
        ErrorReader::Owner if !report.stderr_tail.is_empty() => {
            error.with("stderr_tail", &report.stderr_tail)
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn whoever_calls_a_server_that_failed_hears_what_starts_it_and_an_origin_nothing_of_its_words() {
        let report = Rc::new(EndReport::because("missing_secrets", "it needs KEY"));
        let why = Unavailable {
            state: State::Failed,
            queue_full: false,
            waited: None,
            next_retry: None,
            last_exit: Some(report),
        };
        let id = SourceId::parse("t2").unwrap();
        assert_eq!(
            unavailable(&id, &why, ErrorReader::Origin).message,
            "t2 is failed (its last end: missing secrets); the person must start it first: `harbor start t2`. \
             The call was not sent"
        );
        let owner = unavailable(&id, &why, ErrorReader::Owner).message;
        assert_eq!(
            owner,
            "t2 is failed (it needs KEY); when that is fixed, start it: `harbor start t2`. The call was not sent"
        );
    }
}
