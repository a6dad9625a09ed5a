//! The person's answers about what a principal may do at a site.
//!
//! Owns that an answer holds for this principal and this site alone, as long as the browser is there. Must never ask.

use std::collections::BTreeMap;

/// A principal and a site.
pub(super) type PrincipalSite = (String, String);

/// The reason why something is not done at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoYes {
    /// A named secret was typed at the site.
    Secret,
    /// The person has said no.
    Refused,
    /// The person has not been asked.
    Unasked,
}

/// The answers so far.
#[derive(Debug, Default)]
pub struct SiteAnswers(BTreeMap<PrincipalSite, bool>);

impl SiteAnswers {
    /// Judges what `principal` wants at `site`. The owner needs no yes.
    ///
    /// # Errors
    /// Why it may not.
    pub fn judge(&self, principal: &str, site: &str, is_owner: bool) -> Result<(), NoYes> {
        match self.0.get(&(principal.to_owned(), site.to_owned())) {
            Some(false) => Err(NoYes::Refused),
            None if !is_owner => Err(NoYes::Unasked),
            Some(true) | None => Ok(()),
        }
    }

    /// The person has answered for a principal and a site.
    pub fn answered(&mut self, principal: &str, site: &str, is_yes: bool) {
        self.0.insert((principal.to_owned(), site.to_owned()), is_yes);
    }
}
