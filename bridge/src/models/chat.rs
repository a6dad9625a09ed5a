//! A request to a model, from the permit to the line in the audit log.
//!
//! ```text
//!  permit ─► provider and model ─► Bill: tokens are kept ─► key ─► worker ─► events, each told as it comes ─► end
//!                                    └────────── dropped, however it ends: settled, counted, written down
//! ```
//!
//! Owns the order of these steps. The bill is a guard: a request that is cancelled, or whose client leaves, is settled
//! too, by what has come. A request leaves nothing behind that counts for another one.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    AnswerDetails, ChatEvent, ChatMessage, ChatResponse, ChatTool, HostLlmChat, LlmChat,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::codec::MAX_MESSAGE;
use harbor_ipc_proto::link::model::{Cause, Chat, ChatLimits, Event, Failure, FromModel, Target};
use harbor_ipc_proto::model::{Finish, ModelMessage, ModelTool, Options, Part, ToolChoice, Usage};
use harbor_policy::access::ModelPermit;
use harbor_policy::budget::{ANSWER, BudgetTicket};
use harbor_policy::empty_answer;
use harbor_policy::models::{KEYS, estimate, has_model, is_local, is_model, lists_all, split_model};
use harbor_policy::prices::Price;
use harbor_policy::suggest::hint;

use super::asking::ModelRequestGuard;
use super::conversation::{self, PartialAnswer};
use super::errors::{failed, invalid, no_model, no_provider, of_another_person, refused, too_long, unstored};
use super::local::Aim;
use super::owners::another_person_at;
use super::record::{ModelCaller, Noted, SettledRequest};
use super::{DAY, Models, Problem, dialect_of, kind_of};
use crate::store::models::{Provider, TokenUsage, UsageKey};

/// Deltas that the worker may send before it needs new credit. Half of it is renewed at a time.
const CREDIT: u32 = 256;

/// The longest conversation, in bytes: the worker takes slightly longer messages.
const LONGEST: usize = MAX_MESSAGE - 1024 * 1024;

/// A request to a model.
#[derive(Debug, Clone)]
pub struct ModelQuery {
    messages: Vec<ChatMessage>,
    model: Option<String>,
    provider: Option<String>,
    system_prompt: Option<String>,
    tools: Option<Vec<ChatTool>>,
    tool_choice: Option<String>,
    max_tokens: Option<u32>,
    temperature: Option<Json>,
    top_p: Option<Json>,
    stop: Option<Vec<String>>,
    response_schema: Option<JsonObject>,
    reasoning_effort: Option<String>,
}

macro_rules! ask_of {
    ($($message:ident)*) => {$(
        impl From<$message> for ModelQuery {
            fn from(message: $message) -> Self {
                Self {
                    messages: message.messages,
                    model: message.model,
                    provider: message.provider,
                    system_prompt: message.system_prompt,
                    tools: message.tools,
                    tool_choice: message.tool_choice,
                    max_tokens: message.max_tokens,
                    temperature: message.temperature,
                    top_p: message.top_p,
                    stop: message.stop,
                    response_schema: message.response_schema,
                    reasoning_effort: message.reasoning_effort,
                }
            }
        }
    )*};
}

ask_of! { LlmChat HostLlmChat }

/// The result of a request.
#[derive(Debug)]
pub struct Chatted {
    /// The model's answer.
    pub response: ChatResponse,
    /// The provider's id.
    pub provider: String,
    /// The model's name there.
    pub model: String,
}

/// A request to a model, in the form that the worker takes.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The provider's id or type; the default one when absent.
    pub provider: Option<String>,
    /// The model; the provider's default when absent.
    pub model: Option<String>,
    /// The conversation, with the model's instructions first.
    pub messages: Vec<ModelMessage>,
    /// The tools that it may call.
    pub tools: Vec<ModelTool>,
    /// Says if it has to call one.
    pub tool_choice: ToolChoice,
    /// The settings of the answer.
    pub options: Options,
}

/// A model's answer.
#[derive(Debug)]
pub struct ModelAnswer {
    /// The message, for the conversation.
    pub message: ModelMessage,
    /// Why it ended.
    pub finish: Finish,
    /// The provider's own word for that.
    pub raw_finish: Option<String>,
    /// The tokens that it has used.
    pub used: TokenUsage,
    /// The parts of the request that were left out for this model.
    pub details: Option<AnswerDetails>,
    /// The provider's id.
    pub provider: String,
    /// The model's name there.
    pub model: String,
}

/// The cost of a request. It is settled when this is dropped.
pub(super) struct Bill {
    models: Rc<Models>,
    ticket: BudgetTicket,
    who: ModelCaller,
    provider: String,
    model: String,
    began: Instant,
    /// An estimate of the tokens that are sent.
    pub(super) input: u64,
    /// None if it is not known.
    price: Option<Price>,
    /// True if it was sent.
    is_sent: Cell<bool>,
    code: Cell<Option<Code>>,
    pub(super) answer: RefCell<PartialAnswer>,
}

impl Models {
    /// Has a model answer. `push` gets each event as it comes, and the next one waits for it.
    ///
    /// # Errors
    /// Why there is no answer, or no complete one.
    pub async fn chat(
        self: &Rc<Self>,
        permit: ModelPermit,
        who: ModelCaller,
        ask: ModelQuery,
        push: impl AsyncFn(ChatEvent),
    ) -> Result<Chatted, ErrorBody> {
        let options = options(&ask)?;
        let tools = conversation::tools(ask.tools.unwrap_or_default());
        let prompt = Prompt {
            messages: conversation::asked(ask.system_prompt.as_deref(), ask.messages)?,
            tool_choice: tool_choice(ask.tool_choice.as_deref(), &tools)?,
            tools,
            options,
            provider: ask.provider,
            model: ask.model,
        };
        let is_origins = who.origin.is_some();
        let answered = self.answer(permit, who, prompt, push).await?;
        let ModelAnswer { message, finish, raw_finish, used, provider, model, details } = answered;
        let response = ChatResponse {
            details,
            message: conversation::written(message),
            usage: match is_origins {
                true => conversation::usage_for_origin(conversation::usage_view(used)),
                false => conversation::usage_view(used),
            },
            finishReason: finish.name().into(),
            raw_finish,
        };
        Ok(Chatted { response, provider, model })
    }

    /// Has a model answer a conversation that is already in the worker's form.
    ///
    /// # Errors
    /// As `chat`.
    pub async fn answer(
        self: &Rc<Self>,
        _permit: ModelPermit,
        who: ModelCaller,
        prompt: Prompt,
        push: impl AsyncFn(ChatEvent),
    ) -> Result<ModelAnswer, ErrorBody> {
        let Prompt { provider, model, messages, tools, tool_choice, options } = prompt;
        let schema = options.response_schema.as_ref().map_or(0, String::len);
        if conversation::bytes(&messages, &tools) + schema > LONGEST {
            return Err(too_long());
        }
        let has_images =
            messages.iter().flat_map(|message| &message.parts).any(|part| matches!(part, Part::Image(_)));
        let is_alone = tool_choice == ToolChoice::None && who.origin.is_none();
        let unnamed = || self.model_for_unnamed(has_images, is_alone).filter(|_| provider.is_none());
        let model = self.by_name(provider.as_deref(), model.as_deref()).or_else(unnamed);
        let provider = self.choose(provider.as_deref(), model.as_deref())?;
        let to_origin = who.origin.is_some();
        let model = self.model_of(&provider, model.as_deref(), to_origin).await?;
        let (bill, options) = self.reserve(who, &provider, &model, (&messages, &tools), options)?;
        let found = self.target(&provider, to_origin).await;
        let Aim { target, in_use: _in_use } = found.inspect_err(|error| bill.ends(error.code))?;
        let (credit, limits) = (Some(CREDIT), ChatLimits::default());
        let chat = Chat {
            id: 0,
            target,
            model,
            messages,
            tools,
            tool_choice,
            options,
            stream: true,
            credit,
            limits,
        };
        self.attempts(&bill, &provider, chat, &push).await
    }

    /// The provider that a request names, or the default one.
    pub(super) fn choose(&self, provider: Option<&str>, model: Option<&str>) -> Result<Provider, ErrorBody> {
        let chosen = {
            let providers = self.providers.borrow();
            match provider {
                Some(name) => {
                    let of_type = || {
                        let mut of_type = providers.values().filter(|one| one.kind == name);
                        let first = of_type.clone().next();
                        of_type.find(|one| one.is_type_default).or(first)
                    };
                    let found = providers.get(name).or_else(of_type).cloned();
                    Some(found.ok_or_else(|| {
                        let known: Vec<_> = providers.keys().cloned().collect();
                        no_provider(name, &known)
                    })?)
                }
                None => {
                    model.map(|model| self.named(model)).transpose()?.flatten().map(|(provider, _)| provider)
                }
            }
        };
        let chosen = chosen.or_else(|| self.default_provider());
        let is_empty = self.providers.borrow().is_empty();
        match chosen {
            Some(provider) if provider.enabled => Ok(provider),
            Some(provider) => Err(no_model(format!("the provider {} is switched off", provider.id))),
            None if is_empty => Err(no_model(
                "there is no model yet: `harbor models detect` looks for programs on this machine that run models, and \
                 `harbor models add TYPE` adds a provider",
            )),
            None => Err(no_model("no provider is switched on; `harbor models` lists them")),
        }
    }

    /// The provider and the model that a name stands for: by the provider in it, else by the providers'
    /// lists. None if it is in no list.
    ///
    /// # Errors
    /// When it is in several lists.
    pub(super) fn named(&self, name: &str) -> Result<Option<(Provider, String)>, ErrorBody> {
        let providers = self.providers.borrow();
        if let Some((id, model)) = split_model(name, |id| providers.contains_key(id)) {
            return Ok(providers.get(id).map(|provider| (provider.clone(), model.to_owned())));
        }
        let known = self.known.borrow();
        let has = |(id, _): &(&String, &Provider)| {
            known.get(*id).is_some_and(|list| has_model(list.iter().map(|model| model.id.as_str()), name))
        };
        let mut all = providers.iter().filter(|(_, provider)| provider.enabled).filter(has);
        match (all.next(), all.next()) {
            (Some((one, _)), Some((other, _))) => Err(no_model(format!(
                "{one} and {other} both have {name:.200}; say which: {one}:{name:.200} or {other}:{name:.200}"
            ))),
            (found, _) => Ok(found.map(|(_, provider)| (provider.clone(), name.to_owned()))),
        }
    }

    /// Checks that a provider's list has this model, if it gave one.
    ///
    /// # Errors
    /// Says that it has not, and names the nearest.
    pub(super) fn is_listed(&self, provider: &Provider, model: &str) -> Result<(), ErrorBody> {
        let known = self.known.borrow();
        let Some(list) = known.get(&provider.id).filter(|list| !list.is_empty()) else { return Ok(()) };
        let names = || list.iter().map(|model| model.id.as_str());
        if has_model(names(), model) {
            return Ok(());
        }
        let near = hint(model, names());
        Err(no_model(format!("{} has no model {model:.200}{near}; `harbor models` lists them", provider.id)))
    }

    /// Checks that a provider has this model, if it lists all its models. If its last list lacks the model,
    /// the provider is asked for a new one: the model may be new. A provider that gives no list refuses
    /// nothing.
    ///
    /// # Errors
    /// Says that it has not, and names the nearest.
    async fn has(self: &Rc<Self>, provider: &Provider, model: &str) -> Result<(), ErrorBody> {
        let gave_list = self.known.borrow().get(&provider.id).is_some_and(|list| !list.is_empty());
        if gave_list && self.is_listed(provider, model).is_ok() {
            return Ok(());
        }
        if gave_list || self.may_tell(&provider.id, model) {
            let list = self.list(provider).await.unwrap_or_default();
            if list.is_empty() {
                self.note_untold(&provider.id, model);
            }
        }
        self.is_listed(provider, model)
    }

    /// The name of the model at its provider.
    pub(super) async fn model_of(
        self: &Rc<Self>,
        provider: &Provider,
        asked: Option<&str>,
        of_origin: bool,
    ) -> Result<String, ErrorBody> {
        if let Some(model) = asked {
            let model = split_model(model, |id| id == provider.id).map_or(model, |(_, own)| own);
            if !is_model(model) {
                return Err(invalid("model", "the name of a model"));
            }
            // A service may have more than it lists: other names of the same model,
            // and models that are not for everybody.
            if lists_all(kind_of(provider)) || is_local(&provider.base_url) {
                self.has(provider, model).await?;
            }
            return Ok(model.to_owned());
        }
        if let Some(model) = &provider.model {
            return Ok(model.clone());
        }
        let known = self.known.borrow().get(&provider.id).and_then(|known| Some(known.first()?.id.clone()));
        if let Some(model) = known {
            return Ok(model);
        }
        let list =
            self.list(provider).await.map_err(|failure| failed(&failure, &provider.id, "", of_origin))?;
        let first = list.first().map(|model| model.id.clone());
        first.ok_or_else(|| no_model(format!("{} has no model", provider.id)))
    }

    pub(super) fn reserve(
        self: &Rc<Self>,
        who: ModelCaller,
        provider: &Provider,
        model: &str,
        (messages, tools): (&[ModelMessage], &[ModelTool]),
        options: Options,
    ) -> Result<(Bill, Options), ErrorBody> {
        let schema = options.response_schema.as_ref().map_or(0, String::len);
        let input = conversation::tokens(messages, tools).saturating_add(estimate(schema));
        let is_bounded = self.budgets.borrow().is_bounded(&who.principal);
        // A bounded principal is bounded at the provider, too: an endless answer would use more
        // than is reserved for it.
        let most =
            options.max_tokens.or_else(|| is_bounded.then_some(u32::try_from(ANSWER).unwrap_or(u32::MAX)));
        let kept = input.saturating_add(most.map_or(ANSWER, u64::from));
        let reserved = self.budgets.borrow_mut().reserve(&who.principal, kept, wall_clock());
        let ticket = reserved.map_err(|refusal| refused(&who.principal, refusal))?;
        let bill = Bill {
            models: self.clone(),
            ticket,
            who,
            provider: provider.id.clone(),
            model: model.to_owned(),
            began: Instant::now(),
            input,
            price: self.price_of(provider, model),
            is_sent: Cell::new(false),
            // Until the request has ended by itself.
            code: Cell::new(Some(Code::Cancelled)),
            answer: RefCell::default(),
        };
        Ok((bill, Options { max_tokens: most, ..options }))
    }

    /// The address to ask, with its key. Only the person is told whose program answers there.
    ///
    /// # Errors
    /// When the key cannot be read, or another person's program answers at the provider's address.
    pub(super) async fn target(&self, provider: &Provider, to_origin: bool) -> Result<Aim, ErrorBody> {
        if let Some(aim) = self.aim_at_engine(&provider.id, to_origin).await? {
            return Ok(aim);
        }
        if !provider.allow_other_user
            && let Some(user) = another_person_at(&provider.base_url).await
        {
            let failure = of_another_person(provider, &user);
            let problem = Problem { cause: failure.cause, message: failure.message.clone() };
            self.note_problem(&provider.id, Some(problem));
            return Err(failed(&failure, &provider.id, "", to_origin));
        }
        let key = match provider.has_key {
            true => {
                let mut all = self.secrets.of(KEYS).await.map_err(|error| unstored(&error))?;
                all.0.remove(&provider.id).map(|credential| credential.value)
            }
            false => None,
        };
        let target = Target {
            provider: provider.id.clone(),
            kind: kind_of(provider),
            dialect: dialect_of(provider),
            base_url: provider.base_url.clone(),
            allow_private: provider.allow_private,
            key,
            socket: None,
        };
        Ok(Aim { target, in_use: None })
    }
}

impl Prompt {
    /// About how many tokens a model reads of it.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        let schema = self.options.response_schema.as_ref().map_or(0, String::len);
        conversation::tokens(&self.messages, &self.tools).saturating_add(estimate(schema))
    }
}

impl Bill {
    /// Follows the answer to its end, which is not pushed: it may not be the last word.
    pub(super) async fn follow(
        &self,
        mut asked: ModelRequestGuard,
        push: &impl AsyncFn(ChatEvent),
    ) -> Result<(Finish, Option<String>), Failure> {
        let mut taken = 0;
        loop {
            let event = match asked.next().await {
                FromModel::Event { event: Event::Error(failure), .. } | FromModel::Failed { failure, .. } => {
                    return Err(failure);
                }
                FromModel::Event { event, .. } => event,
                _ => continue,
            };
            if let Event::End { finish, raw } = event {
                return Ok((finish, raw));
            }
            self.answer.borrow_mut().take(&event, &self.provider, &self.model);
            if let Some(told) = conversation::told(&event) {
                push(told).await;
            }
            match event {
                // How it is loaded is known only afterwards.
                Event::Loading => self.models.has_changed(&self.provider),
                Event::Text(_) | Event::Reasoning(_) | Event::ToolCallArguments { .. } => taken += 1,
                _ => {}
            }
            if taken == CREDIT / 2 {
                asked.more(std::mem::take(&mut taken));
            }
        }
    }

    pub(super) fn ended(
        &self,
        finish: Finish,
        raw_finish: Option<String>,
        details: Option<AnswerDetails>,
    ) -> ModelAnswer {
        self.code.set(None);
        self.models.note_answer(&self.provider, None);
        let message = self.answer.borrow().message(finish);
        let (used, provider, model) = (self.used(), self.provider.clone(), self.model.clone());
        ModelAnswer { message, finish, raw_finish, used, details, provider, model }
    }

    /// The failure of an answer that says nothing.
    pub(super) fn emptiness(&self, finish: Finish, raw: Option<&str>, options: &Options) -> Option<Failure> {
        let empty = self.answer.borrow().emptiness(finish)?;
        let message = empty_answer::why(empty, finish, raw, options)?;
        Some(Failure { cause: Cause::Empty, status: None, retry_after_ms: None, message })
    }

    /// It is asked once more from the beginning: the thoughts so far have led to nothing.
    pub(super) fn begins_anew(&self) {
        *self.answer.borrow_mut() = PartialAnswer::default();
    }

    /// It is sent now, and costs something from here on.
    pub(super) fn send(&self) {
        self.is_sent.set(true);
    }

    /// It ends by this error, before it was sent.
    pub(super) fn ends(&self, code: Code) {
        self.code.set(Some(code));
    }

    /// A recording has become this text.
    pub(super) fn transcribed(self, text: &str, usage: Usage) -> TokenUsage {
        self.code.set(None);
        self.models.note_answer(&self.provider, None);
        for event in [Event::Text(text.to_owned()), Event::Usage(usage)] {
            self.answer.borrow_mut().take(&event, &self.provider, &self.model);
        }
        self.used()
    }

    /// The error of a request that has failed.
    pub(super) fn failed(&self, failure: &Failure) -> ErrorBody {
        self.code.set(Some(Code::ModelFailed));
        // A request that was refused, or never arrived, costs nothing.
        let is_late =
            matches!(failure.cause, Cause::Timeout | Cause::Cut | Cause::Protocol | Cause::WorkerLost);
        if !is_late && self.answer.borrow().is_nothing() {
            self.is_sent.set(false);
        }
        self.models.note_answer(&self.provider, Some(failure));
        failed(failure, &self.provider, &self.model, self.who.origin.is_some())
    }

    fn used(&self) -> TokenUsage {
        self.answer.borrow().used(self.input, self.price)
    }
}

impl Drop for Bill {
    fn drop(&mut self) {
        let (now, used) = (wall_clock(), self.used());
        let is_free = !self.is_sent.get();
        let taken = if is_free { 0 } else { used.input.saturating_add(used.output) };
        self.models.budgets.borrow_mut().settle(self.ticket, taken, now);
        let (provider, model) = (std::mem::take(&mut self.provider), std::mem::take(&mut self.model));
        (self.models.note)(Noted {
            who: self.who.clone(),
            provider: provider.clone(),
            model: model.clone(),
            code: self.code.get(),
            duration_us: u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
            tokens: if is_free { [0, 0] } else { [used.input, used.output] },
        });
        if is_free {
            return;
        }
        if let Some(settled) = &self.who.settled {
            settled.add(SettledRequest { provider: provider.clone(), model: model.clone(), used });
        }
        let key = UsageKey { provider, model, principal: self.who.principal.to_string(), day: now / DAY };
        self.models.tables.count(key, used);
    }
}

fn options(ask: &ModelQuery) -> Result<Options, ErrorBody> {
    if ask.max_tokens == Some(0) {
        return Err(invalid("max_tokens", "a whole number, at least 1"));
    }
    Ok(Options {
        max_tokens: ask.max_tokens,
        temperature: number("temperature", ask.temperature.as_ref(), 2.0, "a number from 0 to 2")?,
        top_p: number("top_p", ask.top_p.as_ref(), 1.0, "a number from 0 to 1")?,
        stop: ask.stop.clone().unwrap_or_default(),
        response_schema: ask.response_schema.as_ref().map(|schema| schema.0.as_str().to_owned()),
        reasoning_effort: ask.reasoning_effort.clone(),
        context_window: None,
        refused: Vec::new(),
    })
}

fn number(
    field: &'static str,
    given: Option<&Json>,
    most: f64,
    expected: &'static str,
) -> Result<Option<f64>, ErrorBody> {
    let Some(given) = given.filter(|given| given.as_str() != "null") else { return Ok(None) };
    let number: Option<f64> = serde_json::from_str(given.as_str()).ok();
    number.filter(|number| (0.0..=most).contains(number)).map(Some).ok_or_else(|| invalid(field, expected))
}

fn tool_choice(asked: Option<&str>, tools: &[ModelTool]) -> Result<ToolChoice, ErrorBody> {
    match asked {
        None | Some("auto") => Ok(ToolChoice::Auto),
        Some("none") => Ok(ToolChoice::None),
        Some("required") if !tools.is_empty() => Ok(ToolChoice::Required),
        Some(name) if tools.iter().any(|tool| tool.name == name) => Ok(ToolChoice::Tool(name.to_owned())),
        Some(_) => Err(invalid("tool_choice", "auto, none, required, or the name of one of `tools`")),
    }
}
