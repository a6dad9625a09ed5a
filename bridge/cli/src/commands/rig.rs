//! A bridge on the other end of a socket pair, which answers with prepared frames. For tests.
//!
//! A test writes of an answer what it is about: what else the message must have is added, empty.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::thread;

use harbor_client::errors::{Exit, Failure};
use harbor_ipc_proto::client::envelope::Incoming;
use harbor_ipc_proto::client::sample;
pub use harbor_ipc_proto::client::sample::{complete, complete_object};
use harbor_ipc_proto::field::Message;
use harbor_ipc_proto::frame::{HEADER, put_frame};

use crate::client::Client;
use crate::screen::Screen;
use crate::screen::tests::Paper;

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub printed: String,
    /// The requests, as JSON text.
    pub asked: Vec<String>,
    pub failure: Option<String>,
    pub exit: Exit,
}

/// An error answer to the first request.
pub fn error(code: &str) -> String {
    format!(r#"{{"type":"error","request_id":"1","error":{{"code":"{code}","message":"no"}}}}"#)
}

/// Runs a command against these answers, one per request; afterwards the bridge closes.
pub fn command(
    json: bool,
    answers: &[&str],
    run: impl FnOnce(&mut Client, &mut Screen) -> Result<(), Failure>,
) -> Ran {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let answers: Vec<String> = answers.iter().map(|&text| text.to_owned()).collect();
    let bridge = thread::spawn(move || serve(theirs, &answers));
    let paper = Paper::default();
    let mut client = Client::over(ours);
    let result = run(&mut client, &mut paper.screen(json, false));
    drop(client);
    let failure = result.as_ref().err().and_then(Failure::message);
    let exit = result.as_ref().err().map_or(Exit::Done, Failure::exit);
    Ran { printed: paper.read(), asked: bridge.join().unwrap(), failure, exit }
}

/// Answers request after request; several frames in one answer are separated by line ends.
pub fn serve(mut stream: UnixStream, answers: &[String]) -> Vec<String> {
    use std::io::Write;
    let mut asked = Vec::new();
    for answer in answers {
        let Some(request) = read_frame(&mut stream) else { break };
        Incoming::parse(request.as_bytes()).unwrap();
        asked.push(request);
        let mut frames = Vec::new();
        for text in answer.lines() {
            put_frame(&mut frames, |out| out.extend_from_slice(complete(text).as_bytes()));
        }
        stream.write_all(&frames).unwrap();
    }
    asked
}

/// A typed message, of which a test wrote what it is about.
pub fn typed<T: Message>(text: &str) -> T {
    sample::typed(text).unwrap()
}

fn read_frame(stream: &mut UnixStream) -> Option<String> {
    let mut header = [0; HEADER];
    stream.read_exact(&mut header).ok()?;
    let mut body = vec![0; usize::try_from(u32::from_le_bytes(header)).ok()?];
    stream.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}
