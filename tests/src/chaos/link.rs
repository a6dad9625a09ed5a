//! A connection to the bridge that is made anew as often as it must be.
//!
//! Owns the ways in. Must never take a connection that ended for an error: here bridges and relays are killed.

use std::fs;
use std::ops::Deref;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::{Attach, Hello};
use harbor_ipc_proto::field::Ask;
use harbor_tests::{Client, Relay};

use crate::stage::Stage;

/// Somebody starts a bridge within this time, however often it is killed.
const NO_BRIDGE: Duration = Duration::from_secs(60);

/// The pause between two tries.
const RETRY: Duration = Duration::from_millis(20);

/// How to get in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// As a browser does; starts a bridge when there is none.
    Relay,
    /// By the local socket; somebody else has to start a bridge.
    Socket,
}

/// A connection. Dereferences to its client.
#[derive(Debug)]
pub enum Link {
    /// As a browser has it.
    Relay(Relay),
    /// By the local socket.
    Socket(Client),
}

impl Deref for Link {
    type Target = Client;

    fn deref(&self) -> &Client {
        match self {
            Self::Relay(relay) => relay,
            Self::Socket(client) => client,
        }
    }
}

impl Link {
    /// Connects; `None` when the run is over before that works, or it never does.
    pub fn open(stage: &Stage, way: Way) -> Option<Self> {
        Self::open_while(stage, way, || !stage.is_over())
    }

    /// Connects, also when the run is over; `None` when that never works.
    pub fn demand(stage: &Stage, way: Way) -> Option<Self> {
        Self::open_while(stage, way, || true)
    }

    fn open_while(stage: &Stage, way: Way, wanted: impl Fn() -> bool) -> Option<Self> {
        let begun = Instant::now();
        while wanted() {
            let link = match way {
                Way::Relay => by_relay(stage),
                Way::Socket => by_socket(stage),
            };
            if link.is_some() {
                stage.tally.note(&format!("{way:?} connected"));
                return link;
            }
            if begun.elapsed() > NO_BRIDGE {
                stage.tally.broke(format!("no bridge by way of {way:?} within {NO_BRIDGE:?}"));
                return None;
            }
            thread::sleep(RETRY);
        }
        None
    }

    /// Ends it and looks at all that came over it.
    pub fn finish(self, stage: &Stage) {
        self.close();
        for fault in self.faults() {
            stage.tally.broke(format!("on a connection: {fault}"));
        }
        while let Some(stray) = self.stray_now() {
            match stray.code.as_str() {
                "bridge_unreachable" => stage.tally.note("relay found no bridge"),
                code => stage.tally.broke(format!("an error for nobody: {code}: {}", stray.message)),
            }
        }
    }
}

fn by_relay(stage: &Stage) -> Option<Link> {
    let link = Link::Relay(Relay::chrome(&stage.home, stage.switches()));
    let hello = Hello {
        protocol: None,
        client: Some("chaos".into()),
        chunks: Some(true),
        max_frame: None,
        browser_session: None,
    };
    if answered(stage, &link, &hello) {
        return Some(link);
    }
    link.finish(stage);
    None
}

fn by_socket(stage: &Stage) -> Option<Link> {
    let stream = UnixStream::connect(stage.home.run_file("bridge.sock")).ok()?;
    let token = fs::read_to_string(stage.home.run_file("token")).ok()?;
    if !is_token(&token) {
        stage.tally.broke(format!("a token of {} bytes that is none", token.len()));
    }
    let link = Link::Socket(Client::over_socket(stream));
    let attach = Attach {
        token,
        role: "cli".into(),
        protocol: Some(harbor_ipc_proto::CLIENT_PROTOCOL),
        build: None,
        extension_id: None,
        client: None,
        token_id: None,
    };
    if answered(stage, &link, &attach) {
        return Some(link);
    }
    link.finish(stage);
    None
}

/// Whether the bridge takes us. It may be another one than wrote the token, or on its way out.
fn answered<A: Ask>(stage: &Stage, link: &Link, ask: &A) -> bool {
    match link.reply(ask) {
        Ok(_) => true,
        Err(error) => {
            if !["closed", "shutting_down", "unauthorized"].contains(&error.code.as_str()) {
                stage.tally.broke(format!("{}: {}: {}", A::TAG, error.code, error.message));
            }
            false
        }
    }
}

/// Whether this is what stands in `run/token`.
pub fn is_token(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
