//! Lists of models, checks, detection and counting, over the real wire.

use harbor_ipc_proto::link::model::{
    Cause, Chat, Failure, Found, FromModel, Model, ModelState, ProviderPort, ToModel,
};
use harbor_ipc_proto::model::{Dialect, Kind};

use super::driven::{Driven, chat, target};
use super::server::{Request, Server, Step, answer, json};

fn models(kind: Kind, dialect: Dialect, server: &Server) -> Vec<Model> {
    let mut worker = Driven::start();
    worker.send(&ToModel::Models { id: 7, target: target(kind, dialect, server.port) });
    match worker.heard() {
        FromModel::Models { id: 7, models } => models,
        other => panic!("{other:?}"),
    }
}

fn by_path(
    rows: &'static [(&'static str, &'static str)],
) -> impl Fn(&Request, usize) -> Vec<Step> + Send + Sync {
    move |request, _| match rows.iter().find(|(line, _)| *line == request.line) {
        Some((_, body)) => json("200 OK", body),
        None => json("404 Not Found", "{}"),
    }
}

fn model(id: &str) -> Model {
    Model {
        id: id.into(),
        context_window: None,
        max_output: None,
        tools: None,
        vision: None,
        reasoning: None,
        is_remote: false,
        loaded_window: None,
        state: None,
        exit_code: None,
        weights: None,
        token_bytes: None,
    }
}

#[test]
fn models_say_what_they_can_do_where_their_provider_tells() {
    let server = Server::start(by_path(&[
        ("GET /api/tags", r#"{"models":[{"name":"a"},{"name":"b","remote_model":"b"}]}"#),
        ("POST /api/show", r#"{"capabilities":["tools","vision"],"model_info":{"x.context_length":4096}}"#),
    ]));
    let known = Model {
        context_window: Some(4096),
        tools: Some(true),
        vision: Some(true),
        reasoning: Some(false),
        ..model("a")
    };
    let wanted = vec![known.clone(), Model { id: "b".into(), is_remote: true, ..known }];
    assert_eq!(models(Kind::Ollama, Dialect::Ollama, &server), wanted);
    let server = Server::start(by_path(&[
        ("GET /v1/models", r#"{"data":[{"id":"l","owned_by":"llamacpp","meta":{"n_ctx":512}}]}"#),
        ("GET /props", r#"{"modalities":{"vision":false},"chat_template_caps":{"supports_tools":true}}"#),
    ]));
    let wanted = Model { context_window: Some(512), tools: Some(true), vision: Some(false), ..model("l") };
    assert_eq!(models(Kind::LlamaServer, Dialect::Chat, &server), [wanted]);
    let server = Server::start(by_path(&[("GET /v1/models?limit=1000", r#"{"data":[{"id":"c"}]}"#)]));
    assert_eq!(models(Kind::Anthropic, Dialect::Anthropic, &server), [model("c")]);
}

/// In llama-server's router each model is a process of its own.
#[test]
fn a_router_is_asked_about_each_model_and_loads_none_for_that() {
    let server = Server::start(|request, _| match request.line.as_str() {
        "GET /v1/models" => json(
            "200 OK",
            r#"{"data":[{"id":"a b","status":{"value":"loaded"}},{"id":"u","status":{"value":"unloaded"},"architecture":{"input_modalities":["text","image"]}},
                {"id":"f","status":{"value":"unloaded","failed":true,"exit_code":1}}]}"#,
        ),
        "GET /props?model=a+b&autoload=false" => json(
            "200 OK",
            r#"{"modalities":{"vision":false},"chat_template_caps":{"supports_tools":true},"default_generation_settings":{"n_ctx":4096}}"#,
        ),
        "GET /props" => json("200 OK", r#"{"default_generation_settings":{"n_ctx":0}}"#),
        _ => json("400 Bad Request", r#"{"error":{"message":"model is not loaded"}}"#),
    });
    let wanted = [
        Model {
            context_window: Some(4096),
            tools: Some(true),
            vision: Some(false),
            state: Some(ModelState::Loaded),
            ..model("a b")
        },
        Model { vision: Some(true), state: Some(ModelState::Unloaded), ..model("u") },
        Model { state: Some(ModelState::Failed), exit_code: Some(1), ..model("f") },
    ];
    assert_eq!(models(Kind::LlamaServer, Dialect::Chat, &server), wanted);
    assert!(server.requests().iter().all(|request| request.line != "GET /props"));
}

/// Pages are followed to the last one, and one that brings nothing new is the last.
#[test]
fn a_list_in_pages_is_one_list() {
    let server = Server::start(by_path(&[
        ("GET /v1/models?limit=1000", r#"{"data":[{"id":"a"},{"id":"b"}],"has_more":true,"last_id":"b&"}"#),
        ("GET /v1/models?limit=1000&after_id=b%26", r#"{"data":[{"id":"b"},{"id":"c"}],"has_more":false}"#),
    ]));
    let all = ["a", "b", "c"].map(model);
    assert_eq!(models(Kind::Anthropic, Dialect::Anthropic, &server), all);
    let server = Server::start(|request, _| match request.line.as_str() {
        "GET /v1/models" => json("200 OK", r#"{"data":["a","b"],"has_more":true}"#),
        _ => json("200 OK", r#"{"data":["c"],"has_more":true}"#),
    });
    assert_eq!(models(Kind::OpenAiCompatible, Dialect::Chat, &server), all);
    let lines: Vec<_> = server.requests().into_iter().map(|request| request.line).collect();
    assert_eq!(lines, ["GET /v1/models", "GET /v1/models?after=b", "GET /v1/models?after=c"]);
}

#[test]
fn googles_list_is_followed_by_its_token() {
    let first = r#"{"models":[{"name":"models/a","inputTokenLimit":9}],"nextPageToken":"t="}"#;
    let second = r#"{"models":[{"name":"models/b"},{"name":"models/e","supportedGenerationMethods":["embedContent"]}]}"#;
    let server = Server::start(move |request, _| match request.line.as_str() {
        "GET /v1beta/models?pageSize=1000" => json("200 OK", first),
        "GET /v1beta/models?pageSize=1000&pageToken=t%3D" => json("200 OK", second),
        _ => json("404 Not Found", "{}"),
    });
    let wanted = [Model { context_window: Some(9), ..model("a") }, model("b")];
    assert_eq!(models(Kind::Gemini, Dialect::Gemini, &server), wanted);
    let headers = server.requests().remove(0);
    assert_eq!((headers.header("x-goog-api-key"), headers.header("authorization")), (Some("k-secret"), None));
}

#[test]
fn what_is_no_list_of_models_is_told() {
    let server = Server::start(by_path(&[("GET /v1/models", "{}")]));
    let mut worker = Driven::start();
    worker
        .send(&ToModel::Models { id: 7, target: target(Kind::OpenAiCompatible, Dialect::Chat, server.port) });
    let FromModel::Failed { id: 7, failure } = worker.heard() else { panic!("a list came") };
    assert_eq!(failure.cause, Cause::Protocol);
}

fn check(kind: Kind, dialect: Dialect, server: &Server) -> Option<Failure> {
    let mut worker = Driven::start();
    worker.send(&ToModel::Check { id: 7, target: target(kind, dialect, server.port) });
    match worker.heard() {
        FromModel::Checked { id: 7, failure, .. } => failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_check_has_the_providers_own_words() {
    let server = Server::start(by_path(&[("GET /v1/models", r#"{"data":[]}"#)]));
    assert_eq!(check(Kind::OpenAi, Dialect::Chat, &server), None);
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer k-secret"));
    // Its list is for everybody; what it runs with is not.
    let server = Server::start(|request, _| match request.line.as_str() {
        "GET /v1/models" => json("200 OK", r#"{"data":[]}"#),
        _ => json("401 Unauthorized", r#"{"error":{"code":401,"message":"Invalid API Key"}}"#),
    });
    let failure = check(Kind::LlamaServer, Dialect::Chat, &server).unwrap();
    assert_eq!((failure.cause, failure.message.as_str()), (Cause::Unauthorized, "Invalid API Key"));
    let server = Server::says(answer("200 OK", &["Content-Type: text/html"], "<html>"));
    assert_eq!(check(Kind::OpenAi, Dialect::Chat, &server).unwrap().cause, Cause::Protocol);
}

fn detect(places: Vec<ProviderPort>) -> Vec<Found> {
    let mut worker = Driven::start();
    worker.send(&ToModel::Detect { id: 7, places });
    match worker.heard() {
        FromModel::Detected { id: 7, found } => found,
        other => panic!("{other:?}"),
    }
}

/// A port is anybody's: who proves nothing is nobody, and gets no key.
#[test]
fn only_who_proves_it_is_found() {
    let ollama = Server::start(|request, _| match request.line.as_str() {
        "GET /" => answer("200 OK", &["Content-Type: text/plain"], "Ollama is running"),
        "GET /api/version" => json("200 OK", r#"{"version":"0.33.0"}"#),
        _ => json("404 Not Found", "{}"),
    });
    let llama = Server::start(|request, _| match request.line.as_str() {
        "GET /v1/models" => json("200 OK", r#"{"data":[{"id":"l","owned_by":"llamacpp"}]}"#),
        _ => json("401 Unauthorized", r#"{"error":{"code":401,"message":"Invalid API Key"}}"#),
    });
    let impostor = Server::says(answer("200 OK", &["Content-Type: text/plain"], "Ollama is running"));
    let hanging = Server::says(vec![Step::Hang]);
    let redirect = Server::says(answer("302 Found", &["Location: http://127.0.0.1:11434/"], ""));
    let place = |kind, server: &Server| ProviderPort { kind, port: server.port };
    let found = detect(vec![
        place(Kind::Ollama, &impostor),
        place(Kind::Ollama, &ollama),
        place(Kind::Ollama, &hanging),
        place(Kind::LlamaServer, &llama),
        place(Kind::LlamaServer, &ollama),
        place(Kind::LmStudio, &redirect),
        place(Kind::Vllm, &impostor),
    ]);
    let wanted = [
        Found {
            kind: Kind::Ollama,
            dialect: Dialect::Ollama,
            base_url: format!("http://127.0.0.1:{}", ollama.port),
            version: Some("0.33.0".into()),
            needs_key: false,
        },
        Found {
            kind: Kind::LlamaServer,
            dialect: Dialect::Chat,
            base_url: format!("http://127.0.0.1:{}", llama.port),
            version: None,
            needs_key: true,
        },
    ];
    assert_eq!(found, wanted);
    for server in [&ollama, &llama, &impostor, &hanging, &redirect] {
        let requests = server.requests();
        assert!(requests.iter().all(|request| request.header("authorization").is_none()));
    }
}

#[test]
fn tokens_are_counted_by_the_provider_where_it_does() {
    let server = Server::start(by_path(&[("POST /v1/messages/count_tokens", r#"{"input_tokens":42}"#)]));
    let mut worker = Driven::start();
    worker.send(&ToModel::Count(chat(Dialect::Anthropic, server.port)));
    assert_eq!(worker.heard(), FromModel::Counted { id: 1, input_tokens: 42 });
    assert!(!server.requests()[0].body.contains("max_tokens"));
    // llama-server counts at the same place, whatever its format; the key goes as that format has it.
    let of = |kind| Chat { target: target(kind, Dialect::Chat, server.port), ..chat(Dialect::Chat, 0) };
    worker.send(&ToModel::Count(of(Kind::LlamaServer)));
    assert_eq!(worker.heard(), FromModel::Counted { id: 1, input_tokens: 42 });
    assert_eq!(server.requests()[1].header("authorization"), Some("Bearer k-secret"));
    let openai = Server::start(by_path(&[("POST /v1/responses/input_tokens", r#"{"input_tokens":7}"#)]));
    let target = target(Kind::OpenAi, Dialect::Responses, openai.port);
    worker.send(&ToModel::Count(Chat { target, ..chat(Dialect::Responses, 0) }));
    assert_eq!(worker.heard(), FromModel::Counted { id: 1, input_tokens: 7 });
    assert!(!openai.requests()[0].body.contains("stream"));
    let google = Server::start(by_path(&[("POST /v1beta/models/m:countTokens", r#"{"totalTokens":8}"#)]));
    worker.send(&ToModel::Count(chat(Dialect::Gemini, google.port)));
    assert_eq!(worker.heard(), FromModel::Counted { id: 1, input_tokens: 8 });
    assert!(google.requests()[0].body.contains(r#""model":"models/m""#));
    worker.send(&ToModel::Count(of(Kind::OpenAi)));
    let FromModel::Failed { id: 1, failure } = worker.heard() else { panic!("nobody has counted") };
    assert_eq!((failure.cause, server.requests().len()), (Cause::Refused, 2));
    let refusing = Server::says(json("404 Not Found", "{}"));
    worker.send(&ToModel::Count(chat(Dialect::Anthropic, refusing.port)));
    assert!(matches!(worker.heard(), FromModel::Failed { id: 1, .. }));
}
