//! Writes the plain types of fields.

use std::collections::BTreeMap;

use super::{JsonObject, PutField, Word};
use crate::json::{Json, Pieces};
use crate::server_id::ServerId;
use crate::source_id::SourceId;
use crate::strings::put_str;

/// The length of the longest number, with its sign.
const NUMBER: usize = 20;

/// The most bytes that one byte of a text becomes: `\u001f`.
const ESCAPED: usize = 6;

/// An upper bound for the bytes that [`put_str`] appends.
pub(crate) fn room_of(text: &str) -> usize {
    text.len() * ESCAPED + 2
}

macro_rules! put_display {
    ($($type:ty = $name:literal;)*) => {$(
        impl PutField for $type {
            const TYPE: &'static str = $name;
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(self.to_string().as_bytes());
            }
            fn room(&self) -> usize {
                NUMBER
            }
        }
    )*};
}

put_display! { bool = "boolean"; u32 = "number"; u64 = "number"; i32 = "number"; i64 = "number"; }

macro_rules! put_text {
    ($($type:ty: $text:expr;)*) => {$(
        impl PutField for $type {
            const TYPE: &'static str = "string";
            fn put(&self, out: &mut Vec<u8>) {
                put_str(out, $text(self));
            }
            fn room(&self) -> usize {
                room_of($text(self))
            }
        }
    )*};
}

put_text! {
    String: Self::as_str;
    Word: AsRef::as_ref;
    &'static str: |text: &&'static str| -> &'static str { text };
    ServerId: Self::as_str;
    SourceId: Self::as_str;
}

impl PutField for Json {
    const TYPE: &'static str = "JSON as its author wrote it";
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_str().as_bytes());
    }
    fn room(&self) -> usize {
        self.as_str().len()
    }
}

impl PutField for JsonObject {
    const TYPE: &'static str = Json::TYPE;
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn room(&self) -> usize {
        self.0.room()
    }
}

impl PutField for Pieces {
    const TYPE: &'static str = Json::TYPE;
    fn put(&self, out: &mut Vec<u8>) {
        self.put(out);
    }
    fn room(&self) -> usize {
        self.room()
    }
}

impl<T: PutField> PutField for Option<T> {
    const TYPE: &'static str = T::TYPE;
    const MEMBER: &'static str = T::MEMBER;
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.put(out),
            None => out.extend_from_slice(b"null"),
        }
    }
    fn room(&self) -> usize {
        self.as_ref().map_or("null".len(), PutField::room)
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: PutField> PutField for Vec<T> {
    const TYPE: &'static str = "array";
    const MEMBER: &'static str = T::TYPE;
    fn put(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (at, item) in self.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            item.put(out);
        }
        out.push(b']');
    }
    fn room(&self) -> usize {
        self.iter().map(|item| item.room() + 1).sum::<usize>() + 2
    }
}

impl<T: PutField> PutField for BTreeMap<String, T> {
    const TYPE: &'static str = "object";
    const MEMBER: &'static str = T::TYPE;
    fn put(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (at, (name, value)) in self.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            put_str(out, name);
            out.push(b':');
            value.put(out);
        }
        out.push(b'}');
    }
    fn room(&self) -> usize {
        self.iter().map(|(name, value)| room_of(name) + value.room() + 2).sum::<usize>() + 2
    }
}
