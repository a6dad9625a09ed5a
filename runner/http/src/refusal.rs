//! Finds the reason of a refusal with HTTP 401 or 403.
//!
//! ```text
//!  401 ─► it speaks of tokens, or one was shown ─► the person has to let Harbor in: the connection ends
//!    └──► it does not, or the person's own header was shown ─► it wants a key: the connection ends
//!  403 ─► the token is good, and not enough ─► this request fails
//!    └──► else: as 401 while contact is made; later this request fails
//! ```
//!
//! Owns telling these apart. Must never show what the header says: it is the server's.

use harbor_ipc_proto::link::runner::RemoteEnd;
use harbor_policy::oauth::MAX_CHALLENGE;
use harbor_policy::oauth::challenge::parse;
use reqwest::header::WWW_AUTHENTICATE;
use reqwest::{Response, StatusCode};

use crate::connection::Connection;
use harbor_web::trouble::Trouble;

impl Connection {
    /// The reason why a server refuses who asks, if its answer says so.
    pub fn refusal(&self, answer: &Response) -> Option<Trouble> {
        let status = answer.status();
        if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return None;
        }
        let (place, contacting) = (self.http.place(), self.wire.is_contacting());
        let said = challenge_of(answer);
        let challenge = parse(&said);
        let is_known = status == StatusCode::UNAUTHORIZED;
        if !self.http.says_who_asks() && challenge.is_bearer && (is_known || challenge.wants_more) {
            self.wire.challenged(&said);
        }
        if challenge.wants_more && !is_known && !self.http.says_who_asks() {
            let why = format!("{place} requires more rights for this than Harbor has");
            let broken = !contacting;
            return Some(Trouble { broken, ..Trouble::of(RemoteEnd::NeedsAuthorization, why) });
        }
        if is_known && !self.http.says_who_asks() && (challenge.is_bearer || self.http.has_grant()) {
            let why = match self.http.has_grant() {
                true => format!("{place} no longer accepts Harbor's login"),
                false => format!("{place} requires you to sign in"),
            };
            return Some(Trouble::of(RemoteEnd::NeedsAuthorization, why));
        }
        let why = format!(
            "{place} refused Harbor (HTTP {}): it requires a key; give one with `harbor add … --header 'Authorization: \
             Bearer …'`",
            status.as_u16()
        );
        Some(if contacting || is_known {
            Trouble::of(RemoteEnd::Unauthorized, why)
        } else {
            Trouble::broken(why)
        })
    }
}

/// True if the answer asks for a token.
pub fn asks_for_token(answer: &Response) -> bool {
    parse(&challenge_of(answer)).is_bearer
}

/// All values of the header, bounded.
pub fn challenge_of(answer: &Response) -> String {
    let values = answer.headers().get_all(WWW_AUTHENTICATE).iter();
    let mut all = String::new();
    for value in values.filter_map(|value| value.to_str().ok()) {
        if all.len() + value.len() + 2 > MAX_CHALLENGE {
            break;
        }
        if !all.is_empty() {
            all.push_str(", ");
        }
        all.push_str(value);
    }
    all
}
