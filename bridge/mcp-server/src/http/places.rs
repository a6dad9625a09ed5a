//! How much each client may have under way.
//!
//! Owns the places, by client: of messages that are being read, and of requests and streams that are open. They are told
//! apart so that a client whose requests are all open can still cancel one. Together they are well below the number of
//! connections: no client takes the others' room.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hyper::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::body::Share;
use super::connections::{ServingGuard, Standing};
use super::reply::Refusal;

/// The most messages of a client that are read at once.
const READ: usize = 32;

/// The most requests and streams of a client that are open at once.
const OPEN: usize = 64;

/// The places by client.
#[derive(Debug, Default)]
pub struct Places(Mutex<HashMap<String, OfClient>>);

#[derive(Debug, Clone)]
struct OfClient {
    read: Arc<Semaphore>,
    open: Arc<Semaphore>,
    share: Share,
}

/// A place, until it is dropped; its connection stays as long.
#[derive(Debug)]
pub struct Place {
    _permit: OwnedSemaphorePermit,
    _served: ServingGuard,
}

impl Places {
    /// A place for a message to read.
    pub fn read(&self, client: &str, connection: &Arc<Standing>) -> Result<Place, Refusal> {
        take(self.of(client).read, connection)
    }

    /// A place for a request or a stream.
    pub fn open(&self, client: &str, connection: &Arc<Standing>) -> Result<Place, Refusal> {
        take(self.of(client).open, connection)
    }

    /// Its share of the room for bodies.
    pub fn share(&self, client: &str) -> Share {
        self.of(client).share
    }

    fn of(&self, client: &str) -> OfClient {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || OfClient {
            read: Arc::new(Semaphore::new(READ)),
            open: Arc::new(Semaphore::new(OPEN)),
            share: Share::default(),
        };
        places.entry(client.to_owned()).or_insert_with(new).clone()
    }
}

fn take(places: Arc<Semaphore>, connection: &Arc<Standing>) -> Result<Place, Refusal> {
    let many =
        |_| Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many requests are open; wait for answers");
    let permit = places.try_acquire_owned().map_err(many)?;
    Ok(Place { _permit: permit, _served: connection.serve() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_so_many_places_of_each_kind_and_takes_none_of_others() {
        let (places, connection) = (Places::default(), Arc::<Standing>::default());
        let mut open: Vec<_> = (0..OPEN).map(|_| places.open("a", &connection).unwrap()).collect();
        assert!(places.open("a", &connection).is_err());
        assert!(places.read("a", &connection).is_ok(), "it can still cancel");
        assert!(places.open("b", &connection).is_ok());
        drop(open.pop());
        assert!(places.open("a", &connection).is_ok());
    }
}
