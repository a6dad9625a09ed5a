//! models transcribe: a recording, as text.
//!
//! Owns what a recording is told by: its first bytes, whatever its name says.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_client::errors::Failure;
use harbor_ipc_proto::client::LlmTranscribe;
use harbor_ipc_proto::model::MAX_AUDIO;

use super::super::attach::file;
use super::super::printing::print;
use crate::args::Recording;
use crate::client::Client;
use crate::screen::Screen;

/// A local server may take minutes for an hour of speech.
const PATIENT: Duration = Duration::from_secs(630);

/// The first bytes of files with recordings, and where they are.
const KINDS: [(&[u8], usize, &str); 9] = [
    (b"WAVE", 8, "audio/wav"),
    (b"ID3", 0, "audio/mpeg"),
    (b"\xff\xfb", 0, "audio/mpeg"),
    (b"\xff\xf3", 0, "audio/mpeg"),
    (b"\xff\xf2", 0, "audio/mpeg"),
    (b"ftyp", 4, "audio/mp4"),
    (b"OggS", 0, "audio/ogg"),
    (b"fLaC", 0, "audio/flac"),
    (b"\x1a\x45\xdf\xa3", 0, "audio/webm"),
];

pub fn run(client: &mut Client, wanted: &Recording, screen: &mut Screen) -> Result<(), Failure> {
    let path = &wanted.file;
    let bytes = file("the recording", path, MAX_AUDIO)?;
    let media_type = kind(&bytes).ok_or_else(|| {
        Failure::Usage(format!("{path}: the file is not a WAV, MP3, M4A, Ogg, FLAC or WebM recording"))
    })?;
    let ask = LlmTranscribe {
        audio: STANDARD.encode(&bytes),
        media_type: media_type.to_owned(),
        model: wanted.model.clone(),
        provider: None,
        language: wanted.language.clone(),
        prompt: None,
    };
    let answer = client.ask(&ask, PATIENT)?;
    print(screen, &answer, |answer| answer.text.trim().to_owned())
}

/// The type of a recording; `None` where these bytes are none.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    let is_it =
        |(begin, at, _): &&(&[u8], usize, &str)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(begin));
    KINDS.iter().find(is_it).map(|(.., kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_told_by_its_bytes() {
        assert_eq!(kind(b"RIFF\0\0\0\0WAVEfmt "), Some("audio/wav"));
        assert_eq!(kind(b"\0\0\0\x20ftypM4A "), Some("audio/mp4"));
        assert_eq!(kind(b"RIFF\0\0\0\0WEBPVP8 "), None);
        assert_eq!((kind(b""), kind(b"hello, world")), (None, None));
    }
}
