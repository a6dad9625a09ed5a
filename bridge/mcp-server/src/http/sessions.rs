//! The sessions of the older generation, and machines for the generation that has no sessions.
//!
//! ```text
//!  initialize ─► Fresh ─ answered ─► kept under a random id ─► DELETE, idle for long, no token any more, too many ─► gone
//! ```
//!
//! Owns which session is kept under which id, for whom, and how many. A session belongs to its client and its
//! token: for anybody else it does not exist. Its end closes its streams and its connection to the bridge.

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use harbor_client::terminal::remark;
use harbor_home::Paths;
use harbor_home::instance::random_token;
use harbor_policy::tool_name::Allowlist;
use tokio::sync::mpsc::{Sender, channel};

use super::body::Body;
use super::routes::SharedRoutes;
use super::tokens::Client;
use crate::driver::{Driver, Lines};
use crate::machine::Machine;
use crate::offering::Offering;

/// A session that was unused for this long has been forgotten by its client.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// The most sessions of a client at once.
const PER_CLIENT: usize = 32;

/// The most sessions in all.
const IN_ALL: usize = 128;

/// The number of messages that may wait for a machine that is slower.
const QUEUE: usize = 64;

/// The things that a machine is made from.
#[derive(Debug)]
pub struct Works {
    pub paths: Paths,
    pub only: Option<Allowlist>,
    pub offering: Offering,
}

impl Works {
    /// Starts a machine for this client; it ends when the way to it is dropped.
    pub fn start(&self, client: &Client, lines: impl Lines, dial: bool) -> std::io::Result<Sender<Body>> {
        let machine = Machine::new(self.only.clone(), self.offering).named(&random_token()?);
        let named = (&*client.name, Some(client.token_id()));
        let driver = Driver::new(machine, named, &self.paths, lines);
        if dial {
            driver.dial_first();
        }
        let (events, mut heard) = channel::<Body>(QUEUE);
        // A thread of its own, since a machine may have to wait for the bridge.
        thread::Builder::new().name("session".into()).spawn(move || {
            while let Some(Body { line, room }) = heard.blocking_recv() {
                driver.line(&line);
                drop(room);
            }
        })?;
        Ok(events)
    }
}

/// A session that has no id yet.
#[derive(Debug)]
pub struct Session {
    client: Client,
    pub events: Sender<Body>,
    pub routes: SharedRoutes,
    used: Instant,
    /// The words for its end. None until the end is known.
    end: Option<&'static str>,
}

impl Session {
    pub fn begin(works: &Works, client: &Client) -> std::io::Result<Self> {
        let routes = SharedRoutes::default();
        let events = works.start(client, routes.clone(), true)?;
        Ok(Self { client: client.clone(), events, routes, used: Instant::now(), end: None })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.routes.close();
        if let Some(why) = self.end {
            remark(&format!("harbor mcp: a session of {} has ended: {why}", self.client.name));
        }
    }
}

/// The sessions by their ids.
#[derive(Debug, Default)]
pub struct Sessions(HashMap<String, Session>);

impl Sessions {
    /// Makes room for one more session of this client, in place of the one that was longest unused. True if there is room.
    pub fn make_room(&mut self, name: &str) -> bool {
        let of_client = self.0.values().filter(|session| session.client.name == name).count();
        if of_client < PER_CLIENT && self.0.len() < IN_ALL {
            return true;
        }
        let may_go = |session: &Session| {
            !session.routes.is_read() && (of_client < PER_CLIENT || session.client.name == name)
        };
        let oldest =
            self.0.iter().filter(|(_, session)| may_go(session)).min_by_key(|(_, session)| session.used);
        let oldest = oldest.map(|(id, _)| id.clone());
        oldest.is_some_and(|id| self.end(&id, "too many sessions were open"))
    }

    /// Keeps a session, and returns its id.
    pub fn keep(&mut self, mut session: Session, program: Option<&str>) -> std::io::Result<String> {
        let id = random_token()?;
        let program = program.map(|program| format!(" ({program})")).unwrap_or_default();
        remark(&format!("harbor mcp: a session of {}{program} has begun", session.client.name));
        session.end = Some("Harbor ends");
        self.0.insert(id.clone(), session);
        Ok(id)
    }

    /// This client's session with this id. The session then counts as used.
    pub fn of(&mut self, client: &Client, id: &str) -> Option<&Session> {
        let session = self.0.get_mut(id).filter(|session| session.client == *client)?;
        session.used = Instant::now();
        Some(session)
    }

    /// Ends a session; whether there was one.
    pub fn end(&mut self, id: &str, why: &'static str) -> bool {
        self.0.remove(id).is_some_and(|mut session| session.end.replace(why).is_some())
    }

    /// Ends those that are idle, and those whose token is gone.
    pub fn sweep(&mut self, now: Instant, has_token: impl Fn(&Client) -> bool) {
        for session in self.0.values_mut().filter(|session| session.routes.is_read()) {
            session.used = now;
        }
        let is_idle = |session: &Session| now.saturating_duration_since(session.used) >= IDLE;
        let (mut idle, mut unknown) = (Vec::new(), Vec::new());
        for (id, session) in &self.0 {
            match (has_token(&session.client), is_idle(session)) {
                (false, _) => unknown.push(id.clone()),
                (true, true) => idle.push(id.clone()),
                (true, false) => {}
            }
        }
        for id in idle {
            self.end(&id, "nobody used it");
        }
        for id in unknown {
            self.end(&id, "its token was deleted or replaced");
        }
    }

    /// Ends all.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::routes::Asked;

    fn client(name: &str) -> Client {
        Client { name: name.into(), sha256: String::new() }
    }

    fn session(name: &str) -> Session {
        let (events, _) = channel(1);
        Session {
            client: client(name),
            events,
            routes: SharedRoutes::default(),
            used: Instant::now(),
            end: None,
        }
    }

    fn kept(sessions: &mut Sessions, client: &str) -> String {
        sessions.keep(session(client), None).unwrap()
    }

    #[test]
    fn a_session_is_its_clients_and_ends_once() {
        let mut sessions = Sessions::default();
        let (a, b) = (kept(&mut sessions, "a"), kept(&mut sessions, "b"));
        assert!(a.len() >= 32 && a != b);
        assert!(
            sessions.of(&client("a"), &a).is_some()
                && sessions.of(&client("b"), &a).is_none()
                && sessions.of(&client("a"), "").is_none()
        );
        let newer = Client { sha256: "newer".into(), ..client("a") };
        assert!(sessions.of(&newer, &a).is_none(), "a newer token of the same name");
        assert!(sessions.end(&a, "test") && !sessions.end(&a, "test"));
        assert!(sessions.of(&client("a"), &a).is_none() && sessions.of(&client("b"), &b).is_some());
    }

    #[test]
    fn idle_sessions_end_and_those_without_a_token_but_not_those_that_are_read() {
        let mut sessions = Sessions::default();
        let (read, idle, gone) =
            (kept(&mut sessions, "a"), kept(&mut sessions, "a"), kept(&mut sessions, "b"));
        let stream = sessions.of(&client("a"), &read).unwrap().routes.listen();
        let begun = Instant::now();
        sessions.sweep(begun, |client| client.name == "a");
        assert!(sessions.of(&client("b"), &gone).is_none() && sessions.of(&client("a"), &idle).is_some());
        sessions.sweep(begun + 2 * IDLE, |_| true);
        assert!(sessions.of(&client("a"), &idle).is_none() && sessions.of(&client("a"), &read).is_some());
        drop(stream);
        sessions.sweep(begun + 4 * IDLE, |_| true);
        assert!(sessions.of(&client("a"), &read).is_none());
    }

    #[test]
    fn too_many_sessions_cost_the_oldest_of_the_same_client_and_never_one_that_is_read() {
        let mut sessions = Sessions::default();
        let other = kept(&mut sessions, "b");
        let ids: Vec<_> = (0..PER_CLIENT).map(|_| kept(&mut sessions, "a")).collect();
        let asked = || Asked { id: "1".into(), token: None };
        let streams: Vec<_> = ids
            .iter()
            .skip(1)
            .map(|id| sessions.of(&client("a"), id).unwrap().routes.ask(asked()).unwrap())
            .collect();
        assert!(sessions.make_room("b") && sessions.make_room("a"));
        assert!(sessions.of(&client("a"), &ids[0]).is_none() && sessions.of(&client("b"), &other).is_some());
        let _ = kept(&mut sessions, "a");
        let fresh =
            sessions.0.iter().find(|(id, session)| session.client.name == "a" && !ids.contains(id)).unwrap();
        let held = fresh.1.routes.listen();
        assert!(!sessions.make_room("a"), "all are read");
        drop((held, streams));
        assert!(sessions.make_room("a"));
    }
}
