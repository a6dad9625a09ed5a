//! Advice for a trial that does not run, from the words of its server and its refusals.
//!
//! Owns what is looked at: the package's words about itself, the sandbox, the server's home. A server's output is other people's
//! text: nothing but advice may follow from it.

use harbor_policy::package::exit_words::{asked_for_at_home, last_error};
use harbor_policy::package::typed::source_of;
use harbor_policy::sandbox::hint::{Advice, is_about, is_of_kernel, kept_file, shell};

use super::trial::Trial;
use crate::store::packages::readme::readme;
use crate::supervisor::Denied;

impl Trial {
    /// Its package's words about itself, where it is installed.
    pub async fn readme(&self) -> Option<String> {
        let (package, dir) = (self.package()?.clone(), self.server.package_dir());
        tokio::task::spawn_blocking(move || readme(&package, &dir)).await.ok().flatten()
    }

    /// The advice where its server did not find a file of the person's that is kept from it. `named`: names of its variables.
    pub async fn without_kept_file(&self, said: &str, named: &[String]) -> Option<String> {
        let kept = kept_file(said).filter(|kept| !named.iter().any(|name| name == kept.variable))?;
        let home = self.server.keeps_from_it(kept.file).await?;
        Some(kept.advice(&home, self.server.id().as_str(), &source_of(self.package()?)))
    }

    /// The advice where its server speaks of a file in its home that is not there.
    #[must_use]
    pub fn home_to_fill(&self, said: &str) -> Option<String> {
        let id = self.server.id();
        let file = asked_for_at_home(said, &self.server.home())?;
        let place = self.supervisor.data_directory(id).join(file);
        let (place, source) = (shell(&place.to_string_lossy()), source_of(self.package()?));
        Some(format!(
            "it may need a file in its home: put the file at {place}, then run `harbor install {source} --keep-data`"
        ))
    }

    /// The advice about the first of these places that exists and is closed to the server. A variable of it names them.
    pub async fn closed(&self, places: Vec<String>) -> Option<String> {
        let (place, opens) = self.server.closed_to_it(places).await?;
        Some(match opens {
            Ok(option) => format!(
                "its sandbox keeps {place} from it; add `{option}` to open it, or `--write` in place of `--read` if it is to change \
                 something there"
            ),
            Err(never) => format!("its sandbox keeps {place} from it: {never}"),
        })
    }

    /// A refusal of its sandbox that may keep it from running, and the option that allows it. True if the
    /// kernel reported the refusal; otherwise the server's own words did.
    #[must_use]
    pub fn refused(&self, said: &str) -> Option<(String, bool)> {
        let all = self.server.denied();
        let of_kernel = all.iter().find(|denied| is_of_kernel(&denied.path));
        let error = last_error(said);
        let spoken_of = || all.iter().find(|denied| is_about(&error, &denied.path));
        let Denied { path, advice, .. } = of_kernel.or_else(spoken_of)?;
        let told = match advice {
            Ok(Advice { option, mind: None, .. }) => {
                format!("its sandbox refused {path}; add `{option}` to allow it")
            }
            Ok(Advice { option, mind: Some(mind), .. }) => {
                format!("its sandbox refused {path}; add `{option}` to allow it ({mind})")
            }
            Err(never) => format!("its sandbox refused {path}: {never}"),
        };
        Some((told, of_kernel.is_some()))
    }
}
