//! harbor-runner-js; see [`harbor_runner_js::program`].

fn main() -> std::process::ExitCode {
    harbor_runner_js::program::run()
}
