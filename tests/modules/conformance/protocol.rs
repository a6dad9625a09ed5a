//! The part `protocol`.

use std::collections::BTreeMap;

use crate::client::{failed, listed, said, Call, Client, Refusal, Said};
use crate::json::{object, text, Json};
use crate::Server;

const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// How many tools stand on a page.
const PAGE: usize = 2;

pub struct Protocol {
    tools: Vec<&'static str>,
    /// The lowest level of what is said to the log, as a place in the levels.
    least: usize,
    /// The call that each question is asked for, by the question's id as it was written.
    questions: BTreeMap<String, Json>,
    /// How many questions there were.
    asked: usize,
}

impl Default for Protocol {
    fn default() -> Self {
        Self { tools: vec!["change", "say", "ask"], least: 0, questions: BTreeMap::new(), asked: 0 }
    }
}

impl Server for Protocol {
    fn capabilities(&self) -> Json {
        object([("tools", object([("listChanged", Json::Bool(true))])), ("logging", object([]))])
    }

    fn take(&mut self, method: &str, call: &Call, client: &mut Client) -> Said {
        match method {
            "tools/list" => self.page(call.params.text("cursor")).map(Some),
            "tools/call" => self.call(call, client),
            "logging/setLevel" => {
                self.least = level(call.params.text("level"))
                    .ok_or_else(|| Refusal::new(-32602, "there is no such level"))?;
                Ok(Some(object([])))
            }
            _ => Err(Refusal::of_method(method)),
        }
    }

    fn answered(&mut self, id: &str, answer: &Json, client: &mut Client) {
        if let Some(call) = self.questions.remove(id) {
            let result = match answer.get("result") {
                Some(answer) => decided(answer),
                None => failed("the client does not ask"),
            };
            client.answer(&call, result);
        }
    }
}

impl Protocol {
    fn page(&self, cursor: Option<&str>) -> Result<Json, Refusal> {
        let at = cursor
            .map_or(Some(0), |cursor| cursor.parse().ok().filter(|at| *at > 0 && *at < self.tools.len()));
        let at = at.ok_or_else(|| Refusal::new(-32602, "there is no such page"))?;
        let tools = self.tools.iter().skip(at).take(PAGE).map(|name| listed(name)).collect();
        let mut page = object([("tools", Json::List(tools))]);
        if at + PAGE < self.tools.len() {
            page.add("nextCursor", Json::Text((at + PAGE).to_string()));
        }
        Ok(page)
    }

    fn call(&mut self, call: &Call, client: &mut Client) -> Said {
        match call.params.text("name") {
            Some("change") => {
                if !self.tools.contains(&"extra") {
                    self.tools.push("extra");
                }
                client.notify("notifications/tools/list_changed", object([]));
                Ok(Some(said("changed")))
            }
            Some("say") => Ok(Some(self.say(call, client))),
            Some("ask") if call.is_modern => Ok(Some(ask_by_answer(&call.params))),
            Some("ask") => {
                self.ask(call, client);
                Ok(None)
            }
            _ => Err(Refusal::new(-32602, "there is no such tool")),
        }
    }

    fn say(&self, call: &Call, client: &mut Client) -> Json {
        let argument = |name| call.params.get("arguments").and_then(|arguments| arguments.text(name));
        match (level(argument("level")), argument("text")) {
            (Some(at), Some(words)) => {
                if at >= self.least {
                    let params = object([("level", text(LEVELS[at])), ("data", text(words))]);
                    client.notify("notifications/message", params);
                }
                said("said")
            }
            _ => failed("level or text is missing"),
        }
    }

    /// Asks the person. The client's answer then is the call's.
    fn ask(&mut self, call: &Call, client: &mut Client) {
        self.asked += 1;
        let id = Json::Text(format!("ask-{}", self.asked));
        self.questions.insert(id.written(), call.id.clone());
        let mut message = question();
        message.add("id", id);
        client.say(message);
    }
}

fn level(name: Option<&str>) -> Option<usize> {
    LEVELS.iter().position(|level| name == Some(*level))
}

fn question() -> Json {
    let schema = object([("type", text("object")), ("properties", object([]))]);
    let params = object([("message", text("Which one?")), ("requestedSchema", schema)]);
    object([("method", text("elicitation/create")), ("params", params)])
}

/// A modern question is an answer, and the call comes again with what the person said.
fn ask_by_answer(params: &Json) -> Json {
    if params.text("requestState") == Some("asked") {
        let answer = params.get("inputResponses").and_then(|responses| responses.get("which"));
        return answer.map_or_else(|| failed("the answer is missing"), decided);
    }
    object([
        ("resultType", text("input_required")),
        ("inputRequests", object([("which", question())])),
        ("requestState", text("asked")),
    ])
}

fn decided(answer: &Json) -> Json {
    said(if answer.text("action") == Some("accept") { "answered" } else { "declined" })
}
