//! Messages of the bridge of which a test writes what they are about.

use harbor_ipc_proto::client::sample;
use harbor_ipc_proto::field::Message;

pub use self::sample::{complete, complete_object, complete_tools};

/// A typed message.
pub fn typed<T: Message>(text: &str) -> T {
    sample::typed(text).unwrap()
}
