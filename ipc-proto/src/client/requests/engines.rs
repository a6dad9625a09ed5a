//! Requests about engines: programs on this machine that Harbor starts, and the files of the models that they run.

use super::super::define_requests;

define_requests! {
    /// Any request about engines.
    EngineRequest:
    /// Lists the engines that were started once, and the models that were fetched.
    "llm_setup_status" LlmSetupStatus -> LlmSetupStatusResult {}
    /// Starts an engine in a sandbox, waits until it has loaded its model, and adds it as a provider. One that runs already is
    /// given as it is. A later request to its provider starts it again, unless `llm_stop_local` has stopped it.
    "llm_start_local" LlmStartLocal -> LlmStartLocalResult {
        /// The absolute path of a GGUF file or a llamafile, the name of a fetched one, or the id of an engine.
        model_id: String,
        /// The absolute path of the program that runs a GGUF file; absent: `llama-server` on the PATH.
        engine: Option<String>,
        /// The most tokens of a conversation; absent: the engine's own choice.
        context: Option<u32>,
        /// Device nodes that the engine may use, such as `/dev/dri/renderD128`; absent: none.
        devices: Option<Vec<String>>,
        /// The most memory that it may take, in MiB, 64 to 1,048,576; absent: half as much again as its file and conversation
        /// take by Harbor's estimate, at least 2,048.
        memory_mb: Option<u64>,
        /// True: an engine that cannot listen at a Unix socket gets a port of 127.0.0.1, and with it the machine's network. Absent:
        /// it is not started.
        network: Option<bool>,
        /// How long it may take to load the model, in milliseconds, 1,000 to 580,000; absent: 300,000.
        start_timeout_ms: Option<u64>,
        /// True: `progress` pushes say what happens until it is ready.
        progress: Option<bool>,
    }
    /// Stops engines. Their providers stay, and the next `llm_start_local` starts them again.
    "llm_stop_local" LlmStopLocal -> LlmStopLocalResult {
        /// The engine's id; absent: all engines.
        provider_id: Option<String>,
    }
    /// Fetches the file of a model into `HARBOR_HOME/models`, or has Ollama fetch one. The answer comes when it is there; `cancel`
    /// ends it. What has come of a file stays, and the next request goes on behind it.
    "llm_download_model" LlmDownloadModel -> LlmDownloadModelResult {
        /// The URL of a GGUF file or a llamafile, or `ollama:NAME`: a model that the Ollama of this machine fetches.
        model_id: String,
        /// The SHA-256 of the file, 64 hexadecimal digits; needed for a URL.
        sha256: Option<String>,
        /// The name of the file here, `NAME.gguf` or `NAME.llamafile`; absent: as in the URL.
        name: Option<String>,
        /// True: it may come without TLS.
        allow_http: Option<bool>,
        /// True: it may come from a private address.
        allow_private: Option<bool>,
        /// True: `progress` pushes say how many bytes have come, and of how many.
        progress: Option<bool>,
    }
    /// Deletes a fetched file. No engine may be there for it.
    "llm_delete_model" LlmDeleteModel -> LlmDeleteModelResult {
        /// Its name.
        model_id: String,
    }
}
