//! The recipe of a server that Harbor brings along.

use crate::curated::{Curated, Source};

use super::{Input, Recipe, Secret, Variable};

impl Recipe {
    /// The recipe on a machine where these paths exist.
    #[must_use]
    pub fn of_curated(curated: &Curated, exists: &dyn Fn(&str) -> bool) -> Self {
        let group = |arg: &&str| vec![(*arg).to_owned()];
        let usual = |input: &crate::curated::Input| {
            input.places.iter().find(|place| exists(place)).map(ToString::to_string)
        };
        let input = |input: &crate::curated::Input| Input {
            name: input.name.into(),
            description: input.description.into(),
            default: usual(input),
            many: input.many,
            required: input.required,
            // The list asks for nothing else.
            path: true,
            ..Input::default()
        };
        let variable = |variable: &crate::curated::Variable| Variable {
            name: variable.name.into(),
            description: variable.description.into(),
            value: variable.value.map(str::to_owned),
            ..Variable::default()
        };
        let secret = |secret: &crate::curated::Secret| Secret {
            description: secret.description.into(),
            required: secret.required,
            help_url: Some(secret.help_url.into()),
            ..match curated.source {
                Source::Remote(_) => Secret::of_header(secret.name, secret.prefix, ""),
                _ => Secret { name: secret.name.into(), ..Secret::default() },
            }
        };
        Self {
            source: curated.source.spec(),
            name: Some(curated.id.into()),
            args: curated.args.iter().map(group).collect(),
            inputs: curated.inputs.iter().map(input).collect(),
            env: curated.env.iter().map(variable).collect(),
            secrets: curated.secrets.iter().map(secret).collect(),
            sandbox: curated.sandbox.settings(exists),
            ..Self::default()
        }
    }
}
