//! Where a holder may run scripts of its own in pages.
//!
//! ```text
//!  evaluate at a site ─┬─ a named secret was typed there for this principal ─► refused
//!                      ├─ the person said yes, for this principal and site ──► runs; no named secret is typed there any more
//!                      └─ nothing said ─────────────────────────────────────► asked
//! ```
//!
//! Owns that a script and a named secret never meet at one site: a script could wait there for what is typed. Both count for all
//! sessions of a principal, as long as the browser is there. Must never look at a page.

use std::collections::BTreeSet;

use super::site_answers::{NoYes, PrincipalSite, SiteAnswers};

/// The steps that were done, and their words.
#[derive(Debug, Default)]
pub struct Scripts {
    typed: BTreeSet<PrincipalSite>,
    run: BTreeSet<PrincipalSite>,
    said: SiteAnswers,
}

impl Scripts {
    /// Judges a script of `principal` at `site`. It counts as run where it may.
    ///
    /// # Errors
    /// Why it may not.
    pub fn run(&mut self, principal: &str, site: &str, is_owner: bool) -> Result<(), NoYes> {
        let place = (principal.to_owned(), site.to_owned());
        if self.typed.contains(&place) {
            return Err(NoYes::Secret);
        }
        self.said.judge(principal, site, is_owner)?;
        self.run.insert(place);
        Ok(())
    }

    /// The person has answered for a principal and a site.
    pub fn answered(&mut self, principal: &str, site: &str, is_yes: bool) {
        self.said.answered(principal, site, is_yes);
    }

    /// A named secret is about to be typed at a site. False where it must not be: a script has run there.
    pub fn may_type(&mut self, principal: &str, site: &str) -> bool {
        let place = (principal.to_owned(), site.to_owned());
        let may = !self.run.contains(&place);
        if may {
            self.typed.insert(place);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: &str = "https://a.example";

    #[test]
    fn a_script_runs_after_a_yes_for_this_client_and_site() {
        let mut scripts = Scripts::default();
        assert_eq!(scripts.run("client://a", SITE, false), Err(NoYes::Unasked));
        scripts.answered("client://a", SITE, true);
        assert_eq!(scripts.run("client://a", SITE, false), Ok(()));
        assert_eq!(scripts.run("client://b", SITE, false), Err(NoYes::Unasked));
        assert_eq!(scripts.run("client://a", "https://a.example:444", false), Err(NoYes::Unasked));
        scripts.answered("client://a", SITE, false);
        assert_eq!(scripts.run("client://a", SITE, false), Err(NoYes::Refused));
        assert_eq!(scripts.run("owner", SITE, true), Ok(()));
    }

    #[test]
    fn a_script_and_a_named_secret_never_meet() {
        let mut scripts = Scripts::default();
        scripts.answered("client://a", SITE, true);
        assert!(scripts.may_type("client://a", SITE));
        assert_eq!(scripts.run("client://a", SITE, false), Err(NoYes::Secret));
        assert_eq!(scripts.run("owner", SITE, true), Ok(()));
        assert!(!scripts.may_type("owner", SITE) && scripts.may_type("owner", "https://b.example"));
    }
}
