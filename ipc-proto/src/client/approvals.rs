//! Objects about consent: a question about a call, and a standing answer.
//!
//! Owns their form. Must never hold more of an argument than a question shows: a client that wants all of it asks for it.

use super::define_sent;
use crate::field::Word;

define_sent! {
    /// Objects about consent.
    APPROVAL_OBJECTS:
    /// The question whether a call may be made.
    "Approval" Approval {
        /// The question's id, for `approvals_answer`.
        id: String,
        /// `waiting`, `answered` or `missed`. Missed: nobody has answered; a later yes lets the same call through when it
        /// is made again.
        state: Word,
        /// Who acts: `chat` (the person's model), `run` (a model on a task of an origin), `page` (a page itself), `client`
        /// (an AI client itself) or `server` (a server that wants a language model's answer during a call).
        who: Word,
        /// The principal in whose name the call comes: `owner`, an origin, or `client://NAME`; `server:NAME` for `server`.
        principal: String,
        /// The tab of the page; absent when no page asks.
        tab_id: Option<u64>,
        /// True if the question is about a request of the connection that gets this message; absent otherwise.
        own: Option<bool>,
        /// The session, for `chat`, and for `server` where the call is one of a session.
        session_id: Option<String>,
        /// The call's id in its turn.
        call_id: Option<String>,
        /// The tool, `server/tool`; `update_plan` for a plan of the person's model.
        tool: String,
        /// The call's effect, as far as Harbor knows it: `reads`, `writes` or `destroys`.
        effect: Word,
        /// Why the person is asked: `writes`, `untrusted` (it writes after the model has read untrusted text), `destroys`,
        /// `leaves`, `files` (files of the person's would be handed over), `first_use`, `sampling`, `reading` (it would go to a
        /// language model) or `plan`. With `plan`, the arguments are the sites, servers and kinds of action that a model wants
        /// for its turn.
        reason: Word,
        /// The reason as a sentence.
        why: String,
        /// For `leaves`: the names of the private data that would leave (`files`, `gmail`, `browser:mail.example`). For
        /// `files`: each file, with its size and whom it would reach.
        private: Vec<String>,
        /// The arguments, one key at a time, perhaps cut. `approvals_list` with the question's id gives them whole.
        fields: Vec<ApprovalField>,
        /// The possible answers, the mildest first: `once`, `chat_tool`, `chat_server`, `flow`, `ten_minutes`, `always`;
        /// `no`, `never`.
        answers: Vec<String>,
        /// When the question was asked, in milliseconds since 1970.
        since: u64,
        /// When the question ends by itself, in milliseconds since 1970.
        until: u64,
    }
    /// One argument of a call, as a question shows it. Hidden characters in it are written out as `\u{…}`.
    "ApprovalField" ApprovalField {
        /// Its key. The keys of nested objects are joined by dots.
        key: String,
        /// Its value, perhaps cut.
        text: String,
        /// The value's length in bytes, if the value was cut; otherwise absent.
        bytes: Option<u64>,
    }
    /// A standing answer: it covers calls without a question until it is taken back or ends.
    "StandingAnswer" StandingAnswer {
        /// The answer's id, for `approvals_revoke`.
        id: String,
        /// `once` (a call that was missed), `chat_tool`, `chat_server`, `flow`, `pair`, `ten_minutes`, `always` or `plan` (what
        /// writes within a plan, until the turn ends).
        covers: Word,
        /// The principal whose calls it covers: `owner`, an origin, `client://NAME` or `server:NAME`.
        principal: String,
        /// The session, if the answer covers one session only.
        session_id: Option<String>,
        /// The tool as `server/tool`, or the source; for a plan, all that it names.
        what: String,
        /// For `flow` and `pair`: the private data that may leave.
        private: Vec<String>,
        /// When the answer was given, in milliseconds since 1970.
        since: u64,
        /// When it ends, in milliseconds since 1970; absent when it does not end by itself.
        until: Option<u64>,
    }
}
