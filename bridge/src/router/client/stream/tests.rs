//! A double that streams a hundred thousand pushes, to clients that read fast, slowly, and for a while not at all.

use harbor_ipc_proto::client::PingResult;
use harbor_ipc_proto::client::envelope::Envelope;
use harbor_ipc_proto::field::{self, FieldError, PutFields, pair_room, put_pair};
use harbor_ipc_proto::frame::{FrameDecoder, Popped};
use harbor_ipc_proto::json::Fields;
use harbor_policy::access::Principal;
use harbor_policy::credit::AT_FIRST;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;

use super::*;

const PUSHES: u64 = 100_000;

/// A push that says nothing but its number.
struct Counted {
    request_id: String,
    seq: u64,
}

impl PutFields for Counted {
    fn put_fields(&self, out: &mut Vec<u8>, first: bool) -> bool {
        let first = put_pair(out, first, "request_id", &self.request_id);
        put_pair(out, first, "seq", &self.seq)
    }

    fn fields_room(&self) -> usize {
        pair_room("request_id", &self.request_id) + pair_room("seq", &self.seq)
    }
}

impl Message for Counted {
    const TAG: &'static str = "counted";

    fn read(fields: &Fields<'_>) -> Result<Self, FieldError> {
        let request_id = field::read("request_id", fields.get("request_id"))?;
        Ok(Self { request_id, seq: field::read("seq", fields.get("seq"))? })
    }
}

/// The client's end of a connection.
struct Peer {
    stream: UnixStream,
    decoder: FrameDecoder,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    Push(u64),
    /// The request's one answer: its type.
    End(String),
}

impl Peer {
    async fn next(&mut self) -> Came {
        loop {
            if let Some(Popped::Frame(frame)) = self.decoder.pop() {
                let fields = Fields::parse(frame).unwrap();
                let tag: String = field::read("type", fields.get("type")).unwrap();
                return match tag == Counted::TAG {
                    true => Came::Push(Counted::read(&fields).unwrap().seq),
                    false => Came::End(tag),
                };
            }
            let read = self.stream.read(self.decoder.space()).await.unwrap();
            assert!(read > 0, "the connection has ended before the answer");
            self.decoder.filled(read);
        }
    }

    /// Reads all pushes, each number once and in its order, and the answer behind them.
    async fn read_all(&mut self, mut each: impl FnMut(u64)) {
        for seq in 0..PUSHES {
            assert_eq!(self.next().await, Came::Push(seq));
            each(seq);
        }
        assert_eq!(self.next().await, Came::End("ping_result".into()));
    }
}

/// A client whose request `r` streams, and its other end.
fn streaming(counts: bool) -> (Rc<Client>, Peer) {
    let client = Client::new(Principal::Owner);
    let (peer, mine) = std::os::unix::net::UnixStream::pair().unwrap();
    let (_, writer) = harbor_child::socket::split(mine).unwrap();
    peer.set_nonblocking(true).unwrap();
    let peer = Peer { stream: UnixStream::from_std(peer).unwrap(), decoder: FrameDecoder::new(1 << 20) };
    let driven = client.clone();
    tokio::task::spawn_local(async move { driven.outbox.drive(&writer).await });
    let id: Rc<str> = "r".into();
    assert!(client.open(&id, Envelope::Typed("r".into())));
    client.spawn(&id, double(client.clone(), id.clone(), counts));
    (client, peer)
}

async fn double(client: Rc<Client>, id: Rc<str>, counts: bool) {
    let stream = client.stream(&id, counts).unwrap();
    for _ in 0..PUSHES {
        stream.push(|id, seq| Counted { request_id: id.to_owned(), seq }).await;
    }
    client.finish(&id, "ping", Ok(Box::new(PingResult { echo: None, timestamp: 1 })));
}

/// Has everything that can go on without this task go on.
async fn settle() {
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "local")]
async fn a_fast_reader_gets_every_push_and_one_end() {
    let (client, mut peer) = streaming(false);
    peer.read_all(|_| ()).await;
    assert_eq!((client.open_requests(), client.outbox.pending()), (0, 0));
    assert!(!client.add_credit("r", 1), "the stream is over");
}

#[tokio::test(flavor = "local")]
async fn a_slow_reader_gets_what_it_gave_credit_for_and_no_more() {
    let (client, mut peer) = streaming(true);
    settle().await;
    let first = client.outbox.held();
    settle().await;
    assert_eq!(client.outbox.held(), first, "it waits for credit");
    let given = Cell::new(u64::from(AT_FIRST));
    peer.read_all(|seq| {
        assert!(seq < given.get(), "push {seq} came before there was credit for it");
        if seq + 1 == given.get() {
            assert!(client.add_credit("r", 7));
            given.set(given.get() + 7);
        }
    })
    .await;
}

#[tokio::test(flavor = "local")]
async fn a_reader_that_pauses_fills_no_memory_and_loses_nothing() {
    let (client, mut peer) = streaming(false);
    settle().await;
    // A mebibyte may wait; 5 would, were it not waited for the reader.
    let most = 2 << 20;
    assert!(client.outbox.held() < most, "{} bytes wait", client.outbox.held());
    peer.read_all(|_| assert!(client.outbox.held() < most)).await;
}

#[tokio::test(flavor = "local")]
async fn a_stream_that_is_cancelled_has_one_end_and_no_push_behind_it() {
    let (client, mut peer) = streaming(true);
    for seq in 0..10 {
        assert_eq!(peer.next().await, Came::Push(seq));
    }
    assert!(client.cancel("r") && !client.cancel("r"));
    assert!(!client.add_credit("r", 1000));
    let mut came = peer.next().await;
    while let Came::Push(seq) = came {
        assert!(seq < u64::from(AT_FIRST));
        came = peer.next().await;
    }
    assert_eq!(came, Came::End("error".into()));
    settle().await;
    assert_eq!(client.outbox.held(), 0);
}
