//! harbor-model-worker; see [`harbor_model_worker::program`].

fn main() -> std::process::ExitCode {
    harbor_model_worker::program::run()
}
