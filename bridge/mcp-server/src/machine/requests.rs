//! The client's lines: what is answered at once, and what the bridge is asked for.

use harbor_ipc_proto::client::answer::request_frame;
use harbor_ipc_proto::client::{Cancel, McpAnswer, McpFollowMessages};
use harbor_ipc_proto::field::{FromField as _, JsonObject};
use harbor_ipc_proto::json::Fields;
use harbor_policy::limits::OPEN_PER_CLIENT;
use harbor_policy::tool_name;

use super::super::line::{INVALID_PARAMS, INVALID_REQUEST, NO_METHOD, REFUSED, UNSUPPORTED_VERSION};
use super::super::names::{Names, without_list};
use super::super::offering::Offering;
use super::super::questions::{Resumed, Then, capabilities, level};
use super::super::target::Target;
use super::super::uris::{Unknown, of_server};
use super::super::want::{Open, Step, Want, text};
use super::super::write::{self, MODERN};
use super::super::{code, lazy};
use super::{Link, Machine, Out};

/// The member with which a request shows its revision where there was no `initialize`.
pub(super) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The member of such a request with its client's capabilities.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The member of such a request with its client's name.
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";

impl Machine {
    fn note_client(&mut self, fields: &Fields<'_>, member: &str) {
        let info = fields.get(member).and_then(|info| Fields::parse(info.as_bytes()).ok());
        self.is_harbor |= info.is_some_and(|info| text(&info, "name").as_deref() == Some("harbor"));
    }

    pub(super) fn on_notification(&mut self, method: &str, params: &str) {
        match method {
            "notifications/initialized" => self.watches.initialize(),
            "notifications/cancelled" => {
                if let Ok(fields) = Fields::parse(params.as_bytes())
                    && let Some(id) = fields.get("requestId")
                {
                    self.cancel(id);
                }
            }
            _ => {}
        }
    }

    /// Ends a request, which is not answered then.
    fn cancel(&mut self, id: &str) {
        if !self.ids.remove(id) {
            return;
        }
        let unwanted = self.watches.end(id);
        self.forget_resources(unwanted);
        let is_it = |open: &Open| open.id.as_deref() == Some(id);
        self.waiting.retain(|open| !is_it(open));
        let number = self.open.iter().find(|(_, open)| is_it(open)).map(|(number, _)| *number);
        if let Some(number) = number {
            self.give_up(number);
        }
    }

    /// Nobody waits for a request any more.
    pub(super) fn give_up(&mut self, number: u64) {
        self.open.remove(&number);
        let taken_back = self.questions.end_of(number);
        self.write_all(taken_back);
        let cancel = Cancel { target: number.to_string() };
        self.out.push(Out::Frame(request_frame(&format!("cancel {number}"), &cancel).to_vec(), None));
    }

    /// The client has answered a question.
    pub(super) fn on_response(&mut self, id: &str, answer: Result<&str, &str>) {
        if let Some(ask_id) = self.questions.answered(id) {
            self.answer(ask_id, answer);
        }
    }

    /// Passes an answer on; what is no object refuses.
    fn answer(&mut self, ask_id: u64, answer: Result<&str, &str>) {
        let object = |text: &str| JsonObject::from_text(text);
        self.ask_quietly(McpAnswer {
            ask_id,
            result: answer.ok().and_then(object),
            error: answer.err().and_then(object),
        });
    }

    pub(super) fn on_request(&mut self, id: &str, method: &str, params: &str) {
        let Ok(fields) = Fields::parse(params.as_bytes()) else {
            return self.say_error(Some(id), INVALID_PARAMS, "`params` is not an object");
        };
        // Who reads the first of two and who reads the last would not agree on what was asked.
        if fields.twice().is_some() {
            return self.say_error(Some(id), INVALID_PARAMS, "a key occurs twice in `params`");
        }
        let meta = fields.get("_meta").and_then(|meta| Fields::parse(meta.as_bytes()).ok());
        let meta = meta.unwrap_or_default();
        let version = text(&meta, VERSION);
        if let Some(version) = version.as_deref().filter(|version| *version != MODERN) {
            let (message, data) = ("this MCP version is not supported", write::supported(version));
            let line = write::error(Some(id), UNSUPPORTED_VERSION, message, Some(&data));
            return self.out.push(Out::Line(line));
        }
        let modern = version.is_some();
        // The older generation has nothing to say before it has greeted but that it is there.
        if !(modern || self.greeted || matches!(method, "initialize" | "ping" | "server/discover")) {
            return self.say_error(Some(id), INVALID_REQUEST, "the first request must be `initialize`");
        }
        self.note_client(&meta, CLIENT);
        match method {
            "initialize" => {
                self.greeted = true;
                self.note_client(&fields, "clientInfo");
                self.capabilities = capabilities(&fields, "capabilities");
                let result = write::initialized(text(&fields, "protocolVersion").as_deref(), self.offering);
                self.say(id, &result);
            }
            "ping" => self.say(id, "{}"),
            "server/discover" => self.say(id, &write::discovered(self.offering)),
            "subscriptions/listen" if modern => self.listen(id, &fields),
            "resources/unsubscribe" => self.unsubscribe(id, &fields),
            "logging/setLevel" => self.set_level(id, &fields),
            "tools/list" if self.offering == Offering::Lazy => self.list_instead(lazy::TOOLS, id, modern),
            "tools/list" if self.offering == Offering::Code => self.list_instead(code::TOOLS, id, modern),
            _ => match Want::read(method, &fields, &meta) {
                Ok(Some(want)) => {
                    let answers = match modern {
                        true => capabilities(&meta, CAPABILITIES),
                        false => self.capabilities.clone(),
                    };
                    self.begin_want(id, modern, want, answers, &fields);
                }
                Ok(None) => self.say_error(Some(id), NO_METHOD, "there is no such method"),
                Err(why) => self.say_error(Some(id), INVALID_PARAMS, why),
            },
        }
    }

    fn list_instead(&mut self, tools: &str, id: &str, modern: bool) {
        let result = format!("{{\"tools\":[{tools}]}}");
        match modern {
            true => self.say(id, &write::complete(&result, true)),
            false => self.say(id, &result),
        }
    }

    fn begin_want(
        &mut self,
        id: &str,
        modern: bool,
        want: Want,
        answers: Option<String>,
        fields: &Fields<'_>,
    ) {
        let unpacked = match (&want, self.offering) {
            (Want::Call(call), Offering::Lazy) => lazy::unpack(call.clone()),
            (Want::Call(call), Offering::Code) => code::unpack(call.clone(), self.only.as_ref()),
            _ => Err(None),
        };
        let want = match unpacked {
            Ok(want) => want,
            // Who knows a tool's own name may use it.
            Err(None) => want,
            Err(Some(why)) => return self.say_error(Some(id), INVALID_PARAMS, why),
        };
        if modern {
            match self.questions.resume(&want, fields) {
                Ok(Some(resumed)) => return self.resume(id, want, resumed),
                Ok(None) => {}
                Err(why) => return self.say_error(Some(id), INVALID_PARAMS, why),
            }
        }
        if self.ids.len() >= usize::try_from(OPEN_PER_CLIENT).unwrap_or(usize::MAX) {
            return self.say_error(Some(id), REFUSED, "too many requests are open; wait for answers");
        }
        self.ids.insert(id.to_owned());
        self.start(Some(id.to_owned()), modern, want, answers);
    }

    pub(super) fn start(&mut self, id: Option<String>, modern: bool, want: Want, answers: Option<String>) {
        let step = match self.locate(&want) {
            _ if matches!(want, Want::Script { .. }) => Step::Ask(Target::default()),
            Ok(target) if self.lets_through(&target, &want) => Step::Ask(target),
            _ => Step::Look(want.needs()),
        };
        self.go_on(Open { id, modern, want, step, answers, again: false });
    }

    /// A request was made again, with answers to what its server asked.
    fn resume(&mut self, id: &str, want: Want, Resumed { number, answers, then }: Resumed) {
        for (ask_id, answer) in answers {
            self.answer(ask_id, Ok(answer.as_deref().unwrap_or_default()));
        }
        match then {
            Then::Wait => {
                if let Some(open) = self.open.get_mut(&number) {
                    open.id = Some(id.to_owned());
                    // Its progress goes elsewhere now.
                    open.want = want;
                    self.ids.insert(id.to_owned());
                }
            }
            Then::Ask(result) => self.say(id, &result),
            Then::End(ending) => self.deliver(id, ending),
        }
    }

    /// The target of a request, as far as the name itself and the last lists tell. A name that says enough
    /// needs no list, since the bridge knows if its target exists.
    fn locate(&self, want: &Want) -> Result<Target, Unknown> {
        let by_name = |names: &Names, name: &str| {
            names.find(name).or_else(|| without_list(name)).ok_or(Unknown::Nobody)
        };
        match want {
            Want::Call(call) => by_name(&self.directory.tools, &call.name),
            Want::Prompt(name, _) => by_name(&self.directory.prompts, name),
            Want::Complete(complete) if complete.is_of_prompt() => {
                by_name(&self.directory.prompts, &complete.name)
            }
            Want::Complete(complete) => self.directory.uris.find_template(&complete.name),
            Want::Read(uri) | Want::Subscribe(uri) => self.directory.uris.find(uri),
            Want::List(..) | Want::Search(_) | Want::Describe(_) | Want::Script { .. } => {
                Err(Unknown::Nobody)
            }
        }
    }

    /// The target of a request, once the lists are there.
    pub(super) fn locate_at_last(&self, want: &Want) -> Result<Target, String> {
        let target = self.locate(want).map_err(|unknown| match (unknown, want) {
            (Unknown::Several(servers), Want::Read(uri) | Want::Subscribe(uri)) => several(&servers, uri),
            (Unknown::Several(servers), _) => format!("several servers have it: {}", servers.join(" and ")),
            (_, Want::Call(call)) => format!("unknown tool: {:.200}", call.name),
            (_, Want::Prompt(name, _)) => format!("unknown prompt: {name:.200}"),
            (_, Want::Read(uri) | Want::Subscribe(uri)) => format!("there is no such resource: {uri:.200}"),
            (_, Want::Complete(complete)) => format!("unknown reference: {:.200}", complete.name),
            _ => "unknown target".into(),
        })?;
        match (want, self.lets_through(&target, want)) {
            (_, true) => Ok(target),
            (Want::Call(call), false) => Err(format!("unknown tool: {:.200}", call.name)),
            _ => Err(format!("--only leaves out {}", target.server)),
        }
    }

    fn lets_through(&self, target: &Target, want: &Want) -> bool {
        let Some(only) = &self.only else { return true };
        let tool = match want {
            Want::Call(_) => target.name.as_str(),
            // What else a server offers goes with all its tools.
            _ => tool_name::EVERY,
        };
        tool_name::split(&format!("{}/{tool}", target.server))
            .is_ok_and(|(server, tool)| only.covers(&server, tool))
    }

    /// Begins a subscription: it is never answered, and lasts until it is cancelled.
    fn listen(&mut self, id: &str, fields: &Fields<'_>) {
        let (line, uris) = self.watches.listen(id, fields);
        self.out.push(Out::Line(line));
        self.ids.insert(id.to_owned());
        self.dial();
        self.wishes.extend(uris);
        if self.link == Link::Up {
            self.follow_next();
        }
    }

    fn unsubscribe(&mut self, id: &str, fields: &Fields<'_>) {
        let Some(uri) = text(fields, "uri") else {
            return self.say_error(Some(id), INVALID_PARAMS, "`uri` is not a string");
        };
        let unwanted = self.watches.unsubscribe(&uri);
        self.forget_resources(unwanted);
        self.say(id, "{}");
    }

    fn set_level(&mut self, id: &str, fields: &Fields<'_>) {
        let Some(level) = level(fields) else {
            let levels = "`level` must be debug, info, notice, warning, error, critical, alert or emergency";
            return self.say_error(Some(id), INVALID_PARAMS, levels);
        };
        self.ask_quietly(McpFollowMessages { level: level.clone() });
        self.level = Some(level);
        self.dial();
        self.say(id, "{}");
    }
}

fn several(servers: &[String], uri: &str) -> String {
    let named: Vec<_> = servers.iter().take(2).map(|server| of_server(server, uri)).collect();
    format!("several servers have such a resource ({}): read {}", servers.join(" and "), named.join(" or "))
}
