//! Providers and their keys: added, checked, moved to another address, removed; a wrong key is a reason.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use harbor_tests::{Bridge, Home, LIMIT, wait_until};
use nix::unistd::{Uid, geteuid, setfsuid};
use serde_json::{Value, json};

use super::scene::{ASKED, KEY, MODELS, Provider, SAID, Scene};

fn files(dir: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files(&entry.path(), found);
        } else if kind.is_file() {
            // One that was renamed or removed meanwhile is found under its other name, or gone.
            found.extend(
                fs::read(entry.path()).map(|bytes| (entry.file_name().into_string().unwrap(), bytes)),
            );
        }
    }
}

fn with(home: &Home, word: &str) -> Vec<String> {
    let mut all = BTreeMap::new();
    files(&home.path(), &mut all);
    let has = |bytes: &[u8]| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    all.into_iter().filter(|(_, bytes)| has(bytes)).map(|(name, _)| name).collect()
}

#[test]
fn no_key_and_no_word_is_in_any_log_or_file_but_the_key_among_the_secrets() {
    let mut scene = Scene::with(&[("HARBOR_LOG", "trace")]);
    scene.chat("m").unwrap();
    scene.bridge.call("llm_check_provider", &json!({"provider_id": "p"})).unwrap();
    let error = scene.begin("nope", &json!({"temperature": [ASKED]})).wait(LIMIT).unwrap_err();
    assert!(!error.message.contains(ASKED));
    wait_until("the line of the audit log", LIMIT, || !with(&scene.home, "\"event\":\"chat\"").is_empty());
    assert_eq!(with(&scene.home, KEY), ["credentials.json"]);
    for word in [ASKED, SAID] {
        assert_eq!(with(&scene.home, word), Vec::<String>::new(), "{word}");
        assert!(!scene.bridge.stderr().contains(word));
    }
    assert!(!scene.bridge.stderr().contains(KEY));
    let audit = scene.bridge.call("host_get_audit", &json!({})).unwrap();
    let lines = audit["records"].as_array().unwrap();
    let chat = lines.iter().find(|line| line["event"] == "chat").unwrap();
    let told = ["by", "provider", "model", "input_tokens", "output_tokens"].map(|name| chat[name].clone());
    assert_eq!(told, [json!("owner"), json!("p"), json!("m"), json!(11), json!(7)]);
    // A restart finds it all.
    scene.bridge.call("shutdown", &json!({})).unwrap();
    assert!(scene.bridge.wait(LIMIT).is_some());
    scene.bridge = Bridge::start(&scene.home);
    assert!(scene.chat("m").is_ok());
    assert_eq!(scene.usage()[0]["requests"], 2);
}

#[test]
fn a_wrong_key_is_told_in_the_providers_words_and_is_a_reason_until_it_is_right() {
    let scene = Scene::new();
    let check = || scene.bridge.call("llm_check_provider", &json!({"provider_id": "p"})).unwrap();
    assert_eq!(check()["available"], true);
    let key = |key: &str| json!({"provider_id": "p", "api_key": key});
    scene.bridge.call("llm_set_api_key", &key("sk-wrong")).unwrap();
    let checked = check();
    assert_eq!((&checked["available"], &checked["cause"]), (&json!(false), &json!("unauthorized")));
    assert!(checked["message"].as_str().unwrap().contains("no such key here"), "{checked:?}");
    let error = scene.chat("m").unwrap_err();
    assert_eq!((&error.details["cause"], &error.details["status"]), (&json!("unauthorized"), &json!(401)));
    let reasons = |scene: &Scene| -> Vec<Value> {
        let health = scene.bridge.call("health", &json!({})).unwrap();
        let all = health["health"]["reasons"].as_array().unwrap().clone();
        all.into_iter().filter(|reason| reason["code"] == "model_provider_refuses").collect()
    };
    assert_eq!(reasons(&scene).len(), 1);
    assert!(scene.usage().is_empty(), "what was refused costs nothing");
    scene.bridge.call("llm_set_api_key", &key(KEY)).unwrap();
    assert_eq!((reasons(&scene).len(), &scene.chat("m").is_ok()), (0, &true));
}

#[test]
fn another_address_drops_the_key() {
    let scene = Scene::new();
    let other = Provider::start();
    let moved = json!({"id": "p", "base_url": other.url()});
    let answer = scene.bridge.call("llm_configure_provider", &moved).unwrap();
    assert_eq!((&answer["key_dropped"], &answer["provider"]["has_api_key"]), (&json!(true), &json!(false)));
    assert_eq!(scene.chat("m").unwrap_err().details["cause"], "unauthorized");
    let asked = other.server.asked();
    assert!(asked.iter().all(|asked| asked.header("authorization").is_empty()), "{asked:?}");
    assert_eq!(with(&scene.home, KEY), Vec::<String>::new());
}

#[test]
fn models_are_listed_and_one_becomes_the_default() {
    let scene = Scene::new();
    let listed = scene.bridge.call("llm_list_models", &json!({})).unwrap();
    let ids: Vec<_> = listed["models"].as_array().unwrap().iter().map(|model| model["id"].clone()).collect();
    assert_eq!((ids, &listed["failed"]), (MODELS.map(|id| json!(format!("p:{id}"))).into(), &json!([])));
    assert_eq!(listed["models"][0]["is_local"], true);
    scene.bridge.call("llm_set_model", &json!({"model_id": "p:many"})).unwrap();
    let active = scene.bridge.call("llm_get_active", &json!({})).unwrap();
    assert_eq!(
        (&active["active"], &active["model"], &active["status"]),
        (&json!("p"), &json!("many"), &json!("ready"))
    );
    let fields = json!({"messages": [{"role": "user", "content": "hi"}]});
    assert_eq!(scene.bridge.call("llm_chat", &fields).unwrap()["model"], "many");
    let asked = json!({"model": "p:m", "messages": [{"role": "user", "content": "hi"}]});
    assert_eq!(scene.bridge.call("llm_chat", &asked).unwrap()["model"], "m");
    assert_eq!(scene.bridge.call("llm_chat", &fields).unwrap()["model"], "many", "a request changes nothing");
}

#[test]
fn one_that_hangs_holds_up_no_list_and_its_last_one_stands_for_it() {
    let scene = Scene::new();
    let slow = Provider::start();
    scene.add(&json!({"name": "slow", "base_url": slow.url(), "api_key": KEY})).unwrap();
    scene.bridge.call("llm_list_models_for", &json!({"provider_id": "slow"})).unwrap();
    slow.set_mute(true);
    let began = Instant::now();
    let both = [(); 2].map(|()| scene.bridge.request("llm_list_models", &json!({})));
    for listed in both.map(|pending| pending.wait(LIMIT).unwrap()) {
        let models = listed["models"].as_array().unwrap().len();
        assert_eq!((models, &listed["failed"]), (2 * MODELS.len(), &json!([])));
    }
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    let lists = slow.server.asked().iter().filter(|asked| asked.verb == "GET").count();
    assert_eq!(lists, 2, "however many want a list, its provider is asked once");
}

#[test]
fn a_model_is_meant_by_any_name_of_it_and_one_that_nobody_has_is_not_chosen() {
    let scene = Scene::new();
    scene.add(&json!({"name": "lab", "api_key": KEY})).unwrap();
    let set = |name: &str| scene.bridge.call("llm_set_model", &json!({"model_id": name}));
    let both = set("many").unwrap_err();
    assert!(both.message.contains("lab and p both have many; say which: lab:many or p:many"), "{both:?}");
    let none = set("p:manny").unwrap_err();
    assert!(none.message.contains("p has no model manny; did you mean many?"), "{none:?}");
    let unlisted = json!({"model": "p:manny", "messages": [{"role": "user", "content": "hi"}]});
    let none = scene.bridge.call("llm_chat", &unlisted).unwrap_err();
    assert!(none.message.contains("p has no model manny; did you mean many?"), "{none:?}");
    assert_eq!(set("lab/many").unwrap()["active"], "lab");
    let fields = json!({"model": "p/m", "messages": [{"role": "user", "content": "hi"}]});
    assert_eq!(scene.bridge.call("llm_chat", &fields).unwrap()["provider"], "p");
    scene.bridge.call("llm_remove_provider", &json!({"id": "lab"})).unwrap();
    let active = scene.bridge.call("llm_get_active", &json!({})).unwrap();
    assert_eq!(active["active"], "p", "the default one goes, and another one is in its place");
    assert_eq!(set("many").unwrap()["model"], "many");
}

#[test]
fn what_cannot_be_a_provider_is_not_added_and_a_removed_one_is_gone() {
    let scene = Scene::new();
    let add = |fields: &Value| scene.bridge.call("llm_add_provider", fields).unwrap_err();
    for wrong in [
        json!({"provider_type": "clippy"}),
        json!({"provider_type": "openai-compatible"}),
        json!({"provider_type": "openai-compatible", "base_url": "http://example.com/v1"}),
        json!({"provider_type": "openai-compatible", "base_url": "https://10.0.0.1/v1"}),
        json!({"provider_type": "openai", "api_key": "two\nlines"}),
        json!({"provider_type": "openai", "dialect": "morse"}),
    ] {
        assert_eq!(add(&wrong).code, "invalid_params", "{wrong}");
    }
    for private in ["https://10.0.0.1/v1", "http://10.0.0.1/v1"] {
        let added = scene.add(&json!({"name": "attic", "base_url": private, "allow_private": true})).unwrap();
        assert_eq!(added["provider"]["base_url"], private);
        scene.bridge.call("llm_remove_provider", &json!({"id": "attic"})).unwrap();
    }
    let second = scene.add(&json!({"name": "p"})).unwrap();
    assert_eq!((&second["id"], &second["provider"]["is_default"]), (&json!("p-2"), &json!(false)));
    let removed =
        |id: &str| scene.bridge.call("llm_remove_provider", &json!({"id": id})).unwrap()["removed"].clone();
    assert_eq!([removed("p"), removed("p"), removed("p-2")], [json!(true), json!(false), json!(true)]);
    assert_eq!(with(&scene.home, KEY), Vec::<String>::new());
    let error = scene.chat("m").unwrap_err();
    assert_eq!((error.code.as_str(), &error.details["cause"]), ("ERR_MODEL_FAILED", &json!("no_model")));
    assert!(error.message.contains("`harbor models add TYPE`"), "{}", error.message);
    let server = json!({"server_id": "_llm", "command": "true"});
    assert_eq!(scene.bridge.call("add_server", &server).unwrap_err().code, "invalid_params");
}

#[test]
fn detection_adds_nothing_and_offers_a_key_of_the_environment_by_its_name() {
    let scene = Scene::with(&[("OPENAI_API_KEY", "sk-of-the-environment"), ("GROQ_API_KEY", "")]);
    let found = scene.bridge.call("llm_detect", &json!({})).unwrap();
    assert_eq!(found["environment"], json!([{"type": "openai", "variable": "OPENAI_API_KEY"}]));
    assert!(!found.text.contains("sk-of-the-environment"));
    let added = |provider: &&Value| provider["is_added"] == true;
    let ids: Vec<_> =
        found["providers"].as_array().unwrap().iter().filter(added).map(|one| &one["id"]).collect();
    assert_eq!(ids, ["p"]);
    let listed = scene.bridge.call("llm_list_providers", &json!({})).unwrap();
    assert_eq!((listed["providers"].as_array().unwrap().len(), &listed["active"]), (1, &json!("p")));
    assert_eq!(with(&scene.home, "sk-of-the-environment"), Vec::<String>::new());
}

/// A listener of another user's at this port; whoever is not root cannot make one.
fn of_another_user(port: u16) -> Option<TcpListener> {
    let listen = move || {
        // Of this thread alone, which ends then.
        setfsuid(Uid::from_raw(54_321));
        TcpListener::bind(("127.0.0.1", port)).unwrap()
    };
    geteuid().is_root().then(|| std::thread::spawn(listen).join().unwrap())
}

#[test]
fn another_users_program_is_told_of_and_gets_nothing_without_a_word_of_the_persons() {
    let scene = Scene::new();
    let Some(listener) = of_another_user(0) else { return };
    let port = listener.local_addr().unwrap().port();
    let fields = json!({"name": "theirs", "base_url": format!("http://127.0.0.1:{port}/v1")});
    let error = scene.add(&fields).unwrap_err();
    assert_eq!((error.code.as_str(), &error.details["other_user"]), ("invalid_params", &json!("54321")));
    // It comes there only later.
    drop(listener);
    assert_eq!(scene.add(&fields).unwrap()["provider"]["other_user"], Value::Null);
    let listener = of_another_user(port).unwrap();
    let check = |id: &str| scene.bridge.call("llm_check_provider", &json!({"provider_id": id}));
    let error = check("theirs").unwrap_err();
    assert_eq!((error.code.as_str(), &error.details["cause"]), ("ERR_MODEL_FAILED", &json!("refused")));
    assert!(error.message.contains("a program of the user 54321 answers"), "{}", error.message);
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nobody has connected");
    scene.bridge.call("llm_remove_provider", &json!({"id": "theirs"})).unwrap();
    let mut allowed = fields;
    allowed["allow_other_user"] = json!(true);
    assert_eq!(scene.add(&allowed).unwrap()["provider"]["other_user"], "54321");
    drop(listener);
    let listener = of_another_user(port).unwrap();
    let answered = std::thread::spawn(move || drop(listener.accept()));
    assert_eq!(check("theirs").unwrap()["available"], false, "it was asked, and closed");
    answered.join().unwrap();
}
