//! The messages between the bridge and its clients: browser, command line, MCP clients.
//!
//! ```text
//!  bytes ─frame─► JSON object ─envelope::Incoming::parse─► Request     (client → bridge)
//!  reply struct ─envelope::Envelope::put_reply─► JSON object ─frame─►  (bridge → client)
//! ```
//!
//! One macro line makes a message's type, its reader or writer, and its row in docs/protocol.md, so the three
//! cannot drift apart. Must never hold behaviour: what a message does is the bridge's business.

mod catalog;
mod credentials;
pub mod docs;
pub mod envelope;
mod host;
mod install;
mod oauth;
mod objects;
mod pushes;
mod replies;
mod requests;
mod sandbox;
mod schema;
mod stats;
mod status;
mod supervision;
pub mod typescript;

pub use catalog::*;
pub use credentials::*;
pub use host::*;
pub use install::*;
pub use oauth::*;
pub use objects::*;
pub use pushes::*;
pub use replies::*;
pub use requests::*;
pub use sandbox::*;
pub use schema::status_schema;
pub use stats::*;
pub use status::*;
pub use supervision::*;

/// One field, for the documentation.
#[derive(Debug, Clone, Copy)]
pub struct FieldDoc {
    /// Its name on the wire.
    pub name: &'static str,
    /// What may stand in it.
    pub kind: &'static str,
    /// Of an array or a map: what its members are; else empty.
    pub member: &'static str,
    /// Whether it may be absent.
    pub optional: bool,
    /// What it means.
    pub doc: &'static str,
}

/// One message, for the documentation.
#[derive(Debug, Clone, Copy)]
pub struct MessageDoc {
    /// Its `type` on the wire; of an object inside messages, its name.
    pub tag: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Its fields, beside the envelope's.
    pub fields: &'static [FieldDoc],
}

/// Defines the requests of a category: their types, the type of any of them and the rows of the documentation.
macro_rules! define_requests {
    ($(#[doc = $alldoc:literal])* $category:ident: $($(#[doc = $doc:literal])* $tag:literal $name:ident { $($(#[doc = $fdoc:literal])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Debug, Clone, PartialEq, Eq)]
            pub struct $name { $($(#[doc = $fdoc])* pub $field: $type,)* }

            impl $name {
                fn parse(fields: &$crate::json::Fields<'_>) -> Result<Self, $crate::field::FieldError> {
                    let _ = fields;
                    Ok(Self { $($field: $crate::field::read(stringify!($field), fields.get(stringify!($field)))?,)* })
                }
            }
        )*

        $(#[doc = $alldoc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each variant's type carries the documentation")]
        #[allow(clippy::large_enum_variant, reason = "one at a time is read, handed on and taken apart")]
        pub enum $category { $($name($name),)* }

        impl $category {
            /// Builds the request of the type `tag`. `None`: there is no such type.
            #[must_use]
            pub fn parse(tag: &str, fields: &$crate::json::Fields<'_>) -> Option<Result<Self, $crate::field::FieldError>> {
                Some(match tag {
                    $($tag => $name::parse(fields).map(Self::$name),)*
                    _ => return None,
                })
            }

            /// The request's `type` on the wire.
            #[must_use]
            pub fn tag(&self) -> &'static str {
                match self { $(Self::$name(_) => $tag,)* }
            }

            /// All of them, in the order of the documentation.
            pub const ALL: &'static [$crate::client::MessageDoc] = &[$($crate::client::MessageDoc {
                tag: $tag,
                doc: concat!($($doc, "\n"),*),
                fields: &[$($crate::client::FieldDoc {
                    name: stringify!($field),
                    kind: <$type as $crate::field::FromField>::EXPECTED,
                    member: "",
                    optional: <$type as $crate::field::FromField>::OPTIONAL,
                    doc: concat!($($fdoc, "\n"),*),
                },)*],
            },)*];
        }
    };
}
pub(crate) use define_requests;

/// Defines what the bridge sends: types, writers and the rows of the documentation under the name `$all`.
macro_rules! define_sent {
    ($(#[doc = $alldoc:literal])* $all:ident: $($(#[doc = $doc:literal])* $tag:literal $name:ident { $($(#[doc = $fdoc:literal])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Debug, Clone, PartialEq, Eq)]
            pub struct $name { $($(#[doc = $fdoc])* pub $field: $type,)* }

            impl $crate::field::PutFields for $name {
                fn put_fields(&self, out: &mut Vec<u8>, first: bool) -> bool {
                    $(let first = $crate::field::put_pair(out, first, stringify!($field), &self.$field);)*
                    let _ = &out;
                    first
                }
            }

            impl $crate::field::PutField for $name {
                const TYPE: &'static str = $tag;
                fn put(&self, out: &mut Vec<u8>) {
                    $crate::field::put_object(out, self);
                }
            }
        )*

        $(#[doc = $alldoc])*
        pub const $all: &[$crate::client::MessageDoc] = &[$($crate::client::MessageDoc {
            tag: $tag,
            doc: concat!($($doc, "\n"),*),
            fields: &[$($crate::client::FieldDoc {
                name: stringify!($field),
                kind: <$type as $crate::field::PutField>::TYPE,
                member: <$type as $crate::field::PutField>::MEMBER,
                optional: $crate::client::is_option(stringify!($type)),
                doc: concat!($($fdoc, "\n"),*),
            },)*],
        },)*];
    };
}
pub(crate) use define_sent;

/// Defines an object of settings, all of them optional, that goes both ways: read from requests, kept as text,
/// shown in replies. Its row of the documentation is `DOC`.
macro_rules! define_settings {
    ($(#[doc = $doc:literal])* $tag:literal $name:ident { $($(#[doc = $fdoc:literal])* $field:ident: $type:ty,)* }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $name { $($(#[doc = $fdoc])* pub $field: Option<$type>,)* }

        impl $name {
            /// The row of the documentation.
            pub const DOC: $crate::client::MessageDoc = $crate::client::MessageDoc {
                tag: $tag,
                doc: concat!($($doc, "\n"),*),
                fields: &[$($crate::client::FieldDoc {
                    name: stringify!($field),
                    kind: <$type as $crate::field::FromField>::EXPECTED,
                    member: "",
                    optional: true,
                    doc: concat!($($fdoc, "\n"),*),
                },)*],
            };

            /// Reads the object from its text. Unknown fields are refused: a setting that is misspelt would
            /// otherwise silently not hold.
            ///
            /// # Errors
            /// Which field is wrong.
            pub fn parse(text: &str) -> Result<Self, $crate::field::FieldError> {
                let whole = |found| $crate::field::FieldError { field: $tag, expected: "an object", found };
                let fields = $crate::json::Fields::parse(text.as_bytes())
                    .map_err(|_| whole($crate::field::kind_of(text)))?;
                const KNOWN: &[&str] = &[$(stringify!($field)),*];
                if fields.twice().is_some() || !fields.names().all(|name| KNOWN.contains(&name)) {
                    return Err($crate::field::FieldError {
                        field: $tag,
                        expected: concat!("only these fields, each once:" $(, " ", stringify!($field))*),
                        found: "another one",
                    });
                }
                Ok(Self { $($field: $crate::field::read(stringify!($field), fields.get(stringify!($field)))?,)* })
            }

            /// These settings with what `changes` says instead.
            #[must_use]
            pub fn with(self, changes: Self) -> Self {
                Self { $($field: changes.$field.or(self.$field),)* }
            }

            /// Has a setting go back to its default; false when there is none of this name.
            pub fn reset(&mut self, name: &str) -> bool {
                match name {
                    $(stringify!($field) => self.$field = None,)*
                    _ => return false,
                }
                true
            }
        }

        impl $crate::field::FromField for $name {
            const EXPECTED: &'static str = concat!("the object `", $tag, "`");
            fn from_text(text: &str) -> Option<Self> {
                Self::parse(text).ok()
            }
        }

        impl $crate::field::PutFields for $name {
            fn put_fields(&self, out: &mut Vec<u8>, first: bool) -> bool {
                $(let first = $crate::field::put_pair(out, first, stringify!($field), &self.$field);)*
                first
            }
        }

        impl $crate::field::PutField for $name {
            const TYPE: &'static str = $tag;
            fn put(&self, out: &mut Vec<u8>) {
                $crate::field::put_object(out, self);
            }
        }
    };
}
pub(crate) use define_settings;

/// Whether a type's name says that a field of it may be left out; for the documentation tables.
pub(crate) const fn is_option(name: &str) -> bool {
    let (name, prefix) = (name.as_bytes(), b"Option");
    let mut at = 0;
    while at < prefix.len() {
        if at >= name.len() || name[at] != prefix[at] {
            return false;
        }
        at += 1;
    }
    true
}
