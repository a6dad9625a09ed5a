//! The errors for a model that does not answer: one place for code, sentence and next step.
//!
//! Owns who reads what. A provider's own words may name an account or a path, so only the person gets them; an origin
//! hears the cause.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::model::{Cause, Failure};
use harbor_policy::budget::{BudgetRefusalReason, EVERYBODY};
use harbor_policy::suggest::hint;

use crate::store::StoreError;
use crate::store::models::Provider;

/// The meaning of a cause, for those who do not read the provider's words.
fn sentence(cause: Cause) -> &'static str {
    match cause {
        Cause::NoModel => "there is no such model",
        Cause::Unauthorized => "the provider refuses the person's key",
        Cause::Quota => "the account at the provider has no credit left",
        Cause::RateLimited => "the provider receives too many requests",
        Cause::Overloaded => "the provider is overloaded",
        Cause::ContextFull => "the conversation is longer than the model's window",
        Cause::Refused => "the provider refused the request",
        Cause::NotFound => "nothing answers at the provider's address",
        Cause::Unreachable => "the provider cannot be reached",
        Cause::Timeout => "the model took too long",
        Cause::Cut => "the answer broke off",
        Cause::Protocol => "the provider's answer cannot be read",
        Cause::WorkerLost => "the model worker has ended",
        Cause::Empty => "the model gave no answer",
    }
}

/// A failure in the bridge's own words.
pub(super) fn ours(cause: Cause, message: &str) -> Failure {
    Failure { cause, status: None, retry_after_ms: None, message: message.to_owned() }
}

/// A model did not answer, or not completely.
pub(super) fn failed(failure: &Failure, provider: &str, model: &str, to_origin: bool) -> ErrorBody {
    let message = match to_origin {
        true => sentence(failure.cause).to_owned(),
        false => format!("{provider}: {}{}", failure.message, next_step(failure)),
    };
    let mut error = ErrorBody::new(Code::ModelFailed, message).with("cause", failure.cause.name());
    for (name, value) in [("provider", provider), ("model", model)] {
        if !value.is_empty() {
            error = error.with(name, value);
        }
    }
    if let Some(status) = failure.status {
        error = error.with_json("status", Json::from_valid(status.to_string()));
    }
    match failure.retry_after_ms {
        Some(wait) => error.with_json("retry_after_ms", Json::from_valid(wait.to_string())),
        None => error,
    }
}

/// When it may work again, as the end of a sentence.
fn next_step(failure: &Failure) -> String {
    match (failure.retry_after_ms, failure.cause) {
        (Some(wait), _) => format!("; try again in {} s", wait.div_ceil(1000)),
        (None, Cause::Overloaded | Cause::RateLimited) => "; try again later".into(),
        (None, _) => String::new(),
    }
}

/// At the provider's address, another person's program answers, and the person has not allowed that.
pub(super) fn of_another_person(provider: &Provider, user: &str) -> Failure {
    let Provider { id, kind, base_url, .. } = provider;
    let message = format!(
        "nothing was sent, since a program of the user {user} answers at {base_url}: it would read every conversation \
         and choose the calls. To allow that, run `harbor models remove {id}`, then `harbor models add {kind} \
         --allow-other-user` (with `--url` and `--name` as before)"
    );
    Failure { cause: Cause::Refused, status: None, retry_after_ms: None, message }
}

/// The error for such a provider before it is added.
pub(super) fn unallowed(base_url: &str, user: &str) -> ErrorBody {
    let message = format!(
        "a program of the user {user} answers at {base_url}: it would read every conversation and choose the calls; to \
         allow that, set `allow_other_user` (--allow-other-user)"
    );
    ErrorBody::new(Code::InvalidParams, message).with("field", "allow_other_user").with("other_user", user)
}

/// There is no model to ask.
pub(super) fn no_model(message: impl Into<String>) -> ErrorBody {
    ErrorBody::new(Code::ModelFailed, message).with("cause", Cause::NoModel.name())
}

/// The conversation is longer than any model's window.
pub(super) fn too_long() -> ErrorBody {
    let message = "the conversation is longer than 64 MiB; begin another one, or clear this one";
    ErrorBody::new(Code::ModelFailed, message).with("cause", Cause::ContextFull.name())
}

/// No provider has this id or type.
pub(super) fn no_provider(name: &str, known: &[String]) -> ErrorBody {
    let near = hint(name, known.iter().map(String::as_str));
    let message = format!("there is no provider {name:.64}{near}; `harbor models` lists them");
    ErrorBody::new(Code::NotFound, message).with("provider", name)
}

/// A budget does not allow the request.
pub(super) fn refused(principal: &str, refusal: BudgetRefusalReason) -> ErrorBody {
    let wait =
        |error: ErrorBody, wait: u64| error.with_json("retry_after_ms", Json::from_valid(wait.to_string()));
    match refusal {
        BudgetRefusalReason::TooManyAtOnce => {
            let message = format!("too many requests of {principal} to models are open; wait for an answer");
            ErrorBody::new(Code::RateLimited, message)
        }
        BudgetRefusalReason::TooManyPerMinute { retry_after_ms } => {
            let message =
                format!("{principal} asks models too often; wait {} s", retry_after_ms.div_ceil(1000));
            wait(ErrorBody::new(Code::RateLimited, message), retry_after_ms)
        }
        BudgetRefusalReason::Exceeded { of_everybody, left, retry_after_ms } => {
            let whose = if of_everybody { EVERYBODY } else { principal };
            let message = format!(
                "today's budget is too small: {whose} has {left} tokens left until midnight UTC; `harbor models \
                 budget` changes the budget"
            );
            let error = ErrorBody::new(Code::BudgetExceeded, message).with("principal", whose);
            wait(error, retry_after_ms).with_json("left", Json::from_valid(left.to_string()))
        }
    }
}

/// A field whose value is out of range or breaks a rule that its type does not know.
pub(super) fn invalid(field: &'static str, expected: &'static str) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, format!("field `{field}`: expected {expected}"))
        .with("field", field)
        .with("expected", expected)
}

/// The error for a change that could not be stored.
pub(super) fn unstored(error: &StoreError) -> ErrorBody {
    tracing::error!(%error, "what was said of models could not be stored");
    let code = if matches!(error, StoreError::Locked(_)) { Code::SecretsLocked } else { Code::Internal };
    ErrorBody::new(code, format!("could not {error}"))
}
