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
    of(wish, "The tool is not what you were told of any more, or it is gone.".into(), "tool_changed")
}

/// The question would have been another one each time.
pub(in crate::host) fn changed_twice(wish: &RequestedCall<'_>) -> ErrorBody {
    of(wish, "It changed twice while the person was asked; nothing was done.".into(), "changed")
}

/// The person has said no.
pub(super) fn declined(wish: &RequestedCall<'_>, reason: Option<String>) -> ErrorBody {
    let tool = name(wish);
    let message = match (wish.who(), reason) {
        (Who::Client { .. } | Who::Page, _) => {
            format!("the person has declined this call of {tool}; nothing was done")
        }
        (_, Some(reason)) => {
            format!("The person said no, and says: {reason}. Do not try to get around that.")
        }
        (_, None) => "The person said no. Do not try to get around that.".to_owned(),
    };
    of(wish, message, "declined")
}

/// Nobody has answered in time.
pub(super) fn unanswered(wish: &RequestedCall<'_>, why: Why) -> ErrorBody {
    let message = match wish.who() {
        Who::Run | Who::Person(_) => {
            "The person was asked, and has not answered in time. Do not try to get around that.".to_owned()
        }
        _ => format!(
            "{} needs the person's yes ({}), which was not given; nothing was done. `harbor approvals` shows the question: \
             after a yes, call again",
            name(wish),
            why.sentence()
        ),
    };
    of(wish, message, "permission_required").with("tool", &name(wish))
}

/// Nobody is there to be asked whether a client may use a source. The client is told so besides the refusal.
pub(super) fn not_let_in(wish: &RequestedCall<'_>, refusal: ErrorBody) -> ErrorBody {
    let message = format!(
        "{}. Nobody is here who could be asked now; `harbor approvals` shows the question: after a yes, call again",
        refusal.message
    );
    ErrorBody { message, ..refusal }.with("permission_required", &name(wish))
}

/// Nobody is there to be asked.
pub(super) fn nobody(wish: &RequestedCall<'_>, why: Why) -> ErrorBody {
    let message = match wish.who() {
        Who::Run | Who::Person(_) => Refused::Nobody(why).sentence().to_owned(),
        _ => format!(
            "{} needs the person's yes ({}), and nobody is here to approve it; nothing was done. `harbor approvals` shows \
             the question: after a yes, call again",
            name(wish),
            why.sentence()
        ),
    };
    of(wish, message, "permission_required").with("tool", &name(wish))
}

pub(super) fn no_numbers(error: &std::io::Error) -> ErrorBody {
    ErrorBody::new(Code::Internal, format!("there are no random numbers: {error}"))
}

fn of(wish: &RequestedCall<'_>, message: String, reason: &str) -> ErrorBody {
    ErrorBody::new(Code::PermissionDenied, message)
        .with("reason", reason)
        .with("server_id", wish.source.as_str())
}

fn name(wish: &RequestedCall<'_>) -> String {
    format!("{}/{:.200}", wish.source, wish.tool)
}
