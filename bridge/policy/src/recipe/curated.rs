//! The recipe of a server that Harbor brings along.

use crate::curated::{Curated, CuratedPackage};

use super::{Recipe, RecipeInput, RecipeSecret, RecipeVariable};

impl Recipe {
    /// The recipe on a machine where these paths exist.
    #[must_use]
    pub fn of_curated(curated: &Curated, exists: &dyn Fn(&str) -> bool) -> Self {
        let group = |arg: &&str| vec![(*arg).to_owned()];
        let usual = |input: &crate::curated::CuratedInput| {
            input.places.iter().find(|place| exists(place)).map(ToString::to_string)
        };
        let input = |input: &crate::curated::CuratedInput| RecipeInput {
            name: input.name.into(),
            description: input.description.into(),
            default: usual(input),
            many: input.many,
            required: input.required,
            // The list asks for nothing else.
            path: true,
            ..RecipeInput::default()
        };
        let variable = |variable: &crate::curated::CuratedVariable| RecipeVariable {
            name: variable.name.into(),
            description: variable.description.into(),
            value: variable.value.map(str::to_owned),
            ..RecipeVariable::default()
        };
        let secret = |secret: &crate::curated::CuratedSecret| RecipeSecret {
            description: secret.description.into(),
            required: secret.required,
            help_url: Some(secret.help_url.into()),
            ..match curated.source {
                CuratedPackage::Remote(_) => RecipeSecret::of_header(secret.name, secret.prefix, ""),
                _ => RecipeSecret { name: secret.name.into(), ..RecipeSecret::default() },
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
