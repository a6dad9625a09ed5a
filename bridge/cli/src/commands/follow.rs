//! Following: what comes after an answer, line by line, for as long as somebody reads and the bridge is there.
//!
//! Owns how a followed line leaves. Must never hold a line back, since the reader of a pipe wants it now.

use harbor_client::errors::Failure;
use harbor_client::payload::Payload;
use harbor_client::reply::Answer;
use harbor_ipc_proto::field::Message;

use crate::client::Client;
use crate::screen::Screen;

/// Hands on push after push. It ends with the bridge or with a reader that has left; Ctrl-C ends the process.
pub fn each<P: Message>(
    client: &mut Client,
    mut tell: impl FnMut(Answer<P>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    loop {
        tell(client.next()?)?;
    }
}

/// Prints one line: `text`, or with `--json` the object, which also people get on one line here.
pub fn line(screen: &mut Screen, object: &Payload, text: impl FnOnce() -> String) -> Result<(), Failure> {
    match screen.json {
        true => screen.text(&object.to_json())?,
        false => screen.text(&text())?,
    }
    Ok(screen.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::tests::Paper;

    #[test]
    fn an_object_stays_on_one_line_for_people_too() {
        let paper = Paper::default();
        let object = Payload::parse(br#"{"a":{"b":1}}"#).unwrap();
        for json in [true, false] {
            line(&mut paper.screen(json, true), &object, || "text".into()).unwrap();
        }
        assert_eq!(paper.read(), "{\"a\":{\"b\":1}}\ntext\n");
    }
}
