//! Windows of models: what is sent is what is believed, a refusal teaches, and a router's models are told apart.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use harbor_tests::scripted::{answer, begin_events, event};
use harbor_tests::{Bridge, Home, LIMIT, Scripted, wait_until};
use serde_json::{Value, json};

use super::commands::{done, harbor};
use super::scene::begin;

/// An Ollama with the model `m`, made for 131,072 tokens. It refuses what is longer than it was asked to load, at first 4096; a
/// token is four bytes. Where it has to think hard, its thoughts fill each window below 32,768 tokens.
fn ollama() -> Scripted {
    let loaded = Mutex::new(4096_u64);
    Scripted::start(move |asked, stream| {
        let say = |stream: &mut _, status: &str, body: &Value| {
            answer(stream, status, "application/json", "", &format!("{body}\n"))
        };
        match asked.path.as_str() {
            "/api/tags" => say(stream, "200 OK", &json!({"models": [{"name": "m", "size": 1}]})),
            "/api/ps" => {
                let loaded = *loaded.lock().unwrap();
                say(stream, "200 OK", &json!({"models": [{"name": "m", "context_length": loaded}]}))
            }
            "/api/show" => {
                let info = json!({"llama.context_length": 131_072, "llama.block_count": 1, "llama.embedding_length": 64,
                    "llama.attention.head_count": 1});
                say(stream, "200 OK", &json!({"capabilities": ["completion", "tools"], "model_info": info}))
            }
            "/api/chat" => {
                let mut loaded = loaded.lock().unwrap();
                *loaded = asked.body["options"]["num_ctx"].as_u64().unwrap_or(4096);
                let said = format!("{}{}", asked.body["messages"], asked.body["tools"]).len() as u64 / 2;
                if said > *loaded {
                    let error = format!("message exceeds context window ({said} > {loaded})");
                    return say(stream, "400 Bad Request", &json!({"error": error}));
                }
                if asked.body["messages"].to_string().contains("think hard") && *loaded < 32_768 {
                    let thought = json!({"role": "assistant", "content": "", "thinking": "hm"});
                    let cut = json!({"model": "m", "message": thought, "done": true, "done_reason": "length",
                        "prompt_eval_count": said, "eval_count": *loaded});
                    return say(stream, "200 OK", &cut);
                }
                say(
                    stream,
                    "200 OK",
                    &json!({"model": "m", "message": {"role": "assistant", "content": "ok"}, "done": true,
                    "done_reason": "stop", "prompt_eval_count": said, "eval_count": 1}),
                )
            }
            _ => answer(stream, "404 Not Found", "text/plain", "", "nothing here"),
        }
    })
}

fn windows(server: &Scripted) -> Vec<u64> {
    let chats = server.asked().into_iter().filter(|asked| asked.path == "/api/chat");
    chats.map(|asked| asked.body["options"]["num_ctx"].as_u64().unwrap()).collect()
}

#[test]
fn thoughts_that_fill_the_window_are_given_a_larger_one() {
    let (server, home) = (ollama(), Home::new());
    let _bridge = Bridge::start(&home);
    done(&home, &["models", "add", "ollama", "--url", &format!("http://127.0.0.1:{}", server.port)]);
    assert_eq!(done(&home, &["ask", "think hard"]), "ok\n");
    assert_eq!(windows(&server), [8192, 16_384, 32_768]);
    // A limit that was asked for is no window.
    let (_, err, code) = harbor(&home, &["models", "set", "ollama:m", "--context", "8192"], "");
    assert_eq!(code, Some(0), "{err}");
    let (_, err, code) = harbor(&home, &["ask", "think hard"], "");
    assert!(err.contains("window of 8192 tokens") && code == Some(5), "{err}");
}

#[test]
fn ollama_loads_what_a_conversation_needs_and_not_more_than_was_stated() {
    let (server, home) = (ollama(), Home::new());
    let mut bridge = Bridge::start(&home);
    done(&home, &["models", "add", "ollama", "--url", &format!("http://127.0.0.1:{}", server.port)]);
    let say = |bridge: &Bridge, bytes: usize| {
        let messages = json!([{"role": "user", "content": "x".repeat(bytes)}]);
        begin(bridge, "llm_chat", "ollama:m", &json!({"messages": messages})).wait(LIMIT)
    };
    say(&bridge, 10).unwrap();
    // By its own count this is longer than by Harbor's, so it is asked once more with a larger window.
    say(&bridge, 33_000).unwrap();
    say(&bridge, 10).unwrap();
    assert_eq!(windows(&server), [8192, 16_384, 32_768, 32_768]);
    let model = || {
        let listed: Value = serde_json::from_str(&done(&home, &["models", "--json"])).unwrap();
        listed["models"][0].clone()
    };
    let told = |model: &Value| {
        ["context_window", "window_from", "loaded_window", "sent_window"].map(|name| model[name].clone())
    };
    assert_eq!(told(&model()), [json!(131_072), json!("provider"), json!(32_768), json!(32_768)]);

    let set = done(&home, &["models", "set", "ollama:m", "--context", "9000"]);
    assert_eq!(set, "ollama:m has a window of 9000 tokens now\n");
    let error = say(&bridge, 40_000).unwrap_err();
    assert_eq!(
        (&error.details["cause"], &error.details["context_window"]),
        (&json!("context_full"), &json!(9000))
    );
    assert_eq!(windows(&server).last(), Some(&9000));
    bridge.stop();
    bridge = Bridge::start(&home);
    assert_eq!(told(&model())[..2], [json!(9000), json!("stated")], "it is kept");
    let (_, err, code) = harbor(&home, &["models", "set", "ollama:m", "--context", "9"], "");
    assert!(err.contains("at least 1024") && code == Some(2), "{err}");
    let (_, err, code) = harbor(&home, &["models", "set", "ollama:n", "--context", "9000"], "");
    assert!(err.contains("no model n") && code == Some(5), "{err}");
    done(&home, &["models", "set", "ollama:m", "--context", "default"]);
    assert_eq!(told(&model())[..2], [json!(131_072), json!("provider")]);
    assert!(bridge.is_alive());
}

/// llama-server as a router with the models `a`, `b` and `c`; `b` is loaded when it is asked, and says so for as long as `gate`
/// is closed.
fn router(gate: &'static AtomicBool) -> Scripted {
    static LOADED: AtomicBool = AtomicBool::new(false);
    Scripted::start(move |asked, stream| {
        let b = match (gate.load(Ordering::SeqCst), LOADED.load(Ordering::SeqCst)) {
            (_, false) => "unloaded",
            (false, true) => "loading",
            (true, true) => "loaded",
        };
        let json = |stream: &mut _, body: &Value| {
            answer(stream, "200 OK", "application/json", "", &body.to_string())
        };
        match asked.path.as_str() {
            "/v1/models" => {
                let failed = json!({"value": "unloaded", "failed": true, "exit_code": 137});
                let data = json!([{"id": "a", "status": {"value": "loaded"}}, {"id": "b", "status": {"value": b}},
                    {"id": "c", "status": failed}]);
                json(stream, &json!({"object": "list", "data": data}))
            }
            "/props?model=a&autoload=false" => {
                json(stream, &json!({"default_generation_settings": {"n_ctx": 2048}}))
            }
            "/props?model=b&autoload=false" if b == "loaded" => {
                json(stream, &json!({"default_generation_settings": {"n_ctx": 4096}}))
            }
            "/props" => json(stream, &json!({"default_generation_settings": {"n_ctx": 0}})),
            "/v1/chat/completions" => {
                LOADED.store(true, Ordering::SeqCst);
                wait_until("the model to be loaded", LIMIT, || gate.load(Ordering::SeqCst));
                begin_events(stream);
                event(
                    stream,
                    "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n",
                );
                event(stream, "data: [DONE]\n\n")
            }
            _ => answer(
                stream,
                "400 Bad Request",
                "application/json",
                "",
                "{\"error\":{\"message\":\"not loaded\"}}",
            ),
        }
    })
}

#[test]
fn a_routers_models_have_their_own_windows_and_a_load_is_told_and_waited_for() {
    static GATE: AtomicBool = AtomicBool::new(false);
    let (server, home) = (router(&GATE), Home::new());
    let bridge = Bridge::start(&home);
    done(&home, &["models", "add", "llama-server", "--url", &format!("http://127.0.0.1:{}/v1", server.port)]);
    let listed = || {
        let listed = bridge.call("llm_list_models", &json!({})).unwrap();
        let models = listed["models"].as_array().unwrap().clone();
        models
            .iter()
            .map(|model| (model["state"].clone(), model["context_window"].clone()))
            .collect::<Vec<_>>()
    };
    let a = (json!("loaded"), json!(2048));
    let c = (json!("failed"), Value::Null);
    assert_eq!(listed(), [a.clone(), (json!("unloaded"), Value::Null), c.clone()]);
    let table = done(&home, &["models"]);
    assert!(table.contains("exit code 137"), "{table}");
    let pending = begin(&bridge, "llm_chat", "llama-server:b", &json!({}));
    let loading = bridge.wait_for_push("llm_event", LIMIT, |push| push["event"]["type"] == "loading");
    assert_eq!(loading["event"]["type"], "loading");
    assert_eq!(listed()[1].0, "loading");
    GATE.store(true, Ordering::SeqCst);
    assert_eq!(pending.wait(LIMIT).unwrap()["response"]["message"]["content"], "hi");
    assert_eq!(listed(), [a, (json!("loaded"), json!(4096)), c]);
}
