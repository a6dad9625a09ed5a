//! The guard of an AI client: with it on, the person is asked before something private leaves by the client's calls.
//!
//! ```text
//!  a call's answer, a server's question ─► its private names join those of the client
//!  the next call, to a source with reach ─► question: once, or as long as it is connected (pair)
//! ```
//!
//! Owns which clients have a guard, and what each has read. Harbor does not see a client's own conversations, nor which
//! connections belong to one. So whatever a client was answered counts as read by all its later calls, until it has been
//! gone for a while. Must never take a guard off by itself.

use std::collections::BTreeSet;
use std::rc::Rc;

use harbor_home::clock::boot_clock;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::consent::answers::A_WHILE;
use harbor_policy::consent::{Names, Run, Verdict};
use harbor_policy::origin::Origin;

use super::chat::Chat;
use super::connected::Connected;
use super::requested_call::{KnownTool, RequestedCall};
use super::{AT_MOST, Consent, call_refusals, changed_twice, holding};
use crate::host::asker::{Asker, Caller, Sender};
use crate::host::source::ToolSource;
use crate::host::{Host, invalid};
use crate::store::audit::AuditRecord;

/// The private name of the answers from before the guard was on.
const EARLIER: &str = "calls before the guard was on";

impl Consent {
    /// True if the person is asked before something private leaves by this client's calls.
    #[must_use]
    pub fn has_guard(&self, client: &Origin) -> bool {
        self.guarded.borrow().contains(client.as_str())
    }

    /// The conversation of an AI client that calls, if its guard is on.
    pub(in crate::host) fn guarded(&self, caller: &Caller) -> Option<Rc<Chat>> {
        let Caller::Origin(Asker { sender, .. }) = caller else { return None };
        let own = sender.own.as_ref()?;
        let chat = self.connected(own, sender.client);
        if self.has_guard(own) {
            return Some(chat);
        }
        // Answers from here on are not examined. They count once the guard is on.
        if chat.is_new() {
            chat.reads(Names::from([EARLIER.to_owned()]));
        }
        None
    }

    fn connected(&self, own: &Origin, client: u64) -> Rc<Chat> {
        let (mut all, name) = (self.connected.borrow_mut(), own.as_str());
        let is_over = |known: &Connected| known.open.is_empty() && boot_clock() > known.left + A_WHILE;
        if all.get(name).is_some_and(is_over) {
            all.remove(name);
            self.end_chat(name);
        }
        let new = || Connected { chat: Chat::of_client(name), open: BTreeSet::new(), left: 0 };
        let known = all.entry(name.to_owned()).or_insert_with(new);
        known.open.insert(client);
        known.chat.clone()
    }

    /// A connection has ended.
    pub(in crate::host) fn client_left(&self, sender: &Sender) {
        let name = sender.own.as_ref().map(Origin::as_str).unwrap_or_default();
        if let Some(known) = self.connected.borrow_mut().get_mut(name)
            && known.open.remove(&sender.client)
        {
            known.left = boot_clock();
        }
    }

    /// Checks that a request other than a tool call may be made now. It then counts as made.
    ///
    /// # Errors
    /// Why it may not.
    pub(in crate::host) fn run_request(
        &self,
        wish: &RequestedCall<'_>,
        known: &KnownTool,
    ) -> Result<Run, ErrorBody> {
        self.run(wish, known).ok_or_else(|| match self.judge(wish, known) {
            Verdict::Refuse(why) => call_refusals::refused(wish, why),
            _ => changed_twice(wish),
        })
    }
}

impl Host {
    /// Switches a client's guard on or off: with it, the person is asked before something private leaves by
    /// the client's calls.
    ///
    /// # Errors
    /// When `client` is no AI client, or the change cannot be stored or written down.
    pub async fn set_guard(&self, sender: &Sender, client: &Origin, is_on: bool) -> Result<(), ErrorBody> {
        if !client.is_client() {
            return Err(invalid("origin", "an AI client, client://NAME"));
        }
        let name = client.as_str();
        let record = AuditRecord {
            origin: Some(client.shared()),
            outcome: Some(if is_on { "on" } else { "off" }),
            ..AuditRecord::default()
        };
        self.trail.decided("guard", sender, record, !is_on).await?;
        let stored = self.consent.tables.set_guarded(name, is_on).await;
        stored.map_err(|error| ErrorBody::new(Code::Internal, format!("{error}; the guard is unchanged")))?;
        let mut guarded = self.consent.guarded.borrow_mut();
        let _ = if is_on { guarded.insert(name.to_owned()) } else { guarded.remove(name) };
        Ok(())
    }

    /// Notes what a guarded client reads from a source besides the answers to its calls: a list, or a
    /// question during a call.
    pub async fn client_reads(&self, caller: &Caller, source: &Rc<dyn ToolSource>, method: &str) {
        let Some(chat) = self.consent.guarded(caller) else { return };
        let known = KnownTool::of_request(source.clone().holding().await);
        self.consent.reads(&chat, (&source.id(), method), "{}", &known);
    }

    /// Notes that a guarded client reads a server's question.
    pub async fn client_hears(&self, sender: &Rc<Sender>, source: &SourceId, method: &str) {
        let Ok(asker) = Asker::new(sender, None, None, None) else { return };
        if let Some(source) = self.sources.get(source) {
            self.client_reads(&Caller::Origin(asker), &source, method).await;
        }
    }

    /// Checks that a client may send this answer to a server's question: the answer may hold what the client
    /// has read. Asks the person if needed.
    ///
    /// # Errors
    /// Why it may not.
    pub async fn may_answer(
        &self,
        sender: &Rc<Sender>,
        source: &SourceId,
        method: &str,
        answer: &str,
    ) -> Result<(), ErrorBody> {
        if sender.own.is_none() {
            return Ok(());
        }
        let caller = Caller::Origin(Asker::new(sender, None, None, None)?);
        let Some(connection) = self.consent.guarded(&caller) else { return Ok(()) };
        let tool = method.into();
        let wish = RequestedCall {
            caller: &caller,
            chat: Some(&connection),
            source,
            tool: &tool,
            is_request: true,
            arguments: answer,
            told: None,
            call_id: None,
        };
        self.clear(&wish, None, AT_MOST).await?;
        let Some(found) = self.sources.get(source) else { return Ok(()) };
        let known = KnownTool::of_request(holding(&found, &wish).await);
        self.consent.run_request(&wish, &known).map(drop)
    }
}
