//! A request of the AI client that the bridge has to be asked for.
//!
//! ```text
//!  Look ─ a list of the bridge ─┬─ the list was wanted ─► answered
//!    ▲        more are needed ──┤
//!    └──────────────────────────┴─ it is known what is meant ─► Ask ─► its server's answer
//! ```
//!
//! Owns the record of such a request, and how it is put to the bridge. Arguments stay the text that the
//! client wrote.

use harbor_client::errors::Failure;
use harbor_client::id::server_id;
use harbor_ipc_proto::client::answer::Heard;
use harbor_ipc_proto::client::{
    HostCallTool, HostCallToolResult, HostRunScript, HostRunScriptResult, McpComplete, McpCompleteResult,
    McpGetPrompt, McpGetPromptResult, McpReadResource, McpReadResourceResult, McpSubscribeResource, Request,
};
use harbor_ipc_proto::field::{FieldError, JsonObject};
use harbor_ipc_proto::json::{Fields, Json};
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::strings::put_str;

use super::directory::McpList;
use super::line;
use super::target::Target;
use super::uris::APP;
use super::write::with_said;

/// A request that is not answered yet.
#[derive(Debug)]
pub struct Open {
    /// The client's id, JSON text. None if the client waits for no answer, or has not made the request again yet.
    pub id: Option<String>,
    /// True if it came without `initialize`.
    pub modern: bool,
    pub want: Want,
    pub step: Step,
    /// The client's capabilities, JSON text: the questions that it can answer meanwhile.
    pub answers: Option<String>,
    /// True if its bridge was lost once.
    pub again: bool,
}

/// The next thing that a request needs from the bridge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The first of these lists.
    Look(Vec<McpList>),
    /// The server's answer. A script has no target.
    Ask(Target),
}

/// The work that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    /// The part of a list behind this cursor; from the first item on when absent.
    List(McpList, Option<String>),
    Call(Call),
    /// A prompt, by its name; its arguments are JSON text.
    Prompt(String, String),
    /// The content of a resource.
    Read(String),
    /// A subscription to a resource's changes.
    Subscribe(String),
    Complete(Complete),
    /// Tools that fit these words.
    Search(String),
    /// The description of a tool.
    Describe(String),
    /// The answer of a script, which may call these tools; all of the client's when absent.
    Script {
        script: String,
        only: Option<Vec<String>>,
    },
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The tool's name as the client says it.
    pub name: String,
    /// JSON text.
    pub arguments: String,
    /// The token for its progress, JSON text.
    pub token: Option<String>,
}

/// A completion; all but the name are JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complete {
    /// True if it is about a prompt; else it is about a template of resources.
    of_prompt: bool,
    pub name: String,
    argument: String,
    context: Option<String>,
}

impl Open {
    /// The next request to the bridge.
    ///
    /// # Errors
    /// When its server cannot exist.
    pub fn ask(&self) -> Result<Request, Failure> {
        match &self.step {
            Step::Look(kinds) => Ok(kinds.first().copied().unwrap_or(McpList::Tools).ask()),
            Step::Ask(target) => self.want.ask(target, self.answers.as_deref().map(object_of)),
        }
    }

    /// True if it may have had effects by now: then it must not be sent again.
    pub fn may_have_acted(&self) -> bool {
        matches!((&self.want, &self.step), (Want::Call(_) | Want::Script { .. }, Step::Ask(_)))
    }
}

impl Want {
    /// True if this is the same request, made again: the token of its progress may differ.
    pub fn is_again(&self, first: &Self) -> bool {
        match (self, first) {
            (Self::Call(call), Self::Call(first)) => {
                (&call.name, &call.arguments) == (&first.name, &first.arguments)
            }
            (want, first) => want == first,
        }
    }

    /// Reads a request from its parameters and their `_meta`. None if it is no request for the bridge.
    ///
    /// # Errors
    /// Says what is wrong with the parameters.
    pub fn read(method: &str, fields: &Fields<'_>, meta: &Fields<'_>) -> Result<Option<Self>, &'static str> {
        let uri = || text(fields, "uri").ok_or("`uri` is not a string");
        Ok(Some(match method {
            "tools/list" => Self::List(McpList::Tools, cursor(fields)?),
            "resources/list" => Self::List(McpList::Resources, cursor(fields)?),
            "resources/templates/list" => Self::List(McpList::Templates, cursor(fields)?),
            "prompts/list" => Self::List(McpList::Prompts, cursor(fields)?),
            "tools/call" => Self::Call(Call::read(fields, meta)?),
            "prompts/get" => {
                let name = text(fields, "name").ok_or("`name` is not a string")?;
                Self::Prompt(name, object(fields, "arguments").ok_or("`arguments` is not an object")?)
            }
            "resources/read" => Self::Read(uri()?),
            "resources/subscribe" => Self::Subscribe(uri()?),
            "completion/complete" => Self::Complete(Complete::read(fields)?),
            _ => return Ok(None),
        }))
    }

    /// The lists that tell the target.
    pub fn needs(&self) -> Vec<McpList> {
        match self {
            Self::List(kind, _) => vec![*kind],
            Self::Call(_) | Self::Search(_) | Self::Describe(_) => vec![McpList::Tools],
            Self::Prompt(..) => vec![McpList::Prompts],
            Self::Script { .. } => Vec::new(),
            Self::Complete(complete) if complete.of_prompt => vec![McpList::Prompts],
            // What tools show themselves by need not be in a list of resources.
            Self::Read(uri) if uri.starts_with(APP) => {
                vec![McpList::Tools, McpList::Resources, McpList::Templates]
            }
            Self::Read(_) | Self::Subscribe(_) | Self::Complete(_) => {
                vec![McpList::Resources, McpList::Templates]
            }
        }
    }

    /// True if the client takes it for a tool call: a failure is then a result that says so.
    pub fn is_tool_call(&self) -> bool {
        matches!(self, Self::Call(_) | Self::Search(_) | Self::Describe(_) | Self::Script { .. })
    }

    /// The client's part of the bridge's answer.
    ///
    /// # Errors
    /// When the answer is of another type.
    pub fn result(&self, answer: &Heard<'_>) -> Result<Json, FieldError> {
        Ok(match self {
            Self::Call(_) => {
                let HostCallToolResult { result, beside, .. } = answer.read()?;
                match beside {
                    Some(said) => Json::from_valid(with_said(result.as_str(), &said).into_owned()),
                    None => result,
                }
            }
            Self::Script { .. } => answer.read::<HostRunScriptResult>()?.result,
            Self::Prompt(..) => answer.read::<McpGetPromptResult>()?.prompt,
            Self::Read(_) => answer.read::<McpReadResourceResult>()?.resource,
            Self::Complete(_) => answer.read::<McpCompleteResult>()?.result,
            Self::Subscribe(_) | Self::List(..) | Self::Search(_) | Self::Describe(_) => {
                Json::from_valid("{}".into())
            }
        })
    }

    /// `answers` is what the client can answer meanwhile: of what it is for a server may ask something back.
    fn ask(&self, target: &Target, answers: Option<JsonObject>) -> Result<Request, Failure> {
        let (server, uri, timeout_ms) = (|| server_id(&target.server), || target.name.clone(), None);
        Ok(match self {
            Self::Call(call) => HostCallTool {
                origin: None,
                profile: None,
                tab_id: None,
                tool_name: target.tool(),
                args: Some(object_of(&call.arguments)),
                timeout_ms,
                max_timeout_ms: None,
                run_id: None,
                progress: Some(call.token.is_some()),
                answers,
            }
            .into(),
            Self::Script { script, only } => HostRunScript {
                origin: None,
                profile: None,
                tab_id: None,
                script: script.clone(),
                only: only.clone(),
            }
            .into(),
            Self::Prompt(_, arguments) => McpGetPrompt {
                server_id: server()?,
                prompt_name: target.name.clone(),
                arguments: Some(object_of(arguments)),
                timeout_ms,
                answers,
            }
            .into(),
            Self::Subscribe(_) => McpSubscribeResource { server_id: server()?, uri: uri() }.into(),
            Self::Complete(complete) => complete.ask(server()?, &target.name).into(),
            Self::Read(_) => McpReadResource { server_id: server()?, uri: uri(), timeout_ms, answers }.into(),
            // Lists have no target; they are asked for otherwise.
            Self::List(..) | Self::Search(_) | Self::Describe(_) => McpList::Tools.ask(),
        })
    }
}

impl Call {
    fn read(fields: &Fields<'_>, meta: &Fields<'_>) -> Result<Self, &'static str> {
        let name = text(fields, "name").ok_or("`name` is not a string")?;
        let arguments = object(fields, "arguments").ok_or("`arguments` is not an object")?;
        let token = meta.get("progressToken").filter(|token| line::is_id(token));
        Ok(Self { name, arguments, token: token.map(str::to_owned) })
    }
}

impl Complete {
    fn read(fields: &Fields<'_>) -> Result<Self, &'static str> {
        let reference = object(fields, "ref").ok_or("`ref` is not an object")?;
        let reference = Fields::parse(reference.as_bytes()).map_err(|_| "`ref` is not an object")?;
        let (of_prompt, member) = match text(&reference, "type").as_deref() {
            Some("ref/prompt") => (true, "name"),
            Some("ref/resource") => (false, "uri"),
            _ => return Err("`ref.type` must be ref/prompt or ref/resource"),
        };
        let name = text(&reference, member).ok_or("`ref` has no name or uri")?;
        let argument = fields.get("argument").filter(|argument| argument.starts_with('{'));
        let argument = argument.ok_or("`argument` is not an object")?.to_owned();
        let context = fields.get("context").filter(|context| context.starts_with('{')).map(str::to_owned);
        Ok(Self { of_prompt, name, argument, context })
    }

    /// True if it is about a prompt.
    pub fn is_of_prompt(&self) -> bool {
        self.of_prompt
    }

    fn ask(&self, server_id: ServerId, name: &str) -> McpComplete {
        let (kind, member) = if self.of_prompt { ("prompt", "name") } else { ("resource", "uri") };
        let mut reference = format!("{{\"type\":\"ref/{kind}\",\"{member}\":").into_bytes();
        put_str(&mut reference, name);
        reference.push(b'}');
        McpComplete {
            server_id,
            reference: object_of(&String::from_utf8(reference).unwrap_or_default()),
            argument: object_of(&self.argument),
            context: self.context.as_deref().map(object_of),
        }
    }
}

/// An object of the client's, as it wrote it.
fn object_of(text: &str) -> JsonObject {
    JsonObject(Json::from_valid(text.to_owned()))
}

fn cursor(fields: &Fields<'_>) -> Result<Option<String>, &'static str> {
    match (fields.get("cursor"), text(fields, "cursor")) {
        (Some(_), None) => Err("`cursor` is not a string"),
        (_, cursor) => Ok(cursor),
    }
}

/// A member that is an object, JSON text; an empty one when it is absent.
fn object(fields: &Fields<'_>, name: &str) -> Option<String> {
    let object = fields.get(name).unwrap_or("{}");
    object.starts_with('{').then(|| object.to_owned())
}

/// A member that is a string.
pub fn text(fields: &Fields<'_>, name: &str) -> Option<String> {
    fields.get(name).and_then(|text| serde_json::from_str(text).ok())
}
