//! A server wants a language model's answer during a call: its maker answers, or else a model of the person's, after the person's
//! yes for that server. The model gets the server's own words and nothing else.

use harbor_tests::{Bridge, Client, Double, Home, LIMIT, PROMPT, Pending};
use serde_json::{Value, json};

use super::agent::provider::{Provider, Say};

struct Scene {
    bridge: Bridge,
    home: Home,
    provider: Provider,
}

impl Scene {
    /// A bridge with a model that says `Two.`, and these servers.
    fn new(servers: &[&str]) -> Self {
        let provider = Provider::start(|round| {
            let last = round.body["messages"].as_array().unwrap().last().unwrap();
            // In a chat it has tools, and calls this one.
            match round.tools.is_empty() || last["role"] == "tool" {
                true => Say::Text("Two.".into()),
                false => round.call("c", "ask_sampling", &json!({})),
            }
        });
        let home = Home::new();
        let bridge = Bridge::start(&home);
        let base = format!("http://127.0.0.1:{}/v1", provider.server.port);
        let fields =
            json!({"provider_type": "openai-compatible", "name": "p", "base_url": base, "dialect": "chat"});
        bridge.call("llm_add_provider", &fields).unwrap();
        servers.iter().for_each(|id| drop(bridge.add_and_connect(id, &Double::sound(&home))));
        Self { bridge, home, provider }
    }

    /// The person is there, and sees questions.
    fn watched(self) -> Self {
        self.bridge.call("approvals_watch", &json!({})).unwrap();
        self
    }

    fn begin(&self, server: &str) -> Pending {
        self.bridge.send_tool(server, "ask_sampling", &json!({}))
    }

    /// The answer that the server got, without a question to the person.
    fn told(&self, server: &str) -> Value {
        heard(&self.begin(server))
    }

    /// The question that the person sees next.
    fn question(&self) -> Value {
        let push = self.bridge.wait_for_push("approval", LIMIT, |push| push["waits"] == true);
        push["approval"].clone()
    }

    fn answer(&self, question: &Value, answer: &str) {
        let fields = json!({"approval_id": question["id"], "answer": answer});
        assert_eq!(self.bridge.call("approvals_answer", &fields).unwrap()["answered"], true);
    }

    /// The answer that the server got once the person has said this.
    fn after(&self, server: &str, said: &str) -> Value {
        let pending = self.begin(server);
        self.answer(&self.question(), said);
        heard(&pending)
    }

    fn setting(&self, server: &str) -> Value {
        self.bridge.server(server)["supervision"]["sampling"].clone()
    }

    /// How often a model was asked.
    fn asked(&self) -> usize {
        self.provider.rounds().len()
    }

    /// The newest question, which nobody has answered in time.
    fn missed(&self) -> Value {
        let all = self.bridge.call("approvals_list", &json!({})).unwrap();
        let newest = all["waiting"].as_array().unwrap().last().cloned().unwrap();
        assert_eq!(newest["state"], "missed");
        newest
    }
}

/// The answer that a server got: `{"result":…}` or `{"error":…}`.
fn heard(pending: &Pending) -> Value {
    let answer = pending.wait(LIMIT).unwrap();
    serde_json::from_str(answer.content_text()).unwrap_or_else(|_| panic!("{}", answer.text))
}

fn two() -> Value {
    let content = json!({"type": "text", "text": "Two."});
    json!({"result": {"role": "assistant", "content": content, "model": "m", "stopReason": "endTurn"}})
}

fn refusal(told: &Value) -> &str {
    assert_eq!(told["error"]["code"], -1, "{told}");
    told["error"]["message"].as_str().unwrap()
}

#[test]
fn the_person_is_asked_first_and_the_model_gets_the_servers_own_words_and_nothing_else() {
    let scene = Scene::new(&["s"]).watched();
    let pending = scene.begin("s");
    let question = scene.question();
    let facts =
        ["who", "principal", "tool", "reason"].map(|name| question[name].as_str().unwrap().to_owned());
    assert_eq!(facts, ["server", "server:s", "s/sampling/createMessage", "sampling"]);
    assert_eq!(question["fields"], json!([{"key": "1 user", "text": "Hi"}]));
    assert_eq!(question["answers"], json!(["once", "always", "no", "never"]));
    let why = question["why"].as_str().unwrap();
    assert_eq!(why, "it wants your model p:m to answer it; what it says stays on this machine");
    assert_eq!(scene.asked(), 0);
    let shown = scene.home.done(&["approvals"]);
    assert!(shown.contains("the server s") && shown.contains(why), "{shown}");
    let whole = scene.home.done(&["approvals", "show", question["id"].as_str().unwrap()]);
    assert!(whole.contains("to have a language model answer") && whole.contains("Hi"), "{whole}");
    scene.answer(&question, "once");
    assert_eq!(heard(&pending), two());

    let sent = &scene.provider.rounds()[0].body;
    assert_eq!(sent["messages"], json!([{"role": "user", "content": "Hi"}]));
    assert_eq!((&sent["max_tokens"], &sent["tools"]), (&json!(5), &Value::Null), "{sent}");
    let lines = scene.bridge.audit(&json!({}));
    let of = |event: &str| lines.iter().find(|line| line["event"] == event).unwrap();
    assert_eq!((&of("chat")["server"], &of("chat")["output_tokens"]), (&json!("s"), &json!(7)));
    assert_eq!((&of("consent")["server"], &of("consent")["outcome"]), (&json!("s"), &json!("allowed")));
    assert_eq!(of("question")["message"], "sampling/createMessage");
    assert!(!json!(lines).to_string().contains("Two."));
    let usage = scene.bridge.call("llm_usage", &json!({"group_by": "principal"})).unwrap();
    let row = &usage["usage"][0];
    assert_eq!((&row["principal"], &row["input_tokens"]), (&json!("server:s"), &json!(11)));
    let noted = scene
        .bridge
        .logs("s")
        .into_iter()
        .any(|line| line["text"].as_str().unwrap().contains("includeContext"));
    assert!(noted);

    assert!(refusal(&scene.after("s", "no")).contains("the person refused"));
    assert!(refusal(&scene.told("s")).contains("the person refused"), "the same words again, a moment later");
    assert_eq!((scene.asked(), scene.setting("s")), (1, Value::Null));
}

#[test]
fn always_and_never_are_settings_of_one_server_and_outlive_the_bridge() {
    let mut scene = Scene::new(&["s", "other"]).watched();
    assert_eq!(scene.after("s", "always"), two());
    assert!(refusal(&scene.after("other", "never")).contains("does not let"));
    assert_eq!((scene.setting("s"), scene.setting("other")), (json!("allow"), json!("deny")));
    assert_eq!(scene.told("s"), two());
    scene.bridge.stop();
    scene.bridge = Bridge::start(&scene.home);
    assert_eq!(scene.told("s"), two());
    refusal(&scene.told("other"));
    assert_eq!(scene.asked(), 3);
    assert!(scene.home.done(&["status", "other"]).contains("sampling   deny"));
    assert!(scene.home.done(&["set", "s", "--sampling", "deny"]).contains("--sampling deny"));
    refusal(&scene.told("s"));
    let _ = scene.home.done(&["set", "s", "--sampling", "ask"]);
    assert_eq!((scene.setting("s"), scene.asked()), (Value::Null, 3));
}

#[test]
fn a_question_that_nobody_was_there_for_can_be_answered_later() {
    let scene = Scene::new(&["s"]);
    assert!(refusal(&scene.told("s")).contains("harbor set s --sampling allow"));
    scene.answer(&scene.missed(), "once");
    assert_eq!(scene.told("s"), two());
    refusal(&scene.told("s"));
    let id = scene.missed()["id"].as_str().unwrap().to_owned();
    let said = scene.home.done(&["approvals", "yes", &id, "--for", "always"]);
    assert!(said.contains("all that s asks of your models"), "{said}");
    assert_eq!((scene.told("s"), scene.asked()), (two(), 2));
}

#[test]
fn a_client_that_answers_itself_is_asked_and_one_that_shows_forms_shows_the_question() {
    let scene = Scene::new(&["s"]);
    scene.bridge.speaking_for("client://ai").grant("mcp:tools.call", "ALLOW_ALWAYS", &json!({}));
    let connection = Client::attach_ai(&scene.home, "ai");
    let client = connection.speaking(&json!({}));
    let call =
        |answers: &Value| client.with(&json!({"answers": answers})).send_tool("s/ask_sampling", &json!({}));
    let answer = |result: &Value| {
        let asked = connection.wait_for_push("ask", LIMIT, |_| true);
        connection.call("mcp_answer", &json!({"ask_id": asked["ask_id"], "result": result})).unwrap();
        asked
    };
    let pending = call(&json!({"sampling": {}}));
    let own = json!({"role": "assistant", "model": "own", "content": {"type": "text", "text": "Three."}});
    assert_eq!(answer(&own)["method"], "sampling/createMessage");
    assert_eq!(heard(&pending), json!({ "result": own }));
    assert_eq!(scene.asked(), 0);

    let pending = call(&json!({"elicitation": {}}));
    let form = answer(&json!({"action": "accept", "content": {"answer": "Allow this once"}}));
    assert_eq!(form["method"], "elicitation/create");
    let message = form["params"]["message"].as_str().unwrap();
    assert!(message.contains("p:m") && message.contains("1 user: Hi"), "{message}");
    assert_eq!((heard(&pending), scene.asked()), (two(), 1));
}

#[test]
fn a_server_pays_from_a_budget_of_its_own_and_without_a_model_nobody_is_asked() {
    let scene = Scene::new(&["s"]);
    let _ = scene.home.done(&["set", "s", "--sampling", "allow"]);
    let _ = scene.home.done(&["models", "budget", "server:s", "--tokens", "3"]);
    assert!(refusal(&scene.told("s")).contains("budget"));
    let _ = scene.home.done(&["models", "budget", "server:s", "--tokens", "default"]);
    assert_eq!(scene.told("s"), two());
    let budgets = scene.bridge.call("llm_list_budgets", &json!({})).unwrap();
    let own =
        budgets["budgets"].as_array().unwrap().iter().find(|one| one["principal"] == "server:s").unwrap();
    assert_eq!((&own["tokens_per_day"], &own["used"]), (&json!(50_000), &json!(18)));
    scene.bridge.call("llm_remove_provider", &json!({"id": "p"})).unwrap();
    refusal(&scene.told("s"));
    assert_eq!(scene.bridge.call("approvals_list", &json!({})).unwrap()["waiting"], json!([]));
}

#[test]
fn a_turn_shows_the_question_and_ends_it_when_it_is_stopped() {
    let scene = Scene::new(&["s"]);
    let session = scene.bridge.call("chat_create_session", &json!({"mode": "ask"})).unwrap();
    let session = session["session"]["id"].clone();
    let say = |text: &str| {
        let fields = json!({"session_id": session, "message": text, "stream": true, "model": "p:m"});
        scene.bridge.request("chat_send_message", &fields)
    };
    let question = |reason: &str| {
        let push = scene.bridge.wait_for_push("chat_event", LIMIT, |push| {
            push["event"]["waits"] == true && push["event"]["approval"]["reason"] == reason
        });
        push["event"]["approval"].clone()
    };
    let turn = say("go");
    scene.answer(&question("writes"), "chat_tool");
    let asked = question("sampling");
    assert_eq!((&asked["who"], &asked["session_id"]), (&json!("server"), &session));
    scene.answer(&asked, "once");
    let turn = turn.wait(LIMIT).unwrap();
    assert_eq!(turn["steps"][0]["is_error"], false, "{}", turn.text);
    assert!(scene.provider.rounds()[2].results[0].contains("endTurn"));

    let turn = say("once more");
    let asked = question("sampling");
    scene.bridge.call("chat_stop", &json!({"session_id": session})).unwrap();
    turn.wait(PROMPT).unwrap();
    let fields = json!({"approval_id": asked["id"], "answer": "once"});
    assert_eq!(scene.bridge.call("approvals_answer", &fields).unwrap()["answered"], false);
    assert_eq!(scene.asked(), 4);
}
