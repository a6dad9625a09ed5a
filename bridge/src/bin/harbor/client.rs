//! The blocking conversation with the bridge: one request at a time, and the pushes that one of them began.
//!
//! Owns the connection and the time limits. Must never retry: a tool call may have done its work already.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use harbor_bridge::config::Paths;
use harbor_bridge::front::dial::{self, DIAL_LIMIT, DialError, Role};
use harbor_ipc_proto::CLIENT_PROTOCOL;
use harbor_ipc_proto::frame::{FrameDecoder, MAX_CLIENT_FRAME, Popped};
use zeroize::Zeroizing;

use crate::ask::Ask;
use crate::errors::Failure;
use crate::reply::{Members, Pieces};

/// The limit of requests that do not wait for a server.
pub const QUICK: Duration = Duration::from_secs(30);

const NO_OBJECT: Failure = Failure::Garbled("a frame that is no JSON object");

/// A connection to the bridge.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    decoder: FrameDecoder,
    next_id: u64,
    /// The type of the pushes that are followed; all others are dropped.
    followed: Option<&'static str>,
    /// Those that came while an answer was waited for.
    pushes: VecDeque<Members>,
    /// What the bridge said about itself.
    pub bridge: Members,
}

/// What a frame of the bridge means to the open request.
enum Heard {
    Answer(Members),
    Progress(Members),
    Push(Members),
    /// A piece of something, with more to come.
    Piece,
}

impl Client {
    /// Finds or starts the bridge, and greets it.
    pub fn connect(paths: &Paths) -> Result<Self, Failure> {
        let mut client = Self::over(dial::connect(paths, &Role::Cli, DIAL_LIMIT)?);
        client.greet()?;
        Ok(client)
    }

    /// Connects to the bridge if one runs.
    pub fn connect_running(paths: &Paths) -> Result<Option<Self>, DialError> {
        Ok(dial::connect_running(paths, &Role::Cli, DIAL_LIMIT)?.map(Self::over))
    }

    /// A client on an attached stream.
    pub fn over(stream: UnixStream) -> Self {
        let decoder = FrameDecoder::new(MAX_CLIENT_FRAME);
        let (followed, pushes, bridge) = (None, VecDeque::new(), Members::default());
        Self { stream, decoder, next_id: 1, followed, pushes, bridge }
    }

    fn greet(&mut self) -> Result<(), Failure> {
        let hello = Ask::new("hello")
            .number("protocol", CLIENT_PROTOCOL.into())
            .text("client", "harbor")
            .flag("chunks", true)
            .number("max_frame", MAX_CLIENT_FRAME as u64);
        self.bridge = self.request(&hello, QUICK)?;
        Ok(())
    }

    /// Asks, and waits for the answer.
    pub fn request(&mut self, ask: &Ask, limit: Duration) -> Result<Members, Failure> {
        self.request_with_progress(ask, limit, &mut |_| {})
    }

    /// Asks, and hands on the progress until the answer comes.
    pub fn request_with_progress(
        &mut self,
        ask: &Ask,
        limit: Duration,
        on_progress: &mut dyn FnMut(&Members),
    ) -> Result<Members, Failure> {
        let until = Instant::now() + limit;
        let id = self.next_id.to_string();
        self.next_id += 1;
        // It may have a secret in it.
        self.write(&Zeroizing::new(ask.to_frame(&id)), limit)?;
        let mut pieces = Pieces::default();
        loop {
            let frame = self.read_frame(Some(until)).map_err(|error| lost(&error, limit))?;
            match hear(frame, ask, &id, &mut pieces)? {
                Heard::Answer(answer) => return Ok(answer),
                Heard::Progress(progress) => on_progress(&progress),
                Heard::Push(push) => self.keep(push),
                Heard::Piece => {}
            }
        }
    }

    /// Asks for something that begins pushes of the type `tag`; [`Self::next_push`] gives them.
    pub fn follow(&mut self, ask: &Ask, tag: &'static str) -> Result<Members, Failure> {
        // From before the request on: the first push may be here before the answer is.
        self.followed = Some(tag);
        self.request(ask, QUICK)
    }

    /// Waits for the next push of the type that is followed, as long as it takes.
    pub fn next_push(&mut self) -> Result<Members, Failure> {
        loop {
            if let Some(push) = self.pushes.pop_front() {
                return Ok(push);
            }
            let frame = self.read_frame(None).map_err(|_| Failure::Ended)?;
            self.keep(Members::parse(&frame).ok_or(NO_OBJECT)?);
        }
    }

    fn keep(&mut self, push: Members) {
        if self.followed.is_some_and(|tag| push.text("type") == tag) {
            self.pushes.push_back(push);
        }
    }

    /// Waits until the bridge closes the connection; whether it did.
    pub fn wait_for_end(&mut self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        loop {
            match self.read_frame(Some(until)) {
                Ok(_) => {}
                Err(error) => return !is_timeout(&error),
            }
        }
    }

    fn write(&mut self, frame: &[u8], limit: Duration) -> Result<(), Failure> {
        let written = self.stream.set_write_timeout(Some(limit)).and_then(|()| self.stream.write_all(frame));
        written.map_err(|error| lost(&error, limit))
    }

    /// The next frame; without `until` it may take for ever.
    fn read_frame(&mut self, until: Option<Instant>) -> io::Result<Vec<u8>> {
        loop {
            match self.decoder.pop() {
                Some(Popped::Frame(frame)) => return Ok(frame.to_vec()),
                // The bridge keeps to our `max_frame`; nothing that we wait for is that large.
                Some(Popped::Oversize(_)) => {}
                None => self.read_some(until)?,
            }
        }
    }

    fn read_some(&mut self, until: Option<Instant>) -> io::Result<()> {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(left)?;
        match self.stream.read(self.decoder.space()) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                self.decoder.filled(n);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn hear(frame: Vec<u8>, ask: &Ask, id: &str, pieces: &mut Pieces) -> Result<Heard, Failure> {
    let mut message = Members::parse(&frame).ok_or(NO_OBJECT)?;
    drop(frame);
    let (tag, to) = (message.text("type"), message.text("request_id"));
    let mine = to == id;
    match tag.as_str() {
        // An error without an id is about a frame that the bridge could not read; only ours can be that.
        "error" if mine || to.is_empty() => {
            let error = Members::parse(message.raw("error").unwrap_or_default().as_bytes());
            Err(error.unwrap_or_default().into_refusal(ask))
        }
        "chunk" if mine => match pieces.add(&message)? {
            Some(whole) => hear(whole, ask, id, &mut Pieces::default()),
            None => Ok(Heard::Piece),
        },
        "progress" if mine => Ok(Heard::Progress(message)),
        tag if mine && tag.strip_suffix("_result") == Some(ask.tag) => {
            message.remove("type");
            message.remove("request_id");
            Ok(Heard::Answer(message))
        }
        _ if mine => Err(Failure::Garbled("an answer of the wrong type")),
        _ => Ok(Heard::Push(message)),
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn lost(error: &io::Error, limit: Duration) -> Failure {
    if is_timeout(error) { Failure::Slow(limit.as_secs()) } else { Failure::Lost }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::rig::serve;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use std::thread;

    const PONG: &str = r#"{"type":"ping_result","request_id":"1","timestamp":5}"#;

    /// Asks a bridge that answers with these frames, and gives the answer and the progress.
    fn ask(frames: &[&str]) -> (Result<String, Failure>, Vec<String>) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let answers = vec![frames.join("\n")];
        let bridge = thread::spawn(move || serve(theirs, &answers));
        let mut progress = Vec::new();
        let answer = Client::over(ours)
            .request_with_progress(&Ask::new("ping"), QUICK, &mut |push| progress.push(push.to_json()));
        bridge.join().unwrap();
        (answer.map(|answer| answer.to_json()), progress)
    }

    #[test]
    fn only_the_answer_to_the_request_is_taken() {
        let other = PONG.replace("\"1\"", "\"0\"");
        let push = r#"{"progress":1,"request_id":"1","type":"progress"}"#;
        let foreign = push.replace("\"1\"", "\"9\"");
        let (answer, progress) = ask(&[&other, r#"{"type":"resource_updated"}"#, push, &foreign, PONG]);
        assert_eq!((answer.unwrap().as_str(), progress), ("{\"timestamp\":5}", vec![push.to_owned()]));
    }

    #[test]
    fn pushes_that_are_followed_are_kept_in_their_order_until_the_bridge_ends() {
        let push = |n: u32| format!(r#"{{"n":{n},"type":"server_event"}}"#);
        let answers =
            vec![[&push(1), r#"{"type":"other"}"#, PONG, r#"{"type":"other"}"#, &push(2)].join("\n")];
        let (ours, theirs) = UnixStream::pair().unwrap();
        let bridge = thread::spawn(move || serve(theirs, &answers));
        let mut client = Client::over(ours);
        assert_eq!(client.follow(&Ask::new("ping"), "server_event").unwrap().to_json(), "{\"timestamp\":5}");
        assert_eq!(client.next_push().unwrap().to_json(), push(1));
        assert_eq!(client.next_push().unwrap().to_json(), push(2));
        assert!(matches!(client.next_push(), Err(Failure::Ended)));
        bridge.join().unwrap();
    }

    #[test]
    fn an_answer_in_pieces_is_put_together() {
        let piece = |seq: usize, last: bool, text: &str| {
            let data = STANDARD.encode(text);
            format!(r#"{{"type":"chunk","request_id":"1","seq":{seq},"last":{last},"data":"{data}"}}"#)
        };
        let (head, tail) = PONG.split_at(20);
        let (answer, _) = ask(&[&piece(0, false, head), &piece(1, true, tail)]);
        assert_eq!(answer.unwrap(), "{\"timestamp\":5}");
        let (answer, _) = ask(&[&piece(1, true, PONG)]);
        assert!(matches!(answer, Err(Failure::Garbled(_))));
    }

    #[test]
    fn errors_are_answers_even_without_an_id() {
        for id in ["1", ""] {
            let frame = format!(
                r#"{{"type":"error","request_id":"{id}","error":{{"code":"not_found","message":"no","details":{{"a":1}}}}}}"#
            );
            let Err(Failure::Refused(refusal)) = ask(&[&frame]).0 else { panic!("no refusal") };
            assert_eq!((refusal.code.as_str(), refusal.message.as_str()), ("not_found", "no"));
            assert_eq!(refusal.details.unwrap(), "{\"a\":1}");
        }
    }

    #[test]
    fn what_is_not_the_protocol_is_said() {
        assert!(matches!(ask(&["7"]).0, Err(Failure::Garbled(_))));
        assert!(matches!(ask(&[&PONG.replace("ping_", "pong_")]).0, Err(Failure::Garbled(_))));
        assert!(matches!(ask(&[]).0, Err(Failure::Lost)));
    }

    #[test]
    fn a_bridge_that_hangs_is_given_up() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let failure = Client::over(ours).request(&Ask::new("ping"), Duration::from_millis(20)).unwrap_err();
        assert!(matches!(failure, Failure::Slow(0)));
    }
}
