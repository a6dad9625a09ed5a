//! A secret that a server asks for before it is installed.
//!
//! Owns its description. Must never show its value.

use harbor_ipc_proto::client::DeclaredView;
use harbor_ipc_proto::secret::Secret;
use harbor_policy::recipe::pattern;
use harbor_policy::remote;

use crate::args::{Definition, Package};
use crate::table::flatten;

/// A secret that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredSecret {
    pub name: String,
    pub description: String,
    pub help_url: String,
    /// The header that it goes into, of a remote server.
    pub header: String,
    /// The pattern that a value has to match. The placeholder shows what a value looks like.
    pub pattern: String,
    pub placeholder: String,
    pub required: bool,
}

impl DeclaredSecret {
    pub fn of(declared: &DeclaredView) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Self {
            name: declared.name.clone(),
            description: declared.description.clone(),
            help_url: text(&declared.help_url),
            header: text(&declared.header),
            pattern: text(&declared.pattern),
            placeholder: text(&declared.placeholder),
            required: declared.required,
        }
    }

    fn named(name: &str) -> Self {
        let none = String::new;
        Self {
            name: name.to_owned(),
            description: none(),
            help_url: none(),
            header: none(),
            pattern: none(),
            placeholder: none(),
            required: true,
        }
    }

    /// The description of a right value; `None` when the value is right, or left out.
    pub fn expected(&self, value: &Secret) -> Option<String> {
        let placeholder = Some(self.placeholder.as_str()).filter(|text| !text.is_empty());
        let is_checked = !self.pattern.is_empty() && !value.is_empty();
        is_checked.then(|| pattern::expected(&self.pattern, placeholder, value.expose())).flatten()
    }

    /// Advice how to give the secret later, where it was not given now.
    pub fn told_later(&self, server: &str) -> String {
        let name = flatten(&self.name);
        match flatten(&self.header) {
            none if none.is_empty() => {
                format!("{server} has no {name} yet; set it: `harbor secrets set {server} {name}`")
            }
            header => format!(
                "{server} has no {name} yet; set it: `harbor secrets set {server} {header} --type header`, with the \
                 whole value of that header"
            ),
        }
    }
}

/// The secrets that the person names: by option, and in headers where no variable has that name.
pub fn named(package: &Package) -> Vec<DeclaredSecret> {
    let Definition { secrets, env, .. } = &package.definition;
    let in_headers = remote::keys(package.remote.headers.values());
    let is_new = |key: &&String| !secrets.contains(key) && !env.contains_key(*key);
    secrets.iter().chain(in_headers.iter().filter(is_new)).map(|name| DeclaredSecret::named(name)).collect()
}
