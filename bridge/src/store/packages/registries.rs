//! The registry that the person's own settings name, for installers: their home is another one.
//!
//! Owns reading those files, within a limit. Must never log an address: there may be a password in it.

use std::env;

use harbor_policy::package::Ecosystem;
use harbor_policy::package::registries::{settings, shown};

use super::files::read_to;

/// Settings are short.
const MAX_SETTINGS: u64 = 64 << 10;

/// A registry, and where it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrySetting {
    /// The variable by which an installer is told.
    pub variable: &'static str,
    /// Its address.
    pub address: String,
    /// The text for people: the address without a password, and the file.
    pub shown: String,
}

/// The registry that is configured in place of the public one, unless this program's own variables name one.
#[must_use]
pub fn of(ecosystem: Ecosystem, has_uv: bool) -> Option<RegistrySetting> {
    let home = env::home_dir().filter(|home| home.is_absolute())?;
    let names: Vec<_> = env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    let all = settings(ecosystem, has_uv).iter();
    all.filter(|settings| settings.counts(names.iter().map(String::as_str))).find_map(|settings| {
        let text = String::from_utf8(read_to(&home.join(settings.file), MAX_SETTINGS).ok()?).ok()?;
        let address = settings.address(&text)?;
        let shown = format!("{} (~/{})", shown(&address), settings.file);
        Some(RegistrySetting { variable: settings.variable, address, shown })
    })
}
