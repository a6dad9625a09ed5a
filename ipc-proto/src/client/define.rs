//! The macros that define messages.
//!
//! Owns what each entry becomes. Must never know a particular message.
//!
//! ```text
//!  "tag" Name { fields }  ─► struct Name, read, write, round trip       define_message
//!     in define_requests! ─► + enum of the category, row, its reply     "tag" Name -> Reply { … }
//!                             `in Other:` moves requests to another enum, not to another place of the documentation
//!     in define_sent!     ─► + row                                      replies, pushes, objects
//!     in define_settings! ─► + row, changes, a strict reader            all fields optional
//! ```

/// Defines a message's type, its reader and its writer.
macro_rules! define_message {
    ($(#[$meta:meta])* $tag:literal $name:ident { $($(#[doc = $fdoc:literal])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name { $($(#[doc = $fdoc])* pub $field: $type,)* }

        impl $crate::field::PutFields for $name {
            fn put_fields(&self, out: &mut Vec<u8>, first: bool) -> bool {
                $(let first = $crate::field::put_pair(out, first, $crate::client::define::wire_name(stringify!($field)), &self.$field);)*
                let _ = &out;
                first
            }

            fn fields_room(&self) -> usize {
                0 $(+ $crate::field::pair_room($crate::client::define::wire_name(stringify!($field)), &self.$field))*
            }
        }

        impl $crate::field::PutField for $name {
            const TYPE: &'static str = $tag;
            fn put(&self, out: &mut Vec<u8>) {
                $crate::field::put_object(out, self);
            }
            fn room(&self) -> usize {
                $crate::field::PutFields::fields_room(self) + 2
            }
        }

        impl $crate::field::Message for $name {
            const TAG: &'static str = $tag;
            fn read(fields: &$crate::json::Fields<'_>) -> Result<Self, $crate::field::FieldError> {
                let _ = fields;
                Ok(Self { $($field: $crate::field::read($crate::client::define::wire_name(stringify!($field)), fields.get($crate::client::define::wire_name(stringify!($field))))?,)* })
            }
        }

        impl $crate::field::FromField for $name {
            const EXPECTED: &'static str = concat!("the object `", $tag, "`");
            const EXPECTED_ARRAY: &'static str = concat!("an array of objects `", $tag, "`");
            fn from_text(text: &str) -> Option<Self> {
                $crate::field::read_object(text).ok()
            }
            fn wrong_inside(text: &str) -> Option<$crate::field::FieldError> {
                if !text.starts_with('{') {
                    return None;
                }
                $crate::field::read_object::<Self>(text).err()
            }
        }

        #[cfg(test)]
        impl $crate::client::round_trip::Sample for $name {
            fn sample(dice: &mut $crate::client::round_trip::Dice) -> Self {
                let _ = &dice;
                Self { $($field: $crate::client::round_trip::Sample::sample(dice),)* }
            }
        }
    };
}
pub(crate) use define_message;

/// The name that a request's field holds, if the field is `server_id`.
macro_rules! server_of {
    ($request:ident server_id) => {
        $crate::field::NamesOne::name(&$request.server_id)
    };
    ($request:ident $other:ident) => {
        None
    };
}
pub(crate) use server_of;

/// The name that a request's field holds, if the field is `profile`.
macro_rules! profile_of {
    ($request:ident profile) => {
        $crate::field::NamesOne::name(&$request.profile)
    };
    ($request:ident $other:ident) => {
        None
    };
}
pub(crate) use profile_of;

/// Defines one request: its type, what it names, and its row of the documentation.
macro_rules! define_request {
    ($(#[doc = $doc:literal])* $tag:literal $name:ident -> $reply:ident { $($(#[doc = $fdoc:literal])* $field:ident: $type:ty,)* }) => {
        $crate::client::define::define_message! {
            $(#[doc = $doc])*
            $tag $name { $($(#[doc = $fdoc])* $field: $type,)* }
        }

        impl $crate::field::Ask for $name {
            type Reply = $crate::client::$reply;

            fn server(&self) -> Option<&str> {
                let request = self;
                let _ = request;
                None $(.or($crate::client::define::server_of!(request $field)))*
            }

            fn profile(&self) -> Option<&str> {
                let request = self;
                let _ = request;
                None $(.or($crate::client::define::profile_of!(request $field)))*
            }
        }

        impl $name {
            /// The row of the documentation.
            pub const DOC: $crate::client::MessageDoc = $crate::client::MessageDoc {
                tag: $tag,
                doc: concat!($($doc, "\n"),*),
                fields: &[$($crate::client::FieldDoc {
                    name: $crate::client::define::wire_name(stringify!($field)),
                    kind: <$type as $crate::field::FromField>::EXPECTED,
                    member: "",
                    optional: <$type as $crate::field::FromField>::OPTIONAL,
                    doc: concat!($($fdoc, "\n"),*),
                },)*],
                #[cfg(test)]
                round_trip: $crate::client::round_trip::round_trip::<$name>,
            };
        }
    };
}
pub(crate) use define_request;

/// Defines the enum of a category's requests.
macro_rules! define_category {
    ($(#[doc = $alldoc:literal])* $category:ident: $($name:ident,)*) => {
        $(#[doc = $alldoc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each variant's type carries the documentation")]
        #[allow(clippy::large_enum_variant, reason = "one at a time is read, handed on and taken apart")]
        pub enum $category { $($name($crate::client::$name),)* }

        impl $category {
            /// Builds the request of the type `tag`; `None` if no request of this category has that type.
            #[must_use]
            pub fn parse(tag: &str, fields: &$crate::json::Fields<'_>) -> Option<Result<Self, $crate::field::FieldError>> {
                Some(match tag {
                    $(<$crate::client::$name as $crate::field::Message>::TAG => {
                        <$crate::client::$name as $crate::field::Message>::read(fields).map(Self::$name)
                    })*
                    _ => return None,
                })
            }

            /// The request's `type` on the wire.
            #[must_use]
            pub fn tag(&self) -> &'static str {
                match self { $(Self::$name(_) => <$crate::client::$name as $crate::field::Message>::TAG,)* }
            }

            pub(crate) fn fields(&self) -> &dyn $crate::field::PutFields {
                match self { $(Self::$name(request) => request,)* }
            }

            /// The server that the request names, if it names one.
            #[must_use]
            pub fn server(&self) -> Option<&str> {
                match self { $(Self::$name(request) => $crate::field::Ask::server(request),)* }
            }

            /// The profile that the request names, if it names one.
            #[must_use]
            pub fn profile(&self) -> Option<&str> {
                match self { $(Self::$name(request) => $crate::field::Ask::profile(request),)* }
            }
        }

        $(
            impl From<$crate::client::$name> for $crate::client::Request {
                fn from(request: $crate::client::$name) -> Self {
                    $category::$name(request).into()
                }
            }
        )*
    };
}
pub(crate) use define_category;

/// Defines the requests of a category: a type for each, an enum of them all, and the rows of the documentation. Requests
/// behind `in OTHER:` have their rows there, and are in the enum `OTHER`; those after the next `in` are the category's again.
macro_rules! define_requests {
    (
        $(#[doc = $alldoc:literal])* $category:ident:
        $($(#[doc = $doc:literal])* $tag:literal $name:ident -> $reply:ident { $($field:tt)* })*
        $(
            in $other:ident: $($(#[doc = $odoc:literal])* $otag:literal $oname:ident -> $oreply:ident { $($ofield:tt)* })*
            in $again:ident: $($(#[doc = $adoc:literal])* $atag:literal $aname:ident -> $areply:ident { $($afield:tt)* })*
        )?
    ) => {
        $($crate::client::define::define_request! { $(#[doc = $doc])* $tag $name -> $reply { $($field)* } })*
        $(
            $($crate::client::define::define_request! { $(#[doc = $odoc])* $otag $oname -> $oreply { $($ofield)* } })*
            $($crate::client::define::define_request! { $(#[doc = $adoc])* $atag $aname -> $areply { $($afield)* } })*
            // Each is in the other enum.
            $(const _: fn($oname) -> $crate::client::$other = $crate::client::$other::$oname;)*
        )?

        $crate::client::define::define_category! {
            $(#[doc = $alldoc])*
            $category: $($name,)* $($($aname,)*)?
        }

        impl $category {
            /// The requests of the category, and those that are documented among them, in the order of the documentation.
            pub const ALL: &'static [$crate::client::MessageDoc] =
                &[$($name::DOC,)* $($($oname::DOC,)* $($aname::DOC,)*)?];
        }
    };
}
pub(crate) use define_requests;

/// Defines messages that the bridge sends: types, readers, writers, and the rows of the documentation under the name `$all`.
macro_rules! define_sent {
    ($(#[doc = $alldoc:literal])* $all:ident: $($(#[doc = $doc:literal])* $tag:literal $name:ident { $($(#[doc = $fdoc:literal])* $field:ident: $type:ty,)* })*) => {
        $($crate::client::define::define_message! {
            $(#[doc = $doc])*
            $tag $name { $($(#[doc = $fdoc])* $field: $type,)* }
        })*

        $(#[doc = $alldoc])*
        pub const $all: &[$crate::client::MessageDoc] = &[$($crate::client::MessageDoc {
            tag: $tag,
            doc: concat!($($doc, "\n"),*),
            fields: &[$($crate::client::FieldDoc {
                name: $crate::client::define::wire_name(stringify!($field)),
                kind: <$type as $crate::field::PutField>::TYPE,
                member: <$type as $crate::field::PutField>::MEMBER,
                optional: $crate::client::is_option(stringify!($type)),
                doc: concat!($($fdoc, "\n"),*),
            },)*],
            #[cfg(test)]
            round_trip: $crate::client::round_trip::round_trip::<$name>,
        },)*];
    };
}
pub(crate) use define_sent;

/// Defines an object of settings. All its fields are optional. It goes both ways: read from requests, kept as text, and
/// shown in replies. Its row of the documentation is `DOC`.
macro_rules! define_settings {
    ($(#[doc = $doc:literal])* $tag:literal $name:ident { $($(#[doc = $fdoc:literal])* $field:ident: $type:ty,)* }) => {
        $crate::client::define::define_message! {
            $(#[doc = $doc])*
            #[derive(Default)]
            $tag $name { $($(#[doc = $fdoc])* $field: Option<$type>,)* }
        }

        impl $name {
            /// The row of the documentation.
            pub const DOC: $crate::client::MessageDoc = $crate::client::MessageDoc {
                tag: $tag,
                doc: concat!($($doc, "\n"),*),
                fields: &[$($crate::client::FieldDoc {
                    name: $crate::client::define::wire_name(stringify!($field)),
                    kind: <$type as $crate::field::FromField>::EXPECTED,
                    member: "",
                    optional: true,
                    doc: concat!($($fdoc, "\n"),*),
                },)*],
                #[cfg(test)]
                round_trip: $crate::client::round_trip::round_trip::<$name>,
            };

            /// Reads the settings that a person wrote, from their text. Unknown fields are refused: a misspelt setting
            /// would otherwise have no effect and no error.
            ///
            /// # Errors
            /// Which field is wrong.
            pub fn parse(text: &str) -> Result<Self, $crate::field::FieldError> {
                let whole = |found| $crate::field::FieldError { field: $tag, expected: "an object", found };
                let fields = $crate::json::Fields::parse(text.as_bytes())
                    .map_err(|_| whole($crate::field::kind_of(text)))?;
                const KNOWN: &[&str] = &[$($crate::client::define::wire_name(stringify!($field))),*];
                if fields.twice().is_some() || !fields.names().all(|name| KNOWN.contains(&name)) {
                    return Err($crate::field::FieldError {
                        field: $tag,
                        expected: concat!("only these fields, each once:" $(, " ", stringify!($field))*),
                        found: "another one",
                    });
                }
                $crate::field::Message::read(&fields)
            }

            /// These settings, with those of `changes` in place of the old ones.
            #[must_use]
            pub fn with(self, changes: Self) -> Self {
                Self { $($field: changes.$field.or(self.$field),)* }
            }

            /// Sets the setting `name` back to its default; false if there is no such setting.
            pub fn reset(&mut self, name: &str) -> bool {
                match name {
                    $(stringify!($field) => self.$field = None,)*
                    _ => return false,
                }
                true
            }
        }
    };
}
pub(crate) use define_settings;

/// The name on the wire of a field, from its name in Rust: `r#type` is `type` there.
pub(crate) const fn wire_name(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// True if the name of a type begins with `Option`, so that its field may be left out; for the documentation tables.
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
