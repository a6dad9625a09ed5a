//! models alias, models default --for: the person's names of models, and the model for each use.

use std::time::Duration;

use harbor_ipc_proto::client::{
    LlmAddConfiguredModel, LlmGetConfig, LlmListConfiguredModels, LlmRemoveConfiguredModel, LlmSetDefaultFor,
};

use super::super::printing::print;
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::table::Table;
use harbor_client::errors::Failure;
use harbor_client::terminal::remark;

/// Providers are asked for their models first, and each may be slow.
const PATIENT: Duration = Duration::from_secs(120);

pub fn list(client: &mut Client, name: Option<&str>, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&LlmListConfiguredModels {}, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    let mut table = Table::new(&["NAME", "MODEL"]);
    let shown = answer.models.iter().filter(|one| name.is_none_or(|name| one.name == name));
    let mut is_empty = true;
    for one in shown {
        is_empty = false;
        let default = if one.is_default { " (default)" } else { "" };
        table.add([one.name.clone(), format!("{}{default}", one.model_id)]);
    }
    match (is_empty, name) {
        (false, _) => screen.table(&table)?,
        (true, None) => remark("no model has a name yet; `harbor models alias NAME MODEL` gives it one"),
        (true, Some(name)) => return Err(unknown(name)),
    }
    Ok(())
}

pub fn add(client: &mut Client, name: &str, model: &str, screen: &mut Screen) -> Result<(), Failure> {
    let ask = LlmAddConfiguredModel { model_id: model.to_owned(), name: Some(name.to_owned()) };
    print(screen, &client.ask(&ask, PATIENT)?, |added| {
        format!("{} stands for {} now", added.name, added.model_id)
    })
}

pub fn remove(client: &mut Client, name: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&LlmRemoveConfiguredModel { name: name.to_owned() }, QUICK)?;
    if !answer.ok {
        return Err(unknown(name));
    }
    print(screen, &answer, |_| format!("{name} stands for no model any more"))
}

fn unknown(name: &str) -> Failure {
    Failure::Nothing(format!("no model has the name {name}"), "`harbor models alias` lists the names".into())
}

/// Shows, sets or forgets the model for a use.
pub fn for_use(
    client: &mut Client,
    of: &str,
    model: Option<&str>,
    forget: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let said = |model: Option<&String>| match model {
        Some(model) => format!("{model} is for {of} now"),
        None => format!("{of} has no model of its own: the default model is used"),
    };
    if model.is_some() || forget {
        let ask = LlmSetDefaultFor { r#use: of.to_owned(), model: model.map(str::to_owned) };
        return print(screen, &client.ask(&ask, PATIENT)?, |set| said(set.model.as_ref()));
    }
    let answer = client.ask(&LlmGetConfig {}, QUICK)?;
    print(screen, &answer, |config| {
        said(config.uses.iter().find(|one| one.r#use == of).map(|one| &one.model_id))
    })
}
