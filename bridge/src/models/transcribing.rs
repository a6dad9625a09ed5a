//! Speech to text: a recording of the person's, to a provider of theirs.
//!
//! Owns which model transcribes where none is named: the default for transcription, else the first that looks like one that does. A recording is written
//! down nowhere; it costs what its provider says.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::client::LlmTranscribe;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::link::model::{Cause, Failure, FromModel, ToModel, Transcription};
use harbor_ipc_proto::model::{Audio, InvalidAudioReason, Options, check_audio};
use harbor_policy::access::ModelPermit;
use harbor_policy::models::{Use, transcribes};

use super::Models;
use super::errors::{failed, invalid, no_model};
use super::record::ModelCaller;
use crate::store::models::{Provider, TokenUsage};

/// Longer than the worker's own limit.
const PATIENCE: Duration = Duration::from_secs(620);

/// Bytes of the words that help with names and terms.
const MAX_PROMPT: usize = 8192;

/// A text that was spoken.
#[derive(Debug)]
pub struct Transcribed {
    /// The text.
    pub text: String,
    /// The tokens that it took.
    pub used: TokenUsage,
    /// The provider's id.
    pub provider: String,
    /// The model's name there.
    pub model: String,
}

impl Models {
    /// Has a recording transcribed.
    ///
    /// # Errors
    /// Says what is wrong with the recording, or why there is no text.
    pub async fn transcribe(
        self: &Rc<Self>,
        _permit: ModelPermit,
        who: ModelCaller,
        asked: LlmTranscribe,
    ) -> Result<Transcribed, ErrorBody> {
        let LlmTranscribe { audio, media_type, model, provider, language, prompt } = asked;
        let audio = Audio { media_type, data: audio };
        check(&audio, language.as_deref(), prompt.as_deref())?;
        let (provider, model) = self.speech_model(provider.as_deref(), model.as_deref()).await?;
        let (bill, _) = self.reserve(who, &provider, &model, (&[], &[]), Options::default())?;
        let target = self.target(&provider, false).await.inspect_err(|error| bill.ends(error.code))?;
        bill.send();
        let mut asked = self.ask(|id| {
            let model = model.clone();
            ToModel::Transcribe(Transcription { id, target, model, audio, language, prompt })
        });
        let failure = match tokio::time::timeout(PATIENCE, asked.next()).await {
            Ok(FromModel::Transcribed { text, usage, .. }) => {
                let used = bill.transcribed(&text, usage);
                return Ok(Transcribed { text, used, provider: provider.id, model });
            }
            Ok(FromModel::Failed { failure, .. }) => failure,
            Ok(_) => ours(Cause::Protocol, "the worker sent another kind of answer"),
            Err(_) => ours(Cause::Timeout, "the recording was not transcribed in time"),
        };
        Err(bill.failed(&failure))
    }

    /// The model that a request means. Where it names neither model nor provider, the default provider is looked at first.
    async fn speech_model(
        self: &Rc<Self>,
        provider: Option<&str>,
        model: Option<&str>,
    ) -> Result<(Provider, String), ErrorBody> {
        let usual = self.model_for(Use::Transcription).filter(|_| provider.is_none());
        let model = model.or(usual.as_deref());
        let chosen = self.choose(provider, model)?;
        if model.is_some() {
            let model = self.model_of(&chosen, model, false).await?;
            return Ok((chosen, model));
        }
        let own = self.list(&chosen).await;
        let own = own.map_err(|failure| failed(&failure, &chosen.id, "", false));
        let first = own.iter().flat_map(|list| list.iter()).find(|listed| transcribes(&listed.id));
        if let Some(first) = first {
            return Ok((chosen, first.id.clone()));
        }
        if provider.is_none() {
            let all = self.list_all().await;
            if let Some(first) = all.models.into_iter().find(|listed| transcribes(&listed.model)) {
                return Ok((self.provider(&first.provider)?, first.model));
            }
        }
        own.and_then(|_| Err(no_model(
            "no provider lists a model whose name says that it transcribes; name one (`--model PROVIDER:MODEL`)",
        )))
    }
}

fn check(audio: &Audio, language: Option<&str>, prompt: Option<&str>) -> Result<(), ErrorBody> {
    check_audio(audio).map_err(|wrong| match wrong {
        InvalidAudioReason::TooLarge => invalid("audio", "a recording of at most 25 MB"),
        InvalidAudioReason::Data => invalid("audio", "the bytes of the recording, in Base64"),
        InvalidAudioReason::MediaType => {
            invalid("media_type", "the type of a WAV, MP3, M4A, Ogg, FLAC or WebM recording")
        }
    })?;
    let is_language = |text: &str| {
        (2..=35).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    if !language.is_none_or(is_language) {
        return Err(invalid("language", "a language like `en` or `pt-BR`"));
    }
    if prompt.is_some_and(|prompt| prompt.len() > MAX_PROMPT) {
        return Err(invalid("prompt", "a text of at most 8192 bytes"));
    }
    Ok(())
}

fn ours(cause: Cause, message: &str) -> Failure {
    Failure { cause, status: None, retry_after_ms: None, message: message.to_owned() }
}
