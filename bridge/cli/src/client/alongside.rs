//! Waiting for an answer of the bridge and for a person at the same time.
//!
//! ```text
//!  socket ─┬─► a push ──────► on_push
//!          └─► the answer ──► the end
//!  input ───► something is there, while it is asked for ─► on_input
//! ```
//!
//! Owns which of them came first. Must never read what the person types, nor wait for it where nothing was asked.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;

use harbor_ipc_proto::client::AskPush;
use harbor_ipc_proto::client::answer::{Heard, request_frame};
use harbor_ipc_proto::field::{Ask, Message};
use harbor_ipc_proto::frame::Popped;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{Client, Meaning, NO_OBJECT, QUICK, SentRequest};
use harbor_client::errors::Failure;
use harbor_client::reply::{Answer, Pieces};

/// The work that is done while a request is on its way.
pub trait Alongside<P> {
    /// The input of the person; absent while nothing is asked.
    fn input(&self) -> Option<BorrowedFd<'_>>;

    /// A push has come.
    fn on_push(&mut self, push: P, client: &mut Client) -> Result<(), Failure>;

    /// A server asks something about the request.
    fn on_ask(&mut self, ask: AskPush, client: &mut Client) -> Result<(), Failure>;

    /// Handles something to read at [`Self::input`].
    fn on_input(&mut self, client: &mut Client) -> Result<(), Failure>;
}

impl Client {
    /// Asks; until the answer comes, as long as it takes, hands on all pushes of the type `P`, and what a person types.
    pub fn ask_alongside<P: Message, A: Ask>(
        &mut self,
        ask: &A,
        person: &mut dyn Alongside<P>,
    ) -> Result<Answer<A::Reply>, Failure> {
        let id = self.next_id();
        self.write(&request_frame(&id, ask), QUICK)?;
        let sent = SentRequest { id, tag: A::TAG, server: ask.server(), profile: ask.profile() };
        let mut pieces = Pieces::default();
        loop {
            let Some(frame) = self.frame_or_input(person.input()).map_err(|_| Failure::Lost)? else {
                person.on_input(self)?;
                continue;
            };
            let heard = Heard::parse(&frame).map_err(|_| NO_OBJECT)?;
            if heard.is::<P>() {
                person.on_push(heard.read()?, self)?;
                continue;
            }
            if heard.is::<AskPush>() {
                person.on_ask(heard.read()?, self)?;
                continue;
            }
            if let Meaning::Answer(answer) = sent.hear(frame, &mut pieces)? {
                return Answer::parse(answer);
            }
        }
    }

    /// The next frame, or `None` when there is something at `input` first.
    fn frame_or_input(&mut self, input: Option<BorrowedFd<'_>>) -> io::Result<Option<Vec<u8>>> {
        loop {
            match self.decoder.pop() {
                Some(Popped::Frame(frame)) => return Ok(Some(frame.to_vec())),
                Some(Popped::Oversize(_)) => {}
                None if is_first(&self.stream, input)? => self.read_some(None)?,
                None => return Ok(None),
            }
        }
    }
}

/// Waits until the bridge or the input has something. True if the bridge has: its news may change the question.
fn is_first(bridge: &UnixStream, input: Option<BorrowedFd<'_>>) -> io::Result<bool> {
    let Some(input) = input else { return Ok(true) };
    let mut both = [PollFd::new(bridge.as_fd(), PollFlags::POLLIN), PollFd::new(input, PollFlags::POLLIN)];
    loop {
        match poll(&mut both, PollTimeout::NONE) {
            Ok(_) => return Ok(both[0].any() != Some(false)),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}
