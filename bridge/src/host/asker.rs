//! On whose behalf a request is made.
//!
//! Owns turning a connection's principal and the fields `origin`, `profile` and `tab_id` into one [`Asker`]. The bridge
//! decides who somebody is, not the payload: an AI client is its own name, whatever it says.

use std::rc::Rc;
use std::sync::Arc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_policy::access::{Principal, Right};
use harbor_policy::grants::{self, Tab};
use harbor_policy::origin::Origin;

use super::fields::invalid;
use crate::config::OWNER;
use crate::link::CallParty;
use crate::supervisor::User;

/// A connection, as far as the host has to know it.
#[derive(Debug, Clone)]
pub struct Sender {
    /// The connection's number; never used again.
    pub client: u64,
    /// Its name in the audit log: `owner`, `extension:<id>`, `client://<name>`.
    pub by: Arc<str>,
    /// Its own origin, if it is an AI client.
    pub own: Option<Origin>,
    /// An id of the token with which an AI client came, if it has one of its own.
    pub token_id: Option<Arc<str>>,
    /// Its browser session; a connection that names none is a session of its own.
    pub session: Arc<str>,
}

impl Sender {
    /// The connection number `client` of `principal`.
    #[must_use]
    pub fn new(principal: &Principal, client: u64) -> Self {
        let (own, token_id) = match principal {
            Principal::Client { origin, token_id } => (Some(origin.clone()), token_id.clone()),
            Principal::Owner | Principal::Extension { .. } => (None, None),
        };
        let by = match principal {
            Principal::Owner => OWNER.into(),
            Principal::Extension { id } => format!("extension:{id}").into(),
            Principal::Client { origin, .. } => origin.shared(),
        };
        Self { client, by, own, token_id, session: format!("connection {client}").into() }
    }
}

/// An origin that asks for something.
#[derive(Debug, Clone)]
pub struct Asker {
    /// The connection that sent the request.
    pub sender: Rc<Sender>,
    /// The origin on whose behalf it asks.
    pub origin: Origin,
    /// The origin's profile.
    pub profile: Arc<str>,
    /// The tab that asks.
    pub tab: Option<Tab>,
}

impl Asker {
    /// Reads an asker from a request's fields.
    ///
    /// # Errors
    /// Names the wrong field, or says that an AI client may only speak for itself.
    pub fn new(
        sender: &Rc<Sender>,
        origin: Option<&str>,
        profile: Option<&str>,
        tab_id: Option<u64>,
    ) -> Result<Self, ErrorBody> {
        let origin = match (&sender.own, origin) {
            (Some(own), None) => own.clone(),
            (Some(own), Some(given)) if given == own.as_str() => own.clone(),
            (Some(own), Some(_)) => return Err(not_itself(own)),
            (None, Some(given)) => parse_origin(given)?,
            (None, None) => return Err(invalid("origin", ORIGIN)),
        };
        if sender.own.is_some() && profile.is_some_and(|profile| profile != grants::DEFAULT_PROFILE) {
            // Else it would choose among the grants of its name, and go around a DENY.
            return Err(invalid("profile", "no value: an AI client has no profiles"));
        }
        let tab = tab_id.map(|tab| Tab { session: sender.session.clone(), tab });
        Ok(Self { sender: sender.clone(), origin, profile: parse_profile(profile)?, tab })
    }

    /// The user whose instance answers this asker, where each origin has an instance.
    #[must_use]
    pub fn user(&self) -> User<'_> {
        User { origin: self.origin.as_str(), profile: &self.profile, client: self.sender.client }
    }

    /// The lane of its calls. The calls of a tab, or of a connection, take turns with those of others.
    #[must_use]
    pub fn lane(&self) -> u64 {
        let tab = self.tab.as_ref().map_or(0, |tab| tab.tab.wrapping_add(1));
        self.sender.client.rotate_left(32) ^ tab
    }
}

const ORIGIN: &str = "an origin such as https://example.com, or client://NAME";

/// Reads the origin of a request.
///
/// # Errors
/// Says what is wrong with the text.
pub fn parse_origin(text: &str) -> Result<Origin, ErrorBody> {
    Origin::parse(text).map_err(|wrong| {
        let message = format!("field `origin`: {wrong}");
        ErrorBody::new(Code::InvalidParams, message).with("field", "origin").with("expected", ORIGIN)
    })
}

/// Reads the profile of a request.
///
/// # Errors
/// When the text is no profile.
pub fn parse_profile(text: Option<&str>) -> Result<Arc<str>, ErrorBody> {
    grants::profile(text.unwrap_or(grants::DEFAULT_PROFILE))
        .ok_or_else(|| invalid("profile", "1 to 128 bytes without control characters"))
}

fn not_itself(own: &Origin) -> ErrorBody {
    let message = format!("this connection is {own} and speaks for no other origin; leave `origin` out");
    ErrorBody::new(Code::PermissionDenied, message)
}

/// The one who makes a call.
#[derive(Debug)]
pub enum Caller {
    /// The person: what they ask for is permitted by the message itself.
    Owner(Rc<Sender>, Right),
    /// An origin: its grants decide.
    Origin(Asker),
}

impl Caller {
    /// A copy of the caller, for one more try of its call.
    pub(super) fn for_another_try(&self) -> Self {
        match self {
            Self::Owner(sender, right) => Self::Owner(sender.clone(), right.for_another_try()),
            Self::Origin(asker) => Self::Origin(asker.clone()),
        }
    }

    /// The connection that sent the request.
    #[must_use]
    pub fn sender(&self) -> &Rc<Sender> {
        match self {
            Self::Owner(sender, _) => sender,
            Self::Origin(asker) => &asker.sender,
        }
    }

    /// The origin, where there is one.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Owner(..) => None,
            Self::Origin(asker) => Some(&asker.origin),
        }
    }

    /// The caller, as the code knows it that passes on a server's questions.
    #[must_use]
    pub fn party(&self) -> CallParty {
        let Sender { client, token_id, .. } = &**self.sender();
        CallParty { client: *client, origin: self.origin().map(Origin::shared), token_id: token_id.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ai_client_is_itself_and_the_owner_names_an_origin() {
        let client = Principal::Client { origin: Origin::client("Some Client").unwrap(), token_id: None };
        let client = Rc::new(Sender::new(&client, 1));
        let own = Asker::new(&client, None, None, None).unwrap();
        assert_eq!((own.origin.as_str(), &*own.profile), ("client://Some%20Client", "default"));
        assert!(Asker::new(&client, Some("client://Some%20Client"), None, None).is_ok());
        let other = Asker::new(&client, Some("https://example.com"), None, None).unwrap_err();
        assert_eq!(other.code, Code::PermissionDenied);
        assert_eq!(Asker::new(&client, None, Some("work"), None).unwrap_err().code, Code::InvalidParams);

        let owner = Rc::new(Sender::new(&Principal::Owner, 2));
        assert_eq!(Asker::new(&owner, None, None, None).unwrap_err().code, Code::InvalidParams);
        assert_eq!(Asker::new(&owner, Some("null"), None, None).unwrap_err().code, Code::InvalidParams);
        let asker = Asker::new(&owner, Some("https://Example.com:443"), Some("p"), Some(7)).unwrap();
        assert_eq!((asker.origin.as_str(), &*asker.profile), ("https://example.com", "p"));
        assert_eq!(asker.tab.map(|tab| (tab.session, tab.tab)), Some(("connection 2".into(), 7)));
    }
}
