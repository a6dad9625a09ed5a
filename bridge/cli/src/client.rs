//! The blocking conversation with the bridge: one request at a time, and the pushes that one of them began.
//!
//! Owns the connection and the time limits. Must never retry: a tool call may have done its work already.

mod alongside;

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use harbor_home::Paths;
use harbor_home::dial::{self, DIAL_LIMIT, DialError, Role};
use harbor_ipc_proto::CLIENT_PROTOCOL;
use harbor_ipc_proto::client::answer::{Heard, request_frame};
use harbor_ipc_proto::client::{Cancel, Chunk, Hello, HelloResult, Progress};
use harbor_ipc_proto::field::{Ask, Message};
use harbor_ipc_proto::frame::{FrameDecoder, MAX_CLIENT_FRAME, Popped};

pub use self::alongside::Alongside;
use harbor_client::errors::Failure;
pub use harbor_client::reply::QUICK;
use harbor_client::reply::{Answer, Pieces};

/// The id of a request that another thread sends; those of the first one are numbers.
const CANCEL_ID: &str = "cancel";

const NO_OBJECT: Failure = Failure::Garbled("a frame that is not a JSON object");

/// A connection to the bridge.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    decoder: FrameDecoder,
    next_id: u64,
    /// Held while a frame is written, since another frame must not be written in the middle of it.
    writing: Arc<Mutex<()>>,
    /// The type of the pushes that are followed; all others are dropped.
    followed: Option<&'static str>,
    /// Pushes that came while an answer was waited for.
    pushes: VecDeque<Vec<u8>>,
    /// The bridge's description of itself, once it was greeted.
    pub bridge: Option<HelloResult>,
}

/// Cancels a request from another thread than the one that waits for its answer.
#[derive(Debug)]
pub struct Canceller {
    stream: UnixStream,
    writing: Arc<Mutex<()>>,
}

impl Canceller {
    /// Asks the bridge to end the request; the request's own answer says what became of it.
    pub fn cancel(&mut self, target: &str) -> io::Result<()> {
        self.say(&Cancel { target: target.to_owned() })
    }

    /// Sends a request whose answer is not waited for.
    pub fn say<A: Ask>(&mut self, ask: &A) -> io::Result<()> {
        let frame = request_frame(CANCEL_ID, ask);
        let _held = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.stream.write_all(&frame)
    }
}

/// The answer to one of several requests, or its failure.
pub type Asked<A> = Result<Answer<<A as Ask>::Reply>, Failure>;

/// A request on its way, with the facts that tell its answer and its errors from other messages.
struct SentRequest<'a> {
    id: String,
    tag: &'a str,
    server: Option<&'a str>,
    profile: Option<&'a str>,
}

/// The meaning of a frame of the bridge for the open request.
enum Meaning {
    Answer(Vec<u8>),
    Progress(Vec<u8>),
    Push(Vec<u8>),
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
        Self {
            stream,
            decoder,
            next_id: 1,
            writing: Arc::default(),
            followed: None,
            pushes: VecDeque::new(),
            bridge: None,
        }
    }

    fn greet(&mut self) -> Result<(), Failure> {
        let hello = Hello {
            protocol: Some(CLIENT_PROTOCOL),
            client: Some("harbor".into()),
            chunks: Some(true),
            max_frame: Some(MAX_CLIENT_FRAME as u64),
            browser_session: None,
        };
        self.bridge = Some(self.ask(&hello, QUICK)?.into_value());
        Ok(())
    }

    /// Asks, and waits for the answer.
    pub fn ask<A: Ask>(&mut self, ask: &A, limit: Duration) -> Result<Answer<A::Reply>, Failure> {
        self.ask_with_progress(ask, limit, &mut |_| {})
    }

    /// Asks, and hands on the progress until the answer comes.
    pub fn ask_with_progress<A: Ask>(
        &mut self,
        ask: &A,
        limit: Duration,
        on_progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer<A::Reply>, Failure> {
        let id = self.next_id();
        let frame = request_frame(&id, ask);
        let sent = SentRequest { id, tag: A::TAG, server: ask.server(), profile: ask.profile() };
        let answer = self.exchange(&sent, &frame, limit, &mut |frame| {
            on_progress(&*Answer::<Progress>::parse(frame)?);
            Ok(())
        })?;
        Answer::parse(answer)
    }

    /// Asks, and hands on the pushes of the type `P` that belong to the request until its answer comes.
    pub fn ask_with_pushes<P: Message, A: Ask>(
        &mut self,
        ask: &A,
        limit: Duration,
        on_push: &mut dyn FnMut(P, &mut Self) -> Result<(), Failure>,
    ) -> Result<Answer<A::Reply>, Failure> {
        let until = Instant::now() + limit;
        let id = self.next_id();
        self.write(&request_frame(&id, ask), limit)?;
        let sent = SentRequest { id, tag: A::TAG, server: ask.server(), profile: ask.profile() };
        let mut pieces = Pieces::default();
        loop {
            let frame = self.read_frame(Some(until)).map_err(|error| lost(&error, limit))?;
            let heard = Heard::parse(&frame).map_err(|_| NO_OBJECT)?;
            if heard.is::<P>() && heard.request_id == sent.id {
                on_push(heard.read()?, self)?;
                continue;
            }
            if let Meaning::Answer(answer) = sent.hear(frame, &mut pieces)? {
                return Answer::parse(answer);
            }
        }
    }

    /// The id of the request that is sent next.
    pub fn coming_id(&self) -> String {
        self.next_id.to_string()
    }

    /// Sends a request whose answer is not waited for.
    pub fn say<A: Ask>(&mut self, ask: &A) -> Result<(), Failure> {
        let id = self.next_id();
        self.write(&request_frame(&id, ask), QUICK)
    }

    /// Another hand on the same connection, which can take a request back while the first one waits.
    pub fn canceller(&self) -> io::Result<Canceller> {
        Ok(Canceller { stream: self.stream.try_clone()?, writing: self.writing.clone() })
    }

    /// Asks several things at once, and waits for all answers.
    pub fn ask_each<A: Ask>(&mut self, asks: &[A], limit: Duration) -> Result<Vec<Asked<A>>, Failure> {
        let until = Instant::now() + limit;
        let mut open: Vec<_> = asks.iter().map(|ask| (self.next_id(), ask, Pieces::default())).collect();
        for (id, ask, _) in &open {
            self.write(&request_frame(id, *ask), limit)?;
        }
        let mut answers: Vec<Option<Asked<A>>> = asks.iter().map(|_| None).collect();
        while answers.iter().any(Option::is_none) {
            let frame = self.read_frame(Some(until)).map_err(|error| lost(&error, limit))?;
            let heard = Heard::parse(&frame).map_err(|_| NO_OBJECT)?.request_id;
            let Some(at) = open.iter().position(|(id, ..)| *id == heard) else {
                self.keep(frame)?;
                continue;
            };
            let (id, ask, pieces) = &mut open[at];
            let sent =
                SentRequest { id: id.clone(), tag: A::TAG, server: ask.server(), profile: ask.profile() };
            match sent.hear(frame, pieces) {
                Ok(Meaning::Answer(answer)) => answers[at] = Some(Answer::parse(answer)),
                Ok(Meaning::Progress(_) | Meaning::Push(_) | Meaning::Piece) => {}
                Err(failure) => answers[at] = Some(Err(failure)),
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// Asks for something that begins pushes of the type `P`, which [`Self::next`] returns.
    pub fn follow<P: Message, A: Ask>(&mut self, ask: &A) -> Result<Answer<A::Reply>, Failure> {
        // From before the request on: the first push may be here before the answer is.
        self.followed = Some(P::TAG);
        self.ask(ask, QUICK)
    }

    /// Waits for the next push of the type `P`, which is followed, as long as it takes.
    pub fn next<P: Message>(&mut self) -> Result<Answer<P>, Failure> {
        Answer::parse(self.next_frame()?)
    }

    fn next_id(&mut self) -> String {
        let id = self.next_id.to_string();
        self.next_id += 1;
        id
    }

    /// Sends a request, and waits for the frame of its answer.
    fn exchange(
        &mut self,
        sent: &SentRequest<'_>,
        frame: &[u8],
        limit: Duration,
        on_progress: &mut dyn FnMut(Vec<u8>) -> Result<(), Failure>,
    ) -> Result<Vec<u8>, Failure> {
        let until = Instant::now() + limit;
        self.write(frame, limit)?;
        let mut pieces = Pieces::default();
        loop {
            let frame = self.read_frame(Some(until)).map_err(|error| lost(&error, limit))?;
            match sent.hear(frame, &mut pieces)? {
                Meaning::Answer(answer) => return Ok(answer),
                Meaning::Progress(progress) => on_progress(progress)?,
                Meaning::Push(push) => self.keep(push)?,
                Meaning::Piece => {}
            }
        }
    }

    fn next_frame(&mut self) -> Result<Vec<u8>, Failure> {
        loop {
            if let Some(push) = self.pushes.pop_front() {
                return Ok(push);
            }
            let frame = self.read_frame(None).map_err(|_| Failure::Ended)?;
            self.keep(frame)?;
        }
    }

    fn keep(&mut self, push: Vec<u8>) -> Result<(), Failure> {
        let tag = Heard::parse(&push).map_err(|_| NO_OBJECT)?.tag;
        if self.followed.is_some_and(|followed| tag == followed) {
            self.pushes.push_back(push);
        }
        Ok(())
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
        let _held = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = self.stream.set_write_timeout(Some(limit)).and_then(|()| self.stream.write_all(frame));
        // Half a frame is no request.
        written.map_err(|_| Failure::Unsent)
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

impl SentRequest<'_> {
    fn hear(&self, frame: Vec<u8>, pieces: &mut Pieces) -> Result<Meaning, Failure> {
        let heard = Heard::parse(&frame).map_err(|_| NO_OBJECT)?;
        let mine = heard.request_id == self.id;
        // An error without an id is about a frame that the bridge could not read; only ours can be that.
        if let Some(refusal) = heard.refusal().filter(|_| mine || heard.request_id.is_empty()) {
            return Err(Failure::refusal(refusal?, self.server, self.profile));
        }
        if mine && heard.is::<Chunk>() {
            return match pieces.add(&heard.read()?)? {
                Some(whole) => self.hear(whole, &mut Pieces::default()),
                None => Ok(Meaning::Piece),
            };
        }
        let (is_progress, is_answer) = (heard.is::<Progress>(), heard.answers_to(self.tag));
        match (mine, is_progress, is_answer) {
            (true, true, _) => Ok(Meaning::Progress(frame)),
            (true, _, true) => Ok(Meaning::Answer(frame)),
            (true, ..) => Err(Failure::Garbled("an answer of the wrong type")),
            (false, ..) => Ok(Meaning::Push(frame)),
        }
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
    use harbor_ipc_proto::client::{Ping, ToolsChanged};
    use std::thread;

    const PONG: &str = r#"{"type":"ping_result","request_id":"1","timestamp":5}"#;

    /// Asks a bridge that answers with these frames. Returns the answer and the progress.
    fn ask(frames: &[&str]) -> (Result<String, Failure>, Vec<Option<String>>) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let answers = vec![frames.join("\n")];
        let bridge = thread::spawn(move || serve(theirs, &answers));
        let mut progress = Vec::new();
        let answer = Client::over(ours)
            .ask_with_progress(&Ping { echo: None }, QUICK, &mut |push| progress.push(push.message.clone()));
        bridge.join().unwrap();
        (answer.map(|answer| answer.to_json()), progress)
    }

    #[test]
    fn only_the_answer_to_the_request_is_taken() {
        let other = PONG.replace("\"1\"", "\"0\"");
        let push = r#"{"progress":1,"request_id":"1","type":"progress","message":"half"}"#;
        let foreign = push.replace("\"1\"", "\"9\"");
        let (answer, progress) = ask(&[&other, r#"{"type":"resource_updated"}"#, push, &foreign, PONG]);
        assert_eq!(
            (answer.unwrap().as_str(), progress),
            ("{\"timestamp\":5}", vec![Some("half".to_owned())])
        );
    }

    #[test]
    fn pushes_that_are_followed_are_kept_in_their_order_until_the_bridge_ends() {
        let push = |n: u32| format!(r#"{{"type":"tools_changed","server_id":"{n}"}}"#);
        let answers =
            vec![[&push(1), r#"{"type":"other"}"#, PONG, r#"{"type":"other"}"#, &push(2)].join("\n")];
        let (ours, theirs) = UnixStream::pair().unwrap();
        let bridge = thread::spawn(move || serve(theirs, &answers));
        let mut client = Client::over(ours);
        let answer = client.follow::<ToolsChanged, _>(&Ping { echo: None }).unwrap();
        assert_eq!((answer.timestamp, answer.to_json().as_str()), (5, "{\"timestamp\":5}"));
        for server in ["1", "2"] {
            assert_eq!(client.next::<ToolsChanged>().unwrap().server_id.as_deref(), Some(server));
        }
        assert!(matches!(client.next::<ToolsChanged>(), Err(Failure::Ended)));
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
        let Err(Failure::Unreadable(wrong)) = ask(&[&PONG.replace('5', "\"secret\"")]).0 else {
            panic!("read")
        };
        assert_eq!((wrong.field, wrong.found), ("timestamp", "a string"));
    }

    #[test]
    fn a_bridge_that_hangs_is_given_up() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let failure = Client::over(ours).ask(&Ping { echo: None }, Duration::from_millis(20)).unwrap_err();
        assert!(matches!(failure, Failure::Slow(0)));
    }
}
