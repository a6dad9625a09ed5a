//! A request on its way to the bridge.
//!
//! Owns writing it. Must never rewrite payloads: JSON of the person passes as it was typed.

use std::collections::BTreeMap;

use harbor_ipc_proto::field::{PutFields, put_object, put_pair};
use harbor_ipc_proto::frame::put_frame;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::secret::Secret;
use zeroize::Zeroize as _;

use crate::args::Asker;

/// A request's type and fields.
#[derive(Debug, Clone)]
pub struct Ask {
    pub tag: &'static str,
    /// The server that it is about, for error messages.
    pub server: Option<String>,
    /// The profile that it is about, likewise.
    pub profile: Option<String>,
    fields: Vec<(&'static str, Json)>,
}

impl Ask {
    pub fn new(tag: &'static str) -> Self {
        Self { tag, server: None, profile: None, fields: Vec::new() }
    }

    /// A request on behalf of an origin.
    pub fn on_behalf(tag: &'static str, asker: &Asker) -> Self {
        let ask = Self::new(tag).text("origin", asker.origin.as_str());
        match &asker.profile {
            Some(profile) => Self { profile: Some(profile.clone()), ..ask.text("profile", profile) },
            None => ask,
        }
    }

    /// A request about a server.
    pub fn about(tag: &'static str, server: &str) -> Self {
        let mut ask = Self::new(tag).text("server_id", server);
        ask.server = Some(server.to_owned());
        ask
    }

    pub fn text(self, name: &'static str, value: &str) -> Self {
        self.json(name, Json::string(value))
    }

    pub fn number(self, name: &'static str, value: u64) -> Self {
        self.json(name, Json::from_valid(value.to_string()))
    }

    pub fn flag(self, name: &'static str, value: bool) -> Self {
        self.json(name, Json::from_valid(value.to_string()))
    }

    pub fn list(self, name: &'static str, values: &[String]) -> Self {
        let items: Vec<_> = values.iter().map(|value| Json::string(value).into_string()).collect();
        self.json(name, Json::from_valid(format!("[{}]", items.join(","))))
    }

    pub fn map(self, name: &'static str, values: &BTreeMap<String, String>) -> Self {
        let member = |(key, value): (&String, &String)| {
            format!("{}:{}", Json::string(key).as_str(), Json::string(value).as_str())
        };
        let members: Vec<_> = values.iter().map(member).collect();
        self.json(name, Json::from_valid(format!("{{{}}}", members.join(","))))
    }

    /// Secrets by name.
    pub fn secrets(self, name: &'static str, values: &[(String, Secret)]) -> Self {
        let mut text = String::from("{");
        for (key, value) in values {
            let mut value = Json::string(value.expose()).into_string();
            let comma = if text.len() > 1 { "," } else { "" };
            let mut grown = format!("{text}{comma}{}:{value}", Json::string(key).as_str());
            std::mem::swap(&mut text, &mut grown);
            grown.zeroize();
            value.zeroize();
        }
        text.push('}');
        self.json(name, Json::from_valid(text))
    }

    /// An object with the fields of `value` that are not absent.
    pub fn object(self, name: &'static str, value: &dyn PutFields) -> Self {
        let mut text = Vec::new();
        put_object(&mut text, value);
        self.json(name, Json::from_valid(String::from_utf8(text).unwrap_or_default()))
    }

    pub fn json(mut self, name: &'static str, value: Json) -> Self {
        self.fields.push((name, value));
        self
    }

    /// Overwrites what was to be told, which may have been a secret.
    pub fn wipe(self) {
        for (_, value) in self.fields {
            value.into_string().zeroize();
        }
    }

    /// The frame that asks this under the id `id`.
    pub fn to_frame(&self, id: &str) -> Vec<u8> {
        let mut frame = Vec::new();
        put_frame(&mut frame, |out| {
            out.push(b'{');
            put_pair(out, true, "type", &self.tag);
            put_pair(out, false, "request_id", &id.to_owned());
            for (name, value) in &self.fields {
                put_pair(out, false, name, value);
            }
            out.push(b'}');
        });
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harbor_ipc_proto::client::envelope::Incoming;
    use harbor_ipc_proto::client::{AddServer, Request, ServerRequest, Supervision};
    use harbor_ipc_proto::field::JsonObject;
    use harbor_ipc_proto::frame::HEADER;
    use harbor_ipc_proto::server_id::ServerId;

    #[test]
    fn the_bridge_reads_what_was_asked() {
        let env = BTreeMap::from([("A".to_owned(), "1\"2".to_owned())]);
        let ask = Ask::about("add_server", "time")
            .text("command", "uvx \"x\"")
            .list("args", &["a".into(), "b\n".into()])
            .map("env", &env)
            .object("supervision", &Supervision { queue_wait_ms: Some(5), ..Supervision::default() })
            .flag("as_is", true);
        let incoming = Incoming::parse(&ask.to_frame("7")[HEADER..]).unwrap();
        assert_eq!(incoming.envelope.id(), "7");
        assert_eq!(
            incoming.request,
            Request::Server(ServerRequest::AddServer(AddServer {
                server_id: ServerId::parse("time").unwrap(),
                command: Some("uvx \"x\"".into()),
                image: None,
                engine: None,
                args: Some(vec!["a".into(), "b\n".into()]),
                env: Some(env),
                cwd: None,
                label: None,
                roots: None,
                supervision: Some(JsonObject(Json::from_valid(r#"{"queue_wait_ms":5}"#.into()))),
                sandbox: None,
                as_is: Some(true),
                secrets: None,
            }))
        );
    }
}
