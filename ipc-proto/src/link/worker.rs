//! The messages between the bridge and the catalog worker. Append only.

use std::borrow::Cow;

use bincode::{BorrowDecode, Encode};

/// From the bridge to the catalog worker.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum ToWorker<'a> {
    /// First message: the bridge's link protocol and build.
    Hello {
        /// [`crate::LINK_PROTOCOL`].
        protocol: u32,
        /// [`crate::BUILD`].
        build: Cow<'a, str>,
    },
    /// Finish what is being written and exit.
    Shutdown,
}

/// From the catalog worker to the bridge.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub enum FromWorker<'a> {
    /// First message: the worker's link protocol and build.
    Hello {
        /// [`crate::LINK_PROTOCOL`].
        protocol: u32,
        /// [`crate::BUILD`].
        build: Cow<'a, str>,
    },
}

#[cfg(test)]
mod tests {
    use super::super::codec::{get_message, put_message};
    use super::*;

    #[test]
    fn golden_bytes() {
        let mut out = Vec::new();
        put_message(&mut out, &ToWorker::Hello { protocol: 1, build: "b".into() });
        put_message(&mut out, &ToWorker::Shutdown);
        put_message(&mut out, &FromWorker::Hello { protocol: 1, build: "b".into() });
        assert_eq!(out, b"\x04\0\0\0\x00\x01\x01b\x01\0\0\0\x01\x04\0\0\0\x00\x01\x01b");
        assert_eq!(get_message::<ToWorker<'_>>(b"\x01"), Ok(ToWorker::Shutdown));
    }
}
