//! models: the person's providers of models, their keys, and the tokens that they use.
//!
//! Owns the tables and the next step where there is nothing yet. Must never print a key, nor take one from the command line.

mod engines;
mod names;
mod pulling;
mod tables;
mod transcribing;

use std::time::Duration;

use harbor_ipc_proto::client::{
    BudgetView, LlmAddProvider, LlmCheckProvider, LlmCheckProviderResult, LlmDetect, LlmGetActive,
    LlmGetActiveResult, LlmListBudgets, LlmListModels, LlmListProviders, LlmListProvidersResult,
    LlmRemoveProvider, LlmSetActive, LlmSetApiKey, LlmSetBudget, LlmSetModel, LlmSetModelOptions, LlmUsage,
    ModelView, ProviderView,
};
use harbor_policy::models::{TYPES, is_local};
use harbor_policy::suggest::hint;

use super::printing::print;
use super::secrets;
use super::sessions::every_session;
use crate::args::{Models, NewProvider, Tokens};
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use harbor_client::errors::{Exit, Failure};
use harbor_client::payload::Payload;
use harbor_client::reply::Answer;
use harbor_client::terminal::remark;

/// Providers are asked one after the other at the worst, and each may be slow.
const PATIENT: Duration = Duration::from_secs(120);

/// The message where there is no provider.
const NONE: &str = "there is no model yet: `harbor models detect` looks for programs on this machine that run models, \
                    and `harbor models add TYPE` adds a provider";

pub fn run(client: &mut Client, wanted: &Models, screen: &mut Screen) -> Result<(), Failure> {
    match wanted {
        Models::List => list(client, screen),
        Models::Add(new) => add(client, new, screen),
        Models::Remove { id } => remove(client, id, screen),
        Models::Key { id } => key(client, id, screen),
        Models::Check { id } => check(client, id, screen),
        Models::Default { of: Some(of), model, forget } => {
            names::for_use(client, of, model.as_deref(), *forget, screen)
        }
        Models::Default { model: Some(model), .. } => default(client, model, screen),
        Models::Default { model: None, .. } => show_default(client, screen),
        Models::Alias { name: Some(name), remove: true, .. } => names::remove(client, name, screen),
        Models::Alias { name: Some(name), model: Some(model), .. } => names::add(client, name, model, screen),
        Models::Alias { name, .. } => names::list(client, name.as_deref(), screen),
        Models::Set { model, context } => set(client, model, *context, screen),
        Models::Detect => detect(client, screen),
        Models::Start(new) => engines::start(client, new, screen),
        Models::Stop { id } => engines::stop(client, id.as_deref(), screen),
        Models::Local => engines::local(client, screen),
        Models::Pull(new) => pulling::pull(client, new, screen),
        Models::Delete { name } => pulling::delete(client, name, screen),
        Models::Fits { file, context } => pulling::fits(client, file.as_deref(), *context, screen),
        Models::Transcribe(recording) => transcribing::run(client, recording, screen),
        Models::Usage { chats: false } => usage(client, screen),
        Models::Usage { chats: true } => usage_of_chats(client, screen),
        Models::Budget { principal: Some(principal), tokens: Some(tokens) } => {
            set_budget(client, principal, *tokens, screen)
        }
        Models::Budget { principal, .. } => budgets(client, principal.as_deref(), screen),
    }
}

fn providers(client: &mut Client) -> Result<Answer<LlmListProvidersResult>, Failure> {
    client.ask(&LlmListProviders {}, QUICK)
}

/// The provider of this id, or the one that was probably meant.
fn provider(client: &mut Client, id: &str) -> Result<ProviderView, Failure> {
    let all = providers(client)?.into_value().providers;
    let near = hint(id, all.iter().map(|provider| provider.id.as_str()));
    let found = all.into_iter().find(|provider| provider.id == id);
    found.ok_or_else(|| {
        Failure::Nothing(format!("there is no provider {id}{near}"), "`harbor models` lists them".into())
    })
}

fn list(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let known = providers(client)?;
    let answer = client.ask(&LlmListModels {}, PATIENT)?;
    // Which model is the default one is among what providers say; who does not answer has a reason only afterwards.
    let after = if answer.failed.is_empty() { known } else { providers(client)? };
    if screen.json {
        let mut whole = answer.members();
        let all: Vec<_> = after.parts("providers").iter().map(Payload::to_json).collect();
        whole.insert("providers", format!("[{}]", all.join(",")));
        return Ok(screen.json(&whole.to_json())?);
    }
    if after.providers.is_empty() {
        remark(NONE);
        return Ok(());
    }
    if !answer.models.is_empty() {
        let LlmGetActiveResult { active, model, .. } = client.ask(&LlmGetActive {}, QUICK)?.into_value();
        // Where none was chosen it is the first of its provider.
        let of_active = |one: &&ModelView| {
            active.as_ref() == Some(&one.provider) && model.as_ref().is_none_or(|model| *model == one.model)
        };
        let default = answer.models.iter().find(of_active).map(|one| one.id.as_str());
        screen.table(&tables::models(&answer.models, default))?;
    }
    after.providers.iter().filter_map(|one| tables::trouble(one, &answer)).for_each(|text| remark(&text));
    Ok(())
}

fn add(client: &mut Client, new: &NewProvider, screen: &mut Screen) -> Result<(), Failure> {
    let ask = LlmAddProvider {
        provider_type: new.kind.clone(),
        name: new.name.clone(),
        base_url: new.url.clone(),
        dialect: new.dialect.clone(),
        api_key: None,
        allow_private: new.allow_private.then_some(true),
        allow_other_user: new.allow_other_user.then_some(true),
    };
    let answer = client.ask(&ask, PATIENT)?;
    let ProviderView { id, needs_api_key, base_url, other_user, .. } = &answer.provider;
    if let Some(user) = other_user.as_ref().filter(|_| !screen.json) {
        remark(&tables::of_another_person(base_url, user));
    }
    let next = match needs_api_key {
        true => format!("`harbor models key {id}` asks for its key"),
        // Who added it hears at once that nothing is there.
        false if is_local(base_url) && !screen.json => first_check(client, id)?,
        false => format!("`harbor models check {id}` tests whether it answers"),
    };
    print(screen, &answer, |answer| format!("{id} is added, at {}; {next}", answer.provider.base_url))
}

fn first_check(client: &mut Client, id: &str) -> Result<String, Failure> {
    let said = client.ask(&LlmCheckProvider { provider_id: id.to_owned() }, PATIENT)?;
    Ok(match (checked(&said), said.cause.as_deref()) {
        (Ok(answers), _) => format!("it {answers}"),
        (Err(_), Some("unauthorized")) => {
            format!("it requires a key, which `harbor models key {id}` asks for")
        }
        (Err(why), _) => {
            format!("it cannot be used yet: {why}; `harbor models check {id}` tries again")
        }
    })
}

fn remove(client: &mut Client, id: &str, screen: &mut Screen) -> Result<(), Failure> {
    let removed = provider(client, id)?;
    let answer = client.ask(&LlmRemoveProvider { id: id.to_owned() }, PATIENT)?;
    let key = if removed.has_api_key { ", and its key" } else { "" };
    print(screen, &answer, |_| format!("{id} is removed{key}"))?;
    if removed.is_default && !screen.json {
        let now = client.ask(&LlmGetActive {}, QUICK)?;
        now.active.iter().for_each(|provider| remark(&used(provider, now.model.as_deref())));
    }
    Ok(())
}

fn key(client: &mut Client, id: &str, screen: &mut Screen) -> Result<(), Failure> {
    // Nobody types a key for somebody who is not there.
    let provider = provider(client, id)?;
    let api_key = secrets::read(&format!("key for {} at {} (not shown): ", id, provider.base_url))?;
    if api_key.is_empty() {
        return Err(Failure::Usage("that is not a key; nothing was changed".into()));
    }
    let answer = client.ask(&LlmSetApiKey { provider_id: id.to_owned(), api_key }, PATIENT)?;
    print(screen, &answer, |_| format!("the key of {id} is stored; `harbor models check {id}` tests it"))
}

/// Checks a provider; its refusal is this command's failure.
fn check(client: &mut Client, id: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&LlmCheckProvider { provider_id: id.to_owned() }, PATIENT)?;
    print(screen, &answer, |answer| match checked(answer) {
        Ok(answers) => format!("{id} {answers}"),
        Err(why) => format!("{id}: {why}"),
    })?;
    match (answer.available, answer.cause.as_deref()) {
        (true, _) => return Ok(()),
        (false, Some("unauthorized")) => remark(&format!("`harbor models key {id}` sets its key")),
        _ => {}
    }
    Err(Failure::Said(Exit::Unavailable))
}

/// A provider's answer to a check: that it answers, or why it cannot be used.
fn checked(said: &LlmCheckProviderResult) -> Result<String, String> {
    match (said.available, &said.message, &said.cause) {
        (true, ..) => Ok(format!("answers ({} ms)", said.latency_ms)),
        (false, Some(message), _) => Err(message.clone()),
        (false, None, cause) => Err(cause.clone().unwrap_or_else(|| "it does not answer".into())),
    }
}

fn show_default(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&LlmGetActive {}, QUICK)?;
    if answer.active.is_none() && !screen.json {
        remark(NONE);
        return Ok(());
    }
    print(screen, &answer, |answer| {
        used(answer.active.as_deref().unwrap_or_default(), answer.model.as_deref())
    })
}

/// A sentence about the model that is used where none is named.
fn used(provider: &str, model: Option<&str>) -> String {
    let model = model.map_or_else(|| format!("the first model of {provider}"), |m| format!("{provider}:{m}"));
    format!("{model} is now the default model")
}

fn default(client: &mut Client, model: &str, screen: &mut Screen) -> Result<(), Failure> {
    let all = providers(client)?;
    if all.providers.is_empty() {
        return Err(Failure::Nothing(format!("no provider has {model}"), NONE.into()));
    }
    if all.providers.iter().any(|provider| provider.id == model) {
        let ask = LlmSetActive { provider_id: model.to_owned(), model_id: None };
        return print(screen, &client.ask(&ask, PATIENT)?, |set| used(&set.active, set.model.as_deref()));
    }
    let answer = client.ask(&LlmSetModel { model_id: model.to_owned() }, PATIENT)?;
    print(screen, &answer, |set| used(&set.active, Some(&set.model)))
}

fn set(
    client: &mut Client,
    model: &str,
    context: Option<Tokens>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let context_window = match context {
        Some(Tokens::Most(window)) => Some(window),
        Some(Tokens::Default) => None,
        None => return Err(Failure::Usage("say what to set: --context N, or --context default".into())),
    };
    let ask = LlmSetModelOptions { model: model.to_owned(), context_window };
    print(screen, &client.ask(&ask, PATIENT)?, |set| tables::window(&set.model))
}

fn detect(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&LlmDetect {}, PATIENT)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    match answer.providers.is_empty() {
        true => remark(
            "no program on this machine runs models at the usual addresses; `harbor models add TYPE --url URL` adds \
             another address",
        ),
        false => screen.table(&tables::found(&answer.providers))?,
    }
    for one in &answer.providers {
        one.other_user.iter().for_each(|user| remark(&tables::of_another_person(&one.base_url, user)));
    }
    let is_ours = |provider: &&ProviderView| !provider.is_added && provider.other_user.is_none();
    if let Some(new) = answer.providers.iter().find(is_ours) {
        // Elsewhere than where its type is as a rule, it has to be said.
        let url = new_address(new).map(|url| format!(" --url {url}")).unwrap_or_default();
        remark(&format!("use it: `harbor models add {}{url}`", new.r#type));
    }
    for key in &answer.environment {
        let (kind, variable) = (&key.r#type, &key.variable);
        remark(&format!(
            "{variable} is set: use it with `harbor models add {kind}` and `printenv {variable} | harbor models key {kind}`"
        ));
    }
    Ok(())
}

fn new_address(found: &ProviderView) -> Option<&str> {
    let about = TYPES.iter().find(|about| about.kind.name() == found.r#type);
    Some(found.base_url.as_str()).filter(|url| about.is_none_or(|about| about.base_url != *url))
}

fn usage(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&LlmUsage { since: None, group_by: None }, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    match answer.usage.is_empty() {
        true => remark("no model has been used yet; `harbor ask` asks one"),
        false => screen.table(&tables::usage(&answer.usage))?,
    }
    Ok(())
}

fn usage_of_chats(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&every_session(None), QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    match answer.sessions.iter().any(|session| session.usage.is_some()) {
        true => screen.table(&tables::usage_of_chats(&answer.sessions))?,
        false => remark("no chat has used a model yet; `harbor chat` begins one"),
    }
    Ok(())
}

fn budgets(client: &mut Client, principal: Option<&str>, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&LlmListBudgets {}, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    let is_asked = |one: &&BudgetView| principal.is_none_or(|principal| one.principal == principal);
    let mut shown: Vec<_> = answer.budgets.iter().filter(is_asked).cloned().collect();
    if principal.is_none() || shown.is_empty() {
        // Of those for whom nothing was set, and who have used nothing today, the bridge tells what holds for all of them.
        let name = principal.unwrap_or("other origins");
        let is_bounded = !["owner", "*"].contains(&name);
        shown.push(BudgetView {
            principal: name.to_owned(),
            tokens_per_day: is_bounded.then_some(answer.of_an_origin),
            is_set: false,
            used: 0,
            reserved: 0,
        });
    }
    Ok(screen.table(&tables::budgets(&shown))?)
}

fn set_budget(
    client: &mut Client,
    principal: &str,
    tokens: Tokens,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let tokens_per_day = match tokens {
        Tokens::Most(most) => Some(most),
        Tokens::Default => None,
    };
    let answer = client.ask(&LlmSetBudget { principal: principal.to_owned(), tokens_per_day }, QUICK)?;
    print(screen, &answer, |answer| {
        let may = match answer.budget.tokens_per_day {
            Some(most) => format!("{most} tokens a day"),
            None => "any number of tokens".into(),
        };
        let who = if principal == "*" { "everybody together" } else { principal };
        format!("{who} may use {may}")
    })
}

#[cfg(test)]
mod tests;
