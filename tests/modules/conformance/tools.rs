//! The part `tools`.

use crate::client::{failed, listed, part, said, Call, Client, Refusal, Said};
use crate::json::{number, object, text, Json};
use crate::Server;

const NAMES: [&str; 11] = [
    "greet",
    "content",
    "structured",
    "nothing",
    "fails",
    "length",
    "big",
    "steps",
    "waits",
    "holds",
    "release",
];

const GREET: &str = r#"{"name": "greet", "description": "Greets", "inputSchema":
    {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}"#;

/// The most that a text may have: a line has 16 MiB at most, and there is more in it.
const LONGEST: usize = 16 * 1024 * 1024 - 1024;

#[derive(Default)]
pub struct Tools {
    is_released: bool,
    /// The calls of `holds` that were not cancelled when they began.
    held: Vec<Json>,
}

impl Server for Tools {
    fn capabilities(&self) -> Json {
        object([("tools", object([]))])
    }

    fn take(&mut self, method: &str, call: &Call, client: &mut Client) -> Said {
        match method {
            "tools/list" => Ok(Some(list(call))),
            "tools/call" => self.call(call, client),
            _ => Err(Refusal::of_method(method)),
        }
    }
}

fn list(call: &Call) -> Json {
    let mut tools: Vec<_> = NAMES.iter().map(|name| listed(name)).collect();
    tools[0] = Json::read(GREET).expect("it is JSON");
    let mut result = object([("tools", Json::List(tools))]);
    if call.is_modern {
        result.add("ttlMs", number(0));
        result.add("cacheScope", text("private"));
    }
    result
}

impl Tools {
    fn call(&mut self, call: &Call, client: &mut Client) -> Said {
        let none = object([]);
        let arguments = call.params.get("arguments").unwrap_or(&none);
        if !matches!(arguments, Json::Object(_)) {
            return Err(Refusal::new(-32602, "the arguments are no object"));
        }
        let name = call.params.text("name").ok_or_else(|| Refusal::new(-32602, "the name is missing"))?;
        Ok(Some(match name {
            "greet" => match arguments.text("name") {
                Some(name) => said(format!("Hello, {name}!")),
                None => failed("name is missing"),
            },
            "content" => object([("content", Json::List(vec![part("one"), part("two")]))]),
            "structured" => structured(object([("n", number(1))])),
            "nothing" => object([("content", Json::List(Vec::new()))]),
            "fails" => failed("too far"),
            "length" => match arguments.text("text") {
                Some(text) => said(text.chars().count().to_string()),
                None => failed("text is missing"),
            },
            "big" => big(arguments.count("count")),
            "steps" => steps(call, client),
            // A cancel closes it; nothing else does.
            "waits" => return Ok(None),
            "holds" if self.is_released => said("held"),
            "holds" => {
                self.held.push(call.id.clone());
                return Ok(None);
            }
            "release" => self.release(client),
            _ => return Err(Refusal::new(-32602, format!("Unknown tool: {name}"))),
        }))
    }

    fn release(&mut self, client: &mut Client) -> Json {
        self.is_released = true;
        for id in self.held.drain(..) {
            client.answer(&id, said("held"));
        }
        said("released")
    }
}

fn structured(value: Json) -> Json {
    let mut result = said(value.written());
    result.add("structuredContent", value);
    result
}

fn big(count: Option<usize>) -> Json {
    match count {
        Some(count) if count <= LONGEST => said("x".repeat(count)),
        Some(_) => failed("the answer would be longer than a line may be"),
        None => failed("count is missing"),
    }
}

fn steps(call: &Call, client: &mut Client) -> Json {
    let token = call.params.get("_meta").and_then(|meta| meta.get("progressToken"));
    for at in 1..=3 {
        if let Some(token) = token {
            let params = object([
                ("progressToken", token.clone()),
                ("progress", number(at)),
                ("total", number(3)),
                ("message", Json::Text(format!("step {at}"))),
            ]);
            client.notify("notifications/progress", params);
        }
    }
    said("done")
}
