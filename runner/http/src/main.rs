//! harbor-runner-http; see [`harbor_runner_http`].

fn main() -> std::process::ExitCode {
    harbor_runner_http::run()
}
