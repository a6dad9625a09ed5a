//! The image that a server runs: found and pinned before its first start.
//!
//! ```text
//!  Install ─► engine ─► pinned before? ─yes─► is it there? ─no─► pull by digest ─┐
//!                            │ no                 │ yes                          ▼
//!                            └► is it there? ─no─► pull ─► id, digest ─► pinned ─► Installed
//! ```
//!
//! Owns the order. Must never take another image because an engine failed to answer, or because the pin cannot be read:
//! only an engine that says that an image is not there is asked to pull it.

use std::rc::Rc;

use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::container::{Engine, Pinned, engine, reference};
use harbor_policy::lifecycle::{LifecycleEvent, State};
use harbor_policy::limits;
use harbor_policy::runtimes::not_found;

use super::super::{PLANNED, Server};
use super::asking::{QUICK, failed, failed_with, said, succeeded};
use crate::link::EndReport;
use crate::runtimes::FoundRuntimes;
use crate::store::definitions::Image;
use crate::store::images;

impl Server {
    /// Finds the image, and pins it.
    pub(in crate::supervisor::server) fn install_image(self: &Rc<Self>, image: Image) {
        self.package.set_installing(true);
        let server = self.clone();
        tokio::task::spawn_local(async move {
            let found = tokio::select! {
                biased;
                () = server.leaves(State::Installing) => Err(Rc::new(EndReport::because("stopped", "it was stopped"))),
                found = server.find_image(&image) => found,
            };
            server.package.set_installing(false);
            let pins_only = server.identity.trial().is_some_and(|trial| trial.plan_only);
            match found.and_then(|()| if pins_only { Err(planned()) } else { Ok(()) }) {
                Ok(()) => server.apply(LifecycleEvent::Installed),
                Err(report) => {
                    if !report.was_asked_for() && report.cause != PLANNED {
                        server.remark(report.message.clone());
                    }
                    server.life.note_exit(report);
                    server.apply(LifecycleEvent::Ended);
                }
            }
        });
    }

    async fn leaves(&self, state: State) {
        self.life.until(|| self.state() != state).await;
    }

    async fn find_image(&self, image: &Image) -> Result<(), Rc<EndReport>> {
        let looked = self.looked().await;
        let engine = engine_of(image, &looked).map_err(|why| failed(&why))?;
        let (wanted, dir) = (image.clone(), self.image_dir());
        let looked = tokio::task::spawn_blocking(move || images::look(&wanted, &dir)).await;
        let known = looked.unwrap_or_else(|error| Err(error.to_string()));
        let known = known.map_err(|why| failed(&lost(self.id(), image, &why)))?;
        let (wanted, id, digest) = match known {
            // What was pinned is what is run, whatever its name means by now.
            Some(pinned) => (pinned.digest.clone(), pinned.id, pinned.digest),
            None => (Some(image.reference.clone()), image.reference.clone(), None),
        };
        let found = match self.inspect(engine, &id).await {
            Ok(found) => found,
            Err(report) if !engine::is_absent(&report.stderr_tail) => return Err(report),
            Err(report) => {
                self.remark(format!("{}: {}", engine.as_str(), said(&report)));
                let Some(wanted) = wanted else {
                    return Err(failed(&gone(self.id(), &image.reference, engine)));
                };
                self.pull(engine, &wanted).await?;
                self.inspect(engine, &wanted).await?
            }
        };
        let answer = self.ask_engine(engine, engine.ask_rootless(), QUICK).await?;
        let pinned = Pinned {
            digest: digest.or_else(|| reference::digest_of(&image.reference, &found.1)),
            id: found.0,
            reference: image.reference.clone(),
            engine,
            rootless: answer.last().is_some_and(|line| engine.is_rootless(line)),
        };
        let (written, dir) = (pinned.clone(), self.image_dir());
        let done = tokio::task::spawn_blocking(move || images::pin(&written, &dir)).await;
        let done =
            done.map_err(|error| error.to_string()).and_then(|done| done.map_err(|error| error.to_string()));
        done.map_err(|why| failed(&why))?;
        self.package.set_image(pinned);
        Ok(())
    }

    async fn inspect(&self, engine: Engine, image: &str) -> Result<(String, Vec<String>), Rc<EndReport>> {
        let lines = self.ask_engine(engine, engine.inspect(image), QUICK).await?;
        let found = lines.last().and_then(|line| engine::inspected(line));
        found.ok_or_else(|| failed(&format!("{} cannot describe {image}", engine.as_str())))
    }

    /// Pulls an image. The engine's words go into the server's log, and to whoever waits.
    async fn pull(&self, engine: Engine, image: &str) -> Result<(), Rc<EndReport>> {
        let words = engine.pull(&reference::whole(image));
        let hear = |source, text: String| self.on_log(source, None, text);
        let report = self.run_engine(engine, words, limits::INSTALL_TIMEOUT, hear).await?;
        let why = || format!("{} could not pull it: {}", engine.as_str(), said(&report));
        if succeeded(&report) { Ok(()) } else { Err(failed_with(&why(), &report)) }
    }
}

fn planned() -> Rc<EndReport> {
    Rc::new(EndReport::because(PLANNED, "its image is known"))
}

fn gone(id: &ServerId, reference: &str, engine: Engine) -> String {
    format!(
        "the locked image of {reference} is no longer in {}, and no registry has it; to use the present image, run `harbor remove {id}` and add it again",
        engine.as_str()
    )
}

fn lost(id: &ServerId, image: &Image, why: &str) -> String {
    let reference = &image.reference;
    format!(
        "the lock of the image {reference} is lost ({why}); to use the present image, run `harbor remove {id}` and add it again"
    )
}

/// The named engine, else the first one that exists.
fn engine_of(image: &Image, looked: &FoundRuntimes) -> Result<Engine, String> {
    let wanted = image.engine().map_or_else(|| Engine::ALL.to_vec(), |engine| vec![engine]);
    let found = wanted.iter().copied().find(|engine| looked.get(engine.as_str()).is_some());
    let names: Vec<_> = wanted.iter().map(|engine| engine.as_str()).collect();
    found.ok_or_else(|| {
        let why = not_found(&names.join(" or "), &looked.places);
        format!("{why}; install one with `apt install podman` or `dnf install podman`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_engine_it_is_said_where_one_was_looked_for() {
        let image = |engine: Option<&str>| Image { reference: "a".into(), engine: engine.map(Into::into) };
        let why = |engine| engine_of(&image(engine), &FoundRuntimes::none()).unwrap_err();
        assert!(
            why(None).starts_with("there is no program podman or docker; Harbor looked in"),
            "{}",
            why(None)
        );
        assert!(why(Some("docker")).starts_with("there is no program docker;"));
    }
}
