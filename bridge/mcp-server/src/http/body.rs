//! Reads bodies, each into a line.
//!
//! Owns how long one may be, and how much memory all of a client, and all together, take until their machines
//! have read them. A byte is kept only once there is room for it: what is claimed takes none.

use std::pin::Pin;
use std::sync::Arc;

use harbor_policy::limits::MAX_LINE;
use hyper::StatusCode;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::reply::Refusal;

/// The bytes of all bodies that are under way: four of the longest.
const IN_ALL: usize = 256 * 1024 * 1024;

/// The most bytes of one client's bodies: whatever it does, others have the rest.
const OF_CLIENT: usize = IN_ALL / 2;

/// The room for bodies.
#[derive(Debug, Clone)]
pub struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(IN_ALL)))
    }
}

/// A client's share of it.
#[derive(Debug, Clone)]
pub struct Share(Arc<Semaphore>);

impl Default for Share {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(OF_CLIENT)))
    }
}

/// Room that is taken, until it is dropped.
#[derive(Debug)]
pub struct Taken {
    all: OwnedSemaphorePermit,
    share: OwnedSemaphorePermit,
}

/// A body, and the room that it takes.
#[derive(Debug)]
pub struct Body {
    pub line: Vec<u8>,
    pub room: Taken,
}

impl Room {
    /// The body as a line. Line ends in it stand between JSON's tokens, or it is no JSON.
    pub async fn read(&self, share: &Share, mut incoming: Incoming) -> Result<Body, Refusal> {
        if incoming.size_hint().lower() > MAX_LINE {
            return Err(long());
        }
        let mut body = Body { line: Vec::new(), room: self.take(share, 0)? };
        while let Some(frame) =
            std::future::poll_fn(|context| Pin::new(&mut incoming).poll_frame(context)).await
        {
            let cut = |_| Refusal::new(StatusCode::BAD_REQUEST, "the body ended early");
            let Ok(piece) = frame.map_err(cut)?.into_data() else { continue };
            self.add(share, &mut body, &piece)?;
        }
        Ok(body)
    }

    fn add(&self, share: &Share, body: &mut Body, piece: &[u8]) -> Result<(), Refusal> {
        if (body.line.len() + piece.len()) as u64 > MAX_LINE {
            return Err(long());
        }
        let Taken { all, share } = self.take(share, piece.len())?;
        body.room.all.merge(all);
        body.room.share.merge(share);
        body.line.extend(piece.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
        Ok(())
    }

    fn take(&self, share: &Share, bytes: usize) -> Result<Taken, Refusal> {
        let full =
            || Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too many bytes are being received; try again");
        let many = |_| {
            Refusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too many bytes of this client are being received; wait for answers",
            )
        };
        let bytes = u32::try_from(bytes).map_err(|_| full())?;
        let share = Arc::clone(&share.0).try_acquire_many_owned(bytes).map_err(many)?;
        let all = Arc::clone(&self.0).try_acquire_many_owned(bytes).map_err(|_| full())?;
        Ok(Taken { all, share })
    }
}

fn long() -> Refusal {
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is longer than 64 MiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_share_their_room_and_give_it_back() {
        let room = Room(Arc::new(Semaphore::new(10)));
        let share = |bytes| Share(Arc::new(Semaphore::new(bytes)));
        let (own, others) = (share(7), share(7));
        let new = |share| Body { line: Vec::new(), room: room.take(share, 0).unwrap() };
        let (mut one, mut two) = (new(&own), new(&others));
        assert!(room.add(&own, &mut one, b"12\n4").is_ok() && room.add(&own, &mut one, b"56").is_ok());
        assert_eq!(one.line, b"12 456");
        assert!(room.add(&own, &mut new(&own), b"12").is_err(), "more than its share");
        assert!(
            room.add(&others, &mut two, b"12345").is_err() && room.add(&others, &mut two, b"1234").is_ok()
        );
        // The line may go on to its machine; its room is taken until that has read it.
        let Body { line, room: taken } = one;
        drop(line);
        assert!(room.add(&others, &mut two, b"5").is_err());
        drop(taken);
        assert!(room.add(&others, &mut two, b"5").is_ok());
        assert!(room.add(&own, &mut new(&own), b"12345").is_ok(), "its share is whole again");
    }
}
