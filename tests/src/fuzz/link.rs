//! Link messages: what decodes is written as bytes that decode to the same, and nothing is left over.

use harbor_ipc_proto::link::codec::{CodecError, get_message, put_message};
use harbor_ipc_proto::link::model::{FromModel, ToModel};
use harbor_ipc_proto::link::runner::{FromRunner, ToRunner};
use harbor_ipc_proto::link::worker::{FromWorker, ToWorker};

use super::Target;

/// A macro, because a function cannot say that a message borrows from bytes of its own.
macro_rules! same_again {
    ($type:ty, $bytes:expr) => {
        if let Ok(message) = get_message::<$type>($bytes) {
            let mut frame = Vec::new();
            put_message(&mut frame, &message);
            let (header, body) = frame.split_first_chunk::<4>().expect("a frame has a header");
            assert_eq!(usize::try_from(u32::from_le_bytes(*header)), Ok(body.len()));
            // A number may be written in more bytes than it needs; our own never are.
            assert!(body.len() <= $bytes.len(), "it became longer");
            assert_eq!(get_message::<$type>(body), Ok(message));
            let longer = [$bytes, &[0]].concat();
            assert_eq!(get_message::<$type>(&longer), Err(CodecError::TrailingBytes));
        }
    };
}

pub(super) const TO_RUNNER: Target = Target {
    name: "link_to_runner",
    run: |bytes| same_again!(ToRunner<'_>, bytes),
    corpus: &[
        b"\x00\x01\x01b",
        b"\x01\x01\x04node\x01\x04x.js\x01\x01A\x01b\x01/\x01\x01\x00\x05\x06\x07\x08",
        b"\x02\x01",
        b"\x03\x01\x02\x01\x00",
        b"\x03\x01\x02\x01\x04\x01t\x02{}\x00",
        b"\x03\x01\x02\x00\x04\x01t\x02{}\x01\x02{}",
        b"\x03\x01\x02\x01\x05\x01u",
        b"\x03\x01\x02\x01\x06\x01p\x02{}",
        b"\x03\x01\x02\x01\x07\x02{}\x02{}\x00",
        b"\x03\x01\x02\x01\x0a\x04info",
        b"\x03\x01\x02\x01\x0b",
        b"\x03\x01\x02\x01\x0c\x09tasks/get\x02{}",
        b"\x04\x01\x02\x01r",
        b"\x05\x01\x03\x00\x02{}",
        b"\x05\x01\x03\x01\x01\x01m",
        b"\x06",
        b"\x00\x01\xfd\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x01\x01\x00\xfc\x00\x00\x20\x00",
    ],
};

pub(super) const FROM_RUNNER: Target = Target {
    name: "link_from_runner",
    run: |bytes| same_again!(FromRunner<'_>, bytes),
    corpus: &[
        b"\x00\x01\x01b",
        b"\x01\x01\xfb\x39\x30",
        b"\x02\x01\x01\x012\x01n\x01v\x02{}\x01\x01i",
        b"\x03\x01\x02\x00\x02{}",
        b"\x03\x01\x02\x01\xfb\xc9\xfa\x02no\x01\x03[1]",
        b"\x03\x01\x02\x02\x01\x01x",
        b"\x03\x01\x02\x02\x03\xfc\x00\x00\x00\x04",
        b"\x03\x01\x02\x03\x02[]\x00",
        b"\x04\x01\x02\x011\x01\x012\x01\x01m",
        b"\x05\x01\x02",
        b"\x06\x01\x01u",
        b"\x07\x01\x02\x01\x04info\x01t",
        b"\x08\x01\x03\x0aroots/list\x02{}",
        b"\x09\x01\x00\x01s",
        b"\x09\x01\x03\x05spawn\x04\x01s",
        b"\x09\x01\x04\x01\x02\x00\x01s",
        b"\x09\x01\x06\x01\x01m\x01s",
    ],
};

pub(super) const MODEL: Target = Target {
    name: "link_model",
    run: |bytes| {
        same_again!(ToModel, bytes);
        same_again!(FromModel, bytes);
    },
    corpus: &[
        b"\x00\x01\x01b",
        b"\x02\x07\x01p\x02\x01\x01u\x01\x01\x01k\x01m\x01\x01\x01\x00\x01t\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00",
        b"\x03\x01\x02",
        b"\x07\x01\x01\x00\x09",
        b"\x01\x05\x00\x01\x01m\x01\x01n",
        b"\x01\x05\x07\x01\x01\x00\x01\x02\x01\x03",
        b"\x01\x05\x09\x0a\x01\xc8\x00\x01w",
        b"\x02\x01\x01\x01m\x01\x01\x00\x01\x01\x01\x00\x00\x01",
        b"\x02\x07\xfd\xff\xff\xff\xff\xff\xff\xff\xff",
    ],
};

pub(super) const WORKER: Target = Target {
    name: "link_worker",
    run: |bytes| {
        same_again!(ToWorker<'_>, bytes);
        same_again!(FromWorker<'_>, bytes);
    },
    corpus: &[
        b"\x00\x01\x01b",
        b"\x01",
        b"\x00\xfc\xff\xff\xff\xff\xfb\x03\x00abc",
        b"\x02\x02/c\x02\x01a\x00\x01u\x01b\x01\x01u\x07\x08\x01\x01\x01g\x00\x01\x01p",
        b"\x02\x00\x05\x01\x01d\x01\x03",
        b"\x03\x01\x01",
        b"\x03\x02\x01a\x06\x01\x02\x03\x04\x01\x01e\x01\x09",
        b"\x04\x01\x01\x02\x03\x04\x01\x01a\x06\x01\x02\x03\x04\x01\x01e\x01\x09\x07\x08",
        b"\x05\x01\x02\x01d",
    ],
};
