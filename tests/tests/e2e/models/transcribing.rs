//! Speech to text: a recording of the person's goes to the provider of a model, and nowhere else.

use std::fs;

use harbor_tests::scripted::answer;
use harbor_tests::{Bridge, Home, Scripted};
use serde_json::{Value, json};

use super::commands::{done, harbor};

/// A server that lists models for both, and makes a text of whatever it hears.
fn server() -> Scripted {
    Scripted::start(|asked, stream| {
        let (status, body) = match (asked.verb.as_str(), asked.path.as_str()) {
            ("GET", "/v1/models") => ("200 OK", json!({"data": [{"id": "m"}, {"id": "whisper-1"}]})),
            ("POST", "/v1/audio/transcriptions") if asked.text.contains("\r\nwhisper-1\r\n") => (
                "200 OK",
                json!({"text": " Cast off. ", "usage": {"type": "tokens", "input_tokens": 14, "output_tokens": 3}}),
            ),
            _ => (
                "404 Not Found",
                json!({"error": {"message": "The model `m` does not hear", "code": "model_not_found"}}),
            ),
        };
        answer(stream, status, "application/json", "", &body.to_string())
    })
}

#[test]
fn a_recording_becomes_text_by_the_first_model_that_transcribes_or_the_named_one() {
    let (home, server) = (Home::new(), server());
    let bridge = Bridge::start(&home);
    let url = format!("http://127.0.0.1:{}/v1", server.port);
    done(&home, &["models", "add", "openai-compatible", "--name", "p", "--url", &url]);
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let note = path("note");
    fs::write(&note, b"OggS of speech").unwrap();
    assert_eq!(done(&home, &["models", "transcribe", &note]), "Cast off.\n");
    let whole =
        done(&home, &["models", "transcribe", &note, "--model", "p:whisper-1", "--language", "en", "--json"]);
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(
        (&whole["text"], &whole["model"], &whole["provider"]),
        (&json!(" Cast off. "), &json!("whisper-1"), &json!("p"))
    );
    assert_eq!(
        (&whole["usage"]["input_tokens"], &whole["usage"]["exactness"]),
        (&json!(14), &json!("exact"))
    );
    let sent = server.asked().into_iter().rfind(|asked| asked.verb == "POST").unwrap();
    for part in
        ["Content-Type: audio/ogg\r\n\r\nOggS of speech\r\n", "filename=\"speech.ogg\"", "\r\n\r\nen\r\n"]
    {
        assert!(sent.text.contains(part), "{}", sent.text);
    }
    let usage = bridge.call("llm_usage", &json!({})).unwrap()["usage"].clone();
    assert_eq!((&usage[0]["model"], &usage[0]["input_tokens"]), (&json!("whisper-1"), &json!(28)));

    let (_, err, code) = harbor(&home, &["models", "transcribe", &note, "--model", "p:m"], "");
    assert!(err.contains("does not hear") && code == Some(5), "{err}");
    fs::write(&note, "no recording").unwrap();
    let (_, err, code) = harbor(&home, &["models", "transcribe", &note], "");
    assert!(err.contains("is not a WAV") && code == Some(2), "{err}");
    fs::write(&note, vec![b'x'; 25_000_001]).unwrap();
    let (_, err, code) = harbor(&home, &["models", "transcribe", &note], "");
    assert!(err.contains("larger than 25 MB") && code == Some(2), "{err}");
    let (_, err, code) = harbor(&home, &["models", "transcribe", &path("none")], "");
    assert!(err.contains("cannot read it") && code == Some(2), "{err}");
}

#[test]
fn what_cannot_be_transcribed_is_refused_before_anybody_is_asked() {
    let (home, server) = (Home::new(), server());
    let bridge = Bridge::start(&home);
    let url = format!("http://127.0.0.1:{}", server.port);
    let fields = json!({"provider_type": "anthropic", "base_url": url, "api_key": "k"});
    bridge.call("llm_add_provider", &fields).unwrap();
    let ask = |more: Value| {
        let mut fields = json!({"audio": "AAAA", "media_type": "audio/wav", "model": "anthropic:m"});
        for (name, value) in more.as_object().unwrap() {
            fields[name] = value.clone();
        }
        bridge.call("llm_transcribe", &fields).unwrap_err()
    };
    for wrong in [
        json!({"media_type": "text/html"}),
        json!({"audio": "https://example.com/a.wav"}),
        json!({"audio": "A".repeat(33_333_340)}),
        json!({"language": "e\r\n"}),
        json!({"prompt": "x".repeat(10_000)}),
    ] {
        assert_eq!(ask(wrong).code, "invalid_params");
    }
    let error = ask(json!({}));
    assert_eq!((error.code.as_str(), &error.details["cause"]), ("ERR_MODEL_FAILED", &json!("refused")));
    assert!(error.message.contains("transcribes nothing"), "{}", error.message);
    assert_eq!(server.count(|asked| asked.path.ends_with("transcriptions")), 0);
}
