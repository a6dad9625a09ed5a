//! The end of a question about a call.
//!
//! Must never be kept: what stays of it stands in the audit log.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_policy::consent::answers::Cover;

/// The person's yes to a call, or why it may not be made; no yes if none was needed any more.
pub(super) type ApprovalResult = Result<Option<Cover>, ErrorBody>;
