//! A worker that runs, at the bridge's end of its link.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use harbor_child::link;
use harbor_ipc_proto::link::codec::{get_message, put_message};
use harbor_ipc_proto::link::model::{Chat, ChatLimits, Event, Failure, FromModel, Target, ToModel};
use harbor_ipc_proto::model::{Dialect, Kind, ModelMessage, ModelTool, Options, Part, Role, ToolChoice};
use harbor_ipc_proto::secret::Secret;
use harbor_ipc_proto::{BUILD, LINK_PROTOCOL};

/// Longer than anything here takes.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The worker; killed at its end.
pub struct Driven {
    pub child: Child,
    to: Option<std::io::PipeWriter>,
    heard: Receiver<FromModel>,
}

impl Driven {
    /// Started, not greeted.
    pub fn bare() -> Self {
        let (ends, [stdin, stdout]) = link::pair().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_harbor-model-worker"))
            .arg(std::process::id().to_string())
            .env_clear()
            .stdin(stdin)
            .stdout(stdout)
            .spawn()
            .unwrap();
        let (told, heard) = channel();
        let mut from = ends.from;
        thread::spawn(move || {
            let mut length = [0; 4];
            while from.read_exact(&mut length).is_ok() {
                let mut body = vec![0; u32::from_le_bytes(length) as usize];
                if from.read_exact(&mut body).is_err() || told.send(get_message(&body).unwrap()).is_err() {
                    break;
                }
            }
        });
        let driven = Self { child, to: Some(ends.to), heard };
        let hello = FromModel::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() };
        assert_eq!(driven.heard(), hello);
        driven
    }

    /// Started and greeted.
    pub fn start() -> Self {
        let mut driven = Self::bare();
        driven.send(&ToModel::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() });
        driven
    }

    pub fn send(&mut self, message: &ToModel) {
        let mut bytes = Vec::new();
        put_message(&mut bytes, message);
        // A worker that has ended does not read.
        let _ = self.to.as_mut().unwrap().write_all(&bytes);
    }

    /// The next message.
    pub fn heard(&self) -> FromModel {
        self.heard.recv_timeout(PATIENCE).expect("the worker says nothing")
    }

    /// Closes the link.
    pub fn hang_up(&mut self) {
        self.to = None;
    }

    /// The next event of a chat.
    pub fn event(&self) -> Event {
        match self.heard() {
            FromModel::Event { id: 1, event } => event,
            other => panic!("{other:?}"),
        }
    }

    /// Asks, and gives all that comes, `Start` left out.
    pub fn ask(&mut self, chat: Chat) -> (Vec<Event>, Option<Failure>) {
        self.send(&ToModel::Chat(chat));
        let mut events = Vec::new();
        loop {
            match self.event() {
                Event::Start { .. } => {}
                Event::Error(failure) => return (events, Some(failure)),
                end @ Event::End { .. } => {
                    events.push(end);
                    return (events, None);
                }
                event => events.push(event),
            }
        }
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A provider at this port.
pub fn target(kind: Kind, dialect: Dialect, port: u16) -> Target {
    Target {
        provider: "p".into(),
        kind,
        dialect,
        base_url: format!("http://127.0.0.1:{port}"),
        allow_private: false,
        key: Some(Secret::new("k-secret".into())),
        socket: None,
    }
}

/// A short question.
pub fn chat(dialect: Dialect, port: u16) -> Chat {
    let question = ModelMessage { role: Role::User, parts: vec![Part::Text("hi".into())] };
    Chat {
        id: 1,
        target: target(Kind::OpenAiCompatible, dialect, port),
        model: "m".into(),
        messages: vec![question],
        tools: vec![],
        tool_choice: ToolChoice::Auto,
        options: Options::default(),
        stream: true,
        credit: None,
        limits: ChatLimits::default(),
    }
}

pub fn tool(name: &str) -> ModelTool {
    ModelTool { name: name.into(), description: String::new(), schema: "{}".into() }
}

pub fn text(text: &str) -> Event {
    Event::Text(text.into())
}
