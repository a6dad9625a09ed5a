//! Contact with a server: the steps of [`Contact`] performed on the wire.
//!
//! Owns what the answers to the probe and to the handshake say. Ends in `Connected`, or in a verdict for which
//! `process` ends the server.

use std::borrow::Cow;

use harbor_ipc_proto::link::runner::{EndCause, Era, FromRunner, ServerInfo};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::open::Open;
use super::{Contacted, Offers, Session};
use crate::mcp::contact::{Contact, Event, LEGACY, MODERN, Step};
use crate::mcp::message::Answer;
use crate::mcp::write::{discover, initialize, put_notification, put_request};

/// Texts that a server gives about itself are cut at this many bytes.
const MAX_NAME: usize = 256;
const MAX_INSTRUCTIONS: usize = 16 * 1024;

const MODERN_BY_INITIALIZE: &str = "it answered initialize with 2026-07-28, a revision without initialize; Harbor uses \
                                    the revision that it asked for";

/// The members of an answer to `initialize` or `server/discover` that are read.
#[derive(Deserialize)]
struct HandshakeAnswer<'a> {
    #[serde(rename = "protocolVersion")]
    protocol_version: Option<String>,
    #[serde(rename = "supportedVersions")]
    supported_versions: Option<Vec<String>>,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
    #[serde(rename = "serverInfo")]
    server_info: Option<Implementation>,
    instructions: Option<String>,
    #[serde(rename = "_meta")]
    meta: Option<SaidMeta>,
}

#[derive(Deserialize)]
struct SaidMeta {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server_info: Option<Implementation>,
}

#[derive(Deserialize)]
struct Implementation {
    name: Option<String>,
    version: Option<String>,
}

#[derive(Deserialize, Default)]
struct Capabilities<'a> {
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    resources: Option<&'a RawValue>,
    #[serde(borrow)]
    prompts: Option<&'a RawValue>,
    #[serde(borrow)]
    extensions: Option<&'a RawValue>,
    #[serde(borrow)]
    completions: Option<&'a RawValue>,
    #[serde(borrow)]
    logging: Option<&'a RawValue>,
}

impl Session {
    /// Begins contact with a fresh process.
    pub(super) fn begin_contact(&self, known: Option<Era>, revision: Option<&str>) {
        let (contact, first) = Contact::begin(known, revision);
        *self.contact.borrow_mut() = Some(contact);
        self.perform(first);
    }

    /// True if contact is still being made.
    pub(super) fn is_contacting(&self) -> bool {
        self.contact.borrow().is_some()
    }

    /// Tells the machine. Returns whether the server must be started again.
    pub(super) fn on_contact(&self, event: Event) -> bool {
        let step = self.contact.borrow_mut().as_mut().map(|contact| contact.on(event));
        step.is_some_and(|step| self.perform(step))
    }

    fn perform(&self, step: Step) -> bool {
        match step {
            Step::Wait => {}
            Step::Probe => self.send_contact(Open::Probe),
            Step::Initialize => self.send_contact(Open::Initialize),
            Step::Made(era, version) => self.made(era, version),
            Step::StartAgain => return true,
            Step::UnknownVersion(versions) => {
                self.judge(EndCause::UnknownProtocolVersion(cut(versions, MAX_NAME).into()));
            }
            Step::Refused { code, message } => {
                self.judge(EndCause::ContactRefused { code, message: cut(message, MAX_NAME).into() });
            }
            // The process is gone; how it ended is known where it was reaped.
            Step::Lost => {}
        }
        false
    }

    fn send_contact(&self, open: Open) {
        let offers_roots = self.meta.borrow().offers_roots;
        let probe = matches!(open, Open::Probe);
        let id = self.open.borrow_mut().open(open);
        let revision = self.contact.borrow().as_ref().map_or(LEGACY[0], Contact::revision);
        let request = if probe { discover() } else { initialize(offers_roots, revision) };
        let meta = self.meta.borrow();
        self.write(|out| put_request(out, id, &request, None, probe.then_some(&*meta)));
    }

    fn judge(&self, verdict: EndCause<'static>) {
        *self.contact.borrow_mut() = None;
        *self.verdict.borrow_mut() = Some(verdict);
    }

    fn made(&self, era: Era, version: String) {
        let contact = self.contact.borrow_mut().take();
        self.open.borrow_mut().clear();
        let Some(mut info) = self.said.borrow_mut().take() else { return };
        let asked_by = contact.map_or(LEGACY[0], |contact| contact.revision());
        info.insists = era == Era::Legacy && asked_by != LEGACY[0];
        (info.era, info.protocol_version) = (era, version.into());
        let offers = offers(&info.capabilities);
        *self.contacted.borrow_mut() = Some(Contacted { era, offers });
        match era {
            Era::Legacy => {
                self.write(|out| put_notification(out, "notifications/initialized", b""));
            }
            Era::Modern => self.listen(None, |_| ()),
        }
        self.up.send(&FromRunner::Connected { server: self.number, info });
    }

    pub(super) fn on_probe_answer(&self, answer: Answer<'_>) {
        let event = match answer {
            Answer::Result(result) => match serde_json::from_str::<HandshakeAnswer<'_>>(result) {
                // An older server may answer anything to a method that it does not know, `{}` for instance.
                Ok(said) if said.supported_versions.is_some() => {
                    let versions = said.supported_versions.clone().unwrap_or_default();
                    self.remember(info(said));
                    Event::Discovered(versions)
                }
                _ => Event::ProbeRefused { code: 0, supported: Vec::new() },
            },
            Answer::Error { code, data, .. } => Event::ProbeRefused { code, supported: supported(data) },
            Answer::Malformed(_) => Event::ProbeRefused { code: 0, supported: Vec::new() },
        };
        self.on_contact(event);
    }

    pub(super) fn on_initialize_answer(&self, answer: Answer<'_>) {
        match answer {
            Answer::Result(result) => match serde_json::from_str::<HandshakeAnswer<'_>>(result) {
                Ok(said) if said.protocol_version.is_some() => {
                    let version = said.protocol_version.clone().unwrap_or_default();
                    if version == MODERN {
                        self.up.remark(self.number, MODERN_BY_INITIALIZE);
                    }
                    self.remember(info(said));
                    self.on_contact(Event::Initialized(version));
                }
                _ => {
                    let why =
                        "the answer to initialize lacks protocolVersion, or has a field of a wrong type";
                    self.judge(EndCause::ContactMalformed(why.into()));
                }
            },
            Answer::Error { code, message, data } => {
                let mut supported = supported(data);
                if supported.is_empty() {
                    let named = LEGACY.iter().filter(|revision| message.contains(**revision));
                    supported.extend(named.map(ToString::to_string));
                }
                let message = message.into_owned();
                self.on_contact(Event::InitializeRefused { code, message, supported });
            }
            Answer::Malformed(why) => self.judge(EndCause::ContactMalformed(why.into())),
        }
    }

    /// An answer to contact that cannot be read.
    pub(super) fn contact_broken(&self, open: Option<&Open>, why: &'static str) {
        match open {
            Some(Open::Initialize) => self.judge(EndCause::ContactMalformed(why.into())),
            Some(Open::Probe) => {
                self.on_contact(Event::ProbeRefused { code: 0, supported: Vec::new() });
            }
            _ => {}
        }
    }

    fn remember(&self, info: ServerInfo<'static>) {
        *self.said.borrow_mut() = Some(info);
    }
}

fn info(said: HandshakeAnswer<'_>) -> ServerInfo<'static> {
    let of_meta = said.meta.and_then(|meta| meta.server_info);
    let implementation = said.server_info.or(of_meta);
    let (name, version) = implementation.map_or((None, None), |i| (i.name, i.version));
    let capabilities = said.capabilities.map(RawValue::get).filter(|text| text.starts_with('{'));
    ServerInfo {
        era: Era::Legacy,
        protocol_version: Cow::Borrowed(""),
        name: cut(name.unwrap_or_default(), MAX_NAME).into(),
        version: cut(version.unwrap_or_default(), MAX_NAME).into(),
        capabilities: capabilities.unwrap_or("{}").to_owned().into(),
        instructions: said.instructions.map(|text| cut(text, MAX_INSTRUCTIONS).into()),
        insists: false,
    }
}

/// True if the extensions of a server, JSON text, have that of tasks.
fn has_tasks(extensions: &str) -> bool {
    #[derive(Deserialize)]
    struct Extensions {
        #[serde(rename = "io.modelcontextprotocol/tasks")]
        tasks: Option<IgnoredAny>,
    }
    serde_json::from_str::<Extensions>(extensions).is_ok_and(|extensions| extensions.tasks.is_some())
}

fn offers(capabilities: &str) -> Offers {
    #[derive(Deserialize, Default)]
    struct Resources {
        subscribe: Option<bool>,
    }
    let said: Capabilities<'_> = serde_json::from_str(capabilities).unwrap_or_default();
    let subscribe = said.resources.and_then(|r| serde_json::from_str::<Resources>(r.get()).ok());
    Offers {
        tools: said.tools.is_some(),
        resources: said.resources.is_some(),
        prompts: said.prompts.is_some(),
        completions: said.completions.is_some(),
        logging: said.logging.is_some(),
        subscribe: subscribe.is_some_and(|resources| resources.subscribe == Some(true)),
        tasks: said.extensions.is_some_and(|extensions| has_tasks(extensions.get())),
    }
}

/// The revisions that an error names, by which a modern server shows itself.
fn supported(data: Option<&str>) -> Vec<String> {
    #[derive(Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    data.and_then(|data| serde_json::from_str::<Data>(data).ok()).map_or_else(Vec::new, |data| data.supported)
}

fn cut(mut text: String, bytes: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes));
    text
}
