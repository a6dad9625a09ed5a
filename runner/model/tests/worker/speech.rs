//! Recordings of speech, over the real wire.

use harbor_ipc_proto::link::model::{Cause, FromModel, ToModel, Transcription};
use harbor_ipc_proto::model::{Audio, Dialect, Kind, Usage};

use super::driven::{Driven, target};
use super::server::{Server, answer, json};

fn recording(dialect: Dialect, server: &Server) -> Transcription {
    Transcription {
        id: 7,
        target: target(Kind::OpenAiCompatible, dialect, server.port),
        model: "whisper-1".into(),
        // `speech` in base64.
        audio: Audio { media_type: "audio/webm;codecs=opus".into(), data: "c3BlZWNo".into() },
        language: Some("en".into()),
        prompt: None,
    }
}

fn transcribed(asked: Transcription) -> Result<(String, Usage), Cause> {
    let mut worker = Driven::start();
    worker.send(&ToModel::Transcribe(asked));
    match worker.heard() {
        FromModel::Transcribed { id: 7, text, usage } => Ok((text, usage)),
        FromModel::Failed { id: 7, failure } => Err(failure.cause),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_recording_is_sent_as_a_form_and_its_text_comes_back() {
    let server =
        Server::says(json("200 OK", r#"{"text":"hello","usage":{"input_tokens":14,"output_tokens":3}}"#));
    let used = Usage { input_tokens: Some(14), output_tokens: Some(3), ..Usage::default() };
    assert_eq!(transcribed(recording(Dialect::Chat, &server)), Ok(("hello".into(), used)));
    let request = server.requests().remove(0);
    assert_eq!(request.line, "POST /v1/audio/transcriptions");
    assert_eq!(request.header("authorization"), Some("Bearer k-secret"));
    let boundary =
        request.header("content-type").unwrap().strip_prefix("multipart/form-data; boundary=").unwrap();
    let field = |name: &str, value: &str| {
        format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let file = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"speech.webm\"\r\n\
         Content-Type: audio/webm\r\n\r\nspeech\r\n--{boundary}--\r\n"
    );
    let fields =
        [field("model", "whisper-1"), field("response_format", "json"), field("language", "en"), file];
    assert_eq!(request.body, fields.concat());
}

#[test]
fn each_server_has_its_place_for_it_and_some_have_none() {
    let server = Server::says(answer("200 OK", &["Content-Type: text/plain; charset=utf-8"], "hello\n"));
    assert_eq!(transcribed(recording(Dialect::Ollama, &server)), Ok(("hello\n".into(), Usage::default())));
    assert_eq!(server.requests()[0].line, "POST /v1/audio/transcriptions");
    for dialect in [Dialect::Anthropic, Dialect::Gemini] {
        assert_eq!(transcribed(recording(dialect, &server)), Err(Cause::Refused));
    }
    let mut wrong = recording(Dialect::Chat, &server);
    wrong.audio.media_type = "text/plain".into();
    assert_eq!(transcribed(wrong), Err(Cause::Refused));
    assert_eq!(server.requests().len(), 1, "nobody else was asked");
}

#[test]
fn what_passes_is_tried_again_for_speech_too() {
    let server = Server::start(|_, number| match number {
        0 => answer("503 Service Unavailable", &["retry-after-ms: 1"], ""),
        _ => json("200 OK", r#"{"text":"at last"}"#),
    });
    assert_eq!(transcribed(recording(Dialect::Responses, &server)).unwrap().0, "at last");
    let refusing =
        Server::says(json("404 Not Found", r#"{"error":{"message":"The model `x` does not exist"}}"#));
    assert_eq!(transcribed(recording(Dialect::Chat, &refusing)), Err(Cause::NoModel));
}
