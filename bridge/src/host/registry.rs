//! The tools that origins see, and whether they are still what the person saw first.
//!
//! ```text
//!  supervisor ─ a server's tools were listed ─► known? ─ no ──────────────────► pinned, on disk too
//!                                                 └ yes ─ same hash ──────────► as before
//!                                                       └ another ── changed ─► the person is told; origins are kept
//!                                                                               from it until it is accepted
//! ```
//!
//! The supervisor knows which tools a server has. Its last list is kept beside the pins, so a restart of the bridge hides
//! no change. Owns who is told of a change, and the descriptor of each tool; `pinned` has the tools as they were.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use harbor_home::clock::boot_clock;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{ToolChange, ToolChanged, ToolDescriptor};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::PutField as _;
use harbor_ipc_proto::hex::hex;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::source_id::SourceId;
use harbor_ipc_proto::strings::text_of;
use harbor_policy::flood::Flood;
use harbor_policy::server_directories::neutral;

use super::origin_refusals::{too_many_tools, tool_changed, tool_not_found};
use super::pinned::{PinMatch, PinnedTools, UnstoredPins, pin};
use super::source::{Sources, ToolSource};
use crate::config::{ChangedTools, LiveConfig};
use crate::link::{Tool, ToolHash, ToolList};
use crate::store::StoreError;
use crate::store::pins::{Pin, Pins};

/// The pause between two writings of a server's list: a server may change it without end.
const LISTED_PAUSE: Duration = Duration::from_secs(2);

/// The most bytes of a tool's old and new form together that are pushed with a change.
const MOST_PUSHED: usize = 16 * 1024;

/// The pins, and the descriptor of each tool.
#[derive(Debug)]
pub struct Registry {
    file: Rc<Pins>,
    pinned: Rc<RefCell<BTreeMap<SourceId, PinnedTools>>>,
    /// Says whether a changed tool is kept from origins.
    config: Rc<LiveConfig>,
    /// Each server's tools as they are listed. Made anew when the list changes.
    written: RefCell<HashMap<SourceId, Rc<ToolListing>>>,
    /// Sources whose listing is being written to the disk.
    storing: Rc<RefCell<HashSet<SourceId>>>,
    /// Hashes of changed tools of which the person was told, and how many changes that were of late.
    told: RefCell<HashMap<(SourceId, Arc<str>), ToolHash>>,
    flood: RefCell<Flood>,
    /// The directory above the servers' own directories, by all of its names.
    servers: Vec<String>,
}

/// The tools of one source that origins may see at all, ready to be listed. All names are in one string, and
/// all descriptors in another, since a list goes through all.
#[derive(Debug)]
pub struct ToolListing {
    list: Rc<ToolList>,
    label: String,
    names: String,
    /// Separated by commas.
    descriptors: Rc<str>,
    /// The ranges of each tool's name and descriptor.
    places: Vec<(Range<usize>, Range<usize>)>,
}

impl ToolListing {
    fn new(source: &dyn ToolSource, list: Rc<ToolList>, is_seen: impl Fn(&Tool) -> bool) -> Self {
        let (mut names, mut descriptors, mut places) = (String::new(), Vec::new(), Vec::new());
        for tool in list.iter().filter(|tool| is_seen(tool)) {
            if !places.is_empty() {
                descriptors.push(b',');
            }
            let begin = (names.len(), descriptors.len());
            names.push_str(&tool.name);
            descriptor(source, tool).put(&mut descriptors);
            places.push((begin.0..names.len(), begin.1..descriptors.len()));
        }
        let descriptors = String::from_utf8(descriptors).unwrap_or_default().into();
        Self { list, label: source.label().to_owned(), names, descriptors, places }
    }

    /// True if writing it anew would give the same.
    fn is_of(&self, source: &dyn ToolSource, list: &Rc<ToolList>) -> bool {
        Rc::ptr_eq(&self.list, list) && self.label == source.label()
    }

    /// The names of the tools, each with the range of its descriptor.
    pub fn tools(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let tools = self.places.iter();
        tools.map(|(name, descriptor)| (&self.names[name.clone()], descriptor.clone()))
    }

    /// A tool, by its name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.list.get(name)
    }

    /// The descriptors.
    pub fn descriptors(&self) -> &Rc<str> {
        &self.descriptors
    }
}

impl Registry {
    /// True if changed tools are kept from origins.
    fn blocks(&self) -> bool {
        self.config.now().changed_tools == ChangedTools::Block
    }

    /// The registry with the pins of `file`.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn open(file: Pins, config: Rc<LiveConfig>, servers: &Path) -> Result<Self, StoreError> {
        let mut pinned = BTreeMap::<_, PinnedTools>::new();
        for (source, pin) in file.all().await? {
            pinned.entry(source).or_default().restore(&pin);
        }
        for (source, pin) in file.changed().await? {
            pinned.entry(source).or_default().restore_changed(&pin);
        }
        Ok(Self {
            file: Rc::new(file),
            pinned: Rc::new(RefCell::new(pinned)),
            config,
            written: RefCell::default(),
            storing: Rc::default(),
            told: RefCell::default(),
            flood: RefCell::default(),
            servers: names_of(servers),
        })
    }

    /// True if a tool says the same as before, except for where its server is installed or tried out.
    #[must_use]
    pub fn is_same(&self, source: &SourceId, before: &Tool, now: &Tool) -> bool {
        let own: Vec<_> = self.servers.iter().map(|servers| format!("{servers}/{source}")).collect();
        let said = |tool: &Tool| neutral(tool.shown().as_str(), &own);
        before.hash == now.hash || before.hidden == now.hidden && said(before) == said(now)
    }

    /// Takes a new list of a server's tools. Pins the new ones, and returns the changes to report.
    pub fn on_tools(&self, source: &SourceId, list: &ToolList) -> Vec<ToolChanged> {
        let mut all = self.pinned.borrow_mut();
        let pinned = all.entry(source.clone()).or_default();
        // The first list of a server is no news: the person has just added it.
        let is_first = pinned.is_empty();
        let (mut news, mut stored) = (Vec::new(), Vec::new());
        for tool in list.iter() {
            let key = (source.clone(), tool.name.clone());
            match pinned.get(&tool.name) {
                None => {
                    if pinned.put(tool) {
                        stored.push(pin(tool, true));
                        news.extend((!is_first).then(|| self.news(source, None, tool)).flatten());
                    }
                }
                // The parts that an earlier version of Harbor did not
                // examine were not pinned by it either.
                Some(_) if pinned.is_known_in_part(tool) => {
                    if pinned.put(tool) {
                        stored.push(pin(tool, true));
                    }
                }
                // It names its directory, which has changed by now.
                Some(before) if before.hash != tool.hash && self.is_same(source, before, tool) => {
                    if pinned.put(tool) {
                        stored.push(pin(tool, true));
                    }
                }
                Some(before) if before.hash != tool.hash => {
                    let is_told = self.told.borrow().get(&key) == Some(&tool.hash);
                    if let Some(change) = (!is_told).then(|| self.news(source, Some(before), tool)).flatten()
                    {
                        self.told.borrow_mut().insert(key, tool.hash);
                        news.push(change);
                    }
                }
                // It is as it was: if it changes again, that is news.
                Some(_) => drop(self.told.borrow_mut().remove(&key)),
            }
        }
        let is_other = pinned.note_listed(list);
        drop(all);
        if is_other {
            self.store_listed(source);
        }
        if !stored.is_empty() {
            self.store(source, stored);
        }
        news
    }

    /// Pins tools as they are now, whatever was pinned before.
    pub fn vouch_for(&self, source: &SourceId, list: &ToolList) {
        let mut all = self.pinned.borrow_mut();
        let pinned = all.entry(source.clone()).or_default();
        let is_other = |tool: &&Tool| pinned.get(&tool.name).is_none_or(|before| before.hash != tool.hash);
        let others: Vec<_> = list.iter().filter(is_other).collect();
        let stored: Vec<_> =
            others.into_iter().filter(|tool| pinned.put(tool)).map(|tool| pin(tool, true)).collect();
        let is_news = pinned.note_listed(list);
        drop(all);
        if is_news {
            self.store_listed(source);
        }
        if !stored.is_empty() {
            self.store(source, stored);
        }
    }

    /// The message about a change. Beyond a few a minute, changes are not pushed: whoever asks gets them.
    fn news(&self, source: &SourceId, before: Option<&Tool>, now: &Tool) -> Option<ToolChanged> {
        let is_told = self.flood.borrow_mut().note(source.as_str(), boot_clock()).is_some();
        // A tool that hides something is always told, within the bounds of a list.
        if !(is_told || before.is_none() && now.hidden) {
            return None;
        }
        let is_short = before.is_none_or(|before| before.size() + now.size() <= MOST_PUSHED);
        let shown = |tool: &Tool| is_short.then(|| tool.shown());
        Some(ToolChanged {
            server_id: source.to_string(),
            tool_name: now.name.to_string(),
            tool_hash: hex(&now.hash),
            before: before.and_then(shown),
            after: before.and_then(|_| shown(now)),
            is_new: before.is_none(),
            blocked: before.is_some() && self.blocks(),
            hidden_characters: now.hidden,
        })
    }

    /// Writes the list of a source: at once, since the bridge may be killed, and again while it changes.
    fn store_listed(&self, source: &SourceId) {
        if !self.storing.borrow_mut().insert(source.clone()) {
            return;
        }
        let (file, pinned, storing) = (self.file.clone(), self.pinned.clone(), self.storing.clone());
        let source = source.clone();
        tokio::task::spawn_local(async move {
            let take = || pinned.borrow_mut().get_mut(&source).map(PinnedTools::take_unstored);
            while let Some(UnstoredPins { flags, changed }) = take().filter(|unstored| !unstored.is_empty()) {
                if let Err(error) = file.set_listed(&source, flags, changed).await {
                    tracing::warn!(server = %source, %error, "which of its tools were listed is not stored");
                }
                tokio::time::sleep(LISTED_PAUSE).await;
            }
            storing.borrow_mut().remove(&source);
        });
    }

    fn store(&self, source: &SourceId, pins: Vec<Pin>) {
        let (file, source) = (self.file.clone(), source.clone());
        tokio::task::spawn_local(async move {
            // A pin that is not on disk is made again at the next start, from the
            // server's list at that time.
            if let Err(error) = file.put_many(&source, pins).await {
                tracing::warn!(server = %source, %error, "its tools could not be pinned");
            }
        });
    }

    /// Checks that an origin may have a tool, so far as it must be the one that the person saw.
    ///
    /// # Errors
    /// Why not.
    pub fn admit(&self, source: &SourceId, tool: &Tool) -> Result<(), ErrorBody> {
        match self.standing(source, tool) {
            PinMatch::Changed if self.blocks() => Err(tool_changed(source, &tool.name)),
            PinMatch::NotKept if self.blocks() => Err(too_many_tools(source, &tool.name)),
            _ => Ok(()),
        }
    }

    fn standing(&self, source: &SourceId, tool: &Tool) -> PinMatch {
        let pinned = self.pinned.borrow();
        pinned.get(source).map_or(PinMatch::NotKept, |pinned| pinned.standing(tool))
    }

    fn change(&self, source: &SourceId, before: &Tool, now: &Tool) -> ToolChange {
        ToolChange {
            server_id: source.to_string(),
            tool_name: now.name.to_string(),
            tool_hash: hex(&now.hash),
            before: before.shown(),
            after: now.shown(),
            blocked: self.blocks(),
            hidden_characters: now.hidden,
        }
    }

    /// All changes of the sources, or of one of them.
    #[must_use]
    pub fn changes(&self, sources: &Sources, only: Option<&SourceId>) -> Vec<ToolChange> {
        let pinned = self.pinned.borrow();
        let sources = sources.all().into_iter().map(|source| source.id());
        let sources = sources.filter(|id| only.is_none_or(|only| only == id));
        let mut changes = Vec::new();
        for id in sources {
            let changed = pinned.get(&id).into_iter().flat_map(PinnedTools::changed);
            changes.extend(changed.map(|(before, now)| self.change(&id, before, now)));
        }
        changes
    }

    /// The present form of a tool, if it has this hash.
    ///
    /// # Errors
    /// When there is no such tool, or it has changed again by now.
    pub fn now(&self, source: &dyn ToolSource, name: &str, hash: &str) -> Result<Tool, ErrorBody> {
        let list = self.known(source);
        let tool = list.as_ref().and_then(|list| list.get(name));
        let tool = tool.ok_or_else(|| tool_not_found(&source.id(), name))?;
        if hex(&tool.hash) == hash {
            return Ok(tool.clone());
        }
        let message = "the tool has changed again; look at the change and accept that";
        Err(ErrorBody::new(Code::InvalidParams, message)
            .with("field", "tool_hash")
            .with("tool_hash", &hex(&tool.hash)))
    }

    /// Accepts a tool in its present form.
    ///
    /// # Errors
    /// As `now`, and when the disk refuses.
    pub async fn accept(&self, source: &dyn ToolSource, name: &str, hash: &str) -> Result<(), ErrorBody> {
        let tool = self.now(source, name, hash)?;
        if !self.pinned.borrow().get(&source.id()).is_some_and(|pinned| pinned.has_room(&tool)) {
            return Err(too_many_tools(&source.id(), name));
        }
        let stored = self.file.put_many(&source.id(), vec![pin(&tool, true)]).await;
        stored.map_err(|error| ErrorBody::new(Code::Internal, format!("{error}; nothing was changed")))?;
        self.pinned.borrow_mut().entry(source.id()).or_default().put(&tool);
        self.written.borrow_mut().remove(&source.id());
        Ok(())
    }

    /// True if any tool of a source was ever seen.
    #[must_use]
    pub fn has_pins(&self, source: &SourceId) -> bool {
        self.pinned.borrow().get(source).is_some_and(|pinned| !pinned.is_empty())
    }

    /// Forgets the tools of a server that was removed, or that runs another program now. Returns how many were pinned.
    pub async fn forget(&self, source: &SourceId) -> usize {
        let pinned = self.pinned.borrow_mut().remove(source);
        self.written.borrow_mut().remove(source);
        self.told.borrow_mut().retain(|(of, _), _| of != source);
        if let Err(error) = self.file.remove_server(source).await {
            tracing::warn!(server = %source, %error, "its pins are still on disk");
        }
        pinned.map_or(0, |pinned| pinned.tools().count())
    }

    /// The tools of a server that can be listed. A running server has its present tools. A server that does
    /// not run has its known tools, unless it was stopped; `stopped`: also then.
    #[must_use]
    pub fn listed(&self, source: &dyn ToolSource, stopped: bool) -> Option<Rc<ToolListing>> {
        let list = match source.tools() {
            Some(list) => list,
            // This includes a server that has crashed or wants a sign-in: a call
            // brings it back, or says what is missing.
            None if stopped || source.at_rest().is_none() => {
                source.known_tools().or_else(|| self.as_pinned(&source.id()))?
            }
            None => return None,
        };
        let mut written = self.written.borrow_mut();
        if let Some(written) = written.get(&source.id()).filter(|written| written.is_of(source, &list)) {
            return Some(written.clone());
        }
        let made = Rc::new(ToolListing::new(source, list, |tool| self.admit(&source.id(), tool).is_ok()));
        written.insert(source.id(), made.clone());
        Some(made)
    }

    /// The tools of a server as last listed, by this bridge or an earlier one.
    #[must_use]
    pub fn known(&self, source: &dyn ToolSource) -> Option<Rc<ToolList>> {
        source.known_tools().or_else(|| self.as_pinned(&source.id()))
    }

    fn as_pinned(&self, source: &SourceId) -> Option<Rc<ToolList>> {
        self.pinned.borrow_mut().get_mut(source).map(PinnedTools::list)
    }

    /// The number of changed tools of a server.
    #[must_use]
    pub fn changed(&self, source: &dyn ToolSource) -> usize {
        self.pinned.borrow().get(&source.id()).map_or(0, |pinned| pinned.changed().count())
    }

    /// The tools of a server as the person saw them, including those that it does not list now. An unpinned
    /// tool counts as in the last list.
    #[must_use]
    pub fn seen(&self, source: &dyn ToolSource) -> ToolList {
        let known = self.known(source).unwrap_or_default();
        let pinned = self.pinned.borrow();
        let seen = pinned.get(&source.id()).into_iter().flat_map(PinnedTools::tools);
        seen.chain(known.iter()).cloned().collect()
    }

    /// A server uses another version of its program, which has listed nothing yet.
    pub fn take_back(&self, source: &SourceId) {
        if let Some(pinned) = self.pinned.borrow_mut().get_mut(source) {
            pinned.take_back();
        }
        self.written.borrow_mut().remove(source);
        self.store_listed(source);
    }
}

/// The names of a directory: as given, and without links, since a program may use either. The directory need not exist yet.
fn names_of(directory: &Path) -> Vec<String> {
    let real = directory.parent().and_then(|above| above.canonicalize().ok());
    let real = real.zip(directory.file_name()).map(|(above, name)| above.join(name));
    let mut names: Vec<PathBuf> = real.into_iter().chain([directory.to_owned()]).collect();
    names.dedup();
    names.into_iter().filter_map(|name| name.into_os_string().into_string().ok()).collect()
}

/// Stands before the description of a tool that an AI client was not given.
const ASKS_FIRST: &str = "(asks first: your first call asks the person) ";

/// The descriptor of a tool that a client was not given, and may ask for by calling it.
pub(super) fn asking_first(source: &dyn ToolSource, tool: &Tool) -> Rc<str> {
    let mut descriptor = descriptor(source, tool);
    let said = descriptor.description.as_ref().and_then(|said| text_of(said.as_str())).unwrap_or_default();
    descriptor.description = Some(Json::string(&format!("{ASKS_FIRST}{said}")));
    let mut text = Vec::new();
    descriptor.put(&mut text);
    String::from_utf8(text).unwrap_or_default().into()
}

fn descriptor(source: &dyn ToolSource, tool: &Tool) -> ToolDescriptor {
    let [title, description, input, output, annotations] = tool.members.clone();
    let id = source.id();
    let id = id.as_str();
    ToolDescriptor {
        name: format!("{id}/{}", tool.name),
        serverId: id.to_owned(),
        serverLabel: source.label().to_owned(),
        originalName: tool.name.to_string(),
        toolHash: hex(&tool.hash),
        hiddenCharacters: tool.hidden.then_some(true),
        title,
        description,
        inputSchema: input,
        outputSchema: output,
        annotations,
        via: tool.via.clone(),
        otherMembers: tool.more.clone(),
    }
}
