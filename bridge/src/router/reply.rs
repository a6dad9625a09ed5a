//! The reply of a handler.
//!
//! Owns its type. Must never know who gets it.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::field::PutFields;

/// A reply of whatever type, or the error in its place.
pub(super) type Handled = Result<Box<dyn PutFields>, ErrorBody>;

/// A handler's reply.
pub(super) fn reply(reply: impl PutFields + 'static) -> Handled {
    Ok(Box::new(reply))
}
