//! Objects about consent: a question about a call, and an answer that stands.
//!
//! Owns their form. Must never hold a value of a call's arguments longer than it is shown: who wants it whole asks for it.

use super::define_sent;
use crate::field::Word;

define_sent! {
    /// Objects about consent.
    APPROVAL_OBJECTS:
    /// A question about a call: may it be made?
    "Approval" Approval {
        /// What `approvals_answer` names.
        id: String,
        /// `waiting`; `answered`; `missed`: nobody has answered, and a yes lets the same call through when it is made again.
        state: Word,
        /// Who acts: `chat` (the person's model), `run` (a model on a task of an origin), `page` (a page itself) or `client` (an AI
        /// client itself).
        who: Word,
        /// On whose behalf: `owner`, an origin, `client://NAME`.
        principal: String,
        /// The tab of the page.
        tab_id: Option<u64>,
        /// True: it is about a request of the connection that is told of it.
        own: Option<bool>,
        /// The session of a chat.
        session_id: Option<String>,
        /// The call in its turn.
        call_id: Option<String>,
        /// The tool, `server/tool`.
        tool: String,
        /// What the call does as far as Harbor knows: `reads`, `writes` or `destroys`.
        effect: Word,
        /// Why it is asked: `writes`, `untrusted` (it writes after text that nobody vouches for), `destroys`, `leaves` or `first_use`.
        reason: Word,
        /// The same as a sentence.
        why: String,
        /// Of `leaves`: the names of what would leave (`files`, `gmail`, `browser:mail.example`).
        private: Vec<String>,
        /// The arguments key by key, as far as they are shown; `approvals_list` with the id gives them whole.
        fields: Vec<ApprovalField>,
        /// What may be answered, the mildest first: `once`, `chat_tool`, `chat_server`, `flow`, `ten_minutes`, `always`; `no`, `never`.
        answers: Vec<String>,
        /// When it was asked, in milliseconds since 1970.
        since: u64,
        /// When it ends by itself, likewise.
        until: u64,
    }
    /// One argument of a call, as it is shown. Hidden characters in it are written out as `\u{…}`.
    "ApprovalField" ApprovalField {
        /// Its key; keys of objects below it are joined by dots.
        key: String,
        /// Its value.
        text: String,
        /// How many bytes it has in all, where not all of it is here.
        bytes: Option<u64>,
    }
    /// An answer that stands: it covers calls without asking, until it is taken back.
    "StandingAnswer" StandingAnswer {
        /// What `approvals_revoke` names.
        id: String,
        /// `once` (a call that was missed), `chat_tool`, `chat_server`, `flow`, `pair`, `ten_minutes` or `always`.
        covers: Word,
        /// On whose behalf: `owner`, an origin, `client://NAME`.
        principal: String,
        /// Of one chat: its session.
        session_id: Option<String>,
        /// The tool `server/tool`, or the source.
        what: String,
        /// Of `flow` and `pair`: what may leave.
        private: Vec<String>,
        /// Since when, in milliseconds since 1970.
        since: u64,
        /// Until when, likewise.
        until: Option<u64>,
    }
}
