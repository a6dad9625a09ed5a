//! The installation of a server's package, before its first start.
//!
//! ```text
//!  Install ─► directory emptied ─► installer's steps, one after another, each a run in a runner ─► entry point
//!                                        │ fails, or a stop                                        │
//!                                        ▼                                                         ▼
//!                                      Ended                                              Installed (a stamp)
//! ```
//!
//! Owns the order. The installer runs other people's code, so it runs where servers run: below a runner, with the
//! same environment, ended in the same way. Its output goes into the server's log and to whoever waits.

use std::path::PathBuf;
use std::rc::Rc;

use harbor_ipc_proto::link::runner::ToRunner;
use harbor_policy::lifecycle::{Event, State};
use harbor_policy::limits;
use harbor_policy::package::{Package, steps};
use tokio::sync::oneshot;

use super::Server;
use super::launch::Start;
use crate::link::EndReport;
use crate::store::packages;

impl Server {
    pub(super) fn install(self: &Rc<Self>) {
        let Some(package) = self.package.clone() else { return self.apply(Event::Installed) };
        self.installing.set(true);
        let server = self.clone();
        tokio::task::spawn_local(async move {
            let installed = server.install_package(package).await;
            server.installing.set(false);
            match installed {
                Ok(()) => server.apply(Event::Installed),
                Err(report) => {
                    server.note_exit(report);
                    server.apply(Event::Ended);
                }
            }
        });
    }

    async fn install_package(self: &Rc<Self>, package: Package) -> Result<(), Rc<EndReport>> {
        self.way_is_clear().await;
        let dir = self.package_dir();
        self.on_the_disk(&package, &dir, |package, dir| {
            packages::prepare(package, dir).map_err(|error| error.to_string())
        })
        .await?;
        for step in steps(&package, &dir.to_string_lossy(), has_program("uv")) {
            self.run_step(&step).await?;
        }
        self.on_the_disk(&package, &dir, |package, dir| {
            packages::entry(package, dir)?;
            packages::mark_installed(package, dir).map_err(|error| error.to_string())
        })
        .await
    }

    pub(super) fn package_dir(&self) -> PathBuf {
        self.runners.shared.paths.server_package(self.id.as_str())
    }

    /// Does what may take the disk a while.
    async fn on_the_disk(
        &self,
        package: &Package,
        dir: &std::path::Path,
        work: impl FnOnce(&Package, &std::path::Path) -> Result<(), String> + Send + 'static,
    ) -> Result<(), Rc<EndReport>> {
        let (package, dir) = (package.clone(), dir.to_owned());
        let done = tokio::task::spawn_blocking(move || work(&package, &dir)).await;
        done.unwrap_or_else(|error| Err(error.to_string())).map_err(|why| Rc::new(failed(&why)))
    }

    /// Runs one command of the installer to its end.
    async fn run_step(self: &Rc<Self>, command: &[String]) -> Result<(), Rc<EndReport>> {
        let broken = |what: String| Rc::new(failed(&what));
        let start = Start { installer: Some(command.to_vec()) };
        let prepared = self
            .prepared(start)
            .await
            .map_err(|unprepared| broken(format!("could not {}", unprepared.why)))?;
        let launch = self.launch_of(prepared, limits::INSTALL_TIMEOUT);
        let launch = launch.map_err(|unprepared| broken(format!("could not {}", unprepared.why)))?;
        if self.state() != State::Installing {
            return Err(Rc::new(EndReport::because("stopped", "it was stopped")));
        }
        let place =
            self.runners.place(self).map_err(|error| broken(format!("could not start a runner: {error}")))?;
        let (sender, ended) = oneshot::channel();
        *self.run.borrow_mut() = Some((place.number, sender));
        place.runner.link.send(&ToRunner::Run { server: place.number, launch });
        *self.place.borrow_mut() = Some(place);
        let report = ended.await.map_err(|_| broken("the bridge is ending".into()))?;
        match (report.cause, report.exit_code) {
            ("exited", Some(0)) => Ok(()),
            ("stopped", _) => Err(report),
            _ => Err(Rc::new(EndReport {
                message: format!(
                    "the package could not be installed: `{}`: {}",
                    command.join(" "),
                    report.message
                ),
                cause: "install_failed",
                ..(*report).clone()
            })),
        }
    }
}

fn failed(why: &str) -> EndReport {
    EndReport::because("install_failed", format!("the package could not be installed: {why}"))
}

/// Whether a program is in the PATH.
fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}
