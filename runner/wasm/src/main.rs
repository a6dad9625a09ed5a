//! harbor-runner-wasm; see [`harbor_runner_wasm::program`].

fn main() -> std::process::ExitCode {
    harbor_runner_wasm::program::run()
}
