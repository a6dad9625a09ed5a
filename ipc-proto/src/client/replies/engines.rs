//! The bridge's replies about engines.

#![allow(non_snake_case, reason = "some fields' names are those of the Web Agents API")]

use super::super::{SetupStatus, define_sent};

define_sent! {
    /// Replies about engines, by the type of their request.
    ENGINE_REPLIES:
    /// The engines and files.
    "llm_setup_status" LlmSetupStatusResult {
        /// The engines and files.
        status: SetupStatus,
    }
    /// The engine runs.
    "llm_start_local" LlmStartLocalResult {
        /// Always true; a failure is an error.
        success: bool,
        /// Its address: `unix:PATH`, or `http://127.0.0.1:PORT/v1`.
        url: String,
        /// Its model: `provider:model`.
        modelId: String,
        /// The id of its provider.
        provider: String,
        /// The options that Harbor would have used and that this engine lacks.
        left_out: Vec<String>,
    }
    /// The engines are stopped.
    "llm_stop_local" LlmStopLocalResult {
        /// True if one of them ran.
        stopped: bool,
        /// The ids of those that ran.
        providers: Vec<String>,
    }
    /// The model is there.
    "llm_download_model" LlmDownloadModelResult {
        /// Always true; a failure is an error.
        started: bool,
        /// Its name: `model_id` of other requests; for Ollama the model's name there.
        modelId: String,
        /// A sentence for people.
        message: String,
    }
    /// The file is deleted.
    "llm_delete_model" LlmDeleteModelResult {
        /// Always true; a failure is an error.
        deleted: bool,
    }
}
