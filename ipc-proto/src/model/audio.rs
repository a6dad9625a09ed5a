//! Recordings of speech, and their bounds. Owns both for each end of the link.

use bincode::{BorrowDecode, Encode};

use super::bounds::is_base64;

/// The largest recording, in bytes: services take no larger ones.
pub const MAX_AUDIO: usize = 25 * 1000 * 1000;

/// The media types that are taken, and the ending of a file of each.
const MEDIA_TYPES: [(&str, &str); 16] = [
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/wave", "wav"),
    ("audio/vnd.wave", "wav"),
    ("audio/mpeg", "mp3"),
    ("audio/mp3", "mp3"),
    ("audio/mp4", "m4a"),
    ("audio/m4a", "m4a"),
    ("audio/x-m4a", "m4a"),
    ("audio/ogg", "ogg"),
    ("audio/opus", "ogg"),
    ("audio/flac", "flac"),
    ("audio/x-flac", "flac"),
    ("audio/webm", "webm"),
    ("video/webm", "webm"),
    ("video/mp4", "mp4"),
];

/// A recording of speech. Its data comes with it; nobody fetches a recording.
#[derive(Debug, Clone, PartialEq, Eq, Encode, BorrowDecode)]
pub struct Audio {
    /// `audio/wav`, `audio/mpeg` and so on; what follows a `;` does not count.
    pub media_type: String,
    /// Its bytes, in base64 with padding.
    pub data: String,
}

/// Why a recording is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidAudioReason {
    /// It is larger than [`MAX_AUDIO`].
    TooLarge,
    /// It is of a type that providers do not take.
    MediaType,
    /// It is not base64.
    Data,
}

impl std::fmt::Display for InvalidAudioReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "the recording is larger than 25 MB",
            Self::MediaType => "the recording is not WAV, MP3, M4A, Ogg, FLAC or WebM",
            Self::Data => "the recording is not given as base64 data",
        })
    }
}

impl std::error::Error for InvalidAudioReason {}

/// The ending of a file with a recording of this type: providers look at it. None if the type is not taken.
#[must_use]
pub fn audio_ending(media_type: &str) -> Option<&'static str> {
    let plain = media_type.split(';').next().unwrap_or_default().trim();
    MEDIA_TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(plain)).map(|(_, ending)| *ending)
}

/// Checks that a recording may be sent to a provider.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check_audio(audio: &Audio) -> Result<(), InvalidAudioReason> {
    if audio_ending(&audio.media_type).is_none() {
        return Err(InvalidAudioReason::MediaType);
    }
    if audio.data.len() > MAX_AUDIO.div_ceil(3) * 4 {
        return Err(InvalidAudioReason::TooLarge);
    }
    if is_base64(&audio.data) { Ok(()) } else { Err(InvalidAudioReason::Data) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_speech_bounded_and_data() {
        let of = |media_type: &str, data: &str| {
            check_audio(&Audio { media_type: media_type.into(), data: data.into() })
        };
        assert_eq!(of("audio/webm;codecs=opus", "AAAA"), Ok(()));
        assert_eq!(audio_ending("Audio/MPEG"), Some("mp3"));
        for wrong in ["text/plain", "audio/midi", "", "audio/wav, text/html"] {
            assert_eq!(of(wrong, "AAAA"), Err(InvalidAudioReason::MediaType), "{wrong}");
        }
        for data in ["", "AAA", "https://example.com/a.wav"] {
            assert_eq!(of("audio/wav", data), Err(InvalidAudioReason::Data), "{data}");
        }
        let largest = "A".repeat(MAX_AUDIO.div_ceil(3) * 4);
        assert_eq!(of("audio/wav", &largest), Ok(()));
        assert_eq!(of("audio/wav", &(largest + "AAAA")), Err(InvalidAudioReason::TooLarge));
    }
}
