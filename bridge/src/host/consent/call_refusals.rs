//! The errors for a caller whose call is not made.
//!
//! Owns these sentences. Must never say who else was asked, nor what was private.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_policy::consent::{Refused, Who, Why};

use super::requested_call::RequestedCall;

/// A rule refuses the call.
pub(super) fn refused(wish: &RequestedCall<'_>, why: Refused) -> ErrorBody {
    let reason = match why {
        Refused::Denied => "declined",
        Refused::TooLarge => "too_large",
        Refused::Nobody(_) => "nobody",
    };
    of(wish, why.sentence().to_owned(), reason)
}

/// The tool is not what the model was told of.
pub(super) fn changed(wish: &RequestedCall<'_>) -> ErrorBody {
    of(wish, "The tool has changed since you were told of it, or it is gone.".into(), "tool_changed")
}

/// The question would have been another one each time.
pub(in crate::host) fn changed_twice(wish: &RequestedCall<'_>) -> ErrorBody {
    of(wish, "The tool changed twice while the person was asked; nothing was done.".into(), "changed")
}

/// The person has said no.
pub(super) fn declined(wish: &RequestedCall<'_>, reason: Option<String>) -> ErrorBody {
    let tool = name(wish);
    let message = match (wish.who(), reason) {
        (Who::Client { .. } | Who::Page, _) => {
            format!("the person refused this call of {tool}; nothing was done")
        }
        (_, Some(reason)) => {
            format!("The person refused, and says: {reason}. Do not try to get around that.")
        }
        (_, None) => "The person refused. Do not try to get around that.".to_owned(),
    };
    of(wish, message, "declined")
}

/// Nobody has answered in time.
pub(super) fn unanswered(wish: &RequestedCall<'_>, why: Why) -> ErrorBody {
    let message = match wish.who() {
        Who::Run | Who::Person(_) => {
            "The person was asked, but did not answer in time. Do not try to get around that.".to_owned()
        }
        _ => format!(
            "{} needs the person's approval ({}), which they did not give; nothing was done. `harbor approvals` shows \
             the question: call again after it is approved",
            name(wish),
            why.sentence()
        ),
    };
    of(wish, message, "permission_required").with("tool", &name(wish))
}

/// Nobody is there to be asked whether a client may use a source. The client is told so besides the refusal.
pub(super) fn not_let_in(wish: &RequestedCall<'_>, refusal: ErrorBody) -> ErrorBody {
    let message = format!(
        "{}. Nobody is here to ask now; `harbor approvals` shows the question: call again after it is answered",
        refusal.message
    );
    ErrorBody { message, ..refusal }.with("permission_required", &name(wish))
}

/// Nobody is there to be asked.
pub(super) fn nobody(wish: &RequestedCall<'_>, why: Why) -> ErrorBody {
    let message = match wish.who() {
        Who::Run | Who::Person(_) => Refused::Nobody(why).sentence().to_owned(),
        _ => format!(
            "{} needs the person's approval ({}), but nobody is here to ask; nothing was done. `harbor approvals` \
             shows the question: call again after it is approved",
            name(wish),
            why.sentence()
        ),
    };
    of(wish, message, "permission_required").with("tool", &name(wish))
}

pub(super) fn no_numbers(error: &std::io::Error) -> ErrorBody {
    ErrorBody::new(Code::Internal, format!("this system gives no random numbers: {error}"))
}

fn of(wish: &RequestedCall<'_>, message: String, reason: &str) -> ErrorBody {
    ErrorBody::new(Code::PermissionDenied, message)
        .with("reason", reason)
        .with("server_id", wish.source.as_str())
}

fn name(wish: &RequestedCall<'_>) -> String {
    format!("{}/{:.200}", wish.source, wish.tool)
}
