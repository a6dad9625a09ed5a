//! harbor-egress; see [`harbor_egress::program`].

fn main() -> std::process::ExitCode {
    harbor_egress::program::run()
}
