//! The client's side of the protocol: writes a request into its frame, and reads the frames that come back.
//!
//! ```text
//!  request ─request_frame─► frame ─► the bridge
//!  frame ─Heard::parse─► type, request_id ─┬─ answers::<R>()? then read::<R::Reply>()
//!                                          ├─ refusal()?      why there is no answer
//!                                          └─ is::<P>()?      then read::<P>(): a push
//! ```
//!
//! Must never touch payloads. A request may hold secrets: its frame is allocated once, and overwritten when it is dropped.

use zeroize::Zeroizing;

use super::Request;
use super::define::define_message;
use crate::field::{Ask, FieldError, Message, PutFields, pair_room, put_pair, read};
use crate::frame::{HEADER, put_frame};
use crate::json::{Fields, Json};
use crate::members::Malformed;

/// The suffix that turns the type of a request into the type of its reply.
const ANSWERED: &str = "_result";

/// The type of an error.
const ERROR: &str = "error";

/// The frame that asks `ask` under the id `id`.
pub fn request_frame<A: Ask>(id: &str, ask: &A) -> Zeroizing<Vec<u8>> {
    frame_of(id, A::TAG, ask)
}

impl Request {
    /// The frame that asks this under the id `id`.
    #[must_use]
    pub fn to_frame(&self, id: &str) -> Zeroizing<Vec<u8>> {
        frame_of(id, self.tag(), self.fields())
    }
}

fn frame_of(id: &str, tag: &str, fields: &dyn PutFields) -> Zeroizing<Vec<u8>> {
    let id = id.to_owned();
    let head = tag.len() + "{\"type\":\"\"}".len() + pair_room("request_id", &id);
    let mut frame = Zeroizing::new(Vec::with_capacity(HEADER + head + fields.fields_room()));
    put_frame(&mut frame, |out| {
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(tag.as_bytes());
        out.push(b'"');
        put_pair(out, false, "request_id", &id);
        fields.put_fields(out, false);
        out.push(b'}');
    });
    frame
}

define_message! {
    /// The error that answers a request.
    "error" Refusal {
        /// The word for programs. A newer bridge may use words that [`crate::codes::Code`] lacks.
        code: String,
        /// The sentence for people.
        message: String,
        /// More for programs, an object.
        details: Option<Json>,
    }
}

define_message! {
    /// The details of an error with the code `version_mismatch`: the version of the peer.
    "version_mismatch" VersionDetails {
        /// The client protocol that the peer speaks.
        protocol: u64,
        /// The peer's build.
        build: Option<String>,
    }
}

/// A message of the bridge: its head, and its fields as text.
#[derive(Debug)]
pub struct Heard<'a> {
    /// Its `type`.
    pub tag: String,
    /// The id of the request that it belongs to; empty for a push.
    pub request_id: String,
    fields: Fields<'a>,
}

impl<'a> Heard<'a> {
    /// Reads the head of a frame. A frame without a type gets an empty one.
    ///
    /// # Errors
    /// Where the frame is no JSON object.
    pub fn parse(frame: &'a [u8]) -> Result<Self, Malformed> {
        let fields = Fields::parse(frame)?;
        let text = |name| read(name, fields.get(name)).unwrap_or_default();
        Ok(Self { tag: text("type"), request_id: text("request_id"), fields })
    }

    /// True if it is the reply to an `A`.
    #[must_use]
    pub fn answers<A: Ask>(&self) -> bool {
        self.answers_to(A::TAG)
    }

    /// True if it is the reply to a request of the type `tag`.
    #[must_use]
    pub fn answers_to(&self, tag: &str) -> bool {
        self.tag.strip_suffix(ANSWERED) == Some(tag)
    }

    /// True if it is the push `P`.
    #[must_use]
    pub fn is<P: Message>(&self) -> bool {
        self.tag == P::TAG
    }

    /// Reads its fields as those of an `M`.
    ///
    /// # Errors
    /// Says which field is missing or wrong.
    pub fn read<M: Message>(&self) -> Result<M, FieldError> {
        M::read(&self.fields)
    }

    /// The error, if this message is one.
    #[must_use]
    pub fn refusal(&self) -> Option<Result<Refusal, FieldError>> {
        (self.tag == ERROR).then(|| read(ERROR, self.fields.get(ERROR)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::envelope::{Envelope, ErrorBody, Incoming, put_push};
    use super::super::round_trip::{Dice, round_trip};
    use super::super::{ListServers, ListServersResult, Ping, PingResult, SetServerSecrets, ToolsChanged};
    use super::*;
    use crate::codes::Code;
    use crate::secret::{Secret, SecretMap};
    use crate::server_id::ServerId;

    #[test]
    fn the_bridge_reads_what_was_asked() {
        let ping = Ping { echo: Some("\"x\"".into()) };
        for frame in [request_frame("7", &ping), Request::from(ping.clone()).to_frame("7")] {
            assert_eq!(&frame[HEADER..], br#"{"type":"ping","request_id":"7","echo":"\"x\""}"#);
            let incoming = Incoming::parse(&frame[HEADER..]).unwrap();
            assert_eq!((incoming.envelope.id().as_ref(), incoming.request), ("7", ping.clone().into()));
        }
    }

    #[test]
    fn a_frame_never_grows_since_that_would_leave_a_copy_of_a_secret_behind() {
        for length in [0, 1, 63, 4096] {
            let value = "\u{1}".repeat(length);
            let secrets = SecretMap([("KEY".to_owned(), Secret::new(value.clone()))].into());
            let ask = SetServerSecrets { server_id: ServerId::parse("time").unwrap(), secrets };
            let frame = request_frame(&value, &ask);
            let head = ask.fields_room() + pair_room("request_id", &value);
            assert!(frame.len() <= frame.capacity());
            assert_eq!(
                frame.capacity(),
                HEADER + head + r#"{"type":""}"#.len() + SetServerSecrets::TAG.len()
            );
        }
    }

    #[test]
    fn a_client_reads_what_the_bridge_wrote() {
        let envelope = Envelope::Typed("7".into());
        let mut out = Vec::new();
        envelope.put_reply(&mut out, Ping::TAG, &PingResult { echo: None, timestamp: 5 });
        let heard = Heard::parse(&out).unwrap();
        assert!(heard.answers::<Ping>() && !heard.answers::<ListServers>() && heard.refusal().is_none());
        assert_eq!(heard.request_id, "7");
        assert_eq!(heard.read(), Ok(PingResult { echo: None, timestamp: 5 }));
        let missing = heard.read::<ListServersResult>().unwrap_err();
        assert_eq!((missing.field, missing.found), ("servers", "nothing"));

        let mut out = Vec::new();
        envelope.put_error(&mut out, &ErrorBody::new(Code::NotFound, "no").with("server_id", "x"));
        let refusal = Heard::parse(&out).unwrap().refusal().unwrap().unwrap();
        assert_eq!((refusal.code.as_str(), refusal.message.as_str()), ("not_found", "no"));
        assert_eq!(refusal.details.unwrap().as_str(), r#"{"server_id":"x"}"#);

        let mut out = Vec::new();
        put_push(&mut out, &ToolsChanged { server_id: Some("x".into()) });
        let heard = Heard::parse(&out).unwrap();
        assert!(heard.is::<ToolsChanged>() && heard.request_id.is_empty());
        assert_eq!(heard.read(), Ok(ToolsChanged { server_id: Some("x".into()) }));
    }

    #[test]
    fn errors_are_read_back_equal() {
        (0..60).for_each(|seed| round_trip::<Refusal>(&mut Dice::new(seed)));
        (0..60).for_each(|seed| round_trip::<VersionDetails>(&mut Dice::new(seed)));
    }

    #[test]
    fn what_is_wrong_deep_inside_is_named_and_its_value_is_not() {
        let text =
            br#"{"type":"list_servers_result","request_id":"1","servers":[{"server_id":"a","label":7}]}"#;
        let wrong = Heard::parse(text).unwrap().read::<ListServersResult>().unwrap_err();
        assert_eq!((wrong.field, wrong.expected, wrong.found), ("label", "a string", "a number"));
    }

    #[test]
    fn a_request_says_whom_it_is_about() {
        let server_id = ServerId::parse("time").unwrap();
        let ask = SetServerSecrets { server_id, secrets: SecretMap::default() };
        assert_eq!((ask.server(), ask.profile()), (Some("time"), None));
        assert_eq!(
            (Request::from(ask).server(), Request::from(ListServers {}).server()),
            (Some("time"), None)
        );
    }
}
