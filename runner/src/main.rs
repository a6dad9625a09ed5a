//! harbor-runner; see [`harbor_runner::program`].

fn main() -> std::process::ExitCode {
    harbor_runner::program::run()
}
