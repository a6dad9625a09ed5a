//! What is said of a field of a request that is wrong.
//!
//! Owns that sentence. Must never repeat the value: it may be a secret.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;

/// A field whose value is out of range or breaks a rule that its type does not know.
#[must_use]
pub fn invalid(field: &'static str, expected: &'static str) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, format!("field `{field}`: expected {expected}"))
        .with("field", field)
        .with("expected", expected)
}
