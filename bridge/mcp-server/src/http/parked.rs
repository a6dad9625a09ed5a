//! Machines of the generation without sessions whose request waits for being made again, with answers.
//!
//! ```text
//!  POST ─► input_required, a state ─► parked ─► POST with that state ─► the same machine, under the new request's id
//!                                       └─ nobody comes for long, too many ─► gone: the call is cancelled
//! ```
//!
//! Owns them between the two requests. Must never give a client the machine of another one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use harbor_ipc_proto::json::Fields;
use tokio::sync::mpsc::{Sender, WeakSender};

use super::body::Body;
use super::single_request::Alone;
use super::tokens::Client;
use crate::driver::Lines;
use crate::want::text;

/// No call lasts longer without a client that says so.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The most waiting machines. One more replaces the oldest.
const MOST: usize = 256;

type Table = Mutex<HashMap<(Client, String), ParkedMachine>>;

/// The machines that wait, by client and state.
#[derive(Debug, Default)]
pub struct ParkedMachines(Arc<Table>);

#[derive(Debug)]
struct ParkedMachine {
    machine: Sender<Body>,
    lines: Parking,
    since: Instant,
}

impl ParkedMachines {
    /// The lines of a new machine for this client's request.
    pub fn lines(&self, client: &Client, alone: Alone) -> Parking {
        let slot = Slot { alone, machine: None };
        Parking { table: Arc::downgrade(&self.0), client: client.clone(), slot: Arc::new(Mutex::new(slot)) }
    }

    /// Takes the machine that has given this client this state; its next answer is for the request `id`.
    pub fn resume(&self, client: &Client, state: &str, alone: Alone) -> Option<Sender<Body>> {
        let waiting = lock(&self.0).remove(&(client.clone(), state.to_owned()))?;
        lock(&waiting.lines.slot).alone = alone;
        Some(waiting.machine)
    }

    /// Gives up machines to which no client comes back, and machines whose token is gone.
    pub fn sweep(&self, now: Instant, has_token: impl Fn(&Client) -> bool) {
        lock(&self.0).retain(|(client, _), waiting| {
            has_token(client) && now.saturating_duration_since(waiting.since) < PATIENCE
        });
    }

    /// Gives up all machines.
    pub fn clear(&self) {
        lock(&self.0).clear();
    }
}

/// The place for a machine's lines, now and after its request is made again.
#[derive(Debug, Clone)]
pub struct Parking {
    table: Weak<Table>,
    client: Client,
    slot: Arc<Mutex<Slot>>,
}

#[derive(Debug)]
struct Slot {
    alone: Alone,
    /// The machine of these lines. They do not keep it alive.
    machine: Option<WeakSender<Body>>,
}

impl Parking {
    /// Notes that the lines come from this machine.
    pub fn belongs_to(&self, machine: &Sender<Body>) {
        lock(&self.slot).machine = Some(machine.downgrade());
    }

    /// Keeps the machine for when its request is made again.
    fn park(&self, state: String) {
        let machine = lock(&self.slot).machine.as_ref().and_then(WeakSender::upgrade);
        let (Some(table), Some(machine)) = (self.table.upgrade(), machine) else { return };
        let mut table = lock(&table);
        if table.len() >= MOST {
            let oldest = table.iter().min_by_key(|(_, waiting)| waiting.since).map(|(key, _)| key.clone());
            oldest.and_then(|oldest| table.remove(&oldest));
        }
        let waiting = ParkedMachine { machine, lines: self.clone(), since: Instant::now() };
        table.insert((self.client.clone(), state), waiting);
    }
}

impl Lines for Parking {
    fn pass(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        if let Some(state) = state_of(&line) {
            // Before it is told: the client may be quick.
            self.park(state);
        }
        lock(&self.slot).alone.pass(line)
    }
}

/// The state in an answer that asks for answers.
fn state_of(line: &[u8]) -> Option<String> {
    let line = Fields::parse(line).ok()?;
    let result = Fields::parse(line.get("result")?.as_bytes()).ok()?;
    (text(&result, "resultType")? == "input_required").then(|| text(&result, "requestState")).flatten()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::routes::Said;
    use super::*;
    use serde_json::json;
    use tokio::sync::mpsc::{Receiver, channel};

    fn client(name: &str, sha256: &str) -> Client {
        Client { name: name.into(), sha256: sha256.into() }
    }

    fn alone(id: &str) -> (Alone, Receiver<Said>) {
        let (sender, stream) = channel(8);
        (Alone::new(id.into(), sender), stream)
    }

    #[test]
    fn a_machine_waits_for_its_own_client_and_state_and_answers_the_new_request() {
        let parked = ParkedMachines::default();
        let (machine, _heard) = channel(8);
        let (first, mut stream) = alone("1");
        let mut lines = parked.lines(&client("a", "1"), first);
        lines.belongs_to(&machine);
        let result = json!({"resultType": "input_required", "requestState": "s"});
        lines.pass(json!({"id": 1, "result": result}).to_string().into_bytes());
        assert!(matches!(stream.try_recv(), Ok(Said::Answer(_))));
        drop(machine);
        assert!(parked.resume(&client("a", "2"), "s", alone("2").0).is_none(), "a newer token");
        assert!(parked.resume(&client("b", "1"), "s", alone("2").0).is_none());
        assert!(parked.resume(&client("a", "1"), "t", alone("2").0).is_none());
        let (second, mut stream) = alone("2");
        assert!(parked.resume(&client("a", "1"), "s", second).is_some());
        let answer = json!({"id": 2, "result": {}}).to_string().into_bytes();
        lines.pass(answer.clone());
        assert_eq!(stream.try_recv(), Ok(Said::Answer(answer)));
        assert!(parked.resume(&client("a", "1"), "s", alone("3").0).is_none(), "once");
    }

    #[test]
    fn what_nobody_comes_back_to_is_given_up() {
        let parked = ParkedMachines::default();
        let (machine, heard) = channel(8);
        let mut lines = parked.lines(&client("a", "1"), alone("1").0);
        lines.belongs_to(&machine);
        let park = |lines: &mut Parking, at: usize| {
            let result = json!({"resultType": "input_required", "requestState": at.to_string()});
            lines.pass(json!({"id": 1, "result": result}).to_string().into_bytes());
        };
        (0..=MOST).for_each(|at| park(&mut lines, at));
        assert!(parked.resume(&client("a", "1"), "0", alone("2").0).is_none(), "the oldest went");
        drop(machine);
        assert!(!heard.is_closed());
        parked.sweep(Instant::now(), |_| true);
        assert!(!heard.is_closed());
        parked.sweep(Instant::now() + PATIENCE, |_| true);
        assert!(heard.is_closed());
    }
}
