//! A request of the AI client that the bridge has to be asked for.
//!
//! Owns what is remembered of one, and how it is put to the bridge. Arguments stay the text that the client wrote.

use harbor_ipc_proto::json::{Fields, Json};

use super::line;
use crate::ask::Ask;

/// A request that is not answered yet.
#[derive(Debug)]
pub struct Open {
    /// The client's id, JSON text.
    pub id: String,
    /// Whether it came without `initialize`.
    pub modern: bool,
    /// What comes next.
    pub aim: Aim,
    /// Whether its bridge was lost once.
    pub again: bool,
}

/// What a request wants of the bridge next.
#[derive(Debug)]
pub enum Aim {
    /// The tools behind this one; from the first on when absent.
    List(Option<String>),
    /// A list, to find out which tool is meant.
    Find(Call),
    /// The call of this tool, `server/tool`.
    Call(Call, String),
}

/// A tool call.
#[derive(Debug)]
pub struct Call {
    /// The tool's name as the client says it.
    pub name: String,
    /// JSON text.
    pub arguments: String,
    /// Where its progress goes, JSON text.
    pub token: Option<String>,
}

impl Aim {
    /// What the bridge is asked.
    pub fn ask(&self) -> Ask {
        match self {
            Self::List(_) | Self::Find(_) => Ask::new("host_list_tools"),
            Self::Call(call, tool) => Ask::new("host_call_tool")
                .text("tool_name", tool)
                .json("args", Json::from_valid(call.arguments.clone()))
                .flag("progress", call.token.is_some()),
        }
    }
}

impl Call {
    /// A call from the parameters of its request, and their `_meta`.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(fields: &Fields<'_>, meta: &Fields<'_>) -> Result<Self, &'static str> {
        let name = text(fields, "name").ok_or("`name` is no string")?;
        let arguments = fields.get("arguments").unwrap_or("{}");
        if !arguments.starts_with('{') {
            return Err("`arguments` is no object");
        }
        let token = meta.get("progressToken").filter(|token| line::is_id(token));
        Ok(Self { name, arguments: arguments.to_owned(), token: token.map(str::to_owned) })
    }
}

/// A member that is a string.
pub fn text(fields: &Fields<'_>, name: &str) -> Option<String> {
    fields.get(name).and_then(|text| serde_json::from_str(text).ok())
}
