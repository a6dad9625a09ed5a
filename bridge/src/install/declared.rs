//! A recipe's declarations, as clients see them.
//!
//! Owns the views. Must never leave out a value that must be given.

use harbor_ipc_proto::client::{DeclaredView, WayView};
use harbor_policy::recipe::server_json::InstallOption;
use harbor_policy::recipe::{Kind, RecipeInput, RecipeSecret, RecipeVariable};

pub(super) fn way(way: InstallOption) -> WayView {
    WayView { source: way.recipe.source, why_not: way.why_not }
}

pub(super) fn input(input: RecipeInput) -> DeclaredView {
    DeclaredView {
        required: input.required && input.default.is_none(),
        name: input.name,
        description: input.description,
        many: input.many,
        path: input.path,
        default: input.default,
        choices: input.choices,
        value_type: input.path.then_some("path".into()),
        pattern: None,
        placeholder: None,
        help_url: None,
        header: None,
    }
}

pub(super) fn variable(variable: RecipeVariable) -> DeclaredView {
    DeclaredView {
        required: variable.required && variable.value.is_none(),
        name: variable.name,
        description: variable.description,
        many: false,
        path: variable.kind == Kind::Path,
        default: variable.value,
        choices: variable.choices,
        value_type: ((variable.kind != Kind::Text).then(|| variable.kind.as_str())).map(Into::into),
        pattern: None,
        placeholder: None,
        help_url: None,
        header: None,
    }
}

pub(super) fn secret(secret: RecipeSecret) -> DeclaredView {
    DeclaredView {
        required: secret.required,
        name: secret.name,
        description: secret.description,
        many: false,
        path: false,
        default: None,
        choices: Vec::new(),
        value_type: None,
        pattern: secret.pattern,
        placeholder: secret.placeholder,
        help_url: secret.help_url,
        header: secret.header.map(|(header, _)| header),
    }
}
