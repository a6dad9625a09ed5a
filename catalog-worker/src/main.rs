//! harbor-catalog-worker; see [`harbor_catalog_worker::program`].

fn main() -> std::process::ExitCode {
    harbor_catalog_worker::program::run()
}
