//! A conversation: its state, and how each line changes it.
//!
//! Owns when its session begins: with the first message, so that looking around leaves nothing behind. Must
//! never end because one request was refused.

use harbor_client::errors::Failure;
use harbor_ipc_proto::client::{
    ChatCreateSession, ChatDeleteSession, ChatGetSession, ChatMessage, ChatPart, ChatUpdateSession,
    ListServers, LlmListModels, SessionUpdates,
};

use super::super::attach;
use super::super::ids::short;
use super::super::page;
use super::super::sessions::{id_of, last_used, transcript};
use super::super::turn::{self, Console, Stopper, ending};
use super::lines::{Lines, Typed};
use super::words::{HELP, Words, read};
use crate::args::{Approve, Chat, PageRules, servers_of};
use crate::client::{Client, QUICK};
use crate::table::flatten;

/// The number of messages that are shown when a session is resumed.
const SHOWN: usize = 6;

/// Advice for a person who wants more than came.
const MORE: &str = "say `go on` for more";

/// A change of a session that changes nothing.
const NO_CHANGES: SessionUpdates = SessionUpdates {
    name: None,
    systemPrompt: None,
    enabledServers: None,
    model: None,
    mode: None,
    pinned: None,
};

/// A message as it was sent.
#[derive(Clone)]
struct SentMessage {
    text: String,
    attached: Vec<ChatPart>,
}

/// A conversation.
pub struct Talk<'a, 'b> {
    client: &'a mut Client,
    console: &'a mut Console<'b>,
    stopper: &'a Stopper,
    /// Its id, once a message was sent.
    session: Option<String>,
    model: Option<String>,
    /// The servers whose tools may be used. All of them if absent.
    servers: Option<Vec<String>>,
    /// Instructions of a session that is begun here.
    system: Option<String>,
    private: bool,
    /// The mode of a session that is begun here.
    mode: Option<&'static str>,
    /// Attachments of the next message.
    attached: Vec<ChatPart>,
    last: Option<SentMessage>,
    /// The pages that may be fetched.
    pages: PageRules,
}

impl<'a, 'b> Talk<'a, 'b> {
    pub fn begin(
        client: &'a mut Client,
        wanted: &Chat,
        console: &'a mut Console<'b>,
        stopper: &'a Stopper,
    ) -> Result<Self, Failure> {
        let named = Some(&wanted.tools).filter(|tools| !tools.is_empty());
        let mut talk = Self {
            client,
            console,
            stopper,
            session: None,
            model: wanted.model.clone(),
            servers: named.and_then(|named| servers_of(named)),
            system: wanted.system.clone(),
            private: wanted.private,
            mode: wanted.approve.map(Approve::mode),
            attached: Vec::new(),
            last: None,
            pages: wanted.pages,
        };
        let resumed = match &wanted.session {
            Some(typed) => Some(id_of(talk.client, typed)?),
            None if wanted.goes_on => Some(last_used(talk.client)?),
            None => None,
        };
        if let Some(session_id) = resumed {
            talk.resume(session_id, wanted)?;
        }
        talk.greet()?;
        Ok(talk)
    }

    /// Resumes a session, and changes it by the typed options.
    fn resume(&mut self, session_id: String, wanted: &Chat) -> Result<(), Failure> {
        let got = self.client.ask(&ChatGetSession { session_id }, QUICK)?.into_value();
        let (session, messages) = (got.session, got.messages);
        self.session = Some(session.id);
        self.private = session.private;
        self.last = last_of(&messages);
        let shown = &messages[messages.len().saturating_sub(SHOWN)..];
        if shown.len() < messages.len() {
            self.console
                .note(&format!("… `harbor sessions show {}` shows the earlier messages", self.short()))?;
        }
        let text = transcript::text(shown);
        if !text.is_empty() {
            self.console.screen.prose(&text)?;
        }
        if session.turn_id.is_some() {
            self.console.note("harbor: this session is still answering")?;
        }
        let changes_mode = self.mode.is_some();
        if changes_mode || wanted.model.is_some() || !wanted.tools.is_empty() || wanted.system.is_some() {
            let servers = (!wanted.tools.is_empty()).then(|| named_or_every(self.servers.clone()));
            let mode = self.mode.map(ToOwned::to_owned);
            let changes = SessionUpdates { systemPrompt: wanted.system.clone(), mode, ..NO_CHANGES };
            self.update(SessionUpdates { model: wanted.model.clone(), enabledServers: servers, ..changes })?;
        }
        self.model = wanted.model.clone().or(session.model);
        if wanted.tools.is_empty() {
            self.servers = session.enabledServers;
        }
        Ok(())
    }

    fn greet(&mut self) -> Result<(), Failure> {
        let private = if self.private { " · nothing is stored" } else { "" };
        let line = format!("{} · tools: {}{private} · /help", self.whom(), self.tools());
        Ok(self.console.note(&line)?)
    }

    fn whom(&self) -> String {
        self.model.as_deref().map_or_else(|| "the default model".into(), flatten)
    }

    fn tools(&self) -> String {
        match &self.servers {
            None => "all".into(),
            Some(none) if none.is_empty() => "none".into(),
            Some(some) => flatten(&some.join(", ")),
        }
    }

    fn short(&self) -> &str {
        short(self.session.as_deref().unwrap_or_default())
    }

    /// Line after line, until the person leaves.
    pub fn converse(&mut self, lines: &mut dyn Lines) -> Result<(), Failure> {
        let mut was_interrupted = false;
        loop {
            let line = match lines.next()? {
                Typed::End => return Ok(()),
                Typed::Interrupt if was_interrupted => return Ok(()),
                Typed::Interrupt => {
                    was_interrupted = true;
                    self.console.note("harbor: press Ctrl-C again to leave")?;
                    continue;
                }
                Typed::Line(line) => line,
            };
            was_interrupted = false;
            match read(&line) {
                Words::Quit => return Ok(()),
                words => self.go_on_after(words)?,
            }
        }
    }

    /// Obeys, and shows a refusal: the person can try again in other words.
    fn go_on_after(&mut self, words: Words) -> Result<(), Failure> {
        match self.obey(words) {
            Err(failure @ (Failure::Refused(_) | Failure::Usage(_) | Failure::Slow(_))) => {
                let why = failure.message().unwrap_or_default();
                Ok(self.console.note(&format!("harbor: {why}"))?)
            }
            other => other,
        }
    }

    fn obey(&mut self, words: Words) -> Result<(), Failure> {
        match words {
            Words::Message(text) => {
                let attached = std::mem::take(&mut self.attached);
                self.say(SentMessage { text, attached })
            }
            Words::Model(Some(model)) => self.use_model(model),
            Words::Model(None) => self.show_models(),
            Words::Tools(Some(named)) => self.use_tools(&named),
            Words::Tools(None) => self.show_tools(),
            Words::Attach(path) => {
                let (client, rules) = (&mut *self.client, self.pages);
                let mut fetch = |url: &str| page::fetch(client, url, rules);
                let (part, told) = attach::read("/attach", &path, &mut fetch)?;
                self.attached.push(part);
                Ok(self.console.note(&format!("{}; it goes with your next message", flatten(&told)))?)
            }
            Words::Retry => self.retry(),
            Words::Help => Ok(self.console.note(HELP)?),
            Words::Wrong(why) => Ok(self.console.note(&format!("harbor: {}", flatten(&why)))?),
            Words::Nothing | Words::Quit => Ok(()),
        }
    }

    fn retry(&mut self) -> Result<(), Failure> {
        let Some(last) = self.last.clone() else {
            return Ok(self.console.note("harbor: you have not sent a message yet")?);
        };
        self.console
            .note("your last message is sent again; the session keeps both messages and both answers")?;
        self.say(last)
    }

    fn say(&mut self, sent: SentMessage) -> Result<(), Failure> {
        let session = self.session()?;
        // Also what fails can be tried again.
        self.last = Some(sent.clone());
        let mut message = turn::message(&session, sent.text);
        message.attachments = Some(sent.attached).filter(|attached| !attached.is_empty());
        let answer = turn::say(self.client, &message, self.console, self.stopper)?;
        if let Some(why) = ending::remark(&answer.ended, MORE) {
            self.console.note(&why)?;
        }
        Ok(self.console.note(&ending::spent(&answer))?)
    }

    /// The session. Begins one if there is none yet.
    fn session(&mut self) -> Result<String, Failure> {
        if let Some(session) = &self.session {
            return Ok(session.clone());
        }
        let create = ChatCreateSession {
            enabled_servers: self.servers.clone(),
            name: None,
            system_prompt: self.system.clone(),
            model: self.model.clone(),
            mode: self.mode.map(ToOwned::to_owned),
            private: self.private.then_some(true),
        };
        let id = self.client.ask(&create, QUICK)?.into_value().session.id;
        if self.private {
            self.stopper.goes_with_us(&id);
        }
        Ok(self.session.insert(id).clone())
    }

    fn update(&mut self, updates: SessionUpdates) -> Result<(), Failure> {
        let Some(session_id) = self.session.clone() else { return Ok(()) };
        self.client.ask(&ChatUpdateSession { session_id, updates }, QUICK)?;
        Ok(())
    }

    fn use_model(&mut self, model: String) -> Result<(), Failure> {
        self.update(SessionUpdates { model: Some(model.clone()), ..NO_CHANGES })?;
        self.model = Some(model);
        Ok(self.console.note(&format!("{} answers from now on", self.whom()))?)
    }

    fn show_models(&mut self) -> Result<(), Failure> {
        let models = self.client.ask(&LlmListModels {}, QUICK)?.into_value().models;
        let mut text = format!("now: {}", self.whom());
        models.iter().for_each(|model| text.push_str(&format!("\n  {}", flatten(&model.id))));
        Ok(self.console.note(&text)?)
    }

    fn use_tools(&mut self, named: &[String]) -> Result<(), Failure> {
        let servers = servers_of(named);
        let named = Some(named_or_every(servers.clone()));
        self.update(SessionUpdates { enabledServers: named, ..NO_CHANGES })?;
        self.servers = servers;
        Ok(self.console.note(&format!("tools from now on: {}", self.tools()))?)
    }

    fn show_tools(&mut self) -> Result<(), Failure> {
        let servers = self.client.ask(&ListServers {}, QUICK)?.into_value().servers;
        let mut text = format!("now: {}", self.tools());
        servers.iter().for_each(|server| text.push_str(&format!("\n  {}", flatten(&server.server_id))));
        Ok(self.console.note(&text)?)
    }

    /// Ends the talk: deletes a private session, and names another one.
    pub fn leave(&mut self) -> Result<(), Failure> {
        let Some(session_id) = self.session.clone() else { return Ok(()) };
        if !self.private {
            let line = format!("`harbor chat {}` continues this conversation", short(&session_id));
            return Ok(self.console.note(&line)?);
        }
        self.client.ask(&ChatDeleteSession { session_id }, QUICK)?;
        Ok(self.console.note("Harbor keeps nothing of this conversation")?)
    }
}

/// The person's last message, if it has text.
fn last_of(messages: &[ChatMessage]) -> Option<SentMessage> {
    let last = messages.iter().rfind(|message| message.role == "user")?;
    Some(SentMessage { text: transcript::words(last.content.as_ref()), attached: Vec::new() })
}

/// The servers as a change of a session names them.
fn named_or_every(servers: Option<Vec<String>>) -> Vec<String> {
    servers.unwrap_or_else(|| vec!["*".to_owned()])
}

#[cfg(test)]
mod tests;
